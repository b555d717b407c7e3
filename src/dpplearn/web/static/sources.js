// The documents, sentence by sentence. One tab stop for all sentences; the arrow keys move inside.

import { actions, ruleByKey } from "./actions.js";
import { $, bdi, h, icon, plain, reducedMotion, textNodes } from "./dom.js";
import { state, statusOf } from "./state.js";
import { codePointOffsets, direction, nameOf, plural } from "./text.js";
import { hideTip, showTip } from "./tip.js";

const box = $("sources");
const tabs = $("tabs");
let spans = []; // by sentence
let shown = []; // what each sentence shows now, so that an update touches only what changed
let articles = []; // by document
let tabButtons = [];
let counts = [];
let current = 0; // the sentence that the tab key reaches
let view = "grid";
let active = 0;

export const spanOf = (id) => spans[id];

export function buildSources() {
  const { documents, sentences } = state.cluster;
  const byDocument = documents.map(() => []);
  for (const sentence of sentences) byDocument[sentence.document].push(sentence);
  spans = new Array(sentences.length);
  shown = new Array(sentences.length).fill("");
  articles = documents.map((document, d) => article(document, d, byDocument[d]));
  box.replaceChildren(...articles);
  tabButtons = documents.map(tab);
  counts = documents.map(() => "");
  tabs.replaceChildren(...tabButtons);
  current = 0;
  active = 0;
  if (spans[0]) spans[0].tabIndex = 0;
  setView(matchMedia("(max-width: 719px)").matches && documents.length > 1 ? "tabs" : "grid");
}

function article(document, d, sentences) {
  // dir="auto" would look past sentences that have a direction of their own, so the document's is found here.
  const body = h("div", { class: "body", dir: direction(document.text) });
  const at = codePointOffsets(document.text);
  let end = 0;
  for (const sentence of sentences) {
    const start = Math.max(at(sentence.start), end);
    if (start > end) body.append(gap(document.text.slice(end, start)));
    end = Math.max(at(sentence.end), start);
    body.append(span(sentence, document.text.slice(start, end)));
  }
  if (end < document.text.length) body.append(gap(document.text.slice(end)));
  if (!sentences.length) body.append(h("p", { class: "empty" }, "No sentence was found in this document."));
  return h("article", { class: "source", id: `source-${d}`, "aria-label": plain(nameOf(document, d)) },
    h("header", {},
      h("h3", { dir: "auto" }, bdi(nameOf(document, d))),
      h("p", { class: "source-count" }, plural(sentences.length, "sentence"))),
    body);
}

/** Text between sentences; an empty line becomes the space between two paragraphs. */
function gap(text) {
  const parts = text.split(/(\n[^\S\n]*\n\s*)/);
  return h("span", { class: "gap" }, ...parts.flatMap((part, i) => (i % 2 ? [h("span", { class: "para" }, part)] : textNodes(part))));
}

function span(sentence, text) {
  const element = h("span", { class: "s", role: "button", tabindex: "-1", "aria-haspopup": "dialog", "data-id": sentence.id },
    h("span", { class: "t", dir: "auto" }, ...textNodes(text)));
  spans[sentence.id] = element;
  return element;
}

function tab(document, d) {
  return h("button", { type: "button", role: "tab", id: `tab-${d}`, "aria-controls": `source-${d}`, tabindex: "-1", "data-tab": d },
    bdi(nameOf(document, d)), h("span", { class: "tab-count" }));
}

/** Show the newest selection, touching only the sentences whose state changed. */
export function updateSources() {
  const chosenIn = articles.map(() => 0);
  spans.forEach((element, id) => {
    const status = statusOf(id);
    if (status.chosen) chosenIn[state.cluster.sentences[id].document]++;
    const order = status.again && state.selection.chosen.get(status.again.similar_to)?.order;
    const kind = status.banned ? "banned" : status.chosen ? "in" : status.again ? "again" : "";
    const label = status.chosen ? String(status.chosen.order) : kind === "again" ? `≈${order}` : "";
    const key = `${kind}|${label}|${status.pinned}`;
    if (shown[id] === key) return;
    shown[id] = key;
    element.dataset.state = kind;
    element.toggleAttribute("data-pinned", status.pinned);
    element.querySelector(".badge")?.remove();
    if (kind || status.pinned) element.prepend(badge(kind, label, status.pinned));
  });
  chosenIn.forEach((count, d) => {
    const text = count ? String(count) : "";
    if (counts[d] === text) return;
    counts[d] = text;
    const total = articles[d].querySelectorAll(".s").length;
    const part = count ? `${count} of ${plural(total, "sentence")} in the summary` : plural(total, "sentence");
    articles[d].querySelector(".source-count").textContent = part;
    tabButtons[d].querySelector(".tab-count").replaceChildren(
      ...(count ? [text, h("span", { class: "visually-hidden" }, " in the summary")] : []));
  });
}

