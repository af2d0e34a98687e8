// The interface, from its OpenAPI description: what every path takes and answers, and a form to try it.

import { h } from "./panel.js";

const $ = (id) => document.getElementById(id);
let schemas = {};

// A schema in a few words.
function shape(schema) {
  if (!schema) return "anything";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const some = schema.anyOf ?? schema.oneOf;
  if (some) return some.map(shape).join(" or ");
  if (schema.type === "array") return `list of ${shape(schema.items)}`;
  return schema.type ?? "anything";
}

function fields(schema, seen = new Set()) {
  const name = schema?.$ref?.split("/").at(-1);
  const found = name ? schemas[name] : schema;
  if (!found?.properties || seen.has(name)) return null;
  const needed = new Set(found.required ?? []);
  const rows = Object.entries(found.properties).map(([field, about]) => h("tr", {},
    h("td", {}, h("code", {}, field), needed.has(field) ? "" : " (may be left out)"), h("td", {}, shape(about)), h("td", {}, about.description ?? "")));
  const titles = ["field", "type", "meaning"].map((title) => h("th", { scope: "col" }, title));
  return h("div", { class: "table", tabindex: 0, role: "region", "aria-label": `Fields of ${name ?? "the body"}` },
    h("table", {}, h("thead", {}, h("tr", {}, ...titles)), h("tbody", {}, ...rows)));
}

function below(schema, done) {
  const text = JSON.stringify(schema ?? {});
  const names = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]);
  for (const name of names) {
    if (done.has(name)) continue;
    done.add(name);
    below(schemas[name], done);
  }
  return done;
}

function attempt(path, verb, type, example) {
  const id = `try${path.replaceAll("/", "-")}`;
  const area = h("textarea", { id, rows: 5, class: "code", spellcheck: "false" });
  area.value = example ?? "";
  const answer = h("pre", { tabindex: 0, hidden: true, "aria-live": "polite", "aria-label": `Answer of ${path}` });
  const send = async () => {
    answer.hidden = false;
    answer.textContent = "…";
    const token = $("token").value.trim();
    const headers = { ...(type ? { "content-type": type } : {}), ...(token ? { authorization: `Bearer ${token}` } : {}) };
    try {
      const response = await fetch(path, { method: verb.toUpperCase(), headers, body: type ? area.value : undefined });
      const text = await response.text();
      answer.textContent = `${response.status}\n${pretty(text)}`;
    } catch (error) {
      answer.textContent = `No answer: ${error.message}`;
    }
  };
  const input = type ? [h("label", { for: id }, "Body"), area] : [];
  return h("details", {}, h("summary", {}, "Try it"), ...input, h("p", {}, h("button", { type: "button", onclick: send }, "Send")), answer);
}

function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

function operation(path, verb, about) {
  const [type, body] = Object.entries(about.requestBody?.content ?? {})[0] ?? [];
  const example = Object.values(body?.examples ?? {})[0]?.value;
  const written = example && (type === "application/json" ? JSON.stringify(example, null, 1) : example);
  const answers = Object.entries(about.responses).map(([status, response]) => {
    const schema = Object.values(response.content ?? {})[0]?.schema;
    return h("li", {}, h("code", {}, status), ` ${response.description || ""} `, schema ? shape(schema) : "");
  });
  return h("section", { class: "operation" }, h("h3", {}, h("span", { class: "verb" }, verb.toUpperCase()), h("code", {}, path)), h("p", {}, about.summary ?? ""),
    body ? h("p", {}, `Takes ${shape(body.schema)} as ${type}.`) : null, body ? fields(body.schema) : null,
    h("details", {}, h("summary", {}, "Answers"), h("ul", {}, ...answers)), attempt(path, verb, type, written ?? ""));
}

async function start() {
  const description = await (await fetch("/openapi.json")).json();
  schemas = description.components?.schemas ?? {};
  $("about").replaceChildren(...description.info.description.split("\n\n").map((text) => h("p", {}, ...withCode(text))));
  $("access").addEventListener("submit", (event) => event.preventDefault());
  $("access").hidden = !description.components?.securitySchemes;
  const groups = new Map();
  for (const [path, verbs] of Object.entries(description.paths)) {
    for (const [verb, about] of Object.entries(verbs)) {
      const group = about.tags?.[0] ?? "others";
      groups.set(group, [...(groups.get(group) ?? []), operation(path, verb, about)]);
    }
  }
  for (const [group, found] of groups) $("operations").append(h("h2", {}, group[0].toUpperCase() + group.slice(1)), ...found);
  const names = [...below(description.paths, new Set())].sort();
  $("operations").append(h("h2", {}, "Forms"));
  for (const name of names) {
    const table = fields({ $ref: `#/components/schemas/${name}` });
    if (table) $("operations").append(h("section", { class: "operation" }, h("h3", {}, name), h("p", {}, schemas[name].description ?? ""), table));
  }
}

start();
