// The dashboard: sums over time, lists of calls, and one trace or two.

import { byId, element } from "/playground/elements.js";
import { ApiError, follow, hasKey, openSession, read, useKey } from "./api.js";
import { drawCharts } from "./charts.js";
import { count } from "./format.js";
import { addressOf, callRow, callTable, groupTable, totalsOf } from "./tables.js";
import { traceView } from "./trace.js";

const PAGE = 50;
const MOST_ROWS = 250; // so many new calls are added to a page before it is read again
const REFRESH_MILLISECONDS = 5000; // at most so often are the sums read again while new calls come
const chosen = new Set();
const requests = new Map(); // what is being read, by the part of the page that it is for
let order = "newest";
let skip = 0;
let until = null; // of the first page: later ones show the same calls, shifted by none that came meanwhile
let live = null;
let latest = null;
let left = null; // the trace that was shown: its row gets the focus when the overview is shown again

// Begins a request for a part of the page: an earlier one that is still under way would show what is no longer wanted.
function signalFor(part) {
  requests.get(part)?.abort();
  requests.set(part, new AbortController());
  return requests.get(part).signal;
}

function abortAll() {
  for (const request of requests.values()) request.abort();
}

async function showOverview() {
  abortAll();
  await Promise.all([showSummary(), showCalls()]);
  if (left) [...byId("rows").querySelectorAll("a")].find((link) => link.hash === addressOf(left))?.focus();
  left = null;
}

async function showSummary() {
  const by = byId("by").value;
  latest = await read("summary", { since: byId("since").value, by }, signalFor("summary"));
  byId("totals").replaceChildren(...totalsOf(latest.totals));
  byId("groups").replaceChildren(...groupTable(latest.groups, by));
  showTagNames(latest.tags);
  drawCharts(byId("charts"), latest);
  byId("bounds").textContent = boundsOf(latest);
}

// What of a summary is less than everything.
function boundsOf(summary) {
  const sampled = `Seconds, and the tags to choose from, are those of the latest ${count(summary.sampled)} calls.`;
  return [summary.is_sample ? sampled : "", summary.is_cut ? `The charts show the latest ${count(summary.times.length)} points.` : ""].join(" ").trim();
}

function showTagNames(names) {
  const select = byId("by");
  const known = new Set([...select.options].map((option) => option.value));
  for (const name of names) {
    if (!known.has(`tag:${name}`)) select.append(element("option", { value: `tag:${name}` }, `tag ${name}`));
  }
}

async function showCalls() {
  if (skip === 0) until = null;
  const isFailing = order === "failing";
  const page = await read(
    "calls",
    {
      since: byId("since").value,
      until,
      order: isFailing ? "newest" : order,
      failed: isFailing ? "1" : "",
      text: byId("text").value.trim(),
      model: byId("model").value.trim(),
      tag: byId("tag").value.trim(),
      skip: skip || "",
    },
    signalFor("calls"),
  );
  if (skip === 0 && order === "newest" && page.calls.length) until = page.calls[0].started_at + 1e-6;
  byId("rows").replaceChildren(...callTable(page.calls, chosen, showChoice));
  byId("previous").disabled = skip === 0;
  byId("next").disabled = !page.has_more;
  const last = skip + page.calls.length;
  byId("page-number").textContent = page.calls.length ? `${skip + 1} to ${last}` : "No calls";
}

function showChoice() {
  byId("compare").disabled = chosen.size !== 2;
}

async function showTraces(ids) {
  abortAll();
  const signal = signalFor("traces");
  const found = await Promise.all(ids.map((id) => read(`traces/${encodeURIComponent(id)}`, {}, signal)));
  const back = element("a", { href: "#", class: "back" }, "Back to the overview");
  const views = element("div", { class: found.length > 1 ? "pair" : "" }, ...found.map((trace, index) => traceView(trace, ids[index], index + 1)));
  byId("traces").replaceChildren(back, views);
  back.focus();
  left = ids[0];
}

// Shows what the address names, which may be the one that the command printed.
async function begin() {
  if (await guarded(openSession)) await show();
}

