// A conversation: its turns, as messages of the chat API and as they are shown; what is kept of it, and its exports.

import { spendOf } from "./details.js";

const VERSION = 1;
const LONGEST_TITLE = 60;

export class Conversation {
  constructor({ id, title, changed, options, turns } = {}) {
    this.id = id ?? `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    this.title = title ?? "";
    this.changed = changed ?? Date.now();
    this.options = options ?? {};
    this.turns = turns ?? [];
    this.isRemoved = false;
  }

  add(turn) {
    this.turns.push(turn);
    this.changed = Date.now();
    this.title ||= titleOf(turn.asked);
  }

  // The messages with which it goes on; files of this visit are among them.
  get messages() {
    return this.turns.flatMap((turn) => turn.messages);
  }

  // What is kept: files are left out of the messages, where their names say so.
  get data() {
    const { id, title, changed, options } = this;
    const turns = this.turns.map((turn) => ({ ...turn, messages: withoutFiles(turn) }));
    return { version: VERSION, id, title, changed, options, turns };
  }

  // The messages in the format of OpenAI's Chat Completions, which a session of the library reads.
  toOpenAI() {
    const system = this.options.system ? [{ role: "system", content: this.options.system }] : [];
    return [...system, ...this.data.turns.flatMap((turn) => turn.messages)];
  }

  toMarkdown() {
    const turns = this.turns.flatMap(({ asked, answer }) => [
      "## You",
      ...asked.files.map((name) => `*File: ${name}*`),
      asked.text,
      `## ${answer.model}`,
      answer.text,
      ...answer.calls.map((call) => `\`\`\`\n${call.name}(${call.arguments})\n\`\`\``),
      ...answer.made.map((name) => `*Made: ${name}*`),
      answer.spend ? `*${spendOf(answer.spend)}*` : "",
    ]);
    return `${[`# ${this.title}`, this.options.system ?? "", ...turns].filter(Boolean).join("\n\n")}\n`;
  }
}

export function turnOf(call, results, received) {
  const { fields } = received;
  const { model, usage, cost, cost_reason, seconds } = fields ?? {};
  return {
    asked: { text: [results, call.prompt].filter(Boolean).join("\n"), files: call.files.map((file) => file.name) },
    messages: [...call.messages, ...received.messages],
    answer: {
      model: call.model,
      text: received.text || received.transcript,
      reasoning: received.reasoning,
      calls: received.completeCalls,
      made: [...received.images.map(() => "image"), ...(received.sound.length ? ["sound"] : [])],
      spend: fields && { model, usage, cost, cost_reason, seconds },
      isStopped: received.finish === null,
    },
  };
}

// Whether data are those of a conversation: other pages of this address may have written anything.
export function isConversation(data) {
  const are = (kind, ...values) => values.every((value) => typeof value === kind);
  const listOf = (kind, values) => Array.isArray(values) && are(kind, ...values) && !values.includes(null);
  return (
    data?.version === VERSION &&
    are("string", data.id, data.title) &&
    are("number", data.changed) &&
    are("string", ...Object.values(data.options ?? {})) &&
    listOf("object", data.turns) &&
    data.turns.every(
      ({ asked, messages, answer }) =>
        are("string", asked?.text, answer?.model, answer?.text, answer?.reasoning) &&
        listOf("string", asked.files) &&
        listOf("string", answer.made) &&
        listOf("object", messages) &&
        listOf("object", answer.calls) &&
        are("string", ...answer.calls.flatMap((call) => [call.id, call.name, call.arguments])) &&
        (answer.spend === null || isSpend(answer.spend)),
    )
  );
}

function isSpend(spend) {
  return typeof spend?.seconds === "number" && spend.usage !== null && typeof spend.usage === "object";
}

function titleOf({ text, files }) {
  const line = text.split("\n", 1)[0] || files.join(", ");
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}

function withoutFiles({ asked, messages }) {
  const names = [...asked.files];
  const kept = (part) =>
    part.type === "text" ? part.text : `[The file ${names.shift() ?? "image"} is not part of this conversation any more.]`;
  return messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(kept).join("\n") } : message,
  );
}
