// The playground: a conversation with a model of this server, what the server makes, and what happens in each call.

import { Answer, PendingCalls } from "./answer.js";
import { ApiError, listModels, post, stream } from "./api.js";
import { programs, programsOfMade, shortened } from "./code.js";
import { detailsOf, listOf } from "./details.js";
import { byId, copyable, element } from "./elements.js";
import { Files, partOf, preview, Recorder } from "./files.js";
import { addAnswer, addMessage, showError } from "./log.js";
import { factsOf, MAKERS } from "./makers.js";
import { forgetFigures } from "./media.js";

const LONGEST_EVENTS = 500;
const MADE_FACTS = "default, a backend of the server, or BACKEND/MODEL";
const WAITING = "Waiting for the answer.";
const files = new Files(byId("files"), showError);
const recorder = new Recorder(byId("record"), files, showError);
let models = new Map();
const modelNames = { answer: "default" };
let kind = "answer";
let areModalitiesChosen = false; // for the model, by the user
let history = [];
let pending = null;
let running = null;

async function loadModels() {
  try {
    const listed = await listModels(byId("key").value);
    models = new Map(listed.map((model) => [model.id, model]));
    showModels();
  } catch (error) {
    askForKey(error);
    showError(explained(error));
  }
}

function showModels() {
  const names = kind === "answer" ? [...models.keys()] : ["default"];
  byId("models").replaceChildren(...names.map((name) => element("option", { value: name })));
  showFacts();
}

function chooseKind() {
  modelNames[kind] = byId("model").value;
  kind = byId("kind").value;
  byId("model").value = modelNames[kind] ?? "default";
  byId("prompt").placeholder = MAKERS[kind]?.placeholder ?? "Message";
  showModels();
}

function showFacts() {
  if (kind !== "answer") {
    byId("facts").textContent = MADE_FACTS;
    return;
  }
  const model = models.get(byId("model").value);
  const facts = [];
  if (model?.context_length) facts.push(`${model.context_length.toLocaleString("en")} tokens of context`);
  if (model) facts.push(`accepts ${model.architecture.input_modalities.join(", ")}`);
  const made = (model?.architecture.output_modalities ?? []).filter((each) => each !== "text");
  if (made.length) facts.push(`makes text, ${made.join(", ")}`);
  if (!areModalitiesChosen) byId("modalities").value = made.length ? `text,${made[0]}` : "";
  if (model?.pricing?.prompt) {
    const price = (name) => `$${(Number(model.pricing[name]) * 1e6).toFixed(2)}`;
    facts.push(`${price("prompt")} in, ${price("completion")} out per million tokens`);
  }
  byId("facts").textContent = facts.join(" · ");
}

function options() {
  const text = (id) => byId(id).value.trim() || null;
  const number = (id, what) => {
    const value = text(id);
    if (value !== null && Number.isNaN(Number(value))) throw new Error(`${what} is not a number: ${value}`);
    return value === null ? null : Number(value);
  };
  let tools = null;
  try {
    tools = text("tools") && JSON.parse(text("tools"));
  } catch (error) {
    throw new Error(`The tools are not JSON: ${error.message}`);
  }
  if (tools !== null && !(Array.isArray(tools) && tools.every((tool) => tool !== null && typeof tool === "object"))) {
    throw new Error('The tools are not a list of objects: write [{"type": "function", "function": {...}}].');
  }
  return {
    system: text("system"),
    policy: byId("policy").value,
    temperature: number("temperature", "The temperature"),
    most: number("most", "The number of tokens"),
    voice: text("voice"),
    modalities: byId("modalities").value.split(",").filter(Boolean),
    tools,
  };
}

