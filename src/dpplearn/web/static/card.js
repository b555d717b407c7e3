// The card of one sentence: why it is in the summary or not, in the words of the record; buttons to include or exclude it;
// and, on demand, the numbers. A piece of a document that could not be chosen has a card with its reason.

import { getWhy } from "./api.js";
import { $, bdi, h, icon } from "./dom.js";
import { spanOf } from "./sources.js";
import { actions, pieceOf, ruleByKey, ruleOf, state, statusOf } from "./state.js";
import { table } from "./terms.js";
import { nameOf, narrow, percent, signed } from "./text.js";
import { hideTip, place } from "./tip.js";

const card = $("card");
let openId = null;
let anchor = null;
let numbersOpen = false;

export function openCard(id, element) {
  hideTip();
  if (card.matches(":popover-open")) card.hidePopover();
  anchor?.removeAttribute("aria-expanded");
  openId = id;
  anchor = element;
  fill();
  card.showPopover();
  position();
  anchor.setAttribute("aria-expanded", "true");
  (card.querySelector("[aria-pressed=true]") ?? card.querySelector("button")).focus({ preventScroll: true });
}

function position() {
  if (narrow()) card.removeAttribute("style"); // a sheet at the foot of the window
  else place(card, anchor.getBoundingClientRect(), { below: true });
}

/** Update the open card when the selection changes. */
export function updateCard() {
  if (openId === null || !card.matches(":popover-open")) return;
  const focused = document.activeElement?.dataset?.rule;
  fill();
  if (focused) card.querySelector(`[data-rule=${focused}]`).focus({ preventScroll: true });
}

export const closeCard = () => card.matches(":popover-open") && card.hidePopover();

const RULES = [["none", "Automatic", null], ["include", "Include", "include"], ["exclude", "Exclude", "exclude"]];

function fill() {
  const piece = pieceOf(openId);
  const { document, position } = piece ?? state.cluster.sentences[openId];
  const title = h("p", { id: "card-title", class: "card-title" }, piece ? "From " : `Sentence ${position} of `,
    bdi(nameOf(state.cluster.documents[document], document)));
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close", on: { click: closeCard } }, icon("close"));
  card.replaceChildren(h("div", { class: "card-head" }, title, close), ...(piece ? ofPiece(piece) : ofSentence()));
}

const verdict = (...words) => h("p", { class: "verdict" }, ...words);

function ofPiece({ reason }) {
  return [verdict("Not a candidate: ", bdi(reason), "."),
    h("p", { class: "hint" }, "To choose from such pieces, too, click Change documents and tick the box there.")];
}

function ofSentence() {
  const rule = ruleOf(openId);
  const buttons = RULES.map(([name, label, sign]) => h("button", {
    type: "button", "data-rule": name, "aria-pressed": String(rule === name), on: { click: () => actions.rule(openId, name) },
  }, sign && icon(sign), label));
  return [...why(), h("div", { class: "segmented rule", role: "group", "aria-label": "Your choice for this sentence" }, ...buttons), numbers()];
}

function why() {
  const { chosen, included, excluded, reason, by } = statusOf(openId);
  if (excluded) return [verdict("Kept out of the summary, because you excluded it.")];
  if (chosen) return [verdict(`In the summary, sentence ${chosen.order}: `, bdi(chosen.words), ".")];
  if (included) return [verdict("Included by you, but it is not in the summary: see the note there.")];
  if (!reason) {
    askWhy(openId);
    return [];
  }
  const go = by && h("button", { type: "button", class: "link", on: { click: () => actions.goTo(by.sentence) } },
    `Show sentence ${by.order} of the summary`);
  return [verdict("Not in the summary: ", bdi(reason), "."), ...(go ? [h("p", { class: "hint" }, go)] : [])];
}

/** An answer explains the best sentences left out. The server is asked about any other when its card opens. */
async function askWhy(id) {
  const { selection, cluster } = state;
  if (!selection || selection.asking === id) return;
  selection.asking = id;
  try {
    const answer = await getWhy(cluster.id, id, selection.asked);
    selection.out.set(id, answer);
    if (state.selection === selection && openId === id) updateCard();
  } catch {
    selection.asking = null; // the next change asks again
  }
}

function numbers() {
  const { chosen, included, excluded, marginal } = statusOf(openId);
  const { quality, contributions } = chosen ?? state.cluster.sentences[openId];
  const sum = Object.values(contributions).reduce((a, b) => a + b, 0);
  const likely = typeof marginal === "number" && !included && !excluded
    ? `, in ${percent(marginal)} of the sets that the model draws${state.included.size + state.excluded.size ? ", given your choices" : ""}` : "";
  const toggle = (event) => {
    if (event.target.open === numbersOpen) return; // redrawing the card fires this event, too
    numbersOpen = event.target.open;
    if (anchor.isConnected) position(); // because the height of the card has changed
  };
  const reasons = chosen?.reasons.filter(({ amount }) => amount !== 0).map(({ words, amount }) => [words, amount]) ?? [];
  const compared = reasons.length ? [h("p", { class: "hint" }, "How much likelier than the average sentence each reason makes it, as a logarithm (0.69 is twice as likely):"),
    table(Object.fromEntries(reasons))] : [];
  return h("details", { open: numbersOpen, "aria-label": "Numbers", on: { toggle } }, h("summary", {}, "Numbers"), ...compared,
    h("p", { class: "hint" }, `Quality ${quality.toFixed(2)}${likely}. The terms of log q² = ${signed(sum)}:`), table(contributions));
}

card.addEventListener("toggle", (event) => {
  if (event.newState !== "closed") return;
  anchor?.removeAttribute("aria-expanded");
  // The element that opened the card may be gone from its list, but the sentence is still in its document.
  if (openId !== null && document.activeElement === document.body) spanOf(openId)?.focus({ preventScroll: true });
  openId = null;
});
card.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    event.preventDefault();
    const back = anchor?.isConnected ? anchor : spanOf(openId);
    closeCard();
    back?.focus({ preventScroll: true });
  }
});
document.addEventListener("keydown", (event) => {
  // a click on the card's text gives the focus to the page
  if (openId !== null && (card.contains(event.target) || event.target === document.body)) ruleByKey(event, openId);
});
