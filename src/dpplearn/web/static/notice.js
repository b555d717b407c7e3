// What the page says about the server (a line under the header), and about what the server refused.

import { $, bdi, h } from "./dom.js";

const line = $("notice");

/** Show a line, with an optional button { label, act }; an empty text takes it away. */
export function notice(text, button = null) {
  line.hidden = !text;
  if (!text) return line.replaceChildren();
  line.replaceChildren(h("span", {}, text),
    ...(button ? [h("button", { type: "button", class: "button small", on: { click: button.act } }, button.label)] : []));
}

/** A problem document where it belongs; `null` takes it away. */
export function problem(box, error, errors = error?.errors ?? []) {
  box.hidden = !error;
  if (!error) return box.replaceChildren();
  box.replaceChildren(h("strong", {}, error.message), h("p", { dir: "auto" }, bdi(error.detail ?? "")),
    ...(errors.length ? [h("ul", {}, ...errors.map((e) => h("li", { dir: "auto" },
      e.pointer ? h("code", {}, bdi(e.pointer)) : null, " ", bdi(e.detail ?? ""))))] : []));
}

let pending = 0;

/** Tell screen readers, once things have come to rest. */
export function say(text) {
  clearTimeout(pending);
  pending = setTimeout(() => ($("said").textContent = text), 350);
}
