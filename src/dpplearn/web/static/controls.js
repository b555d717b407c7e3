// Budget, unit, diversity, question, order, decoder, and whether sentences may be shortened. A slider and a number show
// the same value.

import { $ } from "./dom.js";
import { state } from "./state.js";

// the limits of the numbers beside sliders, and the message for anything else
const NUMBERS = {
  budget: {
    fits: (value) => Number.isInteger(value) && value >= 1 && value <= most(),
    wrong: () => (most() < Infinity ? `A whole number from 1 to ${most()}.` : "A whole number, 1 or more."),
  },
  diversity: { fits: (value) => value >= 0 && value <= 1, wrong: () => "A number from 0 to 1." },
};
const PLACED = [...Object.keys(NUMBERS), "about"]; // fields with a line for their errors
const PAUSE = 250; // milliseconds after the last letter of a question until it is sent
const SHARE = "%"; // a share of the words; `request` turns it into a budget such as "20%"
let totals = {}; // length of all sentences, by unit
let reach = {}; // the end of the slider, by unit; a larger number can be typed
const most = () => (state.options.unit === SHARE ? 100 : Infinity);

export function buildControls(before = {}) {
  const { defaults, sentences } = state.cluster;
  const { decoders, units, orders } = state.offered;
  totals = {};
  for (const { length } of sentences) {
    for (const [unit, value] of Object.entries(length)) totals[unit] = (totals[unit] || 0) + value;
  }
  const counted = Object.keys(units).filter((unit) => totals[unit]);
  $("unit").replaceChildren(...counted.map((unit) => new Option(unit, unit)), new Option("% of words", SHARE));
  totals[SHARE] = reach[SHARE] = 100;
  $("decoder").replaceChildren(...Object.keys(decoders).map((name) => new Option(name[0].toUpperCase() + name.slice(1), name)));
  $("order").replaceChildren(...Object.keys(orders).map((name) => new Option(name[0].toUpperCase() + name.slice(1), name)));
  const { budget, unit } = state.options = { ...defaults };
  for (const [name, one] of Object.entries(units)) {
    const far = name === unit ? Math.max(one.reach, 2 * budget) : one.reach;
    reach[name] = Math.max(2, Math.min(far, totals[name] || 2));
  }
  state.options.budget = Math.min(budget, Math.max(1, totals[unit])); // beyond the whole text, the slider would have no effect
  const known = { unit: totals, decoder: decoders, order: orders };
  for (const [name, value] of Object.entries(before)) {
    if (!(name in known) || Object.hasOwn(known[name], value)) state.options[name] = value; // skip values of another version
  }
  for (const [name, { fits }] of Object.entries(NUMBERS)) if (!fits(state.options[name])) state.options[name] = Math.min(defaults[name], most());
  openMore(["order", "compress"].some((name) => name in state.options) || state.options.decoder !== defaults.decoder);
  showControls();
}

function openMore(open) {
  $("more").setAttribute("aria-expanded", String(open));
  $("more-controls").hidden = !open;
  $("controls").toggleAttribute("data-open", open);
}

function showControls() {
  const { unit, diversity, decoder, compress } = state.options;
  const { about = "", order = Object.keys(state.offered.orders)[0] } = state.options; // "about" and "order" exist once changed
  $("budget-range").max = reach[unit];
  const said = { budget: ` ${unit}`, diversity: `: ${weighs(diversity)}` };
  for (const name of Object.keys(NUMBERS)) {
    const [range, value] = [$(`${name}-range`), state.options[name]];
    range.value = value;
    range.setAttribute("aria-valuetext", `${value}${said[name]}`);
    range.style.setProperty("--part", `${(100 * (range.value - range.min)) / (range.max - range.min || 1)}%`);
    if (document.activeElement !== $(name)) $(name).value = value;
  }
  $("unit").value = unit;
  $("decoder").value = decoder;
  $("order").value = order;
  $("order-about").textContent = sentence(state.offered.orders[order] ?? "");
  if (document.activeElement !== $("about")) $("about").value = about;
  $("compress").checked = Boolean(compress);
  $("decoder-about").textContent = state.offered.decoders[decoder] ?? "";
}

const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}.`;

function weighs(diversity) {
  if (diversity === 0.5) return "As the model learned.";
  if (diversity === 0) return "Only quality counts, so sentences may repeat each other.";
  if (diversity === 1) return "Only variety counts, and not quality.";
  return `${diversity < 0.5 ? "Quality" : "Variety"} counts more than in the learned model.`;
}

/** A budget for about the same share of the text in another unit. */
function convert(budget, from, to) {
  const value = (budget * totals[to]) / totals[from];
  const step = value >= 1000 ? 50 : value >= 100 ? 5 : 1;
  return Math.max(1, Math.round(value / step) * step);
}

function fieldProblem(name, text) {
  $(`${name}-problem`).hidden = !text;
  $(`${name}-problem`).textContent = text;
  for (const [attribute, value] of [["aria-invalid", "true"], ["aria-errormessage", `${name}-problem`]]) {
    if (text) $(name).setAttribute(attribute, value);
    else $(name).removeAttribute(attribute);
  }
}

/** Show the errors of a problem document beside their controls; return the rest. */
export function placeErrors(errors) {
  return errors.filter(({ pointer, detail }) => {
    const name = PLACED.find((field) => pointer === `/${field}`);
    if (name) fieldProblem(name, detail);
    return !name;
  });
}

export function clearErrors() {
  fieldProblem("about", "");
  for (const name of Object.keys(NUMBERS)) if ($(name).validity.valid && $(name).value !== "") fieldProblem(name, "");
}

export function listenControls(changed) {
  const set = (name, value) => {
    state.options[name] = value;
    fieldProblem(name, "");
    showControls();
    changed();
  };
  for (const [name, { fits, wrong }] of Object.entries(NUMBERS)) {
    $(`${name}-range`).addEventListener("input", (event) => set(name, Number(event.target.value)));
    $(name).addEventListener("input", ({ target }) => {
      if (target.value !== "" && fits(Number(target.value))) set(name, Number(target.value));
      else fieldProblem(name, wrong());
    });
    $(name).addEventListener("blur", () => {
      fieldProblem(name, "");
      showControls();
    });
  }
  $("more").addEventListener("click", () => openMore($("more-controls").hidden));
  let pause = 0;
  $("about").addEventListener("input", ({ target }) => {
    clearTimeout(pause);
    pause = setTimeout(() => set("about", target.value.trim()), PAUSE);
  });
  for (const [id, name, value] of [["order", "order", "value"]]) {
    $(id).addEventListener("change", ({ target }) => {
      state.options[name] = target[value];
      showControls();
      changed();
    });
  }
  $("unit").addEventListener("change", ({ target }) => {
    const budget = convert(state.options.budget, state.options.unit, target.value);
    state.options.unit = target.value;
    set("budget", budget);
  });
  $("compress").addEventListener("change", ({ target }) => {
    state.options.compress = target.checked;
    changed();
  });
  $("decoder").addEventListener("change", ({ target }) => {
    state.options.decoder = target.value;
    showControls();
    changed({ instead: true });
  });
}
