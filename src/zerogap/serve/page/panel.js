// One decoder at work: its gap, its steps, its structure, and what can be taken away.

import * as draw from "./draw.js";
import { save, savePng, saveSvg } from "./download.js";
import { number, told } from "./told.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const TICK = 40; // milliseconds between two steps that are shown by themselves
const PLAYED = 900; // milliseconds for all of them
const SMALLEST = 0.65; // scale of a picture

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// The optimum of a linear program: a mixture of trees, with the share of every arc that is not in all of them.
function mixture(shares, forms, tags) {
  const n = Math.max(...shares.map(([, m]) => m));
  const names = forms.length ? forms : Array.from({ length: n }, (_, i) => String(i + 1));
  const most = Array.from({ length: n }, () => [0, 0]);
  for (const [head, m, share] of shares) if (share > most[m - 1][1]) most[m - 1] = [head, share];
  const isWhole = (share) => share > 0.999;
  const heads = most.map(([head]) => head);
  const labels = most.map(([, share]) => (isWhole(share) ? "" : share.toFixed(2)));
  const doubt = most.flatMap(([head, share], i) => (isWhole(share) ? [] : [[head, i + 1]]));
  const others = shares.filter(([head, m]) => heads[m - 1] !== head).map(([head, m]) => [head, m]);
  return draw.arcs({ forms: names, tags, heads, labels, doubt, others });
}

export class Panel {
  constructor(task, method, name) {
    this.task = task;
    this.method = method;
    this.name = name;
    this.steps = [];
    this.shown = -1;
    this.problem = { kind: "", forms: [] };
    this.solution = null;
    this.timer = null;
    this.badge = h("span", { class: "badge" }, "working …");
    this.numbers = h("dl", { class: "numbers" });
    this.chart = h("div", { class: "chart" });
    this.slider = h("input", { type: "range", min: 1, max: 1, value: 1, "aria-label": `Step of ${method}`, oninput: () => this.stop().show(this.slider.valueAsNumber - 1) });
    this.play = h("button", { type: "button", "aria-label": "Play the steps", onclick: () => this.toggle() }, "▶");
    const by = (change, label, text) => h("button", { type: "button", "aria-label": label, onclick: () => this.stop().show(this.shown + change) }, text);
    this.controls = h("div", { class: "steps", hidden: true }, by(-1, "Previous step", "‹"), this.slider, by(1, "Next step", "›"), this.play);
    this.told = h("p", { class: "told" });
    this.picture = h("div", { class: "picture", role: "region", "aria-label": `Structure by ${method}`, tabindex: 0 });
    this.more = h("div");
    this.downloads = h("div", { class: "downloads" });
    this.element = h("article", { class: "panel", "aria-label": `Decoder ${method}` },
      h("h3", {}, method, this.badge), this.numbers, this.chart, this.controls, this.told, this.picture, this.more, this.downloads);
    this.watcher = new ResizeObserver(() => this.drawGap());
    this.watcher.observe(this.chart);
  }

  tell(event) {
    if (event.event === "problem") {
      const numbers = Array.from({ length: event.length ?? 0 }, (_, i) => String(event.kind === "dependency" ? i + 1 : i));
      this.problem = { ...event, forms: event.words?.map((word) => word.form ?? word) ?? event.tokens ?? numbers };
    } else if (event.event === "step") {
      this.steps.push(event);
      this.slider.max = this.steps.length;
      this.controls.hidden = this.steps.length < 2;
      if (!this.timer) this.start();
    } else if (event.event === "solution") {
      this.solution = event;
      this.finish();
    }
  }

  // The server asks for patience; then everything is told again.
  wait(message) {
    this.stop();
    this.steps = [];
    this.shown = -1;
    this.told.textContent = message;
  }

  fail(error) {
    this.stop();
    this.badge.textContent = error.limit ? `limit: ${error.limit}` : "no answer";
    this.badge.className = "badge feasible";
    this.told.replaceChildren(h("span", { class: "problem", role: "alert" }, error.message));
  }

