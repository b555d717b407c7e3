// The first screen: documents pasted, dropped or chosen, and the example.

import { $, bdi, h, icon, plain } from "./dom.js";
import { problem } from "./notice.js";
import { plural, size, wellFormed, words } from "./text.js";

let drafts = []; // { key, file } or { key, title, text }
let errors = new Map(); // draft key -> what the server said of it
let count = 0;

function render() {
  $("drafts").replaceChildren(...drafts.map((draft) => {
    const said = errors.get(draft.key);
    const name = draft.file ? draft.file.name : draft.title || `Pasted document`;
    return h("li", { class: said ? "bad" : false },
      icon(draft.file ? "file" : "text"),
      h("span", { class: "draft-name", dir: "auto" }, bdi(name)),
      h("span", { class: "muted" }, draft.file ? size(draft.file.size) : plural(words(draft.text), "word")),
      h("button", { type: "button", class: "icon", "aria-label": plain(`Remove ${name}`), on: { click: () => remove(draft.key) } }, icon("close")),
      said ? h("p", { class: "draft-problem", dir: "auto" }, said) : null);
  }));
  $("drafts").hidden = drafts.length === 0;
}

function remove(key) {
  const at = drafts.findIndex((draft) => draft.key === key);
  drafts.splice(at, 1);
  errors = new Map();
  problem($("form-problem"), null);
  render();
  const rows = $("drafts").querySelectorAll("button");
  (rows[Math.min(at, rows.length - 1)] || $("paste-text")).focus();
}

function addFiles(files) {
  for (const file of files) drafts.push({ key: ++count, file });
  errors = new Map();
  problem($("form-problem"), null);
  render();
}

function addText(title, text) {
  drafts.push({ key: ++count, title: wellFormed(title.trim()), text: wellFormed(text) });
  render();
}

function takePasted() {
  if (!$("paste-text").value.trim()) return false;
  addText($("paste-title").value, $("paste-text").value);
  $("paste-title").value = $("paste-text").value = "";
  return true;
}

/** What to post: JSON where all was pasted; otherwise everything as files, in order. */
function source() {
  const model = $("model").value || undefined;
  if (!drafts.some((draft) => draft.file)) {
    return { model, documents: drafts.map(({ title, text }, i) => ({ id: `Document ${i + 1}`, title, text })) };
  }
  return { model, files: drafts.map((draft, i) => draft.file
    || new File([draft.text], `${draft.title || `pasted-${i + 1}`}.txt`, { type: "text/plain" })) };
}

/** Show a refusal: beside the document that it names, and under the form. */
export function refuse(error) {
  errors = new Map();
  for (const { pointer = "", detail } of error.errors) {
    const match = /^\/(?:documents|files)\/(\d+)/.exec(pointer);
    if (match && drafts[Number(match[1])]) errors.set(drafts[Number(match[1])].key, detail);
  }
  const named = error.type?.endsWith("/unreadable") && drafts.find(({ file }) => file && error.detail.includes(file.name));
  if (named) errors.set(named.key, error.detail);
  render();
  const beside = { message: error.message, detail: "What to change stands beside the document above." };
  problem($("form-problem"), errors.size ? beside : error, errors.size ? [] : error.errors);
  $("form-problem").scrollIntoView({ block: "nearest" });
}

export function listModels({ models }) {
  if (models.length < 2) return;
  $("model-field").hidden = false;
  $("model").replaceChildren(...models.map((model) => new Option(model.name, model.name, model.default, model.default)));
}

export function listenIntake({ post, example, arrived }) {
  render();
  $("add").addEventListener("click", () => {
    if (!takePasted()) problem($("form-problem"), { message: "Nothing to add yet", detail: "Paste a document into the field first." });
    else problem($("form-problem"), null);
    $(drafts.length ? "paste-title" : "paste-text").focus();
  });
  $("choose").addEventListener("click", () => $("files").click());
  $("files").addEventListener("change", (event) => {
    addFiles(event.target.files);
    event.target.value = "";
  });
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    takePasted();
    if (!drafts.length) {
      problem($("form-problem"), { message: "No document yet", detail: "Paste one, choose files, or load the example below." });
      $("paste-text").focus();
      return;
    }
    problem($("form-problem"), null);
    post(source(), plural(drafts.length, "document"));
  });
  $("example").addEventListener("click", example);
  listenDrop(arrived);
}

function listenDrop(arrived) {
  let depth = 0;
  const carries = (event) => event.dataTransfer?.types.includes("Files"); // text dropped into a field is the field's
  const over = (on) => ($("drop").hidden = !on);
  addEventListener("dragenter", (event) => {
    if (carries(event) && ++depth) over(true);
  });
  addEventListener("dragleave", (event) => {
    if (carries(event) && --depth <= 0) over(false);
  });
  addEventListener("dragover", (event) => carries(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault(); // the browser would leave the page for the file
    depth = 0;
    over(false);
    addFiles(event.dataTransfer.files);
    arrived();
  });
}
