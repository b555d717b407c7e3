// Requests selections. Sliders change faster than the server can answer, so at most one request is under way, and the
// newest waits for its turn. So dragging shows intermediate answers, and an answer never replaces a newer one.

import { Problem, postCluster, postSelect } from "./api.js";
import { request, state } from "./state.js";

const DEBOUNCE = 5; // milliseconds: the changes of one movement make one request
const PATIENCE = 5_000; // milliseconds after which a request is given up for a newer one, although the server still works on it
const SLOW = 150; // milliseconds after which the page shows that a request is under way

export class Selecting {
  /** `show(answer, milliseconds, body)`, `fail(error)`, `regained(cluster)` when it was forgotten; `busy(whether)` after a
   * while, and `settled(whether)` at once: nothing is asked that is not shown. */
  constructor({ show, fail, regained, busy, settled }) {
    Object.assign(this, { show, fail, regained, busy, settled });
    this.asked = 0; // number of the newest request
    this.shown = 0; // number of the newest request with an answer
    this.under = null; // the request under way
    this.timer = 0;
  }

  /** `instead`: drop the request under way, because it was for another decoder. */
  ask({ instead = false } = {}) {
    this.asked++;
    this.askedAt = performance.now();
    this.settled(false);
    if (instead) this.drop();
    this.schedule(DEBOUNCE);
  }

  drop() {
    this.under?.controller.abort();
    this.settle(null);
  }

  settle(under) {
    clearTimeout(this.slow);
    this.busy(false);
    this.under = under;
    if (under) this.slow = setTimeout(() => this.busy(true), SLOW);
  }

  /** Forget everything under way, because the cluster has changed. */
  reset() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.drop();
    this.shown = this.asked;
  }

  schedule(delay) {
    if (!this.timer) {
      this.timer = setTimeout(() => {
        this.timer = 0;
        this.fire();
      }, delay);
    }
  }

  fire() {
    if (this.under) {
      const left = this.under.since + PATIENCE - performance.now();
      if (left > 0) return this.schedule(left); // an answer before that sends the next request by itself
      this.drop();
    }
    const under = { controller: new AbortController(), since: performance.now(), number: this.asked, askedAt: this.askedAt };
    this.settle(under);
    this.answer(under);
  }

  async answer(under) {
    try {
      const answer = await this.select(under);
      if (this.under === under && under.number > this.shown) {
        this.shown = under.number;
        this.show(answer, performance.now() - under.askedAt, under.body);
        if (under.number === this.asked) this.settled(true);
      }
    } catch (error) {
      if (this.under !== under || error.name === "AbortError") return;
      if (!(error instanceof Problem)) {
        this.settle(null);
        throw error;
      }
      this.shown = under.number; // an error is an answer, too
      this.fail(error);
    }
    if (this.under !== under) return;
    this.settle(null);
    if (this.asked > this.shown) {
      clearTimeout(this.timer);
      this.timer = 0;
      this.fire();
    }
  }

  async select(under) {
    const { signal } = under.controller;
    under.body = request();
    try {
      return await postSelect(state.cluster.id, under.body, signal);
    } catch (error) {
      if (!error.clusterGone) throw error;
      this.regained(await postCluster(state.source, signal)); // the page still holds the documents
      under.body = request();
      return postSelect(state.cluster.id, under.body, signal);
    }
  }
}