  close() {
    this.stop();
    this.watcher.disconnect();
  }

  // Steps come faster than anybody can look: they are shown one after the other.
  start() {
    if (calm.matches) {
      this.show(this.steps.length - 1);
      return this;
    }
    this.setPlaying(true);
    this.timer = setInterval(() => {
      if (this.shown >= this.steps.length - 1) {
        if (this.solution) this.stop().show(this.steps.length - 1);
        return;
      }
      const stride = Math.max(1, Math.ceil((this.steps.length * TICK) / PLAYED / 2));
      this.show(Math.min(this.shown + stride, this.steps.length - 1));
    }, TICK);
    this.show(0);
    return this;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.setPlaying(false);
    return this;
  }

  setPlaying(playing) {
    this.play.textContent = playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play the steps");
  }

  toggle() {
    if (this.timer) {
      this.stop();
      return;
    }
    if (this.shown >= this.steps.length - 1) this.shown = -1;
    this.setPlaying(true);
    this.timer = setInterval(() => {
      if (this.shown >= this.steps.length - 1) this.stop();
      else this.show(this.shown + 1);
    }, 350);
  }

  show(index) {
    this.shown = Math.max(0, Math.min(index, this.steps.length - 1));
    this.slider.value = this.shown + 1;
    const step = this.steps[this.shown];
    if (!step) return;
    const gap = Number.isFinite(step.bound) && Number.isFinite(step.score) ? step.bound - step.score : NaN;
    const seconds = (this.steps.at(-1).seconds ?? 0) * 1000;
    this.setNumbers({ bound: number(step.bound), score: number(step.score), gap: number(gap, 4), ms: seconds.toFixed(seconds < 100 ? 1 : 0) });
    this.slider.setAttribute("aria-valuetext", `Step ${this.shown + 1}: bound ${number(step.bound)}, score ${number(step.score)}`);
    this.told.textContent = this.steps.length > 1 || step.kind !== "iteration" || step.tree ? told(step, this.problem) : this.atOnce();
    this.drawGap();
    this.drawStructure(step);
  }

  atOnce() {
    const exact = ["dynamic-program", "cut-duals"].includes(this.solution?.certificate);
    return exact ? "One exact computation: nothing was relaxed." : "Done in one step.";
  }

