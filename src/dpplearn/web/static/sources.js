// The documents: their sentences, and the pieces that are not sentences. All share one tab stop; arrow keys move inside.

import { $, bdi, h, icon, plain, reducedMotion, textNodes } from "./dom.js";
import { idOf, Roving } from "./roving.js";
import { actions, pieceOf, ruleByKey, state, statusOf } from "./state.js";
import { codePointOffsets, direction, nameOf, narrow, plural } from "./text.js";

const box = $("sources");
const tabs = $("tabs");
const roving = new Roving(box, {
  next: target,
  focus: (id) => focusSentence(id),
  enter: (id) => actions.open(id, spanOf(id)),
  other: ruleByKey,
});
let reading = []; // numbers of sentences and pieces, in document order
let shown = []; // the current state of each sentence, so that an update touches only changes
let articles = []; // by document
let tabButtons = [];
let counts = [];
let view = "grid";
let active = 0;

export const spanOf = (id) => roving.elements[id];

export function buildSources() {
  const { documents, sentences, set_aside } = state.cluster;
  const byDocument = documents.map(() => []);
  for (const sentence of sentences) byDocument[sentence.document].push(sentence);
  set_aside.forEach((piece, i) => byDocument[piece.document].push({ ...piece, id: sentences.length + i, aside: true }));
  for (const one of byDocument) one.sort((a, b) => a.start - b.start);
  const spans = new Array(sentences.length + set_aside.length);
  shown = new Array(sentences.length).fill("");
  reading = byDocument.flat().map(({ id }) => id);
  articles = documents.map((document, d) => article(document, d, byDocument[d], spans));
  box.replaceChildren(...articles);
  tabButtons = documents.map(tab);
  counts = documents.map(() => "");
  tabs.replaceChildren(...tabButtons);
  roving.renew(spans, reading[0]);
  active = 0;
  $("views").hidden = documents.length < 2;
  setView(narrow() && documents.length > 1 ? "tabs" : "grid");
}

function article(document, d, parts, spans) {
  // dir="auto" ignores sentences with their own direction, so the direction of the document is computed here.
  const body = h("div", { class: "body", dir: direction(document.text) });
  const at = codePointOffsets(document.text);
  let end = 0;
  for (const part of parts) {
    const start = Math.max(at(part.start), end);
    if (start > end) body.append(gap(document.text.slice(end, start)));
    end = Math.max(at(part.end), start);
    body.append((spans[part.id] = span(part, document.text.slice(start, end))));
  }
  if (end < document.text.length) body.append(gap(document.text.slice(end)));
  const count = parts.filter(({ aside }) => !aside).length;
  if (!count) body.append(h("p", { class: "empty" }, "No sentence was found in this document."));
  return h("div", { class: "source", role: "article", id: `source-${d}`, "aria-label": plain(nameOf(document, d)) },
    h("header", {},
      h("h3", { dir: "auto" }, bdi(nameOf(document, d))),
      h("p", { class: "source-count" }, h("span", {}, plural(count, "sentence")),
        ...(document.title ? [" · ", bdi(document.id)] : []))), // reasons use the id
    body);
}

/** Text between sentences; an empty line becomes a gap between paragraphs. */
function gap(text) {
  const parts = text.split(/(\n[^\S\n]*\n\s*)/);
  return h("span", { class: "gap" }, ...parts.flatMap((part, i) => (i % 2 ? [h("span", { class: "para" }, part)] : textNodes(part))));
}

function span({ id, aside }, text) {
  return h("span", { class: aside ? "piece s" : "s", role: "button", tabindex: "-1", "aria-haspopup": "dialog", "data-id": id },
    h("span", { class: "t", dir: "auto" }, ...textNodes(text)));
}

function tab(document, d) {
  return h("button", { type: "button", role: "tab", id: `tab-${d}`, "aria-controls": `source-${d}`, tabindex: "-1", "data-tab": d },
    bdi(nameOf(document, d)), h("span", { class: "tab-count" }));
}

/** Show the newest selection, touching only the sentences whose state changed. */
export function updateSources() {
  const chosenIn = articles.map(() => 0);
  shown.forEach((_, id) => {
    const element = spanOf(id);
    const { chosen, again, included, kind } = statusOf(id);
    if (chosen) chosenIn[state.cluster.sentences[id].document]++;
    const label = chosen ? String(chosen.order) : kind === "again" ? `≈${again.like}` : "";
    const key = `${kind}|${label}|${included}`;
    if (shown[id] === key) return;
    shown[id] = key;
    element.dataset.state = kind;
    element.toggleAttribute("data-included", included);
    element.querySelector(".badge")?.remove();
    if (kind || included) element.prepend(badge(kind, label, included));
  });
  chosenIn.forEach((count, d) => {
    const text = count ? String(count) : "";
    if (counts[d] === text) return;
    counts[d] = text;
    const total = articles[d].querySelectorAll(".s:not(.piece)").length;
    const part = count ? `${count} of ${plural(total, "sentence")} in the summary` : plural(total, "sentence");
    articles[d].querySelector(".source-count").firstElementChild.textContent = part;
    tabButtons[d].querySelector(".tab-count").replaceChildren(
      ...(count ? [text, h("span", { class: "visually-hidden" }, " in the summary")] : []));
  });
}

