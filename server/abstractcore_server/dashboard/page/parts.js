// Messages of a conversation. Texts only ever become text nodes; files are read when their button is pressed.

import { element } from "/playground/elements.js";
import { readFile } from "./api.js";
import { bytes } from "./format.js";

const SHOWN_CHARACTERS = 4000;
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];
const OWN_SIZE = 2_000_000; // smaller images are shown without being asked for

export function messageOf(role, parts, trace, note = "") {
  const who = element("p", { class: "who" }, note ? `${role}, ${note}` : role);
  return element("article", { class: `said ${role}`, "aria-label": role }, who, ...parts.map((part) => partOf(part, trace)));
}

export function partOf(part, trace) {
  if (part.type === "file") return fileOf(part, trace);
  if (part.type === "tool_result") {
    const title = part.is_error ? "result of a tool, an error" : "result of a tool";
    return element("div", { class: "inner" }, element("p", { class: "who" }, title), ...part.parts.map((each) => partOf(each, trace)));
  }
  if (part.type === "tool_call") return textOf(`${part.name}(${part.text})`, "text code");
  if (part.type === "text") return textOf(part.text, "text");
  return element("details", {}, element("summary", {}, part.type.replaceAll("_", " ")), textOf(part.text, "text muted"));
}

function textOf(text, kind) {
  const shown = element("p", { class: kind }, text.slice(0, SHOWN_CHARACTERS));
  if (text.length <= SHOWN_CHARACTERS) return shown;
  const more = element("button", { type: "button" }, `Show ${text.length - SHOWN_CHARACTERS} more characters`);
  more.addEventListener("click", () => {
    shown.textContent = text;
    more.remove();
  });
  return element("div", {}, shown, more);
}

function fileOf(part, trace) {
  const name = part.name ?? part.media_type;
  const facts = [name, part.name ? part.media_type : "", bytes(part.size)].filter(Boolean).join(", ");
  const figure = element("figure", {}, element("figcaption", {}, facts));
  if (part.sha256 === null) {
    figure.append(element("p", { class: "hint" }, `Its content was not kept (${part.form}).`));
    return figure;
  }
  const button = element("button", { type: "button" }, `Show ${name}`);
  const show = async () => {
    button.disabled = true;
    try {
      figure.append(shownFile(part, name, await readFile(trace, part.sha256, safeType(part.media_type))));
      button.remove();
    } catch (error) {
      figure.append(element("p", { class: "notice error", role: "alert" }, error.message));
    }
  };
  button.addEventListener("click", show);
  figure.append(button);
  if (IMAGES.includes(part.media_type) && part.size <= OWN_SIZE) show();
  return figure;
}

// A type that a browser shows without running what is in it.
function safeType(type) {
  return IMAGES.includes(type) || type.startsWith("audio/") || type.startsWith("video/") ? type : "application/octet-stream";
}

function shownFile(part, name, blob) {
  const url = URL.createObjectURL(blob);
  if (blob.type.startsWith("image/")) return element("img", { src: url, alt: name });
  if (blob.type.startsWith("audio/")) return element("audio", { src: url, controls: "", "aria-label": name });
  if (blob.type.startsWith("video/")) return element("video", { src: url, controls: "", "aria-label": name });
  return element("a", { href: url, download: part.name ?? "file", class: "save" }, `Save ${name}`);
}