function callOf(prompt, chosen) {
  const given = options();
  const content = chosen.length ? [...chosen.map(partOf), ...(prompt ? [{ type: "text", text: prompt }] : [])] : prompt;
  const messages = [...(pending?.messages ?? []), ...(content ? [{ role: "user", content }] : [])];
  const body = {
    model: byId("model").value,
    messages: [...(given.system ? [{ role: "system", content: given.system }] : []), ...history, ...messages],
    ...(given.temperature === null ? {} : { temperature: given.temperature }),
    ...(given.most === null ? {} : { max_tokens: given.most }),
    ...(given.modalities.length ? { modalities: given.modalities } : {}),
    ...(given.modalities.includes("audio") ? { audio: { voice: given.voice ?? "alloy", format: "pcm16" } } : {}),
    ...(given.tools ? { tools: given.tools } : {}),
    stream: true,
    stream_options: { include_usage: true },
    abstractcore: given.policy === "auto" ? {} : { media_policy: policyForAll(given.policy) },
  };
  return { model: body.model, prompt, files: chosen, options: given, body, messages };
}

function madeCallOf(prompt, chosen) {
  if (chosen.length) throw new Error("Only an answer can be about files: remove them, or choose Answer.");
  const maker = MAKERS[kind];
  const model = byId("model").value;
  const body = maker.body({ model, prompt, voice: options().voice });
  return { kind, maker, model, prompt, files: [], path: maker.path, body };
}

function policyForAll(policy) {
  return Object.fromEntries(["text", "image", "audio", "video", "document"].map((kind) => [kind, policy]));
}

async function send(event) {
  event.preventDefault();
  await files.ready;
  const prompt = byId("prompt").value.trim();
  const isAnswer = kind === "answer";
  const hasContent = prompt || (isAnswer && (files.chosen.length || pending?.areWritten));
  if (running || !hasContent) return;
  let call;
  try {
    call = isAnswer ? callOf(prompt, files.chosen) : madeCallOf(prompt, files.chosen);
  } catch (error) {
    showError(error.message);
    return;
  }
  files.take();
  byId("prompt").value = "";
  const results = isAnswer && pending ? pending.text : "";
  const sent = addMessage("user", "You", [results, prompt].filter(Boolean).join("\n"), call.files.map(preview));
  running = new AbortController();
  showRunning(true);
  byId("status").textContent = WAITING;
  try {
    await (isAnswer ? answer(call, sent) : make(call, sent));
  } finally {
    running = null;
    showRunning(false);
    if (byId("status").textContent === WAITING) byId("status").textContent = "";
  }
}

async function answer(call, sent) {
  const received = new Answer();
  const turns = history;
  const shown = addAnswer(call.model);
  showCode(programs(call, ...whereAndHow()));
  try {
    for await (const event of stream(call.body, byId("key").value, running.signal)) {
      received.add(event);
      shown.update(received);
    }
    byId("status").textContent = "The answer is complete.";
    goOn(turns, call, received, shown);
  } catch (error) {
    if (error.name === "AbortError") {
      if (received.messages.length) goOn(turns, call, received, shown);
      shown.note("Stopped.");
    } else {
      shown.remove(received);
      failed(error, call, sent);
    }
  } finally {
    byId("details").replaceChildren(...detailsOf(received, call));
    showExchange(call, received);
  }
}

// Keeps a turn. The fields for results are those of the last answer only.
function goOn(turns, call, received, shown) {
  shown.filesOf(received);
  turns.push(...call.messages, ...received.messages);
  if (turns !== history) return; // a new conversation was begun meanwhile
  pending?.fields.remove();
  const calls = received.completeCalls;
  pending = calls.length ? new PendingCalls(calls, shown.resultFields(calls, send)) : null;
}

async function make(call, sent) {
  const shown = addAnswer(call.model);
  const began = performance.now();
  try {
    const response = await post(call.path, call.body, byId("key").value, running.signal);
    shown.files(await call.maker.files(response), call.kind);
    const facts = factsOf(response, (performance.now() - began) / 1000);
    byId("status").textContent = "The result is complete.";
    byId("details").replaceChildren(element("h2", {}, "Call"), listOf(facts));
    byId("exchange").replaceChildren(
      ...copyable(`POST ${call.path}`, JSON.stringify(call.body, null, 2)),
      ...copyable("Headers of the response", [...response.headers].map((pair) => pair.join(": ")).join("\n")),
    );
    showCode(programsOfMade(call, facts.Model ?? call.model, ...whereAndHow()));
  } catch (error) {
    if (error.name === "AbortError") {
      shown.note("Stopped.");
    } else {
      shown.remove();
      failed(error, call, sent);
    }
  }
}

