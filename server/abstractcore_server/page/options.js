// The options of a call, in the fields of the page.

import { byId } from "./elements.js";

const FIELDS = ["system", "policy", "temperature", "most", "modalities", "voice", "tools"];

// The texts of the fields, and the model: a conversation keeps them.
export function fieldValues() {
  return Object.fromEntries(["model", ...FIELDS].map((id) => [id, byId(id).value]));
}

export function setFieldValues(values) {
  for (const id of ["model", ...FIELDS]) {
    if (values[id] !== undefined) byId(id).value = values[id];
  }
}

// The options; throws an error that names the field for one that is not valid.
export function options() {
  const text = (id) => byId(id).value.trim() || null;
  const number = (id, what) => {
    const value = text(id);
    if (value !== null && Number.isNaN(Number(value))) throw new Error(`${what} is not a number: ${value}`);
    return value === null ? null : Number(value);
  };
  return {
    system: text("system"),
    policy: byId("policy").value,
    temperature: number("temperature", "The temperature"),
    most: number("most", "The number of tokens"),
    voice: text("voice"),
    modalities: byId("modalities").value.split(",").filter(Boolean),
    tools: toolsOf(text("tools")),
  };
}

function toolsOf(text) {
  let tools = null;
  try {
    tools = text && JSON.parse(text);
  } catch (error) {
    throw new Error(`The tools are not JSON: ${error.message}`);
  }
  if (tools !== null && !(Array.isArray(tools) && tools.every((tool) => tool !== null && typeof tool === "object"))) {
    throw new Error('The tools are not a list of objects: write [{"type": "function", "function": {...}}].');
  }
  return tools;
}
