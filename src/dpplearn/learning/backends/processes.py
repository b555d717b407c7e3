"""Shards spread over processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from dpplearn._run.blas import blas_threads
from dpplearn._run.signals import LOSSES, deaf_children, end_with_parent, lost_worker
from dpplearn.learning.backends import Backend, Prepare, Request, Source, Tick, answer


class Processes(Backend):
    """Shards spread over spawned processes, sent once, with one BLAS thread each; one that is lost is replaced."""

    def __init__(self, sources: Sequence[Source], prepare: Prepare, n_jobs: int) -> None:
        self.n_shards, self.sources, self.prepare = len(sources), sources, prepare
        self.workers: list[tuple[Any, Any]] = []
        self.shares = spread([cost_of(source) for source in sources], n_jobs)
        try:
            for share in self.shares:
                self.workers.append(self._start())
                self._give(len(self.workers) - 1, share)
        except BaseException:
            self.close()
            raise

    def _start(self) -> tuple[Any, Any]:
        context = multiprocessing.get_context("spawn")
        with deaf_children():
            here, there = context.Pipe()
            process = context.Process(target=serve, args=(there,), daemon=True)
            process.start()
            there.close()
        return here, process

    def _give(self, w: int, share: Sequence[int]) -> None:
        with suppress(OSError):  # it is seen to be lost when it is asked
            self.workers[w][0].send(({k: self.sources[k] for k in share}, self.prepare))

    def run(self, request: Request[Any] | None, tick: Tick, some: Sequence[int] | None = None) -> list[Any]:
        answers: dict[int, Any] = {}
        losses = 0
        wanted = range(self.n_shards) if some is None else some
        for w in range(len(self.workers)):
            self._ask(w, request, wanted)
        while len(answers) < len(wanted):
            number = {pipe: w for w, (pipe, _) in enumerate(self.workers)}
            for pipe in wait(list(number)):
                w = number[pipe]
                try:
                    k, found = self.workers[w][0].recv()
                except (EOFError, OSError):
                    losses += 1
                    if losses > LOSSES:
                        raise lost(self.workers[w][1]) from None
                    self._replace(w)
                    self._ask(w, request, [k for k in wanted if k not in answers])
                    continue
                if isinstance(found, Exception):
                    raise found
                answers[k] = found
                tick(len(answers), len(wanted))
        return [answers[k] for k in wanted]

    def _ask(self, w: int, request: Request[Any] | None, wanted: Sequence[int]) -> None:
        with suppress(OSError):
            self.workers[w][0].send((request, [k for k in self.shares[w] if k in wanted]))

    def _replace(self, w: int) -> None:
        """Another process in place of one that is gone; it is asked what that one still owed."""
        pipe, process = self.workers[w]
        pipe.close()
        process.join(1.0)
        self.workers[w] = self._start()
        self._give(w, self.shares[w])

    def close(self) -> None:
        for pipe, _ in self.workers:
            with suppress(OSError):
                pipe.close()  # the worker reads the end of the pipe, and ends
        for _, process in self.workers:
            process.join(0.5)
            if process.is_alive():
                process.terminate()
                process.join()
        self.workers = []


def serve(pipe: Any) -> None:
    """A worker: receive shards once, then answer requests until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    end_with_parent()
    with blas_threads(0, one=True), suppress(EOFError, OSError):
        sources, prepare = pipe.recv()
        parts: dict[int, Any] = {}
        while True:
            request, wanted = pipe.recv()
            for k in wanted:
                try:
                    if k not in parts:
                        parts[k] = sources[k] if isinstance(sources[k], str) else prepare(sources[k])
                    found = answer(parts[k], request, prepare)
                except Exception as error:  # the parent raises it
                    found = error
                pipe.send((k, found))


def lost(process: Any) -> ChildProcessError:
    process.join(1.0)
    return lost_worker(
        "In a script, processes can only be started under `if __name__ == '__main__':`. With one job, learning needs "
        "no other process.",
        process.exitcode,
    )


def cost_of(source: Source) -> float:
    """Operations for a shard in memory, bytes for one in a file."""
    if isinstance(source, str):
        return float(os.path.getsize(source)) if os.path.exists(source) else 1.0
    return float(source.cost)


def spread(costs: Sequence[float], n_jobs: int) -> list[list[int]]:
    """Which shards go to which of n_jobs workers: the costliest first, each to the one with least to do."""
    shares: list[list[int]] = [[] for _ in range(min(n_jobs, len(costs)))]
    load = np.zeros(len(shares))
    for k in sorted(range(len(costs)), key=lambda k: -costs[k]):
        w = int(load.argmin())
        shares[w].append(k)
        load[w] += costs[k]
    return shares
