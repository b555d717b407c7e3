// What any part of the page may ask of the whole; app.js fills these in.

import { ruleOf } from "./state.js";

export const actions = {
  rule: (_id, _rule) => {}, // pin, ban or free a sentence, and select again
  goTo: (_id) => {}, // show a sentence in its source
  open: (_id, _anchor) => {}, // open the card of a sentence
  point: (_id) => {}, // the pointer or the focus is on a sentence (null: on none)
};

/** P pins a sentence and B bans it; the same key again takes it back. */
export function ruleByKey(event, id) {
  const rule = { p: "pin", b: "ban" }[event.key.toLowerCase()];
  if (!rule || event.ctrlKey || event.metaKey || event.altKey) return;
  actions.rule(id, ruleOf(id) === rule ? "none" : rule);
}
