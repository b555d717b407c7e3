// Budget, unit, diversity and decoder. A slider and a number show the same value.

import { $ } from "./dom.js";
import { state } from "./state.js";

const DECODERS = {
  consensus: ["Consensus", "The set that agrees most with what the model would choose on average."],
  greedy: ["Greedy", "Adds the best sentence again and again: close to the most probable set."],
  sample: ["Sample", "The most probable of many sets drawn at random."],
};
const UNITS = ["words", "sentences", "bytes", "tokens"];
const REACH = { words: 500, sentences: 30, bytes: 3000, tokens: 650 }; // how far the slider goes, if there is so much text
let totals = {};
let reach = {}; // where the slider of each unit ends; a number beyond it can be typed

export function buildControls(before = {}) {
  const { defaults, sentences } = state.cluster;
  totals = {};
  for (const { length } of sentences) {
    for (const [unit, value] of Object.entries(length)) totals[unit] = (totals[unit] || 0) + value;
  }
  $("unit").replaceChildren(...UNITS.filter((unit) => totals[unit]).map((unit) => new Option(unit, unit)));
  $("decoder").replaceChildren(...Object.entries(DECODERS).map(([name, [label]]) => new Option(label, name)));
  Object.assign(state.options, { unit: "words", diversity: 0.5, decoder: "consensus", budget: 100 }, defaults);
  if (!totals[state.options.unit]) state.options.unit = "words";
  const { budget, unit } = state.options;
  reach = { ...REACH, [unit]: Math.max(REACH[unit], 2 * budget) };
  for (const one of UNITS) reach[one] = Math.max(2, Math.min(reach[one], totals[one] || 2));
  state.options.budget = Math.min(budget, Math.max(1, totals[unit] || 1)); // more than there is would be a dead slider
  if (totals[before.unit]) Object.assign(state.options, before);
  showControls();
}

function showControls() {
  const { budget, unit, diversity, decoder } = state.options;
  const range = $("budget-range");
  range.max = reach[unit];
  range.value = budget;
  range.setAttribute("aria-valuetext", `${budget} ${unit}`);
  if (document.activeElement !== $("budget")) $("budget").value = budget;
  $("unit").value = unit;
  $("diversity-range").value = diversity;
  if (document.activeElement !== $("diversity")) $("diversity").value = diversity;
  $("diversity-range").setAttribute("aria-valuetext", `${diversity}: ${weighs(diversity)}`);
  fillTrack(range);
  fillTrack($("diversity-range"));
  $("decoder").value = decoder;
  $("decoder-about").textContent = DECODERS[decoder]?.[1] ?? "";
}

function weighs(diversity) {
  if (diversity === 0.5) return "As the model learned it.";
  if (diversity === 0) return "Only quality counts. Repetition is not avoided.";
  if (diversity === 1) return "Only variety counts. Quality does not.";
  return `${diversity < 0.5 ? "Quality" : "Variety"} counts more than the model learned.`;
}

function fillTrack(range) {
  const part = (range.value - range.min) / (range.max - range.min || 1);
  range.style.setProperty("--part", `${100 * part}%`);
}

/** The same room in another unit: about as much of the text. */
function convert(budget, from, to) {
  const value = (budget * totals[to]) / totals[from];
  const step = value >= 1000 ? 50 : value >= 100 ? 5 : 1;
  return Math.max(1, Math.round(value / step) * step);
}

function fieldProblem(name, text) {
  $(`${name}-problem`).hidden = !text;
  $(`${name}-problem`).textContent = text;
  const input = $(name);
  if (text) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-errormessage", `${name}-problem`);
  } else {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-errormessage");
  }
}

/** Show each error of a problem document beside its control; the rest is returned. */
export function placeErrors(errors) {
  const rest = [];
  for (const error of errors) {
    const name = ["budget", "diversity"].find((field) => error.pointer === `/${field}`);
    if (name) fieldProblem(name, error.detail);
    else rest.push(error);
  }
  return rest;
}

export function clearErrors() {
  for (const name of ["budget", "diversity"]) if ($(name).validity.valid && $(name).value !== "") fieldProblem(name, "");
}

export function listenControls(changed) {
  const set = (name, value) => {
    state.options[name] = value;
    fieldProblem(name, "");
    showControls();
    changed();
  };
  $("budget-range").addEventListener("input", (event) => set("budget", Number(event.target.value)));
  $("diversity-range").addEventListener("input", (event) => set("diversity", Number(event.target.value)));
  $("budget").addEventListener("input", (event) => {
    const value = Number(event.target.value);
    if (event.target.value !== "" && Number.isInteger(value) && value >= 1) set("budget", value);
    else fieldProblem("budget", "A whole number, 1 or more.");
  });
  $("diversity").addEventListener("input", (event) => {
    const value = Number(event.target.value);
    if (event.target.value !== "" && value >= 0 && value <= 1) set("diversity", value);
    else fieldProblem("diversity", "A number from 0 to 1.");
  });
  for (const name of ["budget", "diversity"]) {
    $(name).addEventListener("blur", () => {
      fieldProblem(name, "");
      showControls();
    });
  }
  $("unit").addEventListener("change", (event) => {
    state.options.budget = convert(state.options.budget, state.options.unit, event.target.value);
    state.options.unit = event.target.value;
    fieldProblem("budget", "");
    showControls();
    changed();
  });
  $("decoder").addEventListener("change", (event) => {
    state.options.decoder = event.target.value;
    showControls();
    changed({ instead: true });
  });
}
