// The table of sums by group, and that of calls.

import { element } from "/playground/elements.js";
import { cost, count, dollars, seconds, time } from "./format.js";

const AMOUNTS = ["known", "estimated", "saved"];
const COUNTS = ["unknown", "calls", "failed", "input_tokens", "output_tokens"];
const MOST_COMPARED = 2;

export function totalsOf(totals) {
  const facts = {
    "Cost, known": dollars(totals.known),
    "Cost, estimated": dollars(totals.estimated),
    "Saved by caches": dollars(totals.saved),
    "Of unknown cost": `${count(totals.unknown)} calls`,
    Calls: count(totals.calls),
    Failed: count(totals.failed),
    "Tokens in": count(totals.input_tokens),
    "Tokens out": count(totals.output_tokens),
  };
  return Object.entries(facts).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
}

export function groupTable(groups, by) {
  const total = (group, name) => group[name].reduce((sum, value) => sum + value, 0);
  const heads = [by.replace(/^tag:/, ""), "known", "estimated", "saved", "unknown", "calls", "failed", "tokens in", "tokens out"];
  const rows = groups.map((group) => [
    element("th", { scope: "row" }, group.name),
    ...[...AMOUNTS.map((name) => dollars(group[`${name}_total`])), ...COUNTS.map((name) => count(total(group, name)))].map(numberCell),
  ]);
  return [head(heads, 1), element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells)))];
}

// The calls, with a box each to choose two for comparison.
export function callTable(calls, chosen, onChoice) {
  const heads = ["", "began", "model", "outcome", "seconds", "tokens in", "tokens out", "cost", "tags"];
  return [head(heads, 4, 8), element("tbody", {}, ...calls.map((call) => callRow(call, chosen, onChoice)))];
}

export function addressOf(id) {
  return `#trace=${encodeURIComponent(id)}`;
}

export function callRow(call, chosen, onChoice) {
  const began = time(call.started_at);
  const box = element("input", { type: "checkbox", "aria-label": `Compare ${call.model}, ${began}` });
  box.checked = chosen.has(call.id);
  box.addEventListener("change", () => {
    if (box.checked && chosen.size >= MOST_COMPARED) {
      box.checked = false;
      return;
    }
    if (box.checked) chosen.add(call.id);
    else chosen.delete(call.id);
    onChoice();
  });
  const name = call.operation === "chat" ? call.model : `${call.model} (${call.operation})`;
  const tags = Object.entries(call.tags).map(([key, value]) => element("span", { class: "tag" }, `${key}=${value}`));
  return element(
    "tr",
    {},
    element("td", {}, box),
    element("td", { class: "when" }, element("a", { href: addressOf(call.id) }, began)),
    element("td", {}, name),
    element("td", {}, element("span", { class: `outcome ${call.outcome}` }, call.outcome)),
    numberCell(seconds(call.seconds)),
    numberCell(count(call.input_tokens)),
    numberCell(count(call.output_tokens)),
    numberCell(cost(call)),
    element("td", {}, ...tags),
  );
}

function head(names, firstNumber, end = names.length) {
  const cells = names.map((name, index) => {
    const attributes = { scope: "col", class: index >= firstNumber && index < end ? "number" : null };
    return name ? element("th", attributes, name) : element("td", {});
  });
  return element("thead", {}, element("tr", {}, ...cells));
}

function numberCell(text) {
  return element("td", { class: "number" }, text);
}
