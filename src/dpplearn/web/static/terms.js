// Shows the terms of a quality as numbers, with a row for each: terms that raise it to the right, the others to the left.

import { bdi, h } from "./dom.js";
import { signed } from "./text.js";

export function table(contributions) {
  const rows = Object.entries(contributions);
  const widest = Math.max(...rows.map(([, value]) => Math.abs(value)), 1e-9);
  return h("table", { class: "terms" },
    h("caption", { class: "visually-hidden" }, "Terms of the logarithm of the quality, squared"),
    h("tbody", {}, ...rows.map(([name, value]) => {
      const bar = h("i", { class: value < 0 ? "minus" : "plus" });
      const width = (50 * Math.abs(value)) / widest;
      bar.style.left = `${value < 0 ? 50 - width : 50}%`;
      bar.style.width = `${width}%`;
      return h("tr", {}, h("th", { scope: "row" }, bdi(name)), h("td", { class: "term-bar", "aria-hidden": "true" }, bar),
        h("td", { class: "figure" }, signed(value)));
    })));
}
