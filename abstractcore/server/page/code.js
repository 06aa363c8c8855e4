// The same call as a program: for abstractcore, for OpenAI's client, and for curl. Files become their names, and an access
// key becomes the variable ABSTRACTCORE_KEY: neither is ever part of the code.

export function programs(call, origin, hasKey) {
  return [
    ["Python, abstractcore", withLibrary(call)],
    ["Python, openai", withClient(call, origin, hasKey)],
    ["curl", withCurl(call, origin, hasKey)],
  ];
}

function withLibrary({ model, prompt, files, options, body }) {
  const name = model === "default" ? "" : model.includes("/") ? `model=${quoted(model)}` : quoted(model);
  const media = files.length ? `, media=[${files.map((file) => quoted(file.name)).join(", ")}]` : "";
  const earlier = body.messages.slice(options.system ? 1 : 0, -1);
  const tools = (options.tools ?? []).map((tool) => `ToolSpec(**${literal(tool.function ?? tool)})`);
  const more = Object.entries({
    system_prompt: options.system,
    temperature: options.temperature,
    max_output_tokens: options.most,
    media_policy: files.length && options.policy !== "auto" ? options.policy : null,
  }).filter(([, value]) => value !== null);
  const given = [
    ...(earlier.length ? [["messages", literal(shortened(earlier))]] : []),
    ...more.map(([key, value]) => [key, literal(value)]),
    ...(tools.length ? [["tools", `[${tools.join(", ")}]`]] : []),
  ].map(([key, value]) => `, ${key}=${value}`).join("");
  return [
    `from abstractcore import ${tools.length ? "ToolSpec, " : ""}create_llm`,
    "",
    `llm = create_llm(${name})`,
    `response = llm.generate(${quoted(prompt)}${media}${given})`,
    "print(response.content)",
    ...(files.length ? ["print(response.media)"] : []),
  ].join("\n");
}

function withClient({ body }, origin, hasKey) {
  const key = hasKey ? 'os.environ["ABSTRACTCORE_KEY"]' : '"none"';
  const { abstractcore, stream, stream_options, ...fields } = shortened(body);
  return [
    ...(hasKey ? ["import os", ""] : []),
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${origin}/v1", api_key=${key})`,
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

function withCurl({ body }, origin, hasKey) {
  const text = JSON.stringify(shortened(body), null, 2).replaceAll("'", "'\\''");
  return [
    `curl --no-buffer ${origin}/v1/chat/completions \\`,
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
