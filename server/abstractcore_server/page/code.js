// The same call as a program: for abstractcore, for OpenAI's client, and for curl. Files become their names, and an access
// key becomes the variable ABSTRACTCORE_KEY: neither is ever part of the code.

export function programs(call, origin, hasKey) {
  return [
    ["Python, abstractcore", withLibrary(call)],
    ["Python, openai", withClient(call, origin, hasKey)],
    ["curl", withCurl("/v1/chat/completions", call.body, origin, hasKey)],
  ];
}

// The same for what one of the MAKERS makes. `name` is the name of who made it, which begins with the backend.
export function programsOfMade(call, name, origin, hasKey) {
  const { maker, path, body } = call;
  const client = maker.client && [
    ...clientHead(origin, hasKey, maker.client.imports),
    `made = client.${maker.client.method}(${named(body)})`,
    ...maker.client.saving,
  ];
  return [
    ["Python, abstractcore", madeWithLibrary(call, name)],
    ...(client ? [["Python, openai", client.join("\n")]] : []),
    ["curl", `${withCurl(path, body, origin, hasKey)} -o ${maker.output}`],
  ];
}

function madeWithLibrary({ maker, prompt, body }, name) {
  const backend = name.replace(/^[^/:]*:/, "").split("/", 1)[0];
  const isDefault = body.model === "default";
  const model = body.model.startsWith(`${backend}/`) ? body.model.slice(backend.length + 1) : body.model;
  const options = {
    model: isDefault || model === backend ? null : model,
    voice: body.voice === "default" ? null : body.voice,
    format: body.response_format ?? body.format,
  };
  const given = Object.entries(options).filter(([, value]) => value).map(([key, value]) => `, ${key}=${quoted(value)}`);
  const capability = maker.method.split(".", 1)[0];
  return [
    "from abstractcore import create_llm",
    "",
    `llm = create_llm(${isDefault ? "" : `${capability}_backend=${quoted(backend)}`})`,
    `made = llm.${maker.method}(${quoted(prompt)}${given.join("")})`,
    'print(made.save("."))',
  ].join("\n");
}

function named(fields) {
  return Object.entries(fields).map(([name, value]) => `${name}=${literal(value)}`).join(", ");
}

function withLibrary({ model, prompt, files, options, body }) {
  const name = model === "default" ? "" : model.includes("/") ? `model=${quoted(model)}` : quoted(model);
  const media = files.length ? `, media=[${files.map((file) => quoted(file.name)).join(", ")}]` : "";
  const hasPrompt = Boolean(prompt || files.length);
  const earlier = body.messages.slice(options.system ? 1 : 0, hasPrompt ? -1 : undefined);
  const tools = (options.tools ?? []).map((tool) => `ToolSpec(**${literal(tool.function ?? tool)})`);
  const more = Object.entries({
    system_prompt: options.system,
    temperature: options.temperature,
    max_output_tokens: options.most,
    media_policy: files.length && options.policy !== "auto" ? options.policy : null,
    modalities: body.modalities ?? null,
    provider_options: body.audio && model.startsWith("openai/") ? { openai: { audio: { ...body.audio, format: "wav" } } } : null,
  }).filter(([, value]) => value !== null);
  const given = [
    ...(earlier.length ? [["messages", literal(shortened(earlier))]] : []),
    ...more.map(([key, value]) => [key, literal(value)]),
    ...(tools.length ? [["tools", `[${tools.join(", ")}]`]] : []),
  ].map(([key, value]) => `, ${key}=${value}`).join("");
  const first = hasPrompt ? quoted(prompt) + media + given : given.slice(", ".length);
  return [
    `from abstractcore import ${tools.length ? "ToolSpec, " : ""}create_llm`,
    "",
    `llm = create_llm(${name})`,
    `response = llm.generate(${first})`,
    "print(response.content)",
    ...(body.modalities ? ["for file in [*response.images, *response.audio]:", '    print(file.save("."))'] : []),
    ...(files.length ? ["print(response.media)"] : []),
  ].join("\n");
}

function clientHead(origin, hasKey, imports = []) {
  const key = hasKey ? 'os.environ["ABSTRACTCORE_KEY"]' : '"none"';
  const modules = [...imports, ...(hasKey ? ["os"] : [])];
  return [
    ...modules.map((name) => `import ${name}`),
    ...(modules.length ? [""] : []),
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${origin}/v1", api_key=${key})`,
  ];
}

function withClient({ body }, origin, hasKey) {
  const { abstractcore, stream, stream_options, ...fields } = shortened(body);
  return [
    ...clientHead(origin, hasKey),
    "stream = client.chat.completions.create(",
    ...Object.entries(fields).map(([name, value]) => `    ${name}=${literal(value)},`),
    "    stream=True,",
    `    extra_body=${literal({ abstractcore })},`,
    ")",
    "for chunk in stream:",
    "    for choice in chunk.choices:",
    '        print(choice.delta.content or "", end="")',
  ].join("\n");
}

function withCurl(path, body, origin, hasKey) {
  const text = JSON.stringify(shortened(body), null, 2).replaceAll("'", "'\\''");
  return [
    `curl --no-buffer ${origin}${path} \\`,
    ...(hasKey ? ['  -H "Authorization: Bearer $ABSTRACTCORE_KEY" \\'] : []),
    "  -H 'Content-Type: application/json' \\",
    `  -d '${text}'`,
  ].join("\n");
}

// A body whose files are short: their content stands for itself in no program.
export function shortened(value) {
  if (typeof value === "string" && value.length > 200 && /^(data:|[A-Za-z0-9+/=]+$)/.test(value)) {
    const head = value.startsWith("data:") ? value.slice(0, value.indexOf(",") + 1) : "";
    return `${head}BASE64_OF_THE_FILE`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item)]));
  }
  return value;
}

function quoted(text) {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function literal(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([key, item]) => `${quoted(key)}: ${literal(item)}`).join(", ")}}`;
  }
  return typeof value === "string" ? quoted(value) : String(value);
}
