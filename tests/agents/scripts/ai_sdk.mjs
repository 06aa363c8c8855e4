// Two prompts by the AI SDK (npm's `ai`) through one of its providers, streamed.
import { readFileSync, writeFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";

const [url, name, kind] = process.argv.slice(2);
const baseURL = `${url}/v1`;
const apiKey = "unused";
const models = {
  compatible: () => createOpenAICompatible({ name: "local", baseURL, apiKey, includeUsage: true })(name),
  responses: () => createOpenAI({ baseURL, apiKey })(name),
  anthropic: () => createAnthropic({ baseURL, apiKey })(name),
};
const schema = (...names) =>
  jsonSchema({
    type: "object",
    properties: Object.fromEntries(names.map((each) => [each, { type: "string" }])),
    required: names,
  });
const tools = {
  read_file: tool({
    description: "Returns the text of a file.",
    inputSchema: schema("path"),
    execute: async ({ path }) => readFileSync(path, "utf8"),
  }),
  write_file: tool({
    description: "Writes a text into a file.",
    inputSchema: schema("path", "text"),
    execute: async ({ path, text }) => {
      writeFileSync(path, text);
      return "written";
    },
  }),
};
const prompts = [
  "Read a.txt and b.txt. Then write the words of a.txt in capitals into one.txt.",
  "Now write the words of b.txt in capitals into two.txt.",
];
let messages = [];
for (const content of prompts) {
  messages.push({ role: "user", content });
  let failure;
  const onError = ({ error }) => (failure = error);
  const result = streamText({ model: models[kind](), messages, tools, stopWhen: stepCountIs(8), maxRetries: 0, onError });
  await result.consumeStream();
  if (failure) throw failure;
  console.log(await result.text);
  messages = messages.concat((await result.response).messages);
}
