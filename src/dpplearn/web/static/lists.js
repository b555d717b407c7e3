// The lists beside the documents: the summary, facts about the choice, sentences left out, and the user's decisions.

import { $, bdi, h, icon, plain, reconcile, show, textNodes } from "./dom.js";
import { actions, ruleOf, state, toggleRule } from "./state.js";
import { direction, measured, nameOf, number, plural, shorten } from "./text.js";

const LISTED = 6; // number of sentences left out in the list; a click on any other shows its reason
const FACTS = { covers: "covers", leaves_out: "leaves out", similarity: "alike", sureness: "sure", order: "order" }; // as in the report
let before = null; // the answer shown last

export function buildLists() {
  before = null;
  for (const id of ["summary", "again", "rules"]) $(id).replaceChildren();
}

const sentence = (id) => state.cluster.sentences[id];

function go(id, text, name) {
  const button = h("button", { type: "button", class: "go line", dir: "auto", on: { click: () => actions.goTo(id) } });
  show(button, text);
  button.append(h("span", { class: "visually-hidden" }, ` ${name}`));
  return button;
}

function ruleButton(id, rule, label) {
  const click = () => toggleRule(id, rule);
  return h("button", { type: "button", class: "icon", "data-rule": rule, "aria-label": label, title: label, on: { click } }, icon(rule));
}

function listItem(id) {
  const open = (event) => actions.open(id, event.currentTarget);
  return h("li", { on: { pointerenter: () => actions.point(id), pointerleave: () => actions.point(null) } },
    go(id, sentence(id).text, "Show in its document."),
    h("p", { class: "hint dropped", dir: "auto", hidden: true }),
    h("div", { class: "item-foot", dir: "ltr" }, h("button", { type: "button", class: "meta why", "aria-haspopup": "dialog", on: { click: open } }),
      ruleButton(id, "include", "Include this sentence"), ruleButton(id, "exclude", "Exclude this sentence")));
}

/** A line of the summary; insertions in brackets are shown in a quieter style. */
function withAdditions(line, added) {
  const parts = [];
  for (const words of added) {
    const at = line.indexOf(words);
    if (at < 0) continue; // cut
    parts.push(...textNodes(line.slice(0, at)), h("span", { class: "added" }, words));
    line = line.slice(at + words.length);
  }
  return [...parts, ...textNodes(line)];
}

/** The whole sentence, with the parts that the summary cuts struck through; offsets count code points. */
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
      button.dataset.line = line; // a tiny budget may cut its only sentence
      const hint = button.lastElementChild;
      button.replaceChildren(...withAdditions(line, x.added), hint);
    }
    showDropped(item.querySelector(".dropped"), s.text, x.dropped);
    item.dataset.order = x.order;
    item.dir = direction(line); // so that the number stands where reading begins
    item.toggleAttribute("data-included", state.included.has(x.sentence));
    const name = nameOf(state.cluster.documents[s.document], s.document);
    const foot = item.querySelector(".why");
    foot.replaceChildren(h("span", { class: "from" }, bdi(name)), h("span", { class: "because" }, bdi(x.words)));
    foot.title = plain(`${name}: ${x.words}`); // the full text, which may be cut on the line
    press(item, x.sentence);
  });
  const out = [...new Set([...selection.again.keys(), ...selection.left_out])].slice(0, LISTED);
  reconcile($("again"), out, (id) => id, listItem, (item, id) => {
    item.dir = direction(sentence(id).text);
    item.querySelector(".why").replaceChildren(bdi(selection.out.get(id)?.reason || "excluded by you"));
    const { like } = selection.again.get(id) ?? {};
    item.dataset.order = like ? `≈${like}` : "–";
    item.toggleAttribute("data-again", Boolean(like));
    press(item, id);
  });
  updateRules();
  // with many short sentences, a line of reasons under each would push the last sentences off the screen
  $("summary").toggleAttribute("data-dense", lines.length > 5 && selection.text.length < 90 * lines.length);

  const count = selection.selected.length;
  if (selection !== before) $("news").textContent = ` · ${plural(count, "sentence")}${newsSince(before, selection)}`;
  before = selection;
  $("measure").textContent = `${number(selection.length)} of ${measured(selection.budget, selection.unit)}`;
  $("measure").title = `answered in ${Math.round(state.milliseconds)} ms`;
  $("measure").dataset.milliseconds = state.milliseconds.toFixed(1);
  $("meter").style.scale = `${Math.min(1, selection.length / selection.budget)} 1`;
  $("note").hidden = !selection.note;
  $("note").textContent = selection.note;
  $("summary-empty").hidden = count > 0;
  $("summary-empty").textContent = state.excluded.size === state.cluster.sentences.length
    ? "Every sentence is excluded." : "No sentence fits this length. Choose a greater length.";
  for (const button of document.querySelectorAll(".exports button")) button.disabled = count === 0;
  $("facts").replaceChildren(...facts(selection));
  $("left-out").hidden = out.length === 0;
}

/** Facts about the set: what it covers and leaves out, how similar its sentences are, and how sure the choice is. */
function facts(selection) {
  const said = Object.entries(FACTS).filter(([name]) => selection[name]?.words);
  return said.flatMap(([name, words]) => [h("dt", {}, words), h("dd", {}, bdi(selection[name].words))]);
}

/** How many sentences the latest change of a control brought or removed, in words; often none. */
function newsSince(old, now) {
  if (!old) return "";
  const fresh = now.selected.filter((x) => !old.chosen.has(x.sentence)).length;
  const gone = old.selected.filter((x) => !now.chosen.has(x.sentence)).length;
  if (!fresh && !gone) return ", the same as before";
  return `: ${[fresh && `${fresh} new`, gone && `${gone} gone`].filter(Boolean).join(", ")}`;
}

function updateRules() {
  const rules = [...state.included].map((id) => [id, "include"]).concat([...state.excluded].map((id) => [id, "exclude"]));
  reconcile($("rules"), rules, ([id, rule]) => `${rule}${id}`, ([id, rule]) => h("li", { "data-rule": rule },
    icon(rule), h("span", { class: "visually-hidden" }, rule === "include" ? "Included: " : "Excluded: "),
    go(id, shorten(sentence(id).text, 70), "Show in its document."),
    h("button", { type: "button", class: "icon", "aria-label": plain(`Remove: ${shorten(sentence(id).text, 40)}`), on: { click: () => actions.rule(id, "none") } },
      icon("close"))), () => {});
  $("choices").hidden = rules.length === 0;
}

/** The result in a sentence, for screen readers. */
export function inWords() {
  const { selection } = state;
  const left = selection.again.size ? `, ${number(selection.again.size)} good ones left out because they repeat others` : "";
  return `${plural(selection.selected.length, "sentence")}, ${number(selection.length)} of `
    + `${measured(selection.budget, selection.unit)}${left}. ${selection.note}`;
}
