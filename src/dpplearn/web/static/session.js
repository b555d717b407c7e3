// Keeps the documents and choices over a reload, in this tab until it is closed, and the theme for good.

import { state } from "./state.js";

const LARGEST = 2_000_000; // UTF-16 units: browsers give a page about five million
let whole = false; // whether the documents on the page are kept

/** The value stored under a key, or null, as when storage is switched off. */
export function read(key, storage = "sessionStorage") {
  try {
    return JSON.parse(window[storage].getItem(key));
  } catch {
    return null;
  }
}

/** Store a value; return whether there was room. */
export function write(key, value, storage = "sessionStorage") {
  try {
    window[storage].setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function keepCluster() {
  const { id, model, documents } = state.cluster;
  const size = documents.reduce((sum, { text }) => sum + text.length, 0);
  write("cluster", null); // so that the old cluster cannot return in place of this one
  whole = size <= LARGEST && write("cluster", { id, model, title: state.title, documents, keep_all: state.source.keep_all });
  keepChoices();
}

export function keepChoices() {
  const named = (ids) => [...ids].map((id) => [id, state.cluster.sentences[id].text]);
  write("choices", { options: state.options, included: named(state.included), excluded: named(state.excluded) });
}

export const isKept = () => whole;

/** The stored record { id, title, documents, model, keep_all, options, included, excluded }, or null. */
export const kept = () => read("cluster") && { ...read("cluster"), ...read("choices") };

/** Numbers of sentences that still have the text they had. */
export const stillThere = (named = []) =>
  new Set(named.filter(([id, text]) => state.cluster.sentences[id]?.text === text).map(([id]) => id));