// Says what went wrong, and gives the message back.
function failed(error, call, sent) {
  askForKey(error);
  sent.classList.add("failed");
  byId("prompt").value ||= call.prompt;
  files.putBack(call.files);
  showError(explained(error));
}

function showRunning(isRunning) {
  byId("send").hidden = isRunning;
  byId("stop").hidden = !isRunning;
  byId("prompt").focus();
}

function showExchange(call, answer) {
  const events = answer.events.slice(0, LONGEST_EVENTS);
  const left = answer.events.length - events.length;
  const note = left ? `\n... and ${left} more events` : "";
  byId("exchange").replaceChildren(
    ...copyable("POST /v1/chat/completions", JSON.stringify(shortened(call.body), null, 2)),
    ...copyable("Events of the answer", events.map((raw) => `data: ${raw}`).join("\n\n") + note),
  );
}

function showCode(shown) {
  byId("code").replaceChildren(...shown.flatMap(([title, text]) => copyable(title, text)));
}

// What programs need besides a call: the address of the server, and whether it needs a key.
function whereAndHow() {
  return [location.origin, Boolean(byId("key").value)];
}

function askForKey(error) {
  if (error instanceof ApiError && error.status === 401) {
    byId("key-field").hidden = false;
    byId("key").focus();
  }
}

function explained(error) {
  if (error instanceof TypeError) {
    return `The server cannot be reached: ${error.message}. Check that abstractcore serve is still running, and send it again.`;
  }
  if (error.status === 401) return "This server needs an access key: enter it above. To create one: abstractcore keys create NAME";
  return error.message;
}

function reset() {
  running?.abort();
  history = [];
  pending = null;
  files.take();
  forgetFigures();
  byId("log").replaceChildren(byId("hint"));
  byId("hint").hidden = false;
  byId("prompt").focus();
}

function choose(tab) {
  for (const each of document.querySelectorAll("[role=tab]")) {
    const isChosen = each === tab;
    each.setAttribute("aria-selected", String(isChosen));
    each.tabIndex = isChosen ? 0 : -1;
    byId(each.getAttribute("aria-controls")).hidden = !isChosen;
  }
}

function moveInTabs(event) {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  choose(next);
  next.focus();
}

function watchDrops(area) {
  const isOver = (is) => byId("log").classList.toggle("dropping", is);
  area.addEventListener("dragover", (event) => {
    event.preventDefault();
    isOver(true);
  });
  area.addEventListener("dragleave", () => isOver(false));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    isOver(false);
    files.add(event.dataTransfer.files);
  });
}

byId("composer").addEventListener("submit", send);
byId("prompt").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
});
byId("prompt").addEventListener("paste", (event) => files.add(event.clipboardData.files));
byId("stop").addEventListener("click", () => running?.abort());
byId("reset").addEventListener("click", reset);
byId("attach").addEventListener("click", () => byId("picker").click());
byId("picker").addEventListener("change", (event) => {
  files.add(event.target.files);
  event.target.value = "";
});
byId("record").addEventListener("click", () => recorder.toggle());
byId("kind").addEventListener("change", chooseKind);
byId("model").addEventListener("input", () => {
  areModalitiesChosen = false;
  showFacts();
});
byId("modalities").addEventListener("change", () => {
  areModalitiesChosen = true;
});
byId("key-field").addEventListener("submit", (event) => {
  event.preventDefault();
  loadModels();
});
for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => choose(tab));
document.querySelector("[role=tablist]").addEventListener("keydown", moveInTabs);
watchDrops(document.body);
loadModels();
