// The page: what to decode, by which decoders, and a panel for each.

import { Refused, health, post, setToken, watch } from "./api.js";
import { Panel, h } from "./panel.js";

const TASKS = {
  parse: { title: "Dependencies", label: "Text", text: "The spy saw the cop with the telescope that nobody had ever used.", hint: "Sentences in English." },
  trees: { title: "Constituents", label: "Text", text: "The dog chased the cat .", hint: "Words as the model's treebank has them." },
  label: { title: "Labels", label: "Tokens", text: "John Smith lives in New York .", hint: "One sequence, its tokens parted by blanks, as in what the model learned from." },
  translate: { title: "Translation", label: "Sentences, one on each line", text: "das haus ist klein", hint: "Words parted by blanks, as the model was trained." },
  decode: { title: "Scores", label: "Problem as JSON", text: "", hint: "Any problem, as save_problem writes it.", code: true },
  verify: { title: "Verify", label: "Problem and solution as JSON", text: "", hint: "A line of what --certificates writes, or what “Certificate” downloads.", code: true },
};
const EXAMPLE = {
  format: "zerogap-problem", version: 1, kind: "dependency",
  arcs: [[0, 2, 1, 0, 1], [0, 0, 3, 1, 2], [0, 2, 0, 3, 1], [0, 1, 3, 0, 4], [0, 3, 1, 2, 0]],
  siblings: { parts: [[0, 0, 1, 2], [1, 1, 2, 2.5], [2, 2, 3, -3], [3, 3, 4, 1.5], [4, 4, 3, 2], [3, 3, 2, -1], [2, 2, 1, 3], [1, 2, 3, -2]] },
};
const PREFERRED = { parse: ["head-automata", "auto"], label: ["auto", "relaxation"] };
const MOST = 3;
const PAUSE = 1000; // milliseconds until a server that is not ready is asked again

const $ = (id) => document.getElementById(id);
const kept = { texts: {}, panels: [], abort: null, health: { tasks: [], methods: {} } };

function task() {
  return document.querySelector("input[name=task]:checked")?.value ?? "parse";
}

function say(text, isProblem = false) {
  $("state").textContent = text;
  $("state").className = isProblem ? "problem" : "";
}

function showTasks() {
  const able = new Set(kept.health.tasks);
  const first = Object.keys(TASKS).find((name) => able.has(name));
  for (const [name, about] of Object.entries(TASKS)) {
    const input = h("input", { type: "radio", name: "task", value: name, disabled: !able.has(name), checked: name === first, onchange: () => chooseTask(name) });
    const title = able.has(name) ? null : h("span", { class: "hidden" }, " (this server has no model for it)");
    $("tasks").append(h("label", { title: able.has(name) ? null : "This server has no model for it." }, input, about.title, title));
  }
  chooseTask(first);
}

function chooseTask(name) {
  const about = TASKS[name];
  const input = $("input");
  if (kept.task) kept.texts[kept.task] = input.value;
  kept.task = name;
  input.value = kept.texts[name] ?? about.text;
  input.classList.toggle("code", Boolean(about.code));
  input.rows = about.code ? 10 : 3;
  $("input-label").textContent = about.label;
  $("input-hint").textContent = about.hint;
  $("go").textContent = name === "verify" ? "Verify" : "Decode";
  $("methods").hidden = name === "verify";
  $("sentence-choice").hidden = true;
  say("");
  showMethods(kept.health.methods[name] ?? ["auto"], PREFERRED[name] ?? ["auto"]);
}

function showMethods(names, preferred) {
  const field = $("methods");
  for (const old of field.querySelectorAll("label")) old.remove();
  const checked = preferred.filter((name) => names.includes(name));
  for (const name of names) {
    const input = h("input", { type: "checkbox", name: "method", value: name, checked: checked.includes(name), onchange: limitMethods });
    field.append(h("label", {}, input, name));
  }
  limitMethods();
}

function chosenMethods() {
  return [...document.querySelectorAll("input[name=method]:checked")].map((input) => input.value);
}

function limitMethods() {
  const full = chosenMethods().length >= MOST;
  for (const input of document.querySelectorAll("input[name=method]:not(:checked)")) input.disabled = full;
}

function request(name, method) {
  if (name === "decode") return { task: name, method, problem: JSON.parse($("input").value) };
  return { task: name, method, text: $("input").value, sentence: Number($("sentence").value || 0) };
}

async function decode() {
  const name = task();
  kept.abort?.abort();
  kept.abort = new AbortController();
  for (const panel of kept.panels) panel.close();
  kept.panels = [];
  if (name === "verify") {
    await verify($("input").value);
    return;
  }
  const methods = chosenMethods();
  const { signal } = kept.abort;
  if (!methods.length) methods.push("auto");
  kept.panels = methods.map((method) => new Panel(name, method, `${name}-${method}`));
  $("panels").replaceChildren(...kept.panels.map((panel) => panel.element));
  say("Decoding …");
  const runs = kept.panels.map(async (panel) => {
    while (!signal.aborted) {
      try {
        await watch(request(name, panel.method), (event) => {
          if (event.event === "problem") offer(event, name);
          panel.tell(event);
        }, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error.kind === "NotReady") {
          panel.wait(error.message);
          await pause();
          continue;
        }
        panel.fail(readable(error));
        askForToken(error);
        return;
      }
    }
  });
  await Promise.all(runs);
  if (!signal.aborted) say(summary());
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, PAUSE));
}