function badge(kind, label, pinned) {
  const words = { in: "In the summary, number", again: "Left out, repeats number", banned: "Banned", "": "" }[kind];
  return h("span", { class: "badge", dir: "ltr" },
    h("span", { class: "visually-hidden" }, `${pinned ? "Pinned. " : ""}${words} `),
    pinned ? icon("pin") : null, kind === "banned" ? icon("ban") : null, label || null);
}

export function setView(next) {
  view = next;
  $("view-grid").setAttribute("aria-pressed", String(view === "grid"));
  $("view-tabs").setAttribute("aria-pressed", String(view === "tabs"));
  tabs.hidden = view !== "tabs";
  box.dataset.view = view;
  articles.forEach((element) => {
    if (view === "tabs") element.setAttribute("role", "tabpanel");
    else element.removeAttribute("role");
  });
  setTab(active);
}

function setTab(d) {
  active = d;
  articles.forEach((element, i) => (element.hidden = view === "tabs" && i !== d));
  tabButtons.forEach((button, i) => {
    button.setAttribute("aria-selected", String(i === d));
    button.tabIndex = i === d ? 0 : -1;
  });
  if (view === "tabs" && state.cluster.sentences[current]?.document !== d) {
    const first = state.cluster.sentences.find((sentence) => sentence.document === d);
    if (first) rove(first.id);
  }
}

function rove(id) {
  if (spans[current]) spans[current].tabIndex = -1;
  current = id;
  spans[id].tabIndex = 0;
}

export function focusSentence(id, { flash = false } = {}) {
  const element = spans[id];
  if (!element) return;
  const d = state.cluster.sentences[id].document;
  if (view === "tabs" && d !== active) setTab(d);
  rove(id);
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: flash ? "center" : "nearest", behavior: flash && !reducedMotion() ? "smooth" : "auto" });
  if (flash) {
    element.classList.remove("flash");
    void element.offsetWidth; // restarts the animation
    element.classList.add("flash");
  }
}

export function listenSources() {
  const idOf = (event) => {
    const element = event.target.closest?.(".s");
    return element ? Number(element.dataset.id) : null;
  };
  box.addEventListener("click", (event) => {
    const id = idOf(event);
    if (id === null || String(getSelection())) return; // a text selection is not a click
    rove(id);
    actions.open(id, spans[id]);
  });
  box.addEventListener("keydown", (event) => {
    const id = idOf(event);
    if (id === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = target(id, event.key);
    if (next !== null) {
      event.preventDefault();
      focusSentence(next);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      actions.open(id, spans[id]);
    } else if (event.key === "Escape") hideTip();
    else ruleByKey(event, id);
  });
  const point = (event) => {
    const id = idOf(event);
    actions.point(id);
    if (id === null) hideTip();
    else showTip(id, spans[id]);
  };
  box.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(event));
  box.addEventListener("pointerleave", () => {
    hideTip();
    actions.point(null);
  });
  box.addEventListener("focusin", point);
  box.addEventListener("focusout", () => {
    hideTip();
    actions.point(null);
  });
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

/** The sentence that a key leads to from sentence `id`, or null. */
function target(id, key) {
  const { sentences } = state.cluster;
  const last = sentences.length - 1;
  const d = sentences[id].document;
  const bounded = (i) => Math.min(last, Math.max(0, i));
  switch (key) {
    case "ArrowDown": case "ArrowRight": return bounded(id + 1);
    case "ArrowUp": case "ArrowLeft": return bounded(id - 1);
    case "Home": return 0;
    case "End": return last;
    case "PageDown": return (sentences.find((s) => s.document > d) || sentences[last]).id;
    case "PageUp": {
      const before = sentences.findLast((s) => s.document < d);
      return before ? sentences.find((s) => s.document === before.document).id : 0;
    }
    default: return null;
  }
}
