// A message as a call of the server: of a chat, or of a route that makes speech, an image or music.

import { byId } from "./elements.js";
import { partOf } from "./files.js";
import { MAKERS } from "./makers.js";
import { options } from "./options.js";

// `earlier` are the messages of the conversation, `results` those with results of the last tool calls.
export function callOf(prompt, chosen, earlier, results) {
  const given = options();
  const content = chosen.length ? [...chosen.map(partOf), ...(prompt ? [{ type: "text", text: prompt }] : [])] : prompt;
  const messages = [...results, ...(content ? [{ role: "user", content }] : [])];
  const body = {
    model: byId("model").value,
    messages: [...(given.system ? [{ role: "system", content: given.system }] : []), ...earlier, ...messages],
    ...(given.temperature === null ? {} : { temperature: given.temperature }),
    ...(given.most === null ? {} : { max_tokens: given.most }),
    ...(given.modalities.length ? { modalities: given.modalities } : {}),
    ...(given.modalities.includes("audio") ? { audio: { voice: given.voice ?? "alloy", format: "pcm16" } } : {}),
    ...(given.tools ? { tools: given.tools } : {}),
    stream: true,
    stream_options: { include_usage: true },
    abstractcore: given.policy === "auto" ? {} : { media_policy: policyForAll(given.policy) },
  };
  return { model: body.model, prompt, files: chosen, options: given, body, messages };
}

export function madeCallOf(kind, prompt, chosen) {
  if (chosen.length) throw new Error("Only an answer can be about files: remove them, or choose Answer.");
  const maker = MAKERS[kind];
  const model = byId("model").value;
  const body = maker.body({ model, prompt, voice: options().voice });
  return { kind, maker, model, prompt, files: [], path: maker.path, body };
}

function policyForAll(policy) {
  return Object.fromEntries(["text", "image", "audio", "video", "document"].map((kind) => [kind, policy]));
}

