// Exports the summary: copied, or as a file that the server writes for the answer shown.

import { postCluster, postExport } from "./api.js";
import { state } from "./state.js";

const SUFFIXES = { text: "txt", markdown: "md", html: "html", json: "json" };

/** Save the file for the answer shown; the controls may have changed since. */
export async function download(format) {
  const body = { ...state.selection.asked, format };
  const blob = await postExport(state.cluster.id, body).catch(async (error) => {
    if (!error.clusterGone) throw error;
    return postExport((await postCluster(state.source)).id, body); // the server has forgotten the cluster, but the page still has its documents
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `summary.${SUFFIXES[format]}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Copy a text. The clipboard interface exists only on secure origins, such as loopback. */
export async function copy(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // not permitted: try the older way
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
