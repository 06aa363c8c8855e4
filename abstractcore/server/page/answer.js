// An answer as it is streamed: its text, reasoning, tool calls and the field `abstractcore`.

export class Answer {
  constructor() {
    this.text = "";
    this.reasoning = "";
    this.calls = [];
    this.finish = null;
    this.fields = null;
    this.events = [];
  }

  add({ raw, data }) {
    this.events.push(raw);
    if (data === null) return;
    if (data.abstractcore) this.fields = data.abstractcore;
    for (const choice of data.choices ?? []) {
      this.finish = choice.finish_reason ?? this.finish;
      this.text += choice.delta?.content ?? "";
      this.reasoning += choice.delta?.reasoning_content ?? choice.delta?.reasoning ?? "";
      for (const call of choice.delta?.tool_calls ?? []) this.addCall(call);
    }
  }

  addCall(piece) {
    const call = (this.calls[piece.index] ??= { id: "", name: "", arguments: "" });
    call.id += piece.id ?? "";
    call.name += piece.function?.name ?? "";
    call.arguments += piece.function?.arguments ?? "";
  }

  // The message with which a conversation goes on; null for an answer without content.
  get message() {
    return this.text ? { role: "assistant", content: this.text } : null;
  }
}
