// What happened in a step, in words.

const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
export const number = (value, digits = 7) => (Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : "unknown");

function arcName([h, m], forms) {
  return `${h ? forms[h - 1] ?? h : "root"} → ${forms[m - 1] ?? m}`;
}

function listed(names, most = 6) {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

function partName(part, problem) {
  if (problem.kind !== "dependency") return `part ${part}`;
  const size = problem.forms.length + 1;
  return arcName([Math.floor(part / size), part % size], problem.forms);
}

const KINDS = {
  iteration(step, problem) {
    if (step.tree) {
      const wanted = step.only_tree.map((arc) => arcName(arc, problem.forms));
      const others = step.only_heads.map((arc) => arcName(arc, problem.forms));
      if (!wanted.length && !others.length) return "The tree and the words agree on every arc.";
      return `They disagree: only the tree wants ${listed(wanted) || "nothing"}; only the words want ${listed(others) || "nothing"}.`;
    }
    if (step.violated?.length) return `Violated: ${listed(step.violated.map(([name, excess]) => `${name} (by ${number(Math.abs(excess))})`))}.`;
    if (step.violated) return "No constraint is violated.";
    return "A step of the search.";
  },
  screening: (step) => `${plural(step.left_out, "arc")} can be in no better tree, and ${step.left_out === 1 ? "is" : "are"} left out.`,
  round(step, problem) {
    const word = (w) => (w ? problem.forms[w - 1] ?? w : "root");
    const priced = (step.priced ?? []).map(([g, p, c]) => `${word(g)} → ${word(p)} → ${word(c)}`);
    const sets = (step.unentered ?? []).map((words) => `nothing enters {${words.map(word).join(", ")}}`);
    const columns = `${plural(step.columns, "column")} priced in${priced.length ? ` (${listed(priced, 4)})` : ""}`;
    const rows = `${plural(step.rows, "violated row")} added${sets.length ? ` (${listed(sets, 4)})` : ""}`;
    return `The linear program has value ${number(step.value)}: ${columns}, ${rows}.`;
  },
  intersection: (step) => `The best labels violate ${listed(step.violated)}. Intersected with ${step.intersected}; the lattice had ${plural(step.arcs, "arc")}.`,
  node(step, problem) {
    const decisions = step.decisions.map(([part, inside]) => `${partName(part, problem)} ${inside ? "required" : "forbidden"}`);
    const where = decisions.length ? `Branch with ${listed(decisions)}` : "The whole search space";
    const next = step.split === null ? "it is not split" : `it is split on ${partName(step.split, problem)}`;
    return `${where}: nothing in it scores more than ${number(step.node_bound)}; ${next}.`;
  },
  end: () => "This is the answer.",
  cut: (step) => `Branch ${step.node} is cut: nothing in it is better than what is known.`,
};

export function told(step, problem) {
  return KINDS[step.kind]?.(step, problem) ?? `A step: ${step.kind}.`;
}
