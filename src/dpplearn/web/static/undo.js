// Undoes choices, one after the other, by a button in the header or Ctrl+Z.

import { $, bdi } from "./dom.js";
import { state } from "./state.js";
import { shorten } from "./text.js";

const MOST = 100;
const WORDS = { include: "Included: ", exclude: "Excluded: ", none: "No longer included or excluded: " };
let past = []; // earlier included and excluded sentences

/** Call before the included or excluded sentences change. */
export function remember() {
  past = [...past, { included: [...state.included], excluded: [...state.excluded] }].slice(-MOST);
}

export function offer(rule, id) {
  const what = id === undefined ? ["All choices cleared."] : [WORDS[rule], bdi(shorten(state.cluster.sentences[id].text, 60))];
  $("undo-text").replaceChildren(...what);
  $("undo").hidden = false;
}

/** Forget the choices when the cluster changes, because sentences get new numbers. */
export function forget() {
  past = [];
  $("undo").hidden = true;
}

export function listenUndo(changed) {
  const undo = () => {
    const before = past.pop();
    if (!before) return;
    state.included = new Set(before.included);
    state.excluded = new Set(before.excluded);
    $("undo-text").textContent = "";
    if (!past.length && $("undo").contains(document.activeElement)) $("summary-title").focus({ preventScroll: true });
    $("undo").hidden = past.length === 0;
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
