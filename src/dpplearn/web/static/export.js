// The summary to take along: copied, or as a text, Markdown or JSON file made here in the page.

import { state } from "./state.js";
import { measured, nameOf, plural } from "./text.js";

const escapeMarkdown = (text) => text.replace(/([\\`*_{}[\]<>#|!~&])/g, "\\$1").replace(/\s+/g, " ")
  .replace(/^([-+]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`)); // no list inside the list

function place(id) {
  const { document, position } = state.cluster.sentences[id];
  return `*${escapeMarkdown(nameOf(state.cluster.documents[document], document))}*, sentence ${position}`;
}

const asText = () => `${state.selection.text}\n`;

function asMarkdown() {
  const { selection, cluster } = state;
  const { decoder, diversity, about } = selection.asked;
  const lines = [`# Summary of ${plural(cluster.documents.length, "document")}`, "",
    `${selection.length} of ${measured(selection.budget, selection.unit)}; diversity ${diversity}, decoder ${decoder}${about ? `, about “${escapeMarkdown(about)}”` : ""}.`, ""];
  const texts = selection.text.split("\n");
  for (const { sentence, order, pinned } of selection.selected) {
    lines.push(`${order}. ${escapeMarkdown(texts[order - 1])} (${place(sentence)}${pinned ? ", pinned" : ""})`);
  }
  if (selection.redundant.length) lines.push("", "## Left out", "");
  for (const { sentence, similarity, like } of selection.again.values()) {
    const text = escapeMarkdown(cluster.sentences[sentence].text);
    lines.push(`- ${text} (${place(sentence)}; similar ${similarity.toFixed(2)} to ${like})`);
  }
  return `${lines.join("\n")}\n`;
}

function asJson() {
  const { selection, cluster } = state;
  const { text, length, budget, unit, note, similarity } = selection;
  const located = (x) => {
    const { document, position, start, end, text } = cluster.sentences[x.sentence];
    return { ...x, document, position, start, end, text }; // the whole sentence, of which `dropped` are spans
  };
  return `${JSON.stringify({
    model: cluster.model,
    options: selection.asked,
    text, length, budget, unit, note, notes: cluster.notes, similarity,
    documents: cluster.documents.map(({ id, title }) => ({ id, title })),
    selected: selection.selected.map(located),
    redundant: selection.redundant.map(located),
  }, null, 2)}\n`;
}

const FORMATS = { txt: ["text/plain", asText], md: ["text/markdown", asMarkdown], json: ["application/json", asJson] };

export function download(format) {
  const [type, write] = FORMATS[format];
  const url = URL.createObjectURL(new Blob([write()], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `summary.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copy the summary; the clipboard's own interface exists only on secure origins, of which loopback is one. */
export async function copy() {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(state.selection.text);
      return true;
    } catch {
      // not permitted: try the older way
    }
  }
  const area = document.createElement("textarea");
  area.value = state.selection.text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
