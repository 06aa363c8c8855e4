// The server's API: its models, streamed answers of /v1/chat/completions, and whole responses of other routes.

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export async function listModels(key) {
  const response = await fetch("/v1/models", { headers: headersOf(key) });
  if (!response.ok) throw await errorOf(response);
  return (await response.json()).data;
}

// Yields the events of an answer, each as { raw, data }; data is null for the last line, "[DONE]".
export async function* stream(body, key, signal) {
  const response = await post("/v1/chat/completions", body, key, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue;
      const raw = line.slice("data: ".length);
      const data = raw === "[DONE]" ? null : JSON.parse(raw);
      if (data?.error) throw new ApiError(data.error.message, response.status);
      yield { raw, data };
    }
    if (done) return;
  }
}

// The response to a body of JSON; throws an ApiError for an error.
export async function post(path, body, key, signal) {
  const response = await fetch(path, {
    method: "POST",
    headers: { ...headersOf(key), "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw await errorOf(response);
  return response;
}

function headersOf(key) {
  return key ? { authorization: `Bearer ${key}` } : {};
}

async function errorOf(response) {
  const text = await response.text();
  try {
    return new ApiError(JSON.parse(text).error.message, response.status);
  } catch {
    return new ApiError(text || response.statusText, response.status);
  }
}
