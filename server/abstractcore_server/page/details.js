// What happened in a call: its files, tools, warnings, tokens and cost.

import { element } from "./elements.js";

export function detailsOf(answer, call) {
  const fields = answer.fields;
  const shown = [];
  for (const decision of fields?.media ?? []) shown.push(decisionOf(decision, nameOf(decision, call)));
  if (shown.length) shown.unshift(element("h2", {}, "Files"));
  if (answer.calls.length) shown.push(element("h2", {}, "Tool calls"), ...answer.calls.map(callOf));
  if (fields?.warnings.length) {
    const lines = fields.warnings.map((warning) => element("li", {}, warning.message ?? warning.code));
    shown.push(element("h2", {}, "Warnings"), element("ul", {}, ...lines));
  }
  if (fields) shown.push(element("h2", {}, "Call"), listOf(callFacts(fields, answer)));
  return shown.length ? shown : [element("p", { class: "hint" }, "There are no details of this answer.")];
}

export function costOf(fields) {
  if (fields.cost === null) return `unknown: ${fields.cost_reason ?? "no price is known"}`;
  return Number(fields.cost) === 0 ? "free" : `$${fields.cost}`;
}

// What an answer cost, in a line.
export function spendOf({ model, usage, cost, cost_reason, seconds }) {
  const tokens = (count) => count?.toLocaleString("en") ?? "?";
  const cached = usage.cached ? ` (${tokens(usage.cached)} cached)` : "";
  const price = costOf({ cost, cost_reason });
  return [
    model,
    `${tokens(usage.input)} tokens in${cached}, ${tokens(usage.output)} out`,
    cost === null ? `cost ${price}` : price,
    `${seconds.toFixed(2)} s`,
  ].join(" · ");
}

function callFacts(fields, answer) {
  return {
    Model: fields.model,
    Tokens: `${fields.usage.input ?? "?"} in, ${fields.usage.output ?? "?"} out`,
    Cost: costOf(fields),
    Time: `${fields.seconds.toFixed(2)} s`,
    Attempts: String(fields.attempts),
    "Ended by": answer.finish ?? "?",
    "Trace id": fields.trace_id,
  };
}

// The chat API has no names for images and recordings: the place of the file in the request tells its name.
function nameOf(decision, call) {
  const [, message, part] = /^messages\[(\d+)\]\.parts\[(\d+)\]$/.exec(decision.part_path) ?? [];
  const isLast = Number(message) === call.body.messages.length - 1;
  return (isLast && call.files[Number(part)]?.name) || decision.source;
}

function decisionOf(decision, name) {
  const route = decision.fallback ? `${decision.route}: ${decision.fallback}` : decision.route;
  const facts = {
    Type: decision.type,
    Sent: route,
    Why: decision.reason,
    By: decision.model,
    Tokens: decision.tokens,
    Time: decision.seconds === undefined ? null : `${decision.seconds.toFixed(2)} s`,
    Cost: decision.cost,
    Lost: decision.lost?.map((loss) => lossOf(loss)).join("; "),
  };
  const text = decision.sent?.text;
  const more = text ? element("details", {}, element("summary", {}, "What was sent"), element("pre", { tabindex: "0" }, text)) : null;
  return element("div", { class: "decision" }, element("h3", {}, name), listOf(facts), more);
}

function lossOf(loss) {
  return `${loss.count}${loss.total === undefined ? "" : ` of ${loss.total}`} ${loss.what}`;
}

function callOf(call) {
  return element("div", { class: "decision" }, element("h3", {}, call.name), element("pre", { tabindex: "0" }, call.arguments));
}

export function listOf(facts) {
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return element("dl", {}, ...known.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}
