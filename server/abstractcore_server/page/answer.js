// An answer as it is streamed: its text, reasoning, tool calls, images, sound and the field `abstractcore`; and results of
// its tool calls.

export class Answer {
  constructor() {
    this.text = "";
    this.reasoning = "";
    this.calls = [];
    this.images = []; // URLs
    this.sound = []; // base64, in pieces that are padded each
    this.transcript = "";
    this.finish = null;
    this.fields = null;
    this.events = [];
  }

  add({ raw, data }) {
    this.events.push(raw);
    if (data === null) return;
    if (data.abstractcore) this.fields = data.abstractcore;
    for (const choice of data.choices ?? []) {
      const delta = choice.delta ?? {};
      this.finish = choice.finish_reason ?? this.finish;
      this.text += delta.content ?? "";
      this.reasoning += delta.reasoning_content ?? delta.reasoning ?? "";
      for (const call of delta.tool_calls ?? []) this.addCall(call);
      for (const image of delta.images ?? []) this.images.push(image.image_url.url);
      if (delta.audio?.data) this.sound.push(delta.audio.data);
      this.transcript += delta.audio?.transcript ?? "";
    }
  }

  addCall(piece) {
    const call = (this.calls[piece.index] ??= { id: "", name: "", arguments: "" });
    call.id += piece.id ?? "";
    call.name += piece.function?.name ?? "";
    call.arguments += piece.function?.arguments ?? "";
  }

  // Its complete tool calls: the last one of an answer that was stopped may lack its end.
  get completeCalls() {
    return this.finish === null ? [] : this.calls.filter(Boolean);
  }

  // The messages with which a conversation goes on. The API has no images in answers: they go back as the user's.
  get messages() {
    const content = this.text || this.transcript;
    const calls = this.completeCalls.map(({ id, name, arguments: given }) => ({
      id,
      type: "function",
      function: { name, arguments: given },
    }));
    const images = calls.length ? [] : this.images.filter((url) => url.startsWith("data:"));
    const messages = [];
    if (content || calls.length) {
      messages.push({ role: "assistant", ...(content ? { content } : {}), ...(calls.length ? { tool_calls: calls } : {}) });
    }
    if (images.length) messages.push({ role: "user", content: images.map((url) => ({ type: "image_url", image_url: { url } })) });
    return messages;
  }
}

const NOT_RUN = "The tool was not run.";

// The results of tool calls, which a person writes in place of a program.
export class PendingCalls {
  constructor(calls, fields) {
    this.calls = calls;
    this.fields = fields;
  }

  get areWritten() {
    return this.fields.values().some(Boolean);
  }

  // The messages with the results: APIs take no further message before each call has one.
  get messages() {
    const values = this.fields.values();
    return this.calls.map((call, index) => ({ role: "tool", tool_call_id: call.id, content: values[index] || NOT_RUN }));
  }

  get text() {
    return this.messages.map((message, index) => `${this.calls[index].name}: ${message.content}`).join("\n");
  }
}
