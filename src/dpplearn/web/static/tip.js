// One line about the sentence under the pointer or the focus.

import { $, bdi, h } from "./dom.js";
import { describe } from "./state.js";

const tip = $("tip");
let anchor = null;

/** `lead` is document text to show first, because a point on the map does not show its sentence. */
export function showTip(id, element, lead = "") {
  const text = describe(id);
  if (!(text || lead) || $("card").matches(":popover-open")) return hideTip();
  anchor?.removeAttribute("aria-describedby");
  anchor = element;
  anchor.setAttribute("aria-describedby", "tip");
  tip.replaceChildren(...(lead ? [h("span", { class: "tip-lead", dir: "auto" }, bdi(lead))] : []), text);
  tip.hidden = false;
  place(tip, element.getClientRects()[0] || element.getBoundingClientRect());
}

export function hideTip() {
  anchor?.removeAttribute("aria-describedby");
  anchor = null;
  tip.hidden = true;
}

/** Put a fixed box above or below `rect`, or beside it if that is requested or hides less. */
export function place(box, rect, { below = false, beside = false } = {}) {
  const margin = 8;
  const width = box.offsetWidth;
  const height = box.offsetHeight;
  const left = Math.max(margin, Math.min(rect.left, innerWidth - width - margin));
  const above = rect.top - height - margin;
  const under = rect.bottom + margin;
  const fitsBelow = under + height <= innerHeight - margin;
  const top = (below && fitsBelow) || above < margin ? Math.max(margin, Math.min(under, innerHeight - height - margin)) : above;
  const covers = above < margin && !fitsBelow; // too high for either place: it would cover `rect`
  const side = [rect.right + margin, rect.left - width - margin].find((x) => x >= margin && x + width <= innerWidth - margin);
  const aside = side !== undefined && (beside || covers);
  box.style.left = `${aside ? side : left}px`;
  box.style.top = `${aside ? Math.max(margin, Math.min(rect.top - height / 2, innerHeight - height - margin)) : top}px`;
}

addEventListener("scroll", hideTip, { passive: true });
