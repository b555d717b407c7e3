// The map: each sentence is a point. Chosen sentences have numbers, lines tie repetitions to what they repeat, and words
// stand near the sentences that contain them.

import { $, plain, svg } from "./dom.js";
import { placed } from "./places.js";
import { idOf, Roving } from "./roving.js";
import { actions, state, statusOf } from "./state.js";
import { nameOf, shorten } from "./text.js";

const W = 320;
const H = 250;
const PAD = 14;
const WORD = 11; // height of words
const REACH = 12; // how near a point the pointer must be
const map = $("map");
const roving = new Roving(map, {
  next: target,
  focus: (id) => {
    roving.rove(id);
    roving.elements[id].focus();
  },
  enter: (id) => actions.goTo(id),
  lead: (id) => shorten(state.cluster.sentences[id].text, 140),
});
let shown = [];
let edges = null;
let marks = null;
let hot = null;
let at = () => [W / 2, H / 2]; // the place of a sentence

/** Fill the map with the points, with the same scale on both axes. */
function fit(sentences) {
  const reach = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = reach(sentences.map((s) => s.x));
  const [low, high] = reach(sentences.map((s) => s.y));
  const scale = Math.min((W - 2 * PAD) / (right - left || 1), (H - 2 * PAD) / (high - low || 1));
  const [x0, y0] = [(left + right) / 2, (low + high) / 2];
  return ({ x, y }) => [W / 2 + (x - x0) * scale, H / 2 - (y - y0) * scale];
}

export function buildMap() {
  const { documents, sentences } = state.cluster;
  const best = Math.max(...sentences.map((s) => s.quality), 1e-12);
  const base = sentences.length > 300 ? 1.8 : 2.6;
  at = fit(sentences);
  edges = svg("g", { class: "edges" });
  marks = svg("g", { class: "marks" });
  const points = sentences.map((sentence) => {
    const [x, y] = at(sentence);
    const name = nameOf(documents[sentence.document], sentence.document);
    return svg("circle", {
      cx: x.toFixed(1), cy: y.toFixed(1), r: (base + 2.2 * Math.sqrt(sentence.quality / best)).toFixed(1), class: "point",
      role: "button", tabindex: "-1", "data-id": sentence.id,
      "aria-label": plain(`${shorten(sentence.text)} (sentence ${sentence.position} of ${name})`),
    });
  });
  shown = new Array(sentences.length).fill("point ");
  map.setAttribute("viewBox", `0 0 ${W} ${H}`);
  const words = placed(state.cluster.words, sentences, at, { width: W, height: H, size: WORD });
  const places = svg("g", { class: "places", "aria-hidden": "true" }, ...words.map(({ word, x, y }) =>
    svg("text", { x: x.toFixed(1), y: y.toFixed(1) }, plain(word))));
  map.replaceChildren(svg("g", { class: "points" }, ...points), places, edges, marks);
  roving.renew(points);
}

export function updateMap() {
  const { sentences } = state.cluster;
  roving.elements.forEach((point, id) => {
    const { kind, included } = statusOf(id);
    const name = `point ${kind}${included ? " included" : ""}`;
    if (shown[id] !== name) point.setAttribute("class", (shown[id] = name));
  });
  const { selected, again } = state.selection;
  const repeated = [...again.values()].filter((x) => !state.excluded.has(x.sentence));
  edges.replaceChildren(...repeated.map((x) => {
    const [x1, y1] = at(sentences[x.sentence]);
    const [x2, y2] = at(sentences[x.repeats ?? x.sentence]);
    return svg("line", { x1, y1, x2, y2, "data-from": x.sentence });
  }));
  marks.replaceChildren(
    ...repeated.map(({ sentence }) => {
      const [x, y] = at(sentences[sentence]);
      return svg("path", { class: "again", d: `M${x} ${y - 5.5}l5.5 5.5-5.5 5.5-5.5-5.5z` });
    }),
    ...[...state.excluded].map((id) => {
      const [x, y] = at(sentences[id]);
      return svg("path", { class: "excluded", d: `M${x - 4} ${y - 4}l8 8m0-8l-8 8` });
    }),
    ...selected.map(({ sentence, order }) => {
      const [x, y] = at(sentences[sentence]);
      const number = svg("text", { x, y: y + 3.4 });
      number.textContent = String(order);
      const ring = state.included.has(sentence) ? [svg("circle", { class: "ring", cx: x, cy: y, r: 11.5 })] : [];
      return svg("g", { class: "in" }, ...ring, svg("circle", { cx: x, cy: y, r: 8.5 }), number);
    }),
  );
}

/** Mark the point of the sentence that has the pointer or focus elsewhere on the page. */
export function pointAt(id) {
  roving.elements[hot]?.classList.remove("hot");
  hot = id;
  roving.elements[id]?.classList.add("hot");
}

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The nearest point in the direction of the key; the distance across counts double. */
function target(id, key) {
  const { sentences } = state.cluster;
  if (key === "Home") return 0;
  if (key === "End") return sentences.length - 1;
  const direction = DIRECTIONS[key];
  if (!direction) return null;
  const [dx, dy] = direction;
  let [best, found] = [Infinity, id];
  for (const other of sentences) {
    const [x, y] = [other.x - sentences[id].x, other.y - sentences[id].y];
    const along = x * dx + y * dy;
    const distance = along + 2 * Math.abs(x * dy - y * dx);
    if (other.id !== id && along > 1e-9 && distance < best) [best, found] = [distance, other.id];
  }
  return found;
}

/** The sentence whose point is nearest to the pointer, or null if no point is near; marks lie on top of points. */
function nearest(event) {
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
  let [best, found] = [REACH, null];
  for (const sentence of state.cluster.sentences) {
    const [px, py] = at(sentence);
    const shows = state.selection?.chosen.has(sentence.id) ? 3 : state.selection?.again.has(sentence.id) ? 1.5 : 0;
    const distance = Math.hypot(px - x, py - y) - shows;
    if (distance < best) [best, found] = [distance, sentence.id];
  }
  return found;
}

export function listenMap() {
  map.addEventListener("click", (event) => {
    const id = event.detail ? nearest(event) : idOf(event); // a click from the keyboard has no place
    if (id === null) return;
    roving.rove(id);
    actions.goTo(id);
  });
  map.addEventListener("pointermove", (event) => {
    const id = nearest(event);
    map.classList.toggle("near", id !== null);
    if (id !== roving.looked) roving.look(id);
  });
}
