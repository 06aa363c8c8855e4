// The tabs of the call, and on a narrow screen the views, of which it shows one.

import { byId } from "./elements.js";

export function watchTabs() {
  for (const tab of tabs()) tab.addEventListener("click", () => chooseTab(tab));
  document.querySelector("[role=tablist]").addEventListener("keydown", moveInTabs);
  for (const button of views()) button.addEventListener("click", () => chooseView(button.dataset.view));
}

// Shows the view "conversations", "chat" or "call".
export function chooseView(name) {
  document.body.dataset.view = name;
  for (const button of views()) button.setAttribute("aria-pressed", String(button.dataset.view === name));
}

function tabs() {
  return [...document.querySelectorAll("[role=tab]")];
}

function views() {
  return [...document.querySelectorAll("#views button")];
}

function chooseTab(tab) {
  for (const each of tabs()) {
    const isChosen = each === tab;
    each.setAttribute("aria-selected", String(isChosen));
    each.tabIndex = isChosen ? 0 : -1;
    byId(each.getAttribute("aria-controls")).hidden = !isChosen;
  }
}

function moveInTabs(event) {
  const all = tabs();
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const next = all[(all.indexOf(event.target) + step + all.length) % all.length];
  chooseTab(next);
  next.focus();
}
