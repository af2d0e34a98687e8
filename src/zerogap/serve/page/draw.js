// Pictures as SVG elements. Text becomes text nodes, never markup.

const NAMESPACE = "http://www.w3.org/2000/svg";
const measure = document.createElement("canvas").getContext("2d");

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, typeof value === "number" ? Math.round(value * 10) / 10 : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function widthOf(text, size = 13, weight = "") {
  measure.font = `${weight} ${size}px system-ui, sans-serif`;
  return measure.measureText(text).width;
}

function picture(width, height, title, ...body) {
  const size = { viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, width: Math.ceil(width), height: Math.ceil(height) };
  return svg("svg", { xmlns: NAMESPACE, role: "img", "aria-label": title, ...size }, ...body);
}

// A dependency tree. Arcs are [head, modifier]; doubt are those that only the tree wants, others those that only some head wants.
export function arcs({ forms, tags = [], heads, labels = [], doubt = [], others = [] }) {
  const key = ([h, m]) => `${h}-${m}`;
  const doubted = new Set(doubt.map(key));
  const all = heads.map((h, i) => ({ h, m: i + 1, label: labels[i] ?? "", look: doubted.has(`${h}-${i + 1}`) ? "doubt" : "" }));
  const present = new Set(all.map(({ h, m }) => `${h}-${m}`));
  for (const [h, m] of others) if (!present.has(`${h}-${m}`)) all.push({ h, m, label: "", look: "other" });
  const x = places(forms, tags, all);
  const levels = new Map();
  for (const arc of all.filter((a) => a.h > 0).sort((a, b) => Math.abs(a.h - a.m) - Math.abs(b.h - b.m) || Math.min(a.h, a.m) - Math.min(b.h, b.m))) {
    const [left, right] = [Math.min(arc.h, arc.m), Math.max(arc.h, arc.m)];
    let level = 0;
    for (const [other, at] of levels) {
      if (Math.min(other.h, other.m) < right && left < Math.max(other.h, other.m)) level = Math.max(level, at + 1);
    }
    levels.set(arc, level);
  }
  const top = 24;
  const base = top + 22 + 24 * (Math.max(-1, ...levels.values()) + 1);
  const lines = [];
  const words = [];
  for (const arc of [...all].sort((a, b) => (levels.get(b) ?? 99) - (levels.get(a) ?? 99))) lines.push(...oneArc(arc, x, levels, top, base));
  forms.forEach((form, i) => {
    words.push(svg("text", { x: x[i + 1], y: base + 18, "text-anchor": "middle", class: "strong" }, form));
    if (tags[i] && tags[i] !== "_") words.push(svg("text", { x: x[i + 1], y: base + 34, "text-anchor": "middle", class: "small soft" }, tags[i]));
  });
  const width = (x.at(-1) ?? 0) + widthOf(forms.at(-1) ?? "", 13, "600") / 2 + 24;
  const said = forms.map((form, i) => `${form} depends on ${heads[i] ? forms[heads[i] - 1] : "nothing"}`).join("; ");
  return picture(Math.max(width, 60), base + 44, `Dependency tree: ${said}`, ...lines, ...words);
}

function places(forms, tags, all) {
  const widths = forms.map((form, i) => Math.max(widthOf(form, 13, "600"), widthOf(tags[i] ?? "", 11)));
  const x = [0];
  widths.forEach((width, i) => x.push((i ? x[i] + widths[i - 1] / 2 + 20 : 14) + width / 2));
  for (const { h, m, label } of [...all].sort((a, b) => Math.abs(a.h - a.m) - Math.abs(b.h - b.m))) {
    if (!h || !label) continue;
    const [left, right] = [Math.min(h, m), Math.max(h, m)];
    const lacking = widthOf(label, 11) + 34 - (x[right] - x[left]);
    if (lacking > 0) for (let i = right; i < x.length; i += 1) x[i] += lacking;
  }
  return x;
}