  setNumbers(values) {
    this.numbers.replaceChildren(...Object.entries(values).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { class: name }, value))));
  }

  drawGap() {
    if (this.steps.length < 2 || this.shown < 0) return;
    const width = Math.max(260, this.chart.clientWidth);
    this.chart.replaceChildren(draw.gap(this.steps, this.shown, width));
  }

  drawStructure(step) {
    const isLast = this.shown === this.steps.length - 1 && this.solution;
    this.place(isLast ? this.finalPicture() : this.stepPicture(step));
  }

  // A picture that is a little too wide is made smaller; one that is much too wide can be moved.
  place(picture) {
    if (!picture) return;
    const [width, height] = [picture.width.baseVal.value, picture.height.baseVal.value];
    const scale = Math.max(SMALLEST, Math.min(1, this.picture.clientWidth / width));
    picture.setAttribute("width", Math.floor(width * scale));
    picture.setAttribute("height", Math.ceil(height * scale));
    this.picture.replaceChildren(picture);
  }

  stepPicture(step) {
    const { forms, words } = this.problem;
    if (step.tree) {
      const names = forms.length ? forms : step.tree.map((_, i) => `${i + 1}`);
      return draw.arcs({ forms: names, tags: words?.map((word) => word.upos) ?? [], heads: step.tree, doubt: step.only_tree, others: step.only_heads });
    }
    if (Array.isArray(step.arcs)) return mixture(step.arcs, forms, words?.map((word) => word.upos) ?? []);
    if (step.labels && forms.length) {
      const final = this.solution?.labels;
      return draw.labels({ tokens: forms, labels: step.labels, changed: new Set(step.labels.flatMap((name, i) => (final && final[i] !== name ? [i] : []))) });
    }
    return this.solution ? this.finalPicture() : null;
  }

  finalPicture() {
    const { solution, problem } = this;
    const structure = solution.proof?.solution.structure;
    if (problem.task === "parse") {
      const { words } = solution;
      return draw.arcs({ forms: words.map((word) => word.form), tags: words.map((word) => word.upos), heads: words.map((word) => word.head), labels: words.map((word) => word.label) });
    }
    if (problem.task === "trees" && solution.tree) return draw.tree(solution.tree);
    if (problem.task === "label" && solution.labels) return draw.labels(solution);
    if (problem.task === "translate" && solution.phrases) return draw.phrases({ words: problem.words, phrases: solution.phrases });
    if (problem.kind === "dependency" && structure) {
      const heads = Array.isArray(structure[0]) ? structure[0] : structure;
      return draw.arcs({ forms: heads.map((_, i) => String(i + 1)), heads });
    }
    if (problem.kind === "sequence" && structure) return draw.labels({ tokens: structure.map((_, i) => String(i)), labels: structure });
    return null;
  }

  finish() {
    const { solution } = this;
    const optimal = solution.status === "optimal";
    this.badge.textContent = optimal ? "optimal: proven" : solution.score === null ? "nothing found in time" : `a gap of ${number(solution.gap)} is left`;
    this.badge.className = `badge ${solution.status}`;
    if (!this.steps.length) this.setNumbers({ bound: number(solution.bound), score: number(solution.score), gap: number(solution.gap) });
    this.more.replaceChildren(...this.details());
    this.addDownloads();
    if (!this.timer) {
      if (this.steps.length) this.show(this.steps.length - 1);
      else this.place(this.finalPicture());
    }
  }

  details() {
    const { solution } = this;
    const found = [];
    if (solution.translation) found.push(h("p", { class: "translation" }, solution.translation));
    if (this.problem.task === "parse") {
      const head = (word) => (word.head ? `${word.head} ${solution.words[word.head - 1].form}` : "root");
      const rows = solution.words.map((word) => h("tr", {}, ...[word.id, word.form, word.upos, head(word), word.label].map((cell) => h("td", {}, String(cell)))));
      const titles = ["", "word", "tag", "head", "relation"].map((title) => h("th", { scope: "col" }, title || h("span", { class: "hidden" }, "number")));
      found.push(h("details", {}, h("summary", {}, "As a table"),
        h("div", { class: "table", tabindex: 0, role: "region", "aria-label": `Words and heads by ${this.method}` },
          h("table", {}, h("thead", {}, h("tr", {}, ...titles)), h("tbody", {}, ...rows)))));
    } else if (!this.finalPicture() && solution.proof) {
      found.push(h("pre", { tabindex: 0 }, JSON.stringify(solution.proof.solution.structure)));
    }
    found.push(h("p", { class: "hint" }, `Certificate: ${solution.certificate}.`));
    return found;
  }

  addDownloads() {
    const { solution, name } = this;
    const button = (text, action) => h("button", { type: "button", onclick: action }, text);
    const picture = () => this.finalPicture();
    const found = [];
    if (this.finalPicture()) {
      found.push(button("SVG", () => saveSvg(`${name}.svg`, picture())), button("PNG", () => savePng(`${name}.png`, picture())));
    }
    if (this.steps.length > 1) found.push(button("Gap as SVG", () => saveSvg(`${name}-gap.svg`, this.chart.querySelector("svg"))));
    if (solution.conllu) found.push(button("CoNLL-U", () => save(`${name}.conllu`, solution.conllu, "text/plain")));
    if (solution.proof) {
      const text = () => `${JSON.stringify(solution.proof)}\n`;
      found.push(button("Certificate", () => save(`${name}.proof.jsonl`, text(), "application/json")));
      found.push(button("Verify it", () => this.element.dispatchEvent(new CustomEvent("verify", { bubbles: true, detail: text() }))));
    }
    this.downloads.replaceChildren(...found);
  }
}
