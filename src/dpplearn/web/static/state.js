// The state of the page: one cluster, the user's settings, and the latest answer.

export const state = {
  offered: null, // the API's answer to GET /models: models, decoders, units
  cluster: null, // the API's answer to POST /clusters
  source: null, // the posted documents, to post again if the server forgets them
  title: "",
  options: {}, // budget, unit, diversity, decoder, about, order, compress
  included: new Set(),
  excluded: new Set(),
  selection: null, // the API's answer to select
  milliseconds: 0,
};

/** Actions that any part of the page may call; app.js defines them. */
export const actions = {
  rule: (_id, _rule) => {}, // include, exclude or free a sentence, and select again
  goTo: (_id) => {}, // show a sentence in its source
  open: (_id, _anchor) => {}, // open the card of a sentence or of another piece
  point: (_id) => {}, // the pointer or the focus is on a sentence, or on none (null)
};

/** A piece of a document that cannot be chosen; the numbers of pieces follow those of sentences. */
export const pieceOf = (id) => state.cluster.set_aside[id - state.cluster.sentences.length];

/** The status of a sentence: in the summary, or why not (a repetition, included, excluded); and its mark. */
export function statusOf(id) {
  const { selection } = state;
  const [chosen, again] = [selection?.chosen.get(id), selection?.again.get(id)];
  const [included, excluded] = [state.included.has(id), state.excluded.has(id)];
  const kind = excluded ? "excluded" : chosen ? "in" : again ? "again" : "";
  return { chosen, again, included, excluded, kind, marginal: selection?.marginals[id],
    reason: selection?.out.get(id)?.reason, by: selection?.out.get(id)?.by.map((other) => selection.chosen.get(other)).find(Boolean) };
}

/** The answer, with its sentences by number and its request; the controls may have changed since. */
export function indexed(answer, asked) {
  const selected = [...answer.selected].sort((a, b) => a.order - b.order);
  const chosen = new Map(selected.map((x) => [x.sentence, x]));
  const like = (x) => { // the sentence that the reason names as repeated, not always the most similar one
    const first = chosen.get(x.by[0]);
    return { ...x, like: first?.order, repeats: first?.sentence };
  };
  const out = new Map([...answer.left_out, ...answer.redundant].map((x) => [x.sentence, x])); // the server is asked about others
  const left_out = answer.left_out.map((x) => x.sentence);
  return { ...answer, asked, selected, chosen, out, left_out, again: new Map(answer.redundant.map((x) => [x.sentence, like(x)])) };
}

export function setRule(id, rule) {
  state.included.delete(id);
  state.excluded.delete(id);
  if (rule === "include") state.included.add(id);
  if (rule === "exclude") state.excluded.add(id);
}

export const ruleOf = (id) => (state.included.has(id) ? "include" : state.excluded.has(id) ? "exclude" : "none");
export const toggleRule = (id, rule) => actions.rule(id, ruleOf(id) === rule ? "none" : rule);

/** I includes a sentence and E excludes it; the same key again undoes this. */
export function ruleByKey(event, id) {
  const rule = { i: "include", e: "exclude" }[event.key.toLowerCase()];
  if (rule && !pieceOf(id) && !(event.ctrlKey || event.metaKey || event.altKey)) toggleRule(id, rule);
}

export const request = () => ({ ...state.options, ...share(state.options), include: [...state.included], exclude: [...state.excluded] });

/** A budget in % is a share of the words. */
const share = ({ budget, unit }) => (unit === "%" ? { budget: `${budget}%`, unit: "words" } : {});

/** The record's words, for the tooltip and screen readers. */
export function describe(id) {
  if (pieceOf(id)) return `Not a candidate: ${pieceOf(id).reason}`;
  const { chosen, excluded, reason } = statusOf(id);
  if (!state.selection) return "";
  if (excluded) return "Excluded by you";
  if (chosen) return [`In the summary, sentence ${chosen.order}`, chosen.words].filter(Boolean).join(": ");
  return reason ? `Left out: ${reason}` : "Left out. Click to see why.";
}
