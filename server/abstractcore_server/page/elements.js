// Makes elements. Texts of models and files only ever become text nodes, never HTML.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

export function copyButton(title, text) {
  const button = element("button", { type: "button", "aria-label": `Copy: ${title}` }, "Copy");
  button.hidden = !navigator.clipboard; // browsers have it on this machine and over HTTPS only
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  });
  return button;
}

export function copyable(title, text) {
  const head = element("div", { class: "copied" }, element("h2", {}, title), copyButton(title, text));
  return [head, element("pre", { tabindex: "0", role: "region", "aria-label": title }, text)];
}