// Shows an overview, a trace, or two of them.
async function show() {
  if (!hasKey()) {
    askForKey();
    return;
  }
  const wanted = new URLSearchParams(location.hash.slice(1));
  const ids = wanted.has("trace") ? [wanted.get("trace")] : wanted.getAll("compare");
  const isOverview = ids.length === 0;
  byId("overview").hidden = byId("choices").hidden = !isOverview;
  byId("traces").hidden = isOverview;
  byId("traces").replaceChildren();
  await guarded(() => (isOverview ? showOverview() : showTraces(ids)));
}

// Runs something, and says what went wrong; returns whether nothing did.
async function guarded(work) {
  try {
    byId("problem").hidden = true;
    await work();
    if (hasKey()) showKeyField(false);
    return true;
  } catch (error) {
    if (error.name !== "AbortError") showProblem(error);
    return false;
  }
}

function showProblem(error) {
  if (error instanceof ApiError && error.status === 401) askForKey();
  const text = error instanceof TypeError ? `The server cannot be reached: ${error.message}` : error.message;
  byId("problem").textContent = text;
  byId("problem").hidden = false;
}

function askForKey() {
  showKeyField(true);
  byId("key").focus();
}

function showKeyField(isShown) {
  byId("key-field").hidden = byId("locked").hidden = !isShown;
  if (isShown) byId("overview").hidden = byId("choices").hidden = byId("traces").hidden = true;
}

async function toggleLive() {
  if (live) {
    live.abort();
    return;
  }
  live = new AbortController();
  byId("live").setAttribute("aria-pressed", "true");
  let refresh = null;
  try {
    for await (const call of follow(live.signal)) {
      if (skip === 0 && order === "newest" && isWanted(call)) addCall(call);
      refresh ??= setTimeout(() => {
        refresh = null;
        if (!byId("overview").hidden) guarded(showSummary);
      }, REFRESH_MILLISECONDS);
    }
  } catch (error) {
    if (error.name !== "AbortError") showProblem(error);
  } finally {
    clearTimeout(refresh);
    live = null;
    byId("live").setAttribute("aria-pressed", "false");
  }
}

// Whether a call that came belongs to the list: words are in its content, which it has not with it.
function isWanted(call) {
  const [model, tag] = [byId("model").value.trim(), byId("tag").value.trim()];
  const [name, value] = tag.split("=", 2);
  return !byId("text").value.trim() && (!model || call.model === model) && (!tag || call.tags[name] === value);
}

function addCall(call) {
  const body = byId("rows").tBodies[0];
  body?.prepend(callRow(call, chosen, showChoice));
  if (body?.rows.length > MOST_ROWS) turnTo(0);
}

function chooseOrder(button) {
  order = button.dataset.order;
  for (const each of document.querySelectorAll("[data-order]")) each.setAttribute("aria-pressed", String(each === button));
  turnTo(0);
}

function turnTo(first) {
  skip = Math.max(0, first);
  guarded(showCalls);
}

byId("since").addEventListener("change", () => {
  skip = 0;
  guarded(showOverview);
});
byId("by").addEventListener("change", () => guarded(showSummary));
byId("live").addEventListener("click", toggleLive);
byId("filter").addEventListener("submit", (event) => {
  event.preventDefault();
  turnTo(0);
});
for (const button of document.querySelectorAll("[data-order]")) button.addEventListener("click", () => chooseOrder(button));
byId("previous").addEventListener("click", () => turnTo(skip - PAGE));
byId("next").addEventListener("click", () => turnTo(skip + PAGE));
byId("compare").addEventListener("click", () => {
  location.hash = new URLSearchParams([...chosen].map((id) => ["compare", id])).toString();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("text").focus();
});
byId("key-field").addEventListener("submit", (event) => {
  event.preventDefault();
  useKey(byId("key").value);
  byId("key").value = "";
  show();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("traces").hidden) location.hash = "";
});
window.addEventListener("hashchange", begin);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => latest && drawCharts(byId("charts"), latest));
await begin();