// What the server can do, once it is ready.
async function ready() {
  for (;;) {
    const found = await health();
    if (found.status === "ok") return found;
    const far = found.to_compile ? `: ${found.compiled} of ${found.to_compile} modules` : "";
    say(found.status === "compiling" ? `The server compiles its kernels for this machine${far}. This is done once, and takes about half a minute …` : "The server loads its models …");
    await pause();
  }
}

function summary() {
  const proven = kept.panels.filter((panel) => panel.solution?.status === "optimal").length;
  const scores = new Set(kept.panels.filter((panel) => panel.solution?.score != null).map((panel) => panel.solution.score));
  const same = kept.panels.length > 1 && scores.size === 1 ? " All found the same score." : scores.size > 1 ? " They found different scores." : "";
  if (!kept.panels.some((panel) => panel.solution)) return "There is no answer.";
  return `${proven} of ${kept.panels.length} proven optimal.${same}`;
}

function readable(error) {
  if (error instanceof SyntaxError) return { message: `This is not JSON: ${error.message}.` };
  return error instanceof Refused ? error : { message: `The server does not answer: ${error.message}` };
}

function askForToken(error) {
  if (error instanceof Refused && error.status === 401) {
    $("access").open = true;
    $("token").focus();
  }
}

// What the problem turned out to be: its sentences, and for scores, the methods that can decode it.
function offer({ sentences: count, methods }, name) {
  if (name === "decode" && document.querySelectorAll("input[name=method]").length !== methods.length) showMethods(methods, chosenMethods());
  const choice = $("sentence");
  $("sentence-choice").hidden = count < 2 || name === "decode";
  if (choice.options.length === count) return;
  const before = choice.value;
  choice.replaceChildren(...Array.from({ length: count }, (_, i) => h("option", { value: i, selected: String(i) === before }, `${i + 1} of ${count}`)));
}

async function verify(text) {
  say("Verifying …");
  const panel = h("article", { class: "panel", "aria-label": "Verification" });
  $("panels").replaceChildren(panel);
  try {
    const given = JSON.parse(text.trim());
    const found = await post("/verify", { problem: given.problem, solution: given.solution });
    const badge = h("span", { class: `badge ${found.valid ? "optimal" : "feasible"}` }, found.valid ? "it holds" : "it does not hold");
    panel.append(h("h3", {}, "Verification", badge));
    if (found.valid) panel.append(h("ul", { class: "checked" }, ...found.checked.map((claim) => h("li", {}, claim))));
    else panel.append(h("p", { class: "problem" }, found.reason));
    say(found.valid ? "The certificate holds." : "The certificate does not hold.");
  } catch (error) {
    panel.append(h("h3", {}, "Verification"), h("p", { class: "problem", role: "alert" }, readable(error).message));
    say("Nothing was verified.");
    askForToken(error);
  }
}

function selectTask(name) {
  const input = document.querySelector(`input[name=task][value=${name}]`);
  input.checked = true;
  chooseTask(name);
}

function startTheme() {
  const button = $("theme");
  const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const shown = () => button.setAttribute("aria-pressed", String(dark()));
  try {
    const before = localStorage.getItem("theme");
    if (before === "dark" || before === "light") document.documentElement.dataset.theme = before;
  } catch {
    // no storage: the system's theme
  }
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("theme", next);
    } catch {
      // it holds until the page is closed
    }
    shown();
  });
  shown();
}

async function start() {
  startTheme();
  TASKS.decode.text = `{\n ${Object.entries(EXAMPLE).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(",\n ")}\n}`;
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    decode();
  });
  $("sentence").addEventListener("change", decode);
  $("token").addEventListener("change", () => setToken($("token").value));
  $("input").addEventListener("input", () => {
    $("sentence").replaceChildren();
    $("sentence-choice").hidden = true;
  });
  $("input").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) decode();
  });
  $("panels").addEventListener("verify", (event) => {
    kept.texts.verify = event.detail;
    selectTask("verify");
    decode();
    $("answers").focus();
  });
  $("go").disabled = true;
  try {
    kept.health = await ready();
  } catch (error) {
    say(readable(error).message, true);
    return;
  }
  $("go").disabled = false;
  showTasks();
  const { parser, version } = kept.health;
  $("about").textContent = `zerogap ${version}${parser?.data ? `; the parser learned from ${parser.data} (${parser.licence})` : ""}.`;
  $("access").hidden = !kept.health.needs_token;
  if (!kept.health.needs_token && kept.task !== "verify") await decode();
}

start();
