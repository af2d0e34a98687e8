// Requests to the server. Answers are JSON; steps come as lines of JSON.

let token = "";

export function setToken(value) {
  token = value.trim();
}

export class Refused extends Error {
  constructor(status, error) {
    super(error?.message ?? `the server answered with status ${status}`);
    this.status = status;
    this.kind = error?.type ?? "";
    this.limit = error?.limit ?? null;
  }
}

function headers() {
  const found = { "content-type": "application/json" };
  if (token) found.authorization = `Bearer ${token}`;
  return found;
}

async function refusal(response) {
  let error = null;
  try {
    error = (await response.json()).error;
  } catch {
    // not JSON: the status has to do
  }
  return new Refused(response.status, error);
}

// What the server says of itself, also while it is not ready.
export async function health() {
  const response = await fetch("/health", { headers: headers() });
  if (!response.ok && response.status !== 503) throw await refusal(response);
  return response.json();
}

export async function post(path, body) {
  const response = await fetch(path, { method: "POST", headers: headers(), body: typeof body === "string" ? body : JSON.stringify(body) });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

// Calls tell(event) with every line; ends with the last one, or throws what the server says went wrong.
export async function watch(body, tell, signal) {
  const response = await fetch("/watch", { method: "POST", headers: headers(), body: JSON.stringify(body), signal });
  if (!response.ok) throw await refusal(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) {
      if (!line.trim()) continue;
      const event = JSON.parse(line);
      if (event.error) throw new Refused(422, event.error);
      tell(event);
    }
    if (done) return;
  }
}
