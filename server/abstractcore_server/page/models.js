// The field for the model: its suggestions, and what is known of the model that it names.

import { listModels } from "./api.js";
import { byId, element } from "./elements.js";
import { MAKERS } from "./makers.js";

const MADE_FACTS = "default, a backend of the server, or BACKEND/MODEL";

export class Models {
  constructor() {
    this.known = new Map();
    this.names = { answer: "default" }; // by kind of what is asked for
    this.kind = "answer";
    this.areModalitiesChosen = false; // for the model, by the user
    byId("kind").addEventListener("change", () => this.chooseKind());
    byId("model").addEventListener("input", () => {
      this.areModalitiesChosen = false;
      this.showFacts();
    });
    byId("modalities").addEventListener("change", () => {
      this.areModalitiesChosen = true;
    });
  }

  async load(key) {
    const listed = await listModels(key);
    this.known = new Map(listed.map((model) => [model.id, model]));
    this.show();
  }

  show() {
    const names = this.kind === "answer" ? [...this.known.keys()] : ["default"];
    byId("models").replaceChildren(...names.map((name) => element("option", { value: name })));
    this.showFacts();
  }

  chooseKind() {
    this.names[this.kind] = byId("model").value;
    this.kind = byId("kind").value;
    byId("model").value = this.names[this.kind] ?? "default";
    byId("prompt").placeholder = MAKERS[this.kind]?.placeholder ?? "Message";
    this.show();
  }

  showFacts() {
    const model = this.kind === "answer" ? this.known.get(byId("model").value) : null;
    const made = (model?.architecture.output_modalities ?? []).filter((each) => each !== "text");
    if (this.kind === "answer" && !this.areModalitiesChosen) byId("modalities").value = made.length ? `text,${made[0]}` : "";
    byId("facts").textContent = this.kind === "answer" ? factsOf(model, made).join(" · ") : MADE_FACTS;
  }
}

function factsOf(model, made) {
  const facts = [];
  if (model?.context_length) facts.push(`${model.context_length.toLocaleString("en")} tokens of context`);
  if (model) facts.push(`accepts ${model.architecture.input_modalities.join(", ")}`);
  if (made.length) facts.push(`makes text, ${made.join(", ")}`);
  if (model?.pricing?.prompt) {
    const price = (name) => `$${(Number(model.pricing[name]) * 1e6).toFixed(2)}`;
    facts.push(`${price("prompt")} in, ${price("completion")} out per million tokens`);
  }
  return facts;
}
