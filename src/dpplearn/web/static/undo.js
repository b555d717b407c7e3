// Taking back a choice: a line that offers it for a while, and Ctrl+Z for as many choices as one made.

import { $, bdi } from "./dom.js";
import { state } from "./state.js";
import { shorten } from "./text.js";

const MOST = 100;
const OFFERED = 10_000; // milliseconds; the list of choices stays
const WORDS = { pin: "Pinned: ", ban: "Banned: ", none: "No longer pinned or banned: " };
let past = []; // pins and bans as they were
let timer = 0;

/** Call before pins or bans change. */
export function remember() {
  past = [...past, { pins: [...state.pins], bans: [...state.bans] }].slice(-MOST);
}

export function offer(rule, id) {
  const what = id === undefined ? ["All choices cleared."] : [WORDS[rule], bdi(shorten(state.cluster.sentences[id].text, 60))];
  $("undo-text").replaceChildren(...what);
  $("undo").hidden = false;
  hideLater();
}

function hideLater() {
  clearTimeout(timer);
  timer = setTimeout(() => ($("undo").matches(":hover, :focus-within") ? hideLater() : ($("undo").hidden = true)), OFFERED);
}

/** The cluster is another one: its sentences have other numbers. */
export function forget() {
  past = [];
  $("undo").hidden = true;
}

export function listenUndo(changed) {
  const undo = () => {
    const before = past.pop();
    if (!before) return;
    state.pins = new Set(before.pins);
    state.bans = new Set(before.bans);
    if ($("undo").contains(document.activeElement)) $("summary-title").focus({ preventScroll: true });
    $("undo").hidden = true;
    changed();
  };
  $("undo-button").addEventListener("click", undo);
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=range]), textarea, select"); // a field has its own undo
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || typing || $("work").hidden) return;
    event.preventDefault();
    undo();
  });
}
