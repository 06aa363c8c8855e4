// The list of conversations, and what can be done with the one that is open.

import { byId, element } from "./elements.js";

// Shows the list; `onOpen` is called with the id of the conversation that is chosen.
export function showList(all, open, onOpen) {
  byId("kept").replaceChildren(
    ...all.map((each) => {
      const isOpen = each.id === open.id;
      const when = new Date(each.changed).toLocaleDateString("en", { day: "numeric", month: "short" });
      const count = each.turns.length === 1 ? "1 answer" : `${each.turns.length} answers`;
      const button = element(
        "button",
        { type: "button", "aria-current": isOpen ? "true" : null },
        element("span", { class: "title" }, each.title),
        element("span", { class: "muted" }, `${count} · ${when}`),
      );
      button.addEventListener("click", () => onOpen(each.id));
      return element("li", {}, button);
    }),
  );
  const isEmpty = open.turns.length === 0;
  byId("name").value = open.title;
  for (const control of byId("open-conversation").querySelectorAll("input, button")) control.disabled = isEmpty;
}

// Has the browser save a text as a file.
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it later
}

export function fileNameOf(title) {
  return title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase().slice(0, 60) || "conversation";
}
