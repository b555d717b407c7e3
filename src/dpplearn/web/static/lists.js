// The lists beside the documents: the summary, what was left out, and what the user decided.

import { bar, scaleOf } from "./bars.js";
import { $, bdi, h, icon, plain, reconcile, show, textNodes } from "./dom.js";
import { actions, ruleOf, similar, state, toggleRule } from "./state.js";
import { measured, nameOf, number, percent, plural, shorten } from "./text.js";

let scale = null;
let before = null; // the answer shown last

export function buildLists() {
  scale = scaleOf(state.cluster.sentences);
  before = null;
  for (const id of ["summary", "again", "rules"]) $(id).replaceChildren();
}

const sentence = (id) => state.cluster.sentences[id];

function go(id, text, name) {
  const button = h("button", { type: "button", class: "go", dir: "auto", on: { click: () => actions.goTo(id) } });
  show(button, text);
  button.append(h("span", { class: "visually-hidden" }, ` ${name}`));
  return button;
}

function ruleButton(id, rule, label) {
  const click = () => toggleRule(id, rule);
  return h("button", { type: "button", class: "icon", "data-rule": rule, "aria-label": label, title: label, on: { click } }, icon(rule));
}

function listItem(id) {
  const s = sentence(id);
  return h("li", { on: { pointerenter: () => actions.point(id), pointerleave: () => actions.point(null) } },
    h("div", { class: "item-text" }, go(id, s.text, "Show in its document."), h("p", { class: "hint dropped", dir: "auto", hidden: true })),
    h("div", { class: "item-foot" },
      h("p", { class: "meta" }), ruleButton(id, "pin", "Pin this sentence"), ruleButton(id, "ban", "Ban this sentence")),
    bar(s.quality, s.contributions, scale, (box) => actions.open(id, box)));
}

/** The whole sentence, with what the summary does without struck through; offsets count code points. */
function showDropped(element, text, dropped) {
  element.hidden = dropped.length === 0;
  const [points, parts] = [[...text], []];
  let end = 0;
  for (const [start, stop] of dropped) {
    parts.push(...textNodes(points.slice(end, start).join("")), h("del", {}, ...textNodes(points.slice(start, stop).join(""))));
    end = stop;
  }
  element.replaceChildren(...(dropped.length ? [...parts, ...textNodes(points.slice(end).join(""))] : []));
}

function press(item, id) {
  for (const button of item.querySelectorAll("[data-rule]")) {
    button.setAttribute("aria-pressed", String(ruleOf(id) === button.dataset.rule));
  }
}

export function updateLists() {
  const { selection } = state;
  const lines = selection.text.split("\n");
  reconcile($("summary"), selection.selected, (x) => x.sentence, (x) => listItem(x.sentence), (item, x) => {
    const s = sentence(x.sentence);
    const button = item.querySelector(".go");
    const line = lines[x.order - 1] ?? s.text;
    if (button.dataset.line !== line) {
      button.dataset.line = line; // the only sentence of a tiny budget may be cut
      const hint = button.lastElementChild;
      show(button, line);
      button.append(hint);
    }
    if (item.dataset.quality !== String(x.quality)) { // a question changes it
      item.dataset.quality = x.quality;
      item.querySelector(".bar").replaceWith(bar(x.quality, x.contributions, scale, (box) => actions.open(x.sentence, box)));
    }
    showDropped(item.querySelector(".dropped"), s.text, x.dropped);
    item.dataset.order = x.order;
    item.toggleAttribute("data-pinned", state.pins.has(x.sentence));
    const chance = state.pins.has(x.sentence) ? "pinned" : `${percent(x.marginal)} likely`;
    const name = nameOf(state.cluster.documents[s.document], s.document);
    item.querySelector(".meta").replaceChildren(h("span", {}, chance), ` · sentence ${s.position} of `, bdi(name));
    item.querySelector(".meta").title = plain(name); // shown whole where it is cut
    press(item, x.sentence);
  });
  reconcile($("again"), [...selection.again.values()], (x) => x.sentence, (x) => listItem(x.sentence), (item, x) => {
    item.querySelector(".meta").replaceChildren(
      h("button", { type: "button", class: "link", on: { click: () => actions.goTo(x.similar_to) } }, similar(x)),
      h("span", {}, bdi(x.reason)));
    item.dataset.order = `≈${x.like}`;
    press(item, x.sentence);
  });
  updateRules();

  const count = selection.selected.length;
  if (selection !== before) $("news").textContent = `${plural(count, "sentence")}${newsSince(before, selection)}`;
  before = selection;
  const alike = selection.similarity;
  $("alike").textContent = alike ? ` · alike ${alike.mean.toFixed(2)} on average, ${alike.max.toFixed(2)} at most` : "";
  $("measure").textContent = `${number(selection.length)} of ${measured(selection.budget, selection.unit)}`;
  $("measure").title = `answered in ${Math.round(state.milliseconds)} ms`;
  $("measure").dataset.milliseconds = state.milliseconds.toFixed(1);
  $("meter").style.scale = `${Math.min(1, selection.length / selection.budget)} 1`;
  $("note").hidden = !selection.note;
  $("note").textContent = selection.note;
  $("bars-hint").hidden = $("chance-hint").hidden = count === 0;
  $("summary-empty").hidden = count > 0;
  $("summary-empty").textContent = state.bans.size === state.cluster.sentences.length
    ? "Every sentence is banned." : "No sentence fits into this budget. Give it more room.";
  for (const button of document.querySelectorAll(".exports button")) button.disabled = count === 0;
  $("again-count").textContent = selection.again.size ? plural(selection.again.size, "sentence") : "";
  $("again-empty").hidden = selection.again.size > 0;
  $("again-hint").hidden = selection.again.size === 0;
  $("again-empty").textContent = count ? "No good sentence was left out for repeating the summary." : "Nothing to repeat yet.";
}

/** Whether the latest movement changed anything: a slider often does not. */
function newsSince(old, now) {
  if (!old) return "";
  const fresh = now.selected.filter((x) => !old.chosen.has(x.sentence)).length;
  const gone = old.selected.filter((x) => !now.chosen.has(x.sentence)).length;
  if (!fresh && !gone) return ", the same as before";
  return `: ${[fresh && `${fresh} new`, gone && `${gone} gone`].filter(Boolean).join(", ")}`;
}

function updateRules() {
  const rules = [...state.pins].map((id) => [id, "pin"]).concat([...state.bans].map((id) => [id, "ban"]));
  reconcile($("rules"), rules, ([id, rule]) => `${rule}${id}`, ([id, rule]) => h("li", { "data-rule": rule },
    icon(rule), h("span", { class: "visually-hidden" }, rule === "pin" ? "Pinned: " : "Banned: "),
    go(id, shorten(sentence(id).text, 70), "Show in its document."),
    h("button", { type: "button", class: "icon", "aria-label": plain(`Remove: ${shorten(sentence(id).text, 40)}`), on: { click: () => actions.rule(id, "none") } },
      icon("close"))), () => {});
  $("rules-empty").hidden = rules.length > 0;
  $("clear").hidden = rules.length === 0;
}

/** The result in a sentence, for screen readers. */
export function inWords() {
  const { selection } = state;
  const left = selection.again.size ? `, ${number(selection.again.size)} good ones left out as repetition` : "";
  return `${plural(selection.selected.length, "sentence")}, ${number(selection.length)} of `
    + `${measured(selection.budget, selection.unit)}${left}. ${selection.note}`;
}
