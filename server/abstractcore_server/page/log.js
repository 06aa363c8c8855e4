// The messages of the conversation as they are shown.

import { byId, element } from "./elements.js";
import { MarkdownText } from "./markdown.js";
import { figure, soundOf } from "./media.js";

let fieldCount = 0;

export function addMessage(kind, who, text, previews = []) {
  byId("hint").hidden = true;
  const message = element(
    "article",
    { class: `message ${kind}`, "aria-label": who },
    element("h2", { class: "who" }, who),
    text ? element("p", { class: "text" }, text) : null,
    ...previews,
  );
  byId("log").append(message);
  message.scrollIntoView({ block: "end" });
  return message;
}

export function addAnswer(model) {
  const text = new MarkdownText();
  const calls = element("p", { class: "calls", hidden: "" });
  const thought = element("pre", { tabindex: "0", role: "group", "aria-label": "Reasoning" });
  const reasoning = element("details", { hidden: "" }, element("summary", {}, "Reasoning"), thought);
  const message = addMessage("assistant", model, "", [reasoning, text.element, calls]);
  message.setAttribute("aria-busy", "true");
  const show = (answer) => {
    const made = answer.calls.filter(Boolean).map((call) => `${call.name}(${call.arguments})`);
    calls.textContent = made.join("\n");
    calls.hidden = !made.length;
    thought.textContent = answer.reasoning;
    reasoning.hidden = !answer.reasoning;
  };
  const textOf = (answer) => answer.text || answer.transcript || ""; // kept answers have no transcript
  return {
    update(answer) {
      const log = byId("log");
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
      show(answer);
      text.update(textOf(answer), () => {
        if (isAtEnd) log.scrollTop = log.scrollHeight;
      });
    },
    // Shows the whole answer; `words` say what it cost.
    end(answer, words) {
      show(answer);
      text.end(textOf(answer));
      if (words) message.append(element("p", { class: "spend" }, words));
      message.setAttribute("aria-busy", "false");
      message.scrollIntoView({ block: "end" });
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
      if (answer?.text) {
        this.end(answer);
        this.note("The answer was cut off by an error.");
      } else {
        text.end("");
        message.remove();
      }
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

export function clearLog() {
  byId("log").replaceChildren(byId("hint"));
  byId("hint").hidden = false;
}

export function showNotice(words) {
  const notice = element("p", { class: "notice muted" }, words);
  byId("log").append(notice);
  notice.scrollIntoView({ block: "end" });
}

export function showError(message) {
  byId("hint").hidden = true;
  const notice = element("p", { class: "notice error", role: "alert" }, message);
  byId("log").append(notice);
  notice.scrollIntoView({ block: "end" });
}
