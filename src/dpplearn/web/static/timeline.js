// The documents by day, if days are known, with the sentences that each gave to the summary.

import { $, bdi, h, reconcile } from "./dom.js";
import { actions, state } from "./state.js";
import { nameOf } from "./text.js";

let days = []; // [day, numbers of its documents], the earliest first

export function buildTimeline() {
  const byDay = new Map();
  state.cluster.days.forEach((day, d) => day && state.cluster.sentences.some((s) => s.document === d) && byDay.set(day, [...(byDay.get(day) ?? []), d]));
  days = [...byDay].sort(([a], [b]) => (a < b ? -1 : 1));
  $("timeline").replaceChildren();
  $("dated").hidden = days.length < 2;
}

const inWords = (day) => new Date(`${day}T00:00:00Z`).toLocaleDateString("en", { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" });

export function updateTimeline() {
  const { documents, sentences } = state.cluster;
  if (days.length < 2) return;
  reconcile($("timeline"), days, ([day]) => day,
    ([day]) => h("li", {}, h("time", { datetime: day }, inWords(day)), h("div", { class: "days" })),
    (item, [, ids]) => item.lastElementChild.replaceChildren(...ids.map((d) => {
      const numbers = state.selection.selected.filter((x) => sentences[x.sentence].document === d).map((x) => x.order);
      const first = state.selection.selected.find((x) => sentences[x.sentence].document === d)?.sentence
        ?? sentences.findIndex((s) => s.document === d);
      return h("p", { "data-count": numbers.length }, ...numbers.map((n) => h("b", { class: "badge" }, String(n))),
        h("button", { type: "button", class: "link", on: { click: () => actions.goTo(first) } }, bdi(nameOf(documents[d], d))));
    })));
}
