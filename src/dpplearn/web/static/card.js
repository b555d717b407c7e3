// The card of one sentence: pin or ban it, what was decided about it, and what its quality is made of.

import { explained, table } from "./bars.js";
import { $, bdi, h, icon } from "./dom.js";
import { spanOf } from "./sources.js";
import { actions, ruleByKey, ruleOf, similar, state, statusOf } from "./state.js";
import { nameOf, narrow, percent, signed } from "./text.js";
import { hideTip, place } from "./tip.js";

const card = $("card");
let openId = null;
let anchor = null;
let glossaryOpen = false;

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
  card.querySelector("[aria-pressed=true]").focus({ preventScroll: true });
}

function position() {
  if (narrow()) card.removeAttribute("style"); // a sheet at the foot of the window
  else place(card, anchor.getBoundingClientRect(), { below: true, beside: anchor.matches(".bar") }); // above a bar is its sentence
}

/** Keep the open card true while the selection changes under it. */
export function updateCard() {
  if (openId === null || !card.matches(":popover-open")) return;
  const focused = document.activeElement?.dataset?.rule;
  fill();
  if (focused) card.querySelector(`[data-rule=${focused}]`).focus({ preventScroll: true });
}

export const closeCard = () => card.matches(":popover-open") && card.hidePopover();

const RULES = [["none", "Automatic", null], ["pin", "Pin", "pin"], ["ban", "Ban", "ban"]];

function fill() {
  const sentence = state.cluster.sentences[openId];
  const rule = ruleOf(openId);
  const title = h("p", { id: "card-title", class: "card-title" }, `Sentence ${sentence.position} of `,
    bdi(nameOf(state.cluster.documents[sentence.document], sentence.document)));
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close", on: { click: closeCard } }, icon("close"));
  const buttons = RULES.map(([name, label, sign]) => h("button", {
    type: "button", "data-rule": name, "aria-pressed": String(rule === name), on: { click: () => actions.rule(openId, name) },
  }, sign && icon(sign), label));
  const { quality, contributions } = state.selection?.chosen.get(openId) ?? state.selection?.again.get(openId) ?? sentence;
  const sum = Object.values(contributions).reduce((a, b) => a + b, 0);
  card.replaceChildren(
    h("div", { class: "card-head" }, title, close),
    h("div", { class: "segmented rule", role: "group", "aria-label": "Your choice for this sentence" }, ...buttons),
    h("ul", { class: "facts" }, ...facts()),
    h("h3", {}, `Quality ${quality.toFixed(2)}`, h("small", {}, ` log q² = ${signed(sum)}, made of`)),
    table(contributions),
    ...glossary(Object.keys(contributions)),
  );
}

function glossary(names) {
  const lines = explained(names);
  if (!lines.length) return [];
  const toggle = (event) => {
    if (event.target.open === glossaryOpen) return; // it was drawn again
    glossaryOpen = event.target.open;
    if (anchor.isConnected) position(); // the card has another height now
  };
  return [h("details", { class: "hint glossary", "aria-label": "What these words mean", open: glossaryOpen, on: { toggle } }, h("summary", {}, "What these words mean"),
    h("ul", {}, ...lines.map((line) => h("li", {}, line))))];
}

function facts() {
  const { chosen, again, pinned, banned, marginal, reason } = statusOf(openId);
  const items = [];
  if (chosen) items.push(h("li", {}, `In the summary, sentence ${chosen.order}${pinned ? ", because you pinned it" : ""}.`));
  else if (pinned) items.push(h("li", {}, "Pinned, but not in the summary: see the note there."));
  if (banned) items.push(h("li", {}, "Kept out of the summary, because you banned it."));
  if (reason && !banned && !pinned) items.push(h("li", {}, "Not in the summary: ", bdi(reason), "."));
  if (again && !banned) {
    items.push(h("li", {}, h("button", { type: "button", class: "link", on: { click: () => actions.goTo(again.similar_to) } }, similar(again))));
  }
  if (typeof marginal === "number" && !pinned && !banned) {
    items.push(h("li", {}, `The model puts it into a summary with probability ${percent(marginal)}`
      + `${state.pins.size + state.bans.size ? ", given your choices." : "."}`));
  }
  return items;
}

card.addEventListener("toggle", (event) => {
  if (event.newState !== "closed") return;
  anchor?.removeAttribute("aria-expanded");
  // The bar that opened it may have left its list meanwhile: the sentence in its document is still there.
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
  // a click on the card's text leaves the focus to the page
  if (openId !== null && (card.contains(event.target) || event.target === document.body)) ruleByKey(event, openId);
});
