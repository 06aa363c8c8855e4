// Conversations that this browser keeps, within a limit. Each has an entry of its own: tabs do not overwrite those of others.

import { Conversation, isConversation } from "./conversation.js";

const PREFIX = "abstractcore.conversation.";
const OPEN = "abstractcore.open"; // in this tab
const MOST_CHARACTERS = 2_000_000; // browsers keep about five million of a page

export class KeptConversations {
  // `onLoss` is called with a sentence for everything that is not kept.
  constructor(onLoss) {
    this.onLoss = onLoss;
    try {
      this.storage = localStorage;
      this.tab = sessionStorage;
    } catch {
      this.storage = null; // the user's settings do not allow any
    }
  }

  // Says what this browser does not keep, or keeps in vain.
  reportLosses() {
    const lost = this.ids().length - this.all().length;
    if (!this.storage) this.onLoss("This browser keeps nothing for this page: conversations end with this tab.");
    if (lost) this.onLoss(`Kept conversations that cannot be read, and are not in the list: ${lost}. “Remove all” removes them, too.`);
  }

  // All of them, the last one first.
  all() {
    const found = this.ids().map((id) => this.read(id)).filter(Boolean);
    return found.sort((first, second) => second.changed - first.changed);
  }

  ids() {
    if (!this.storage) return [];
    return Object.keys(this.storage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
  }

  // The conversation; null if there is none that can be read.
  read(id) {
    try {
      const data = JSON.parse(this.storage?.getItem(PREFIX + id) ?? null);
      return isConversation(data) && data.id === id ? new Conversation(data) : null;
    } catch {
      return null;
    }
  }

  get openId() {
    return this.tab?.getItem(OPEN) ?? null;
  }

  set openId(id) {
    this.tab?.setItem(OPEN, id);
  }

  // Keeps a conversation; where the room ends, the oldest ones of the others go, unless that is not enough.
  keep(conversation) {
    if (!this.storage) return;
    const text = JSON.stringify(conversation.data);
    const others = text.length > MOST_CHARACTERS ? [] : this.all().filter((each) => each.id !== conversation.id);
    const removed = [];
    let isKept = this.write(conversation.id, text);
    while (!isKept && others.length) {
      removed.push(others.pop());
      this.remove(removed.at(-1).id);
      isKept = this.write(conversation.id, text);
    }
    if (!isKept) {
      for (const each of removed) this.write(each.id, JSON.stringify(each.data)); // they went in vain
      this.onLoss("This conversation has become too long for this browser to keep: export it before you close the page.");
    } else if (removed.length) {
      this.onLoss(`Removed, since this browser keeps no more: ${removed.map(({ title }) => `“${title}”`).join(", ")}.`);
    }
  }

  // Whether there was room.
  write(id, text) {
    const size = this.ids().reduce((sum, each) => sum + (each === id ? 0 : this.storage.getItem(PREFIX + each).length), text.length);
    if (size > MOST_CHARACTERS) return false;
    try {
      this.storage.setItem(PREFIX + id, text);
      return true;
    } catch {
      return false; // other pages of this address have filled it
    }
  }

  remove(id) {
    this.storage?.removeItem(PREFIX + id);
  }

  removeAll() {
    for (const id of this.ids()) this.remove(id);
  }

  // Calls a function with the id of a conversation that another tab has changed.
  onChange(call) {
    addEventListener("storage", ({ key }) => call(key?.startsWith(PREFIX) ? key.slice(PREFIX.length) : null));
  }
}
