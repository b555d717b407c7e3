// The page: it decides which screen is shown, and handles requests, answers and refusals.

import { fromAddress, toAddress } from "./address.js";
import { getCluster, getExample, getModels, onWait, postCluster, Problem } from "./api.js";
import { closeCard, openCard, updateCard } from "./card.js";
import { buildControls, clearErrors, listenControls, placeErrors } from "./controls.js";
import { $, show } from "./dom.js";
import { copy, download } from "./export.js";
import { adopt, chosenModel, leaveOut, listenIntake, listModels, refuse, unsent } from "./intake.js";
import { buildLists, inWords, updateLists } from "./lists.js";
import { buildMap, listenMap, pointAt, updateMap } from "./map.js";
import { notice, problem, say } from "./notice.js";
import { Selecting } from "./selecting.js";
import { isKept, keepChoices, keepCluster, kept, stillThere } from "./session.js";
import { beginAt, buildSources, focusSentence, listenSources, updateSources } from "./sources.js";
import { actions, indexed, ruleOf, setRule, state } from "./state.js";
import { plural } from "./text.js";
import { listenTheme } from "./theme.js";
import { buildTimeline, updateTimeline } from "./timeline.js";
import { forget, listenUndo, offer, remember } from "./undo.js";

function screen(name) {
  for (const id of ["start", "loading", "work"]) $(id).hidden = id !== name;
  document.body.dataset.screen = name;
  $("change").hidden = name !== "work";
  $("cluster-title").hidden = name !== "work";
  $("back").hidden = !state.cluster;
}

// -- a cluster ------------------------------------------------------------------------------------------------------

let asking = null;
let shared = fromAddress(); // settings from a shared address, for the first documents

/** What the server offers, requested until it answers. */
function offered() {
  asking ??= getModels().then((answer) => listModels((state.offered = answer)), (error) => {
    asking = null;
    throw error;
  });
  return asking;
}

let loading = null;

/** Show that documents are being read; return whether this succeeded. */
async function load(text, work) {
  loading?.abort();
  const controller = new AbortController();
  loading = controller;
  $("loading-text").textContent = text;
  screen("loading");
  $("stop").focus();
  try {
    await offered();
    await work(controller.signal);
    return true;
  } catch (error) {
    if (loading !== controller || error.name === "AbortError") return false;
    screen("start");
    $("submit").focus({ preventScroll: true });
    if (!(error instanceof Problem)) throw error;
    refuse(error);
    return false;
  } finally {
    if (loading === controller) loading = null;
  }
}

function post(source, count) {
  return load(`Reading ${plural(count, "document")}…`, async (signal) => {
    const cluster = await postCluster(source, signal);
    leaveOut(cluster.skipped);
    open(cluster, source, plural(cluster.documents.length, "document"));
  });
}

function example() {
  return load("Reading the example…", async (signal) => {
    const { title, documents } = await getExample(signal);
    const source = { documents, model: chosenModel() };
    open(await postCluster(source, signal), source, title);
  });
}

/** After a reload, restore the cluster of the page; it is posted again if the server has forgotten it. */
function reopen(before) {
  const { id, title, documents, model, keep_all } = before;
  const source = { documents, model, keep_all };
  adopt(documents, keep_all);
  return load("Reading your documents again…", async (signal) => {
    const cluster = await getCluster(id, signal).catch((error) => {
      if (!error.clusterGone) throw error;
      return postCluster(source, signal);
    });
    open(cluster, source, title, before);
  });
}

/** Notes about the documents; first, which files were left out, and why. */
const notesOf = ({ skipped, notes }) => [...skipped.map(({ detail }) => `Left out: ${detail}`), ...notes];

function open(cluster, source, title, before = {}) {
  selecting.reset();
  forget();
  Object.assign(state, { cluster, source, title, selection: null });
  Object.assign(state, { included: stillThere(before.included), excluded: stillThere(before.excluded) });
  show($("cluster-title"), title);
  document.title = `${title} · dpplearn`;
  const notes = notesOf(cluster);
  $("cluster-notes").hidden = notes.length === 0;
  $("cluster-notes").replaceChildren(...notes.map((note) => show(document.createElement("li"), note)));
  buildControls({ ...before.options, ...shared });
  shared = {};
  keepCluster();
  build();
  problem($("select-problem"), null);
  $("work").classList.add("waiting");
  screen("work");
  scrollTo(0, 0);
  $("main").focus({ preventScroll: true });
  selecting.ask();
}

function build() {
  buildLists();
  buildSources();
  buildMap();
  buildTimeline();
}

/** The server had forgotten the cluster and has read it again. The sentences are the same, so the page stays. */
function regained(cluster) {
  const before = state.cluster.sentences;
  state.cluster = cluster;
  if (before.length === cluster.sentences.length && before.every((s, i) => s.text === cluster.sentences[i].text)) return;
  Object.assign(state, { included: new Set(), excluded: new Set() }); // with another model, the old numbers mean nothing
  forget();
  build();
}

