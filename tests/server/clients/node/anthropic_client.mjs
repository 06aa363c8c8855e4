// @anthropic-ai/sdk: an answer, a stream, a tool call, a count of tokens, an error.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.argv[2].replace(/\/v1$/, ""), apiKey: "unused", maxRetries: 0 });
const messages = [{ role: "user", content: "Say hello." }];
const given = { model: "scripted", max_tokens: 100, messages };
const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const whole = await client.messages.create(given);
const chunks = [];
const stream = client.messages.stream(given).on("text", (text) => chunks.push(text));
const last = await stream.finalMessage();
const called = await client.messages.create({ ...given, tools: [{ name: "weather", input_schema }] });
const call = called.content.find((block) => block.type === "tool_use");
const count = await client.messages.countTokens({ model: "scripted", messages });
let error = null;
try {
  await client.messages.create(given);
} catch (caught) {
  error = [caught instanceof Anthropic.RateLimitError, caught.status];
}
console.log(JSON.stringify({
  whole: [whole.content[0].text, whole.usage.input_tokens, whole.usage.output_tokens],
  stream: [chunks, last.usage.input_tokens, last.usage.output_tokens],
  tool: [call.name, call.input, called.stop_reason],
  count: count.input_tokens > 0,
  error,
}));
