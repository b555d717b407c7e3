// What a quality is made of: the terms of log q², those that raise it to the right of the axis, the others to the left.

import { bdi, h, plain } from "./dom.js";
import { signed } from "./text.js";

/** The widest reach to the left and to the right over all sentences: one scale for all bars. */
export function scaleOf(sentences) {
  const total = (sign) => ({ contributions }) =>
    Object.values(contributions).reduce((sum, value) => sum + Math.max(0, sign * value), 0);
  const [left, right] = [-1, 1].map((sign) => Math.max(0, ...sentences.map(total(sign))));
  const span = left + right || 1;
  return { axis: (100 * left) / span, unit: 100 / span };
}

const terms = (contributions) => Object.entries(contributions).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));

export function inWords(quality, contributions) {
  const parts = terms(contributions).map(([name, value]) => `${plain(name)} ${signed(value)}`);
  return `Quality ${quality.toFixed(2)}, made of ${parts.join(", ") || "nothing"}`;
}

function segment(value, left, width, attributes = {}) {
  const element = h("i", { class: value < 0 ? "minus" : "plus", ...attributes });
  element.style.left = `${left}%`;
  element.style.width = `${width}%`;
  return element;
}

/** One thin bar: segments stacked away from the axis, largest first, and a tick where they add up to. It opens `open`. */
export function bar(quality, contributions, scale, open) {
  const box = h("button", { type: "button", class: "bar", "aria-haspopup": "dialog", "aria-label": inWords(quality, contributions) });
  box.addEventListener("click", () => open(box));
  let [left, right, sum] = [scale.axis, scale.axis, 0];
  for (const [name, value] of terms(contributions)) {
    const width = Math.abs(value) * scale.unit;
    if (value < 0) left -= width;
    box.append(segment(value, value < 0 ? left : right, width, { title: `${plain(name)} ${signed(value)}` }));
    if (value >= 0) right += width;
    sum += value;
  }
  const axis = h("b", { class: "axis" });
  axis.style.left = `${scale.axis}%`;
  const total = h("b", { class: "total", title: `sum ${signed(sum)}` });
  total.style.left = `${Math.min(100, Math.max(0, scale.axis + sum * scale.unit))}%`;
  box.append(axis, total);
  return box;
}

/** The same, a row for each term, with its number. */
export function table(contributions) {
  const rows = terms(contributions);
  const widest = Math.max(...rows.map(([, value]) => Math.abs(value)), 1e-9);
  return h("table", { class: "terms" },
    h("caption", { class: "visually-hidden" }, "Terms of the logarithm of the quality, squared"),
    h("tbody", {}, ...rows.map(([name, value]) => {
      const width = (50 * Math.abs(value)) / widest;
      return h("tr", {}, h("th", { scope: "row" }, bdi(name)),
        h("td", { class: "term-bar", "aria-hidden": "true" }, segment(value, value < 0 ? 50 - width : 50, width)),
        h("td", { class: "figure" }, signed(value)));
    })));
}

// For those who have not read how the terms are made. Names that are not known, such as those of a model of your own,
// stand as they are.
const PLAIN = {
  constant: "the same for every sentence",
  length: "how long it is",
  position: "its place in its document",
  similarity: "how much it is like the documents as a whole",
  lexrank: "how central it is among all sentences",
  relevance: "how much it is about what you asked",
  "toward the beginning": "how near to the beginning of its document it stands",
  "among the first": "whether it is one of the first sentences of its document",
  "end of a long document": "whether it closes a long document",
  "words of titles": "how many of its words are in titles",
  "repeated word pairs": "how many of its pairs of words other sentences have too",
  "like other documents": "how much it is like the other documents",
  "long words": "how many of its words are long",
  brackets: "whether it has brackets",
};
const STEP = /\b(\d+)\/(\d+)\b/;

/** A line on each kind of term among `names`, and on how their fractions read. */
export function explained(names) {
  const kinds = Object.entries(PLAIN).filter(([kind]) => names.some((name) => name === kind || name.split(" ")[0] === kind));
  const lines = kinds.map(([kind, words]) => `${kind}: ${words}`);
  const [all, step, steps] = STEP.exec(names.find((name) => STEP.test(name)) ?? "") ?? [];
  if (all && lines.length) lines.push(`${all}: step ${step} of ${steps}, from low to high`);
  return lines;
}
