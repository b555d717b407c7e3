// Shows messages about the server, in a line under the header, and about refused requests.

import { $, bdi, h } from "./dom.js";

const line = $("notice");

/** Show a line, with an optional button { label, act }; an empty text removes it. */
export function notice(text, button = null) {
  line.hidden = !text;
  if (!text) return line.replaceChildren();
  line.replaceChildren(h("span", {}, text),
    ...(button ? [h("button", { type: "button", class: "button small", on: { click: button.act } }, button.label)] : []));
}

/** Show a problem document where it belongs; `null` removes it. */
export function problem(box, error, errors = error?.errors ?? []) {
  box.hidden = !error;
  if (!error) return box.replaceChildren();
  box.replaceChildren(h("strong", {}, error.message), h("p", { dir: "auto" }, bdi(error.detail ?? "")),
    ...(errors.length ? [h("ul", {}, ...errors.map((e) => h("li", { dir: "auto" },
      e.pointer ? h("code", {}, bdi(e.pointer)) : null, " ", bdi(e.detail ?? ""))))] : []));
}

let pending = 0;

/** Announce a text to screen readers once the page has settled. */
export function say(text) {
  clearTimeout(pending);
  pending = setTimeout(() => ($("said").textContent = text), 350);
}
