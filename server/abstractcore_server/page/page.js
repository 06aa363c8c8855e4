// The playground: conversations with models of this server, what the server makes, and what happens in each call.

import { Answer, PendingCalls } from "./answer.js";
import { ApiError, post, stream } from "./api.js";
import { callOf, madeCallOf } from "./calls.js";
import { programs, programsOfMade, shortened } from "./code.js";
import { Conversation, turnOf } from "./conversation.js";
import { detailsOf, listOf, spendOf } from "./details.js";
import { byId, copyable, element } from "./elements.js";
import { Files, preview, Recorder } from "./files.js";
import { KeptConversations } from "./kept.js";
import { fileNameOf, save, showList } from "./list.js";
import { addAnswer, addMessage, clearLog, showError, showNotice } from "./log.js";
import { factsOf, spendOfMade } from "./makers.js";
import { forgetFigures } from "./media.js";
import { Models } from "./models.js";
import { fieldValues, setFieldValues } from "./options.js";
import { chooseView, watchTabs } from "./tabs.js";

const LONGEST_EVENTS = 500;
const STOPPED = "Stopped. What it has cost is not known here.";
const WAITING = "Waiting for the answer.";
const files = new Files(byId("files"), showError);
const recorder = new Recorder(byId("record"), files, showError);
const kept = new KeptConversations(showNotice);
const models = new Models();
let conversation = new Conversation();
let pending = null;
let running = null;

async function loadModels() {
  try {
    await models.load(byId("key").value);
  } catch (error) {
    askForKey(error);
    showError(explained(error));
  }
}

async function send(event) {
  event.preventDefault();
  await files.ready;
  const prompt = byId("prompt").value.trim();
  const isAnswer = models.kind === "answer";
  const hasContent = prompt || (isAnswer && (files.chosen.length || pending?.areWritten));
  if (running || !hasContent) return;
  let call;
  try {
    call = isAnswer
      ? callOf(prompt, files.chosen, conversation.messages, pending?.messages ?? [])
      : madeCallOf(models.kind, prompt, files.chosen);
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
    await (isAnswer ? answer(call, results, sent) : make(call, sent));
  } finally {
    running = null;
    showRunning(false);
    if (byId("status").textContent === WAITING) byId("status").textContent = "";
  }
}

async function answer(call, results, sent) {
  const received = new Answer();
  const asked = conversation;
  const values = fieldValues();
  const shown = addAnswer(call.model);
  const goOn = () => keepTurn(asked, turnOf(call, results, received), values, shown, received);
  showCode(programs(call, ...whereAndHow()));
  try {
    for await (const event of stream(call.body, byId("key").value, running.signal)) {
      received.add(event);
      shown.update(received);
    }
    byId("status").textContent = "The answer is complete.";
    goOn();
  } catch (error) {
    if (error.name === "AbortError") {
      if (received.messages.length) goOn();
      else shown.end(received);
      shown.note(STOPPED);
    } else {
      shown.remove(received);
      if (asked === conversation) failed(error, call, sent);
    }
  } finally {
    if (asked === conversation) {
      byId("details").replaceChildren(...detailsOf(received, call));
      showExchange(call, received);
    }
  }
}

function keepTurn(asked, turn, values, shown, received) {
  shown.end(received, turn.answer.spend && spendOf(turn.answer.spend));
  shown.filesOf(received);
  asked.options = values;
  asked.add(turn);
  if (!asked.isRemoved) kept.keep(asked);
  if (asked === conversation) {
    kept.openId = asked.id;
    awaitResults(turn.answer.calls, shown);
  }
  listConversations();
}

// The fields for results are those of the last answer only.
function awaitResults(calls, shown) {
  pending?.fields.remove();
  pending = calls.length ? new PendingCalls(calls, shown.resultFields(calls, send)) : null;
}

