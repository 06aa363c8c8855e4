// A trace: a waterfall of its records, and what happened in the chosen one.

import { element } from "/playground/elements.js";
import { listOf } from "/playground/details.js";
import { cost, count, dollars, seconds, time } from "./format.js";
import { messageOf, partOf } from "./parts.js";

// The view of a trace, the first or second one on the page. `wanted` is the record that is shown first.
export function traceView(trace, wanted, number) {
  const begin = Math.min(...trace.nodes.map((node) => node.started_at));
  const end = Math.max(...trace.nodes.map((node) => node.started_at + node.seconds), begin + 1e-6);
  const details = element("div", { class: "details", role: "region", "aria-label": `Record of trace ${number}`, tabindex: "0" });
  const buttons = trace.nodes.map((node) => bar(node, begin, end));
  const choose = (index) => {
    buttons.forEach((button, number) => button.setAttribute("aria-pressed", String(number === index)));
    details.replaceChildren(...detailsOf(trace.nodes[index], trace.id));
  };
  buttons.forEach((button, index) => button.addEventListener("click", () => choose(index)));
  const list = element("ol", { class: "waterfall" }, ...buttons.map((button) => element("li", {}, button)));
  list.addEventListener("keydown", (event) => moveIn(buttons, event));
  choose(Math.max(0, trace.nodes.findIndex((node) => node.id === wanted)));
  const first = trace.nodes[0];
  const sums = [dollars(trace.known)];
  if (Number(trace.estimated)) sums.push(`~${dollars(trace.estimated)} estimated`);
  if (trace.unknown) sums.push(`${count(trace.unknown)} calls of unknown cost`);
  if (Number(trace.saved)) sums.push(`${dollars(trace.saved)} saved by caches`);
  const facts = [time(begin), seconds(end - begin), ...sums, `${count(trace.nodes.length)} records`];
  return element(
    "section",
    { class: "trace", "aria-label": `Trace ${number}` },
    element("h2", {}, first.name),
    element("p", { class: "muted" }, facts.join(" · ")),
    trace.is_cut ? element("p", { class: "notice" }, `The trace is longer: these are its first ${count(trace.nodes.length)} records.`) : null,
    element("div", { class: "split" }, list, details),
  );
}

function bar(node, begin, end) {
  const share = (value) => `${(100 * value) / (end - begin)}%`;
  const line = element("span", { class: `bar ${node.kind}${hasFailed(node) ? " failed" : ""}` });
  line.style.left = share(node.started_at - begin);
  line.style.width = `max(3px, ${share(node.seconds)})`;
  const retries = (node.attempts ?? []).filter((attempt) => attempt.error).map((attempt) => {
    const mark = element("span", { class: "bar retry" });
    mark.style.left = share(attempt.started_at - begin);
    mark.style.width = `max(3px, ${share(attempt.seconds)})`;
    return mark;
  });
  const notes = [seconds(node.seconds)];
  if (retries.length) notes.push(retries.length === 1 ? "1 failed attempt" : `${retries.length} failed attempts`);
  if (node.discarded) notes.push("discarded");
  if (hasFailed(node)) notes.push(node.outcome);
  const name = element("span", { class: "name" }, node.name, element("span", { class: "muted" }, ` ${node.kind}`));
  name.style.paddingLeft = `${Math.min(node.depth, 8) * 0.9}rem`;
  const lane = element("span", { class: "lane" }, line, ...retries);
  return element("button", { type: "button", class: "record" }, name, lane, element("span", { class: "note" }, notes.join(", ")));
}

function hasFailed(node) {
  return !["done", "answered", "retried"].includes(node.outcome) || Boolean(node.error);
}

function moveIn(buttons, event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = buttons[buttons.indexOf(event.target) + step];
  next?.focus();
  next?.click();
}

