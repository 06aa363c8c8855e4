// The data of the dashboard. The key is sent as a header, never in an address, and is kept for this tab only.

const KEY = "abstractcore-dashboard-key";

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function hasKey() {
  return sessionStorage.getItem(KEY) !== null;
}

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

// Exchanges the token of the address that the command printed for a key; the address is left without it.
export async function openSession() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  const response = await fetch("/dashboard/api/session", { method: "POST", headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw await errorOf(response);
  useKey((await response.json()).key);
}

export async function read(path, parameters = {}, signal = undefined) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(given).toString();
  const response = await ask(`${path}${query ? `?${query}` : ""}`, signal);
  return response.json();
}

export async function readFile(trace, sha256, type) {
  const response = await ask(`traces/${encodeURIComponent(trace)}/files/${sha256}`);
  return new Blob([await response.arrayBuffer()], { type });
}

// Yields new calls as they are stored.
export async function* follow(signal) {
  const response = await ask("live", signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue;
      const event = JSON.parse(line.slice("data: ".length));
      if (event.error) throw new ApiError(event.error, response.status);
      yield event;
    }
  }
}

async function ask(path, signal) {
  const key = sessionStorage.getItem(KEY);
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const response = await fetch(`/dashboard/api/${path}`, { headers, signal });
  if (!response.ok) throw await errorOf(response);
  return response;
}

async function errorOf(response) {
  const text = await response.text();
  try {
    return new ApiError(JSON.parse(text).error.message, response.status);
  } catch {
    return new ApiError(text || response.statusText, response.status);
  }
}
