// Puts many sentences into one tab stop, where arrow keys move. The sentence under the pointer or focus shows a tip.

import { actions } from "./state.js";
import { hideTip, showTip } from "./tip.js";

/** The number of the sentence that an event is on, or null. */
export function idOf(event) {
  const id = event.target.closest?.("[data-id]")?.dataset.id;
  return id === undefined ? null : Number(id);
}

/** The elements of the sentences in `box`. `next(id, key)` is the sentence that a key leads to, or null. Enter calls
 * `enter(id)`, other keys call `other(event, id)`, and a tip begins with `lead(id)`. */
export class Roving {
  constructor(box, { next, focus, enter, other = () => {}, lead = () => "" }) {
    Object.assign(this, { elements: [], current: 0, looked: null, lead });
    box.addEventListener("keydown", (event) => {
      const id = idOf(event);
      if (id === null || event.ctrlKey || event.metaKey || event.altKey) return;
      const to = next(id, event.key);
      if (to !== null) focus(to);
      else if (event.key === "Enter" || event.key === " ") enter(id);
      else return event.key === "Escape" ? hideTip() : other(event, id);
      event.preventDefault();
    });
    box.addEventListener("focusin", (event) => this.look(idOf(event)));
    for (const type of ["focusout", "pointerleave"]) box.addEventListener(type, () => this.look(null));
  }

  /** Take the elements of another cluster. */
  renew(elements, first = 0) {
    this.elements = elements;
    this.current = first;
    if (elements.length) this.rove(first);
  }

  /** Let the tab key reach this sentence. */
  rove(id) {
    this.elements[this.current].setAttribute("tabindex", "-1");
    this.current = id;
    this.elements[id].setAttribute("tabindex", "0");
  }

  look(id) {
    this.looked = id;
    actions.point(id);
    if (id === null) hideTip();
    else showTip(id, this.elements[id], this.lead(id));
  }
}
