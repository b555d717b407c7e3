// What the page knows: one cluster, what the user asked of it, and the latest answer.

export const state = {
  offered: null, // the API's answer to GET /models: models, decoders, units
  cluster: null, // the API's answer to POST /clusters
  source: null, // what was posted, to post again once the server has forgotten it
  title: "",
  options: {}, // budget, unit, diversity, decoder, about, order, compress
  included: new Set(),
  excluded: new Set(),
  selection: null, // the API's answer to select
  milliseconds: 0,
};

/** What any part of the page may ask of the whole; app.js fills these in. */
export const actions = {
  rule: (_id, _rule) => {}, // include, exclude or free a sentence, and select again
  goTo: (_id) => {}, // show a sentence in its source
  open: (_id, _anchor) => {}, // open the card of a sentence, or of a piece that is none
  point: (_id) => {}, // the pointer or the focus is on a sentence (null: on none)
};

/** A piece of a document that is not to choose from; pieces are numbered after the sentences. */
export const pieceOf = (id) => state.cluster.set_aside[id - state.cluster.sentences.length];

/** What the page says of one sentence: in the summary, or why not; left out as a repetition, included, excluded; and its mark. */
export function statusOf(id) {
  const { selection } = state;
  const [chosen, again] = [selection?.chosen.get(id), selection?.again.get(id)];
  const [included, excluded] = [state.included.has(id), state.excluded.has(id)];
  const kind = excluded ? "excluded" : chosen ? "in" : again ? "again" : "";
  return { chosen, again, included, excluded, kind, marginal: selection?.marginals[id],
    reason: selection?.out.get(id)?.reason, by: selection?.out.get(id)?.by.map((other) => selection.chosen.get(other)).find(Boolean) };
}

/** The answer with its sentences by number, and what was asked: the controls may have moved on since. */
export function indexed(answer, asked) {
  const selected = [...answer.selected].sort((a, b) => a.order - b.order);
  const chosen = new Map(selected.map((x) => [x.sentence, x]));
  const like = (x) => { // what it repeats: the sentence that its reason names, which need not be the one most like it
    const first = chosen.get(x.by[0]);
    return { ...x, like: first?.order, repeats: first?.sentence };
  };
  const out = new Map([...answer.left_out, ...answer.redundant].map((x) => [x.sentence, x])); // of others the server is asked
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

/** I includes a sentence and E excludes it; the same key again takes it back. */
export function ruleByKey(event, id) {
  const rule = { i: "include", e: "exclude" }[event.key.toLowerCase()];
  if (rule && !pieceOf(id) && !(event.ctrlKey || event.metaKey || event.altKey)) toggleRule(id, rule);
}

export const request = () => ({ ...state.options, ...share(state.options), include: [...state.included], exclude: [...state.excluded] });

/** A budget in % is a share of the words. */
const share = ({ budget, unit }) => (unit === "%" ? { budget: `${budget}%`, unit: "words" } : {});

/** In words, for the tooltip and screen readers: the record's own. */
export function describe(id) {
  if (pieceOf(id)) return `Not a candidate: ${pieceOf(id).reason}`;
  const { chosen, excluded, reason } = statusOf(id);
  if (!state.selection) return "";
  if (excluded) return "Excluded by you";
  if (chosen) return [`In the summary, sentence ${chosen.order}`, chosen.words].filter(Boolean).join(": ");
  return reason ? `Left out: ${reason}` : "Left out. Click to see why.";
}
