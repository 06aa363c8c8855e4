// The playground: a conversation with a model of this server, and what happens in each call.

import { Answer } from "./answer.js";
import { ApiError, listModels, stream } from "./api.js";
import { programs, shortened } from "./code.js";
import { detailsOf } from "./details.js";
import { byId, copyable, element } from "./elements.js";
import { Files, partOf, preview, Recorder } from "./files.js";

const LONGEST_EVENTS = 500;
const files = new Files(byId("files"), showError);
const recorder = new Recorder(byId("record"), files, showError);
let models = new Map();
let history = [];
let running = null;

async function loadModels() {
  try {
    const listed = await listModels(byId("key").value);
    models = new Map(listed.map((model) => [model.id, model]));
    byId("models").replaceChildren(...listed.map((model) => element("option", { value: model.id })));
    showFacts();
  } catch (error) {
    askForKey(error);
    showError(explained(error));
  }
}

function showFacts() {
  const model = models.get(byId("model").value);
  const facts = [];
  if (model?.context_length) facts.push(`${model.context_length.toLocaleString("en")} tokens of context`);
  if (model) facts.push(`takes ${model.architecture.input_modalities.join(", ")}`);
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
  return {
    system: text("system"),
    policy: byId("policy").value,
    temperature: number("temperature", "The temperature"),
    most: number("most", "The number of tokens"),
    tools,
  };
}

function callOf(prompt, chosen) {
  const given = options();
  const content = chosen.length ? [...chosen.map(partOf), ...(prompt ? [{ type: "text", text: prompt }] : [])] : prompt;
  const message = { role: "user", content };
  const body = {
    model: byId("model").value,
    messages: [...(given.system ? [{ role: "system", content: given.system }] : []), ...history, message],
    ...(given.temperature === null ? {} : { temperature: given.temperature }),
    ...(given.most === null ? {} : { max_tokens: given.most }),
    ...(given.tools ? { tools: given.tools } : {}),
    stream: true,
    stream_options: { include_usage: true },
    abstractcore: given.policy === "auto" ? {} : { media_policy: policyForAll(given.policy) },
  };
  return { model: body.model, prompt, files: chosen, options: given, body, message };
}

function policyForAll(policy) {
  return Object.fromEntries(["text", "image", "audio", "video", "document"].map((kind) => [kind, policy]));
}

async function send(event) {
  event.preventDefault();
  await files.ready;
  const prompt = byId("prompt").value.trim();
  if (running || (!prompt && !files.chosen.length)) return;
  let call;
  try {
    call = callOf(prompt, files.chosen);
  } catch (error) {
    showError(error.message);
    return;
  }
  files.take();
  byId("prompt").value = "";
  const sent = addMessage("user", "You", prompt, call.files.map(preview));
  await run(call, sent);
}

async function run(call, sent) {
  const answer = new Answer();
  const turns = history;
  const shown = addAnswer(call.model);
  running = new AbortController();
  showRunning(true);
  showCode(call);
  try {
    for await (const event of stream(call.body, byId("key").value, running.signal)) {
      answer.add(event);
      shown.update(answer);
    }
    turns.push(call.message, ...(answer.message ? [answer.message] : []));
    byId("status").textContent = "The answer is complete.";
  } catch (error) {
    if (error.name === "AbortError") {
      shown.note("Stopped.");
      if (answer.message) turns.push(call.message, answer.message);
    } else {
      askForKey(error);
      shown.remove(answer);
      sent.classList.add("failed");
      byId("prompt").value ||= call.prompt;
      files.putBack(call.files);
      showError(explained(error));
    }
  } finally {
    running = null;
    showRunning(false);
    byId("details").replaceChildren(...detailsOf(answer, call));
    showExchange(call, answer);
  }
}

function addMessage(kind, who, text, previews = []) {
  byId("hint").hidden = true;
  const message = element(
    "article",
    { class: `message ${kind}`, "aria-label": who },
    element("p", { class: "who", "aria-hidden": "true" }, who),
    text ? element("p", { class: "text" }, text) : null,
    ...previews,
  );
  byId("log").append(message);
  message.scrollIntoView({ block: "end" });
  return message;
}

function addAnswer(model) {
  const text = element("p", { class: "text" });
  const thought = element("pre", { tabindex: "0" });
  const reasoning = element("details", { hidden: "" }, element("summary", {}, "Reasoning"), thought);
  const message = addMessage("assistant", model, "", [reasoning, text]);
  message.setAttribute("aria-busy", "true");
  return {
    update(answer) {
      const log = byId("log");
      const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
      text.textContent = answer.text || answer.calls.filter(Boolean).map((call) => `${call.name}(${call.arguments})`).join("\n");
      thought.textContent = answer.reasoning;
      reasoning.hidden = !answer.reasoning;
      message.setAttribute("aria-busy", String(answer.finish === null));
      if (isAtEnd) log.scrollTop = log.scrollHeight;
    },
    note(words) {
      message.append(element("p", { class: "muted" }, words));
      message.setAttribute("aria-busy", "false");
    },
    remove(answer) {
      if (answer.text) this.note("The answer was cut off by an error.");
      else message.remove();
    },
  };
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

function showCode(call) {
  const shown = programs(call, location.origin, Boolean(byId("key").value));
  byId("code").replaceChildren(...shown.flatMap(([title, text]) => copyable(title, text)));
}

function showError(message) {
  byId("hint").hidden = true;
  const notice = element("p", { class: "notice error", role: "alert" }, message);
  byId("log").append(notice);
  notice.scrollIntoView({ block: "end" });
}

function askForKey(error) {
  if (error instanceof ApiError && error.status === 401) {
    byId("key-field").hidden = false;
    byId("key").focus();
  }
}

function explained(error) {
  if (!(error instanceof ApiError)) {
    return `The server cannot be reached: ${error.message}. Look whether abstractcore serve is still running, then send again.`;
  }
  if (error.status === 401) return "This server needs an access key: write it above. To make one: abstractcore keys create NAME";
  return error.message;
}

function reset() {
  running?.abort();
  history = [];
  files.take();
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
byId("model").addEventListener("input", showFacts);
byId("key-field").addEventListener("submit", (event) => {
  event.preventDefault();
  loadModels();
});
for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => choose(tab));
document.querySelector("[role=tablist]").addEventListener("keydown", moveInTabs);
watchDrops(document.body);
loadModels();
