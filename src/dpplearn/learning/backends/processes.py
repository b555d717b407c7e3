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
from dpplearn._run.signals import deaf_children, end_with_parent, lost_worker
from dpplearn.learning.backends import Backend, Prepare, Request, Source, Tick, answer


class Processes(Backend):
    """Shards spread over spawned processes, sent once, with one BLAS thread each."""

    def __init__(self, sources: Sequence[Source], prepare: Prepare, n_jobs: int) -> None:
        self.n_shards = len(sources)
        context = multiprocessing.get_context("spawn")
        self.workers: list[tuple[Any, Any]] = []
        try:
            shares = spread([cost_of(source) for source in sources], n_jobs)
            with deaf_children():
                for _ in shares:
                    here, there = context.Pipe()
                    process = context.Process(target=serve, args=(there,), daemon=True)
                    process.start()
                    there.close()
                    self.workers.append((here, process))
            for (pipe, process), share in zip(self.workers, shares, strict=True):
                self._send(pipe, process, ([(k, sources[k]) for k in share], prepare))
        except BaseException:
            self.close()
            raise

    def run(self, request: Request[Any] | None, tick: Tick) -> list[Any]:
        pipe: Any
        for pipe, process in self.workers:
            self._send(pipe, process, (request,))
        answers: dict[int, Any] = {}
        open_pipes: dict[Any, Any] = dict(self.workers)
        while len(answers) < self.n_shards:
            for pipe in wait(list(open_pipes)):
                try:
                    k, found = pipe.recv()
                except (EOFError, OSError):
                    raise lost(open_pipes[pipe]) from None
                if isinstance(found, Exception):
                    raise found
                answers[k] = found
                tick(len(answers), self.n_shards)
        return [answers[k] for k in range(self.n_shards)]

    @staticmethod
    def _send(pipe: Any, process: Any, message: object) -> None:
        try:
            pipe.send(message)
        except OSError:
            raise lost(process) from None

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
            (request,) = pipe.recv()
            for k, source in sources:
                try:
                    if k not in parts:
                        parts[k] = source if isinstance(source, str) else prepare(source)
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
