// Sends requests to the API, and handles its problem documents and a busy or absent server.

import { askToken, authorization } from "./token.js";

/** An answer that says what was wrong and what to change (RFC 9457); its status is 0 if there was no answer. */
export class Problem extends Error {
  constructor(status, body, options) {
    super(body.title || `The server answered ${status}`, options);
    this.status = status;
    this.type = body.type || "about:blank";
    this.detail = body.detail || "The server gave no reason. Its log may say more.";
    this.errors = Array.isArray(body.errors) ? body.errors : [];
  }

  get clusterGone() {
    return this.status === 404 && this.type.endsWith("/cluster-gone");
  }
}

const AWAY = {
  title: "The server does not answer",
  detail: "Your documents are still here. Start the server again (dpplearn serve), then press the button again.",
};
const base = new URL("api/v1/", document.baseURI);
let notBefore = 0; // after a 429 no request leaves before this time
export const onWait = { report: () => {} }; // gets the seconds to wait, and 0 when the wait is over

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

function retryAfter(response) {
  const seconds = Number(response.headers.get("Retry-After"));
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 60) : 1;
}

async function request(method, path, { json, form, signal, file = false } = {}) {
  for (;;) {
    const wait = notBefore - Date.now();
    if (wait > 0) {
      onWait.report(wait / 1000);
      await pause(wait, signal).finally(() => onWait.report(0));
    }
    const who = authorization();
    let response;
    try {
      response = await fetch(new URL(path, base), {
        method,
        signal,
        body: form || (json === undefined ? undefined : JSON.stringify(json)),
        headers: { ...who, ...(json === undefined ? {} : { "Content-Type": "application/json" }) },
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, AWAY, { cause: error });
    }
    if (response.status === 429) {
      notBefore = Date.now() + 1000 * retryAfter(response);
      continue;
    }
    if (response.status === 401 && (await askToken(who))) continue;
    if (file && response.ok) return response.blob();
    const body = await response.json().catch((error) => {
      if (error.name === "AbortError") throw error;
      return {}; // no JSON
    });
    if (!response.ok) throw new Problem(response.status, body);
    return body;
  }
}

export const getExample = (signal) => request("GET", "example", { signal });
export const getModels = () => request("GET", "models");

/** `source` is { documents, files, model, keep_all }, kept so that it can be posted again. */
export function postCluster(source, signal) {
  const { documents, files, model, keep_all = false } = source;
  if (!files) return request("POST", "clusters", { json: { documents, model, keep_all }, signal });
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  if (model) form.append("model", model);
  if (keep_all) form.append("keep_all", "true");
  return request("POST", "clusters/files", { form, signal });
}

const clusterAt = (id) => `clusters/${encodeURIComponent(id)}`;
export const getCluster = (id, signal) => request("GET", clusterAt(id), { signal });
export const postSelect = (id, json, signal) => request("POST", `${clusterAt(id)}/select`, { json, signal });
export const getWhy = (id, sentence, { include = [], exclude = [], ...options }) => {
  const query = new URLSearchParams(Object.entries(options).filter(([, value]) => value !== undefined && value !== null && value !== ""));
  for (const x of include) query.append("include", x);
  for (const x of exclude) query.append("exclude", x);
  return request("GET", `${clusterAt(id)}/why/${sentence}?${query}`);
};
export const postExport = (id, json, signal) => request("POST", `${clusterAt(id)}/export`, { json, signal, file: true });