async function make(call, sent) {
  const shown = addAnswer(call.model);
  const began = performance.now();
  try {
    const response = await post(call.path, call.body, byId("key").value, running.signal);
    const made = await call.maker.files(response);
    const facts = factsOf(response, (performance.now() - began) / 1000);
    shown.end(new Answer(), spendOfMade(facts));
    shown.files(made, call.kind);
    byId("status").textContent = "The result is complete.";
    byId("details").replaceChildren(element("h2", {}, "Call"), listOf(facts));
    byId("exchange").replaceChildren(
      ...copyable(`POST ${call.path}`, JSON.stringify(call.body, null, 2)),
      ...copyable("Headers of the response", [...response.headers].map((pair) => pair.join(": ")).join("\n")),
    );
    showCode(programsOfMade(call, facts.Model ?? call.model, ...whereAndHow()));
  } catch (error) {
    if (error.name === "AbortError") {
      shown.end(new Answer());
      shown.note(STOPPED);
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

// Shows a conversation: a new one, or one that was kept.
function openConversation(chosen = new Conversation()) {
  running?.abort();
  conversation = chosen;
  kept.openId = chosen.id;
  pending = null;
  files.take();
  forgetFigures();
  clearLog();
  if (chosen.turns.length) {
    byId("kind").value = "answer";
    models.chooseKind();
    setFieldValues(chosen.options);
    models.areModalitiesChosen = true;
    models.showFacts();
    chosen.turns.forEach(showTurn);
  }
  listConversations();
}

function showTurn({ asked, answer }, index, turns) {
  const names = asked.files.map((name) => element("p", { class: "muted" }, `${name}: its name only is kept`));
  addMessage("user", "You", asked.text, names);
  const shown = addAnswer(answer.model);
  shown.end(answer, answer.spend && spendOf(answer.spend));
  for (const name of answer.made) shown.note(`${name}: not kept`);
  if (answer.isStopped) shown.note(STOPPED);
  if (index === turns.length - 1) awaitResults(answer.calls, shown);
}

function listConversations() {
  showList(kept.all(), conversation, (id) => {
    if (id !== conversation.id) openConversation(kept.read(id) ?? undefined);
    chooseView("chat");
  });
  byId("remove-all").disabled = kept.ids().length === 0;
}

function watchConversations() {
  byId("reset").addEventListener("click", () => {
    openConversation();
    chooseView("chat");
    byId("prompt").focus();
  });
  byId("name").addEventListener("change", () => {
    conversation.title = byId("name").value.trim() || conversation.title;
    kept.keep(conversation);
    listConversations();
  });
  byId("save-markdown").addEventListener("click", () => saveAs("md", "text/markdown", conversation.toMarkdown()));
  byId("save-json").addEventListener("click", () =>
    saveAs("json", "application/json", JSON.stringify(conversation.toOpenAI(), null, 2)),
  );
  byId("remove").addEventListener("click", () => {
    if (!confirm(`Remove “${conversation.title}”? It cannot be brought back.`)) return;
    conversation.isRemoved = true; // its answer, which ends now, does not bring it back
    kept.remove(conversation.id);
    openConversation();
  });
  byId("remove-all").addEventListener("click", () => {
    if (!confirm("Remove all conversations of this browser? They cannot be brought back.")) return;
    conversation.isRemoved = true;
    kept.removeAll();
    openConversation();
  });
  kept.onChange((id) => {
    const isOpen = id === conversation.id && !running;
    if (isOpen) openConversation(kept.read(id) ?? undefined);
    else listConversations();
  });
}

function saveAs(extension, type, text) {
  save(`${fileNameOf(conversation.title)}.${extension}`, type, text);
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
byId("attach").addEventListener("click", () => byId("picker").click());
byId("picker").addEventListener("change", (event) => {
  files.add(event.target.files);
  event.target.value = "";
});
byId("record").addEventListener("click", () => recorder.toggle());
byId("key-field").addEventListener("submit", (event) => {
  event.preventDefault();
  loadModels();
});
watchTabs();
watchConversations();
watchDrops(document.body);
loadModels();
openConversation(kept.read(kept.openId) ?? undefined);
kept.reportLosses();