// -- a selection ----------------------------------------------------------------------------------------------------

let away = 0; // consecutive requests without an answer
let retry = 0;

/** Draw what changed. If a focused button disappears with its sentence, the heading of its list gets the focus. */
function update() {
  const heading = document.activeElement?.closest(".panel")?.querySelector("h2");
  updateSources();
  updateLists();
  updateMap();
  updateTimeline();
  updateCard();
  if (heading && document.activeElement === document.body) heading.focus({ preventScroll: true });
}

/** Called when the included or excluded sentences change. */
function decided() {
  if (state.selection) update();
  selecting.ask();
}

const selecting = new Selecting({
  show(answer, milliseconds, body) {
    const first = state.selection === null;
    state.selection = indexed(answer, body);
    state.milliseconds = milliseconds;
    away = 0;
    clearTimeout(retry);
    notice("");
    clearErrors();
    problem($("select-problem"), null);
    $("work").classList.remove("waiting", "stale");
    update();
    if (first && answer.selected.length) beginAt(state.selection.selected[0].sentence);
    say([...(first ? notesOf(state.cluster) : []), inWords()].join(" "));
    keepChoices();
    toAddress();
  },
  fail(error) {
    $("work").classList.remove("waiting");
    $("work").classList.add("stale");
    if (error.status) {
      const rest = placeErrors(error.errors);
      const placed = error.errors.length > rest.length && rest.length === 0;
      problem($("select-problem"), placed ? null : error, rest);
      return;
    }
    const seconds = Math.min(15, 2 ** away++);
    const act = () => {
      clearTimeout(retry);
      selecting.ask();
    };
    clearTimeout(retry);
    retry = setTimeout(act, 1000 * seconds);
    notice(`The server does not answer. The page tries again in ${seconds} s, and shows the last answer meanwhile.`, { label: "Try now", act });
  },
  settled: (whether) => ($("work").dataset.settled = whether),
  busy: (whether) => $("work").setAttribute("aria-busy", String(whether)),
  regained,
});

onWait.report = (seconds) =>
  notice(seconds ? `The server is busy. The page tries again in ${Math.max(1, Math.round(seconds))} s.` : "");

Object.assign(actions, {
  rule(id, rule) {
    if (rule === ruleOf(id)) return;
    remember();
    setRule(id, rule);
    offer(rule, id);
    decided();
  },
  goTo(id) {
    closeCard();
    focusSentence(id, { flash: true });
  },
  open: openCard,
  point: pointAt,
});

// -- listening ------------------------------------------------------------------------------------------------------

function arrived() {
  if (document.body.dataset.screen !== "work") return;
  change();
  $("submit").focus({ preventScroll: true });
}

function change() {
  closeCard();
  screen("start");
  $("paste-text").focus();
}

listenTheme($("theme"));
listenIntake({ post, example, arrived });
listenControls((how) => selecting.ask(how));
listenSources();
listenMap();
listenUndo(decided);
$("change").addEventListener("click", change);
$("brand").addEventListener("click", (event) => {
  if (!state.cluster || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault(); // a reload would bring back the same page
  change();
});
addEventListener("beforeunload", (event) => {
  if (unsent() || (state.cluster && !isKept())) event.preventDefault();
});
$("back").addEventListener("click", () => {
  screen("work");
  $("change").focus();
});
$("stop").addEventListener("click", () => {
  loading?.abort();
  screen(state.cluster ? "work" : "start");
  $(state.cluster ? "change" : "submit").focus();
});
$("clear").addEventListener("click", () => {
  remember();
  state.included.clear();
  state.excluded.clear();
  offer("none");
  $("summary-title").focus();
  decided();
});
/** A button that copies, and says so for a while. */
function copies(button, label, text) {
  const words = label.textContent;
  button.addEventListener("click", async () => {
    label.textContent = (await copy(text())) ? "Copied" : "Not permitted";
    say(label.textContent);
    setTimeout(() => (label.textContent = words), 1600);
  });
}

copies($("copy"), $("copy-label"), () => state.selection.text);
copies($("share"), $("share"), () => location.href);
for (const button of document.querySelectorAll("[data-download]")) {
  button.addEventListener("click", () => download(button.dataset.download).catch((error) => {
    if (!(error instanceof Problem)) throw error;
    problem($("select-problem"), error);
  }));
}
addEventListener("hashchange", () => {
  if (!state.cluster || !Object.keys(fromAddress()).length) return;
  buildControls({ ...state.options, ...fromAddress() });
  selecting.ask();
});
offered().catch(() => {}); // requested again before the first cluster is read
screen("start");
const before = kept();
if (before) reopen(before);
