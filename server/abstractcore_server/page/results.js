// The results of tool calls, which a person writes in place of a program.

const NOT_RUN = "The tool was not run.";

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