function oneArc({ h, m, label, look }, x, levels, top, base) {
  const tip = base + 2;
  const end = x[m];
  const found = [];
  let y = top;
  let middle = end;
  if (h === 0) {
    found.push(svg("path", { d: `M${end},${top} V${tip - 6}`, class: `arc ${look}` }));
  } else {
    for (const [arc, level] of levels) if (arc.h === h && arc.m === m) y = base - 22 - 24 * level;
    const side = end > x[h] ? 1 : -1;
    const start = x[h] + 7 * side;
    const r = Math.min(9, Math.abs(end - start) / 2);
    const sweep = side > 0 ? 1 : 0;
    const turn = `a${r},${r} 0 0 ${sweep}`;
    const path = `M${start},${base} V${y + r} ${turn} ${r * side},${-r} H${end - r * side} ${turn} ${r * side},${r} V${tip - 6}`;
    found.push(svg("path", { d: path, class: `arc ${look}` }));
    middle = (start + end) / 2;
  }
  found.push(svg("path", { d: `M${end},${tip} l-4,-7 h8 z`, class: `point ${look}` }));
  const text = label || (h === 0 && look !== "other" ? "root" : "");
  if (text) {
    const width = widthOf(text, 11) + 6;
    found.push(svg("rect", { x: middle - width / 2, y: y - 7, width, height: 14, class: "mask" }));
    found.push(svg("text", { x: middle, y: y + 4, "text-anchor": "middle", class: "small" }, text));
  }
  return found;
}

// A bracketed tree, such as (S (NP (DT the) (NN dog)) (VP (VBZ barks))).
export function tree(text) {
  const root = parseBrackets(text);
  if (!root) return null;
  const nodes = [];
  let right = 14;
  const depthOf = (node) => (node.children.length ? 1 + Math.max(...node.children.map(depthOf)) : 0);
  const deepest = depthOf(root);
  const place = (node, depth) => {
    nodes.push(node);
    node.depth = node.children.length ? depth : deepest;
    if (!node.children.length) {
      const width = Math.max(widthOf(node.label, 13, "600"), node.above ? widthOf(node.above, 13) : 0);
      node.x = right + width / 2;
      right += width + 18;
      return;
    }
    for (const child of node.children) {
      if (!child.children.length) child.above = node.label;
      place(child, depth + 1);
    }
    node.x = (node.children[0].x + node.children.at(-1).x) / 2;
  };
  place(root, 0);
  const y = (node) => 22 + 40 * node.depth;
  const lines = [];
  const words = [];
  for (const node of nodes) {
    for (const child of node.children) {
      lines.push(svg("path", { d: `M${node.x},${y(node) + 6} L${child.x},${y(child) - 13}`, class: "edge" }));
    }
    words.push(svg("text", { x: node.x, y: y(node), "text-anchor": "middle", class: node.children.length ? "" : "strong" }, node.label));
  }
  return picture(right, 40 * deepest + 36, `Tree: ${text}`, ...lines, ...words);
}

function parseBrackets(text) {
  const tokens = text.match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;
  const read = () => {
    if (tokens[at] !== "(") return { label: unescapeBracket(tokens[at++] ?? ""), children: [] };
    at += 1;
    const node = { label: tokens[at] === "(" ? "" : tokens[at++] ?? "", children: [] };
    while (at < tokens.length && tokens[at] !== ")") node.children.push(read());
    at += 1;
    return node;
  };
  return tokens.length ? read() : null;
}

function unescapeBracket(word) {
  return word.replaceAll("-LRB-", "(").replaceAll("-RRB-", ")");
}

// Tokens with a label below each; changed are positions whose label is not that of the answer.
export function labels({ tokens, labels: names, changed = new Set() }) {
  let x = 12;
  const body = [];
  tokens.forEach((token, i) => {
    const name = names?.[i] === undefined ? "" : String(names[i]);
    const width = Math.max(widthOf(token, 13, "600"), widthOf(name, 11) + 14, 24);
    body.push(svg("text", { x: x + width / 2, y: 24, "text-anchor": "middle", class: "strong" }, token));
    if (name) {
      body.push(svg("rect", { x, y: 34, width, height: 20, rx: 6, class: changed.has(i) ? "chip doubt" : "chip" }));
      body.push(svg("text", { x: x + width / 2, y: 48, "text-anchor": "middle", class: "small" }, name));
    }
    x += width + 10;
  });
  return picture(x, 64, tokens.map((token, i) => `${token}: ${names?.[i] ?? "no label"}`).join("; "), ...body);
}

