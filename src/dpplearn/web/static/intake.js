// The first screen: documents pasted, dropped or chosen, and the example.

import { $, bdi, h, icon, plain } from "./dom.js";
import { listenDrop } from "./dropping.js";
import { problem } from "./notice.js";
import { plural, size, wellFormed, words } from "./text.js";

let drafts = []; // { key, file } or { key, title, text }
let errors = new Map(); // draft key -> the server's message
let count = 0;
let sent = true; // whether the server has what is listed here
const IN_MEMORY = 64_000_000; // largest total size of files that are read before they are sent

function render() {
  $("drafts").replaceChildren(...drafts.map((draft) => {
    const said = errors.get(draft.key);
    const name = draft.file ? draft.file.name : draft.title || `Pasted document`;
    return h("li", { class: said ? "bad" : false },
      icon(draft.file ? "file" : "text"),
      h("span", { class: "draft-name", dir: "auto" }, bdi(name)),
      h("span", { class: "muted" }, draft.file ? size(draft.file.size) : plural(words(draft.text), "word")),
      h("button", { type: "button", class: "icon", "aria-label": plain(`Remove ${name}`), on: { click: () => remove(draft.key) } }, icon("close")),
      said ? h("p", { class: "draft-problem", dir: "auto" }, bdi(said)) : null);
  }));
  $("drafts").hidden = drafts.length === 0;
  $("drafts-head").hidden = drafts.length < 2;
  $("drafts-count").textContent = plural(drafts.length, "document");
  $("drafts").querySelector(".bad")?.scrollIntoView({ block: "nearest" });
}

/** Called when the list changes: messages about the old list no longer apply. */
function changed() {
  sent = false;
  errors = new Map();
  problem($("form-problem"), null);
  render();
}

function remove(key) {
  const at = drafts.findIndex((draft) => draft.key === key);
  drafts.splice(at, 1);
  changed();
  const rows = $("drafts").querySelectorAll("button");
  (rows[Math.min(at, rows.length - 1)] || $("paste-text")).focus();
}

function addFiles(files) {
  for (const file of files) drafts.push({ key: ++count, file });
  changed();
  $("drafts").lastElementChild?.scrollIntoView({ block: "nearest" });
}

/** Show the documents of the page, so that the user can add to them. */
export function adopt(documents, keep_all = false) {
  $("keep-all").checked = keep_all;
  const named = (id) => (/^Document \d+$/.test(id) ? "" : id); // keep names of files, but number the others anew
  drafts = documents.map(({ id, title, text, date }) => ({ key: ++count, title: title || named(id), text, date }));
  changed();
  sent = true;
}

/** Whether a reload would lose something that was typed or chosen. */
export const unsent = () => $("paste-text").value.trim() !== "" || (drafts.length > 0 && !sent);
export const chosenModel = () => $("model").value || undefined;

function takePasted() {
  const [title, text] = [$("paste-title").value.trim(), $("paste-text").value];
  if (!text.trim()) return false;
  drafts.push({ key: ++count, title: wellFormed(title), text: wellFormed(text) });
  changed();
  $("paste-title").value = $("paste-text").value = "";
  return true;
}

/** Copies of the files in memory, which can be posted again after the files have changed or gone. */
async function inMemory(draft) {
  try {
    return new File([await draft.file.arrayBuffer()], draft.file.name, { type: draft.file.type });
  } catch {
    errors.set(draft.key, "This cannot be read. It may be a folder, or it may have changed: remove it and choose the file again.");
    return null;
  }
}

/** The body to post: JSON if all texts were pasted, or else files in order. Null if a file cannot be read. */
async function source() {
  const [model, keep_all] = [chosenModel(), $("keep-all").checked];
  if (!drafts.some((draft) => draft.file)) {
    return { model, keep_all, documents: drafts.map(({ title, text, date }, i) => ({ id: `Document ${i + 1}`, title, text, date })) };
  }
  const held = drafts.reduce((sum, { file }) => sum + (file?.size ?? 0), 0) <= IN_MEMORY;
  const files = await Promise.all(drafts.map((draft, i) => {
    if (draft.file) return held ? inMemory(draft) : draft.file;
    return new File([draft.text], `${draft.title || `pasted-${i + 1}`}.txt`, { type: "text/plain" });
  }));
  return files.includes(null) ? null : { model, keep_all, files };
}

/** Show beside each file that the server left out why, for a user who returns to the list. */
export function leaveOut(skipped) {
  for (const { file, detail } of skipped) if (drafts[file]) errors.set(drafts[file].key, detail);
  render();
}

/** Show a refusal beside the document that it names, and under the form. */
export function refuse(error) {
  errors = new Map();
  for (const { pointer = "", detail } of error.errors) {
    const match = /^\/(?:documents|files)\/(\d+)/.exec(pointer);
    if (match && drafts[Number(match[1])]) errors.set(drafts[Number(match[1])].key, detail);
  }
  if (errors.size) return showBeside(error.message);
  render();
  tell(error);
}

function showBeside(message) {
  tell({ message, detail: "See the message beside the document above." });
  render();
}

/** Show a message under the form, and scroll it into view. */
function tell(error) {
  problem($("form-problem"), error);
  $("form-problem").scrollIntoView({ block: "nearest" });
}

export function listModels({ models, files }) {
  $("files").accept = files.join(",");
  if (models.length < 2) return;
  $("model-field").hidden = false;
  $("model").replaceChildren(...models.map((model) => new Option(model.name, model.name, model.default, model.default)));
}

export function listenIntake({ post, example, arrived }) {
  render();
  $("drafts-clear").addEventListener("click", () => {
    drafts = [];
    changed();
    $("paste-text").focus();
  });
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
  $("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    takePasted();
    if (!drafts.length) {
      problem($("form-problem"), { message: "No document yet", detail: "Paste one, choose files, or load the example below." });
      $("paste-text").focus();
      return;
    }
    problem($("form-problem"), null);
    errors = new Map();
    const made = await source();
    if (made) post(made, drafts.length).then((done) => (sent = done));
    else showBeside("A document cannot be read");
  });
  $("example").addEventListener("click", example);
  listenDrop((files) => {
    arrived();
    addFiles(files);
  });
}
