// The messages of the conversation as they are shown.

import { byId, element } from "./elements.js";
import { figure, soundOf } from "./media.js";

let fieldCount = 0;

export function addMessage(kind, who, text, previews = []) {
  byId("hint").hidden = true;
  const message = element(
    "article",
    { class: `message ${kind}`, "aria-label": who },
    element("p", { class: "who", "aria-hidden": "true" }, who),
    text ? element("p", { class: "text" }, text) : null,
    ...previews,
  );
  byId("log").append(message);
  message.scrollIntoView({ block: "end" });
  return message;
}

export function addAnswer(model) {
  const text = element("p", { class: "text" });
  const thought = element("pre", { tabindex: "0" });
  const reasoning = element("details", { hidden: "" }, element("summary", {}, "Reasoning"), thought);
  const message = addMessage("assistant", model, "", [reasoning, text]);
  message.setAttribute("aria-busy", "true");
  return {
    update(answer) {
      const log = byId("log");
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
      const calls = answer.calls.filter(Boolean).map((call) => `${call.name}(${call.arguments})`);
      text.textContent = [answer.text || answer.transcript, ...calls].filter(Boolean).join("\n");
      thought.textContent = answer.reasoning;
      reasoning.hidden = !answer.reasoning;
      message.setAttribute("aria-busy", String(answer.finish === null));
      if (isAtEnd) log.scrollTop = log.scrollHeight;
    },
    // Shows files, and ends the message.
    files(sources, name) {
      sources.forEach((source, index) => message.append(figure(source, sources.length > 1 ? `${name} ${index + 1}` : name)));
      message.setAttribute("aria-busy", "false");
      const showEnd = () => message.scrollIntoView({ block: "end" });
      for (const image of message.querySelectorAll("img")) image.addEventListener("load", showEnd);
      showEnd();
    },
    filesOf(answer) {
      this.files(answer.images, "image");
      if (answer.sound.length) this.files([soundOf(answer.sound)], "sound");
    },
    note(words) {
      message.append(element("p", { class: "muted" }, words));
      message.setAttribute("aria-busy", "false");
    },
    remove(answer) {
      if (answer?.text) this.note("The answer was cut off by an error.");
      else message.remove();
    },
    // Fields for the results of tool calls, which the next message sends; `onSend` is called by the button.
    resultFields(calls, onSend) {
      const areas = calls.map(() => element("textarea", { id: `result-${(fieldCount += 1)}`, rows: "2" }));
      const fields = calls.map((call, index) =>
        element("div", { class: "field" }, element("label", { for: areas[index].id }, `Result of ${call.name}`), areas[index]),
      );
      const button = element("button", { type: "button" }, calls.length > 1 ? "Send results" : "Send result");
      button.addEventListener("click", onSend);
      const all = element("div", { class: "results" }, ...fields, button);
      message.append(all);
      message.scrollIntoView({ block: "end" });
      return { values: () => areas.map((area) => area.value.trim()), remove: () => all.remove() };
    },
  };
}

export function showError(message) {
  byId("hint").hidden = true;
  const notice = element("p", { class: "notice error", role: "alert" }, message);
  byId("log").append(notice);
  notice.scrollIntoView({ block: "end" });
}
