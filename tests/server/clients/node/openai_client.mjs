// openai of npm: answers, streams, a tool call and an error, of Chat Completions and Responses; the list of models.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "unused", maxRetries: 0 });
const messages = [{ role: "user", content: "Say hello." }];
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [{ type: "function", function: { name: "weather", parameters } }];

const whole = await client.chat.completions.create({ model: "scripted", messages });
const chunks = [];
let usage = null;
const stream_options = { include_usage: true };
for await (const chunk of await client.chat.completions.create({ model: "scripted", messages, stream: true, stream_options })) {
  if (chunk.choices[0]?.delta.content) chunks.push(chunk.choices[0].delta.content);
  usage = chunk.usage ?? usage;
}
const called = await client.chat.completions.create({ model: "scripted", messages, tools });
const call = called.choices[0].message.tool_calls[0];
const response = await client.responses.create({ model: "scripted", input: "Say hello." });
const events = [];
for await (const event of await client.responses.create({ model: "scripted", input: "Say hello.", stream: true })) {
  if (event.type === "response.output_text.delta") events.push(event.delta);
}
let error = null;
try {
  await client.chat.completions.create({ model: "scripted", messages });
} catch (caught) {
  error = [caught instanceof OpenAI.RateLimitError, caught.status];
}
const models = [];
for await (const model of client.models.list()) models.push(model.id);
console.log(JSON.stringify({
  whole: [whole.choices[0].message.content, whole.usage.prompt_tokens, whole.usage.completion_tokens],
  stream: [chunks, usage.prompt_tokens, usage.completion_tokens],
  tool: [call.function.name, JSON.parse(call.function.arguments), called.choices[0].finish_reason],
  response: [response.output_text, response.usage.input_tokens, response.usage.output_tokens],
  events,
  error,
  models: models.includes("scripted"),
}));
