// What the page knows: one cluster, what the user asked of it, and the latest answer.

export const state = {
  cluster: null, // the API's answer to POST /clusters
  source: null, // what was posted, to post again once the server has forgotten it
  title: "",
  options: { budget: 100, unit: "words", diversity: 0.5, decoder: "consensus" },
  pins: new Set(),
  bans: new Set(),
  selection: null, // the API's answer to select
  milliseconds: 0,
};

/** What the page says of one sentence: in the summary, or why not; left out as a repetition, pinned, banned. */
export function statusOf(id) {
  const { selection } = state;
  return {
    chosen: selection?.chosen.get(id),
    again: selection?.again.get(id),
    pinned: state.pins.has(id),
    banned: state.bans.has(id),
    marginal: selection?.marginals?.[id],
    reason: selection?.reasons?.[id],
  };
}

/** The answer with its sentences by number, and what was asked: the controls may have moved on since. */
export function indexed(answer, asked) {
  const selected = [...answer.selected].sort((a, b) => a.order - b.order);
  return {
    ...answer,
    asked,
    selected,
    chosen: new Map(selected.map((x) => [x.sentence, x])),
    again: new Map(answer.redundant.map((x) => [x.sentence, x])),
  };
}

export function setRule(id, rule) {
  state.pins.delete(id);
  state.bans.delete(id);
  if (rule === "pin") state.pins.add(id);
  if (rule === "ban") state.bans.add(id);
}

export const ruleOf = (id) => (state.pins.has(id) ? "pin" : state.bans.has(id) ? "ban" : "none");

export const request = () => ({ ...state.options, include: [...state.pins], exclude: [...state.bans] });

/** In words, for the tooltip, the card and screen readers. */
export function describe(id) {
  const { chosen, again, pinned, banned, marginal, reason } = statusOf(id);
  const parts = [];
  if (pinned) parts.push("Pinned by you");
  if (banned) parts.push("Banned by you");
  if (chosen) parts.push(`In the summary, sentence ${chosen.order}`);
  if (again && !banned) {
    const order = state.selection.chosen.get(again.similar_to)?.order;
    parts.push(`Left out: ${reason}`, `similar ${again.similarity.toFixed(2)} to sentence ${order}`);
  }
  if (marginal !== undefined && marginal !== null && !pinned && !banned) {
    parts.push(`probability ${Math.round(100 * marginal)}%`);
  }
  return parts.join(" · ");
}
