// Takes files dropped anywhere on the page, and all files of dropped folders.

import { $ } from "./dom.js";

const MOST = 1_000; // largest number of files of folders; more are a mistake

const read = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));

async function walk(entry, found) {
  if (found.length >= MOST || entry.name.startsWith(".")) return;
  if (entry.isFile) {
    found.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    return;
  }
  const reader = entry.createReader();
  for (let batch = await read(reader); batch.length; batch = await read(reader)) {
    for (const one of batch.sort((a, b) => (a.name < b.name ? -1 : 1))) await walk(one, found);
  }
}

/** The files of a drop. The entries can be read only during the event, so they are read first. */
function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [...transfer.files];
  if (!entries.some((entry) => entry.isDirectory)) return Promise.resolve(files);
  const found = [];
  return entries.reduce((before, entry) => before.then(() => walk(entry, found)), Promise.resolve()).then(() => found);
}

export function listenDrop(arrived) {
  let depth = 0;
  const carries = (event) => event.dataTransfer?.types.includes("Files"); // a field handles text dropped into it
  const over = (on) => ($("drop").hidden = !on);
  addEventListener("dragenter", (event) => {
    if (carries(event) && ++depth) over(true);
  });
  addEventListener("dragleave", (event) => {
    if (carries(event) && --depth <= 0) over(false);
  });
  addEventListener("dragover", (event) => carries(event) && event.preventDefault());
  addEventListener("drop", async (event) => {
    if (!carries(event)) return;
    event.preventDefault(); // or else the browser would open the file
    depth = 0;
    over(false);
    arrived(await filesOf(event.dataTransfer));
  });
}