function detailsOf(node, trace) {
  const shown = [element("h3", {}, node.name), listOf(factsOf(node))];
  if (node.error) shown.push(element("p", { class: "notice error" }, `${node.error.type}: ${node.error.message}`));
  const section = (title, ...content) => shown.push(element("h3", {}, title), ...content);
  if (node.messages?.length || node.reply?.length) {
    const messages = (node.messages ?? []).map((message) => messageOf(message.role, message.parts, trace));
    if (node.reply.length) messages.push(messageOf("assistant", node.reply, trace, "reply"));
    section("Conversation", ...messages);
  }
  if (node.input) section("Input", block("Input", node.input));
  if (node.result) section("Result", block("Result", node.result));
  if (node.arguments) section("Arguments", block("Arguments", node.arguments));
  if (node.parts?.length) section(node.is_error ? "Result, an error" : "Result", ...node.parts.map((part) => partOf(part, trace)));
  if (node.decisions?.length) section("Files and decisions", ...node.decisions.map(decisionOf));
  if (node.attempts?.length > 1 || node.attempts?.some((attempt) => attempt.error)) section("Attempts", attemptsOf(node.attempts));
  if (node.warnings.length) section("Warnings", element("ul", {}, ...node.warnings.map((text) => element("li", {}, text))));
  if (node.scores.length) section("Scores", listOf(Object.fromEntries(node.scores.map(scoreOf))));
  if (node.kind === "call" && !node.messages.length && !node.reply.length && !node.input) {
    shown.push(element("p", { class: "hint" }, "Its content was not kept."));
  }
  return shown;
}

function factsOf(node) {
  const isCall = node.kind === "call";
  return {
    Kind: node.operation && node.operation !== "chat" ? `${node.kind}, ${node.operation}` : node.kind,
    Outcome: node.status ? `${node.outcome}, ${node.status}` : node.outcome,
    Began: time(node.started_at),
    Time: seconds(node.seconds),
    "First words": node.seconds_to_first === null || node.seconds_to_first === undefined ? null : seconds(node.seconds_to_first),
    Provider: node.provider,
    Calls: node.calls === undefined ? null : count(node.calls),
    "Tool runs": node.tool_runs === undefined ? null : count(node.tool_runs),
    Tokens: isCall ? `${count(node.input_tokens)} in, ${count(node.output_tokens)} out` : null,
    Cached: node.cached_tokens ? count(node.cached_tokens) : null,
    Cost: isCall ? cost(node) : node.cost && dollars(node.cost),
    "Cost unknown": node.cost_reason,
    "From a cache": node.cached_at && `asked for ${time(node.cached_at)}${Number(node.saved_cost) ? `, saved ${dollars(node.saved_cost)}` : ""}`,
    "Ended by": node.finish,
    Approval: node.approval,
    Source: node.server ? `${node.source}, ${node.server}` : node.source,
    Tags: Object.entries(node.tags).map(([name, value]) => `${name}=${value}`).join(", "),
    "Trace id": node.id,
  };
}

function scoreOf(score) {
  return [score.name, score.comment ? `${score.value} (${score.comment})` : String(score.value)];
}

function block(label, text) {
  return element("pre", { tabindex: "0", role: "region", "aria-label": label }, text);
}

function decisionOf(decision) {
  const facts = {
    Type: decision.type,
    Sent: decision.fallback ? `${decision.route}: ${decision.fallback}` : decision.route,
    Why: decision.reason,
    By: decision.model ?? decision.handler,
    Tokens: decision.tokens,
    Time: decision.seconds === null ? null : seconds(decision.seconds),
    Lost: [...decision.lost, decision.native_loss].filter(Boolean).join("; "),
  };
  return element("div", { class: "decision" }, element("h4", {}, decision.source || decision.path), listOf(facts));
}

// Vendors report the cost of a whole call: that of an attempt is there only if it was told apart.
function attemptCost(attempt) {
  return attempt.cost === null && attempt.estimated_cost === null ? "" : cost(attempt);
}

function attemptsOf(attempts) {
  const heads = ["attempt", "status", "time", "cost", "error"].map((name) => element("th", { scope: "col" }, name));
  const rows = attempts.map((attempt) => {
    const cells = [attempt.number, attempt.status ?? "", seconds(attempt.seconds), attemptCost(attempt), attempt.error ?? ""];
    return element("tr", {}, ...cells.map((value) => element("td", {}, String(value))));
  });
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Attempts" }, table);
}