function badge(kind, label, included) {
  const words = { in: "In the summary, number", again: "Left out, repeats number", excluded: "Excluded", "": "" }[kind];
  return h("span", { class: "badge", dir: "ltr" },
    h("span", { class: "visually-hidden" }, `${included ? "Included. " : ""}${words} `),
    included ? icon("include") : null, kind === "excluded" ? icon("exclude") : null, label || null);
}

function setView(next) {
  view = next;
  $("view-grid").setAttribute("aria-pressed", String(view === "grid"));
  $("view-tabs").setAttribute("aria-pressed", String(view === "tabs"));
  tabs.hidden = view !== "tabs";
  box.dataset.view = view;
  articles.forEach((element) => element.setAttribute("role", view === "tabs" ? "tabpanel" : "article"));
  setTab(active);
}

function setTab(d) {
  active = d;
  articles.forEach((element, i) => (element.hidden = view === "tabs" && i !== d));
  tabButtons.forEach((button, i) => {
    button.setAttribute("aria-selected", String(i === d));
    button.tabIndex = i === d ? 0 : -1;
  });
  if (view === "tabs" && tabButtons.length) bringTab(tabButtons[d]);
  if (view === "tabs" && documentOf(roving.current) !== d) {
    const first = reading.find((id) => documentOf(id) === d);
    if (first !== undefined) roving.rove(first);
  }
}

/** Scroll only the row of tabs, until a tab is visible. */
function bringTab(button) {
  const [one, row] = [button.getBoundingClientRect(), tabs.getBoundingClientRect()];
  if (one.left < row.left || one.right > row.right) tabs.scrollLeft += one.left - row.left;
}

const documentOf = (id) => (state.cluster.sentences[id] ?? pieceOf(id)).document;

export function focusSentence(id, { flash = false } = {}) {
  const element = spanOf(id);
  if (!element) return;
  const d = documentOf(id);
  if (view === "tabs" && d !== active) setTab(d);
  roving.rove(id);
  element.focus({ preventScroll: true });
  const pane = getComputedStyle(box).overflowY !== "visible"; // the pane scrolls, and the summary beside it stays
  element.scrollIntoView({ block: flash && !pane ? "center" : "nearest", behavior: flash && !reducedMotion() ? "smooth" : "auto" });
  if (flash) {
    element.classList.remove("flash");
    void element.offsetWidth; // restarts the animation
    element.classList.add("flash");
  }
}

/** Start at the document of the summary's first sentence. */
export function beginAt(id) {
  const d = documentOf(id);
  if (view === "tabs") setTab(d);
  else box.scrollTop = articles[d].offsetTop - articles[0].offsetTop; // 0 if the page scrolls instead of the pane
}

export function listenSources() {
  box.addEventListener("click", (event) => {
    const id = idOf(event);
    if (id === null || String(getSelection())) return; // a text selection is not a click
    roving.rove(id);
    actions.open(id, spanOf(id));
  });
  box.addEventListener("pointerover", (event) => event.pointerType !== "touch" && roving.look(idOf(event)));
  tabs.addEventListener("click", (event) => {
    const button = event.target.closest("[data-tab]");
    if (button) setTab(Number(button.dataset.tab));
  });
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const last = tabButtons.length - 1;
    const next = step ? (active + step + last + 1) % (last + 1) : { Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setTab(next);
    tabButtons[next].focus();
  });
  $("view-grid").addEventListener("click", () => setView("grid"));
  $("view-tabs").addEventListener("click", () => setView("tabs"));
}

/** The sentence or piece that a key leads to from `id`, or null. */
function target(id, key) {
  const [place, d, last] = [reading.indexOf(id), documentOf(id), reading.length - 1];
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key];
  if (step) return reading[Math.min(last, Math.max(0, place + step))];
  switch (key) {
    case "Home": return reading[0];
    case "End": return reading[last];
    case "PageDown": return reading.find((other) => documentOf(other) > d) ?? reading[last];
    case "PageUp": {
      const before = reading.findLast((other) => documentOf(other) < d) ?? reading[0];
      return reading.find((other) => documentOf(other) === documentOf(before));
    }
    default: return null;
  }
}