// Source words above, phrases of the translation below, each linked to the words that it stands for.
export function phrases({ words, phrases: chosen }) {
  const placed = (texts, y) => {
    let x = 14;
    return texts.map((text) => {
      const width = widthOf(text, 13, "600") + 14;
      const found = { x, width, middle: x + width / 2, y, text };
      x += width + 10;
      return found;
    });
  };
  const source = placed(words, 20);
  const target = placed(chosen.map((phrase) => phrase.target.join(" ")), 104);
  const body = [];
  chosen.forEach((phrase, i) => {
    for (let s = phrase.start; s < phrase.end; s += 1) {
      body.push(svg("line", { x1: source[s].middle, y1: 36, x2: target[i].middle, y2: 90, class: "link" }));
    }
  });
  for (const box of [...source, ...target]) {
    body.push(svg("rect", { x: box.x, y: box.y - 10, width: box.width, height: 24, rx: 6, class: "chip" }));
    body.push(svg("text", { x: box.middle, y: box.y + 6, "text-anchor": "middle" }, box.text));
  }
  const width = Math.max(...[...source, ...target].map((box) => box.x + box.width), 40) + 14;
  return picture(width, 128, `Translation of ${words.join(" ")}: ${target.map((box) => box.text).join(" ")}`, ...body);
}

// The best bound and the best score after every step; a line at the step that is shown.
export function gap(steps, shown, width) {
  const height = 190;
  const [left, right, top, bottom] = [58, 14, 26, 26];
  const finite = steps.flatMap((step) => [step.bound, step.score, step.value]).filter((value) => Number.isFinite(value));
  let low = Math.min(...finite);
  let high = Math.max(...finite);
  if (!finite.length) [low, high] = [0, 1];
  const margin = 0.06 * (high - low) || 1;
  low -= margin;
  high += margin;
  const last = Math.max(steps.length - 1, 1);
  const x = (i) => left + ((width - left - right) * i) / last;
  const y = (value) => top + ((height - top - bottom) * (high - value)) / (high - low);
  const body = [];
  for (const tick of ticks(low, high)) {
    body.push(svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "grid" }));
    body.push(svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", class: "small soft" }, String(tick)));
  }
  const until = steps.slice(0, shown + 1);
  const corners = (name) => {
    const points = [];
    until.forEach((step, i) => {
      if (!Number.isFinite(step[name])) return;
      if (points.length) points.push([x(i), points.at(-1)[1]]);
      points.push([x(i), y(step[name])]);
    });
    return points;
  };
  const [above, below, value] = ["bound", "score", "value"].map(corners);
  const written = (points) => points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
  if (above.length && below.length) body.push(svg("polygon", { points: written([...above, ...below.toReversed()]), class: "between" }));
  if (value.length) body.push(svg("polyline", { points: written(value), class: "line-value" }));
  body.push(svg("polyline", { points: written(above), class: "line-bound" }), svg("polyline", { points: written(below), class: "line-score" }));
  for (const [points, name] of [[above, "bound"], [below, "score"]]) {
    if (points.length) body.push(svg("circle", { cx: points.at(-1)[0], cy: points.at(-1)[1], r: 3.5, class: `dot-${name}` }));
  }
  body.push(svg("line", { x1: x(shown), x2: x(shown), y1: top, y2: height - bottom, class: "now" }));
  body.push(svg("text", { x: left, y: 15, class: "small text-bound" }, "best bound"));
  body.push(svg("text", { x: left + 76, y: 15, class: "small text-score" }, "best score"));
  body.push(svg("text", { x: width - right, y: height - 8, "text-anchor": "end", class: "small soft" }, `step ${shown + 1} of ${steps.length}`));
  const now = steps[shown] ?? {};
  return picture(width, height, `Best bound ${now.bound ?? "unknown"}, best score ${now.score ?? "unknown"}, after ${shown + 1} of ${steps.length} steps`, ...body);
}

function ticks(low, high) {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) found.push(Number((k * step).toPrecision(10)));
  return found;
}
