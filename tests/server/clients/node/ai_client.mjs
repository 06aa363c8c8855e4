// The AI SDK (npm's `ai`) through three of its providers: an answer, a stream, a tool call, an error.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, jsonSchema, streamText, tool } from "ai";

const baseURL = process.argv[2];
const apiKey = "unused";
const models = {
  compatible: createOpenAICompatible({ name: "local", baseURL, apiKey, includeUsage: true })("scripted"),
  responses: createOpenAI({ baseURL, apiKey })("scripted"),
  anthropic: createAnthropic({ baseURL, apiKey })("scripted"),
};
const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] });
const tools = { weather: tool({ description: "Tells the weather of a city.", inputSchema }) };
const found = {};
for (const [name, model] of Object.entries(models)) {
  const given = { model, prompt: "Say hello.", maxRetries: 0 };
  const whole = await generateText(given);
  const stream = streamText(given);
  const chunks = [];
  for await (const text of stream.textStream) chunks.push(text);
  const usage = await stream.usage;
  const called = await generateText({ ...given, tools });
  let error = null;
  try {
    await generateText(given);
  } catch (caught) {
    error = [APICallError.isInstance(caught), caught.statusCode];
  }
  found[name] = {
    whole: [whole.text, whole.usage.inputTokens, whole.usage.outputTokens],
    stream: [chunks.filter((text) => text), usage.inputTokens, usage.outputTokens],
    tool: [called.toolCalls[0].toolName, called.toolCalls[0].input, called.finishReason],
    error,
  };
}
console.log(JSON.stringify(found));
