"""Sums of value, gradient and Hessian over shards that stay where they are: here, in processes, or on a cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from multiprocessing.connection import wait
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from dpplearn._checks import FloatArray, check_choice, check_jobs
from dpplearn._run.blas import blas_threads
from dpplearn._run.signals import deaf_children
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import Example, Terms
from dpplearn.learning.shards import Shard, load_shard

Tick: TypeAlias = Callable[[int, int], None]  # shards done, shards in all
Source: TypeAlias = Shard | str  # instances in memory, or the path of a file that holds them
N_SHARDS = 32  # a list is cut into as many pieces, whatever the backend: the same sums in the same order


class Request(NamedTuple):
    """What every shard is asked for."""

    theta: FloatArray
    rho: float
    order: int
    with_rho: bool = False


class Survey(NamedTuple):
    """What must be known of a shard before the first step."""

    n_instances: int
    n_features: int
    names: tuple[str, ...] | None
    impossible: list[tuple[int, str]]  # instances whose target has probability 0, and why
    scale: FloatArray  # largest |f_ij| of each feature
    weight: float  # sum of the weights


class Part:
    """A shard made ready for evaluation; instances of weight 0 and impossible ones are left out."""

    def __init__(self, shard: Shard, rho: float) -> None:
        self.survey = survey_of(shard, rho)
        skip = {t for t, _ in self.survey.impossible}
        pairs = enumerate(zip(shard.item_sets, shard.subsets, shard.weights.tolist(), strict=True))
        self.largest = max(items.n for items in shard.item_sets)
        self.weighted = [(w, Example(items, Y, rho)) for t, (items, Y, w) in pairs if w > 0 and t not in skip]

    def evaluate(self, request: Request) -> FloatArray:
        """The sum over the instances, packed into one array: value, d_u, gradient, Hessian."""
        theta, rho, order, with_rho = request
        m = theta.size
        total = np.zeros(2 + m + m * m * (order == 2))
        with blas_threads(self.largest):
            for w, example in self.weighted:
                terms = example.evaluate(theta, rho, order=order, with_rho=with_rho)
                total[0] += w * terms.value
                total[1] += w * terms.d_u
                total[2 : 2 + m] += w * terms.gradient
                if terms.hessian is not None and order == 2:
                    total[2 + m :] += w * terms.hessian.ravel()
        return total

    def __sizeof__(self) -> int:  # a scheduler that thinks this small would move it about
        return sum(
            e.F.nbytes + (0 if e._C is None else e._C.nbytes) + getattr(e.items.phi, "nnz", e.F.size) * 12
            for _, e in self.weighted
        )


def survey_of(shard: Shard, rho: float) -> Survey:
    first = shard.item_sets[0]
    impossible = []
    for t, (items, Y, w) in enumerate(zip(shard.item_sets, shard.subsets, shard.weights.tolist(), strict=True)):
        if w > 0 and (why := why_impossible(items, Y, rho)):
            impossible.append((t, why))
    scale = np.max([np.abs(items.features).max(axis=0) for items in shard.item_sets], axis=0)
    names = next((items.names for items in shard.item_sets if items.names is not None), None)
    return Survey(len(shard), first.n_features, names, impossible, scale, float(shard.weights.sum()))


def why_impossible(items: ItemSet, Y: np.ndarray, rho: float) -> str | None:
    """Why the target has probability 0 whatever theta is, or None."""
    from dpplearn._linalg import logdet
    from dpplearn._precision import rounding

    S_Y = items.similarity_of(Y, rho)
    if logdet(S_Y) > -np.inf:
        return None
    close = np.argwhere(np.triu(np.abs(S_Y) ** 2 > 1 - rounding(Y.size), 1))
    if close.size:
        i, j = Y[close[0]]
        return f"its target holds items {i} and {j}, which are duplicates of each other (similarity 1)"
    d = None if items.phi is None else items.phi.shape[1] + (rho > 0)
    if d is not None and Y.size > d:
        return f"its target holds {Y.size} items, and {d} similarity features allow at most {d}"
    return "the similarity features of the items in its target are linearly dependent"


def open_part(source: Source, rho: float) -> Part:
    return Part(load_shard(source) if isinstance(source, str) else source, rho)


def answer(part: Part | str, request: Request | None, rho: float) -> Any:
    """What a shard says to a request, or its survey where there is none; a path is read, used and forgotten."""
    part = open_part(part, rho) if isinstance(part, str) else part
    return part.survey if request is None else part.evaluate(request)


class Backend(ABC):
    """Where the shards are. `run` asks all of them and returns their answers in shard order."""

    n_shards: int

    @abstractmethod
    def run(self, request: Request | None, tick: Tick) -> list[Any]: ...

    def close(self) -> None:  # noqa: B027  (nothing to end where no process was started)
        """End what was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def survey(self) -> Survey:
        """One survey of all shards, with instances numbered through."""
        surveys: list[Survey] = self.run(None, lambda *_: None)
        start, impossible, names = 0, [], None
        m = surveys[0].n_features
        for k, s in enumerate(surveys):
            if s.n_features != m or (names and s.names and s.names != names):
                raise ValueError(
                    f"Shard {k} has {s.n_features} features ({', '.join(s.names or ['no names'])}), "
                    f"and shard 0 has {m}: all must have the same features, in the same order."
                )
            names = names or s.names
            impossible += [(start + t, why) for t, why in s.impossible]
            start += s.n_instances
        return Survey(
            start, m, names, impossible, np.max([s.scale for s in surveys], axis=0), sum(s.weight for s in surveys)
        )

    def evaluate(self, request: Request, tick: Tick) -> Terms:
        """The sum over all instances, added in shard order so that it does not depend on who was first."""
        total = sum(self.run(request, tick))
        m = request.theta.size
        hessian = total[2 + m :].reshape(m, m) if request.order == 2 else None
        return Terms(float(total[0]), total[2 : 2 + m], hessian, float(total[1]))


class Serial(Backend):
    """All shards in this process; those in files are read one at a time, for each evaluation."""

    def __init__(self, sources: Sequence[Source], rho: float) -> None:
        self.n_shards, self.rho = len(sources), rho
        self.parts = [source if isinstance(source, str) else open_part(source, rho) for source in sources]

    def run(self, request: Request | None, tick: Tick) -> list[Any]:
        answers = []
        for k, part in enumerate(self.parts, start=1):
            answers.append(answer(part, request, self.rho))
            tick(k, self.n_shards)
        return answers


class Processes(Backend):
    """Shards spread over spawned processes, sent once, with one BLAS thread each."""

    def __init__(self, sources: Sequence[Source], rho: float, n_jobs: int) -> None:
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
                self._send(pipe, process, ([(k, sources[k]) for k in share], rho))
        except BaseException:
            self.close()
            raise

    def run(self, request: Request | None, tick: Tick) -> list[Any]:
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
    with blas_threads(0, one=True), suppress(EOFError, OSError):
        sources, rho = pipe.recv()
        parts: dict[int, Part | str] = {}
        while True:
            (request,) = pipe.recv()
            for k, source in sources:
                try:
                    if k not in parts:
                        parts[k] = source if isinstance(source, str) else open_part(source, rho)
                    found = answer(parts[k], request, rho)
                except Exception as error:  # the parent raises it
                    found = error
                pipe.send((k, found))


def lost(process: Any) -> RuntimeError:
    process.join(1.0)
    return RuntimeError(
        f"A worker process ended early (exit code {process.exitcode}), perhaps for want of memory. In a script, "
        "processes can only be started under `if __name__ == '__main__':`. With n_jobs=1, fit needs no other process."
    )


def cost_of(source: Source) -> float:
    """Operations for a shard in memory, bytes for one in a file."""
    if isinstance(source, str):
        return float(os.path.getsize(source)) if os.path.exists(source) else 1.0
    return float(sum(items.n**3 for items in source.item_sets))


def spread(costs: Sequence[float], n_jobs: int) -> list[list[int]]:
    """Which shards go to which of n_jobs workers: the costliest first, each to the one with least to do."""
    shares: list[list[int]] = [[] for _ in range(min(n_jobs, len(costs)))]
    load = np.zeros(len(shares))
    for k in sorted(range(len(costs)), key=lambda k: -costs[k]):
        w = int(load.argmin())
        shares[w].append(k)
        load[w] += costs[k]
    return shares


def cut(shard: Shard, n_shards: int) -> list[Source]:
    """The instances in order, cut into at most n_shards pieces of about the same cost."""
    work = np.cumsum([float(items.n) ** 3 for items in shard.item_sets])
    piece = np.minimum((work / work[-1] * n_shards - 1e-9).astype(np.int64), n_shards - 1)
    ends = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(shard)]
    return [Shard(shard.item_sets[a:b], shard.subsets[a:b], shard.weights[a:b]) for a, b in pairwise(ends)]


def make_backend(backend: Any, n_jobs: int | None, data: Shard | list[str], rho: float) -> Backend:
    """The backend that a name, a distributed.Client or `n_jobs` asks for, with the data in it."""
    jobs = check_jobs(n_jobs)
    if backend is None:
        backend = "serial" if jobs == 1 else "processes"
    if isinstance(backend, str):
        check_choice(backend, "backend", ("serial", "processes", "dask"))
    elif not (hasattr(backend, "map") and hasattr(backend, "scheduler_info")):
        raise TypeError(
            'backend must be None, "serial", "processes", "dask" or a distributed.Client, '
            f"found {type(backend).__name__}."
        )
    sources: list[Source] = list(data) if isinstance(data, list) else cut(data, max(N_SHARDS, 4 * jobs))
    if backend == "serial":
        return Serial(sources, rho)
    if backend == "processes":
        return Processes(sources, rho, jobs)
    from dpplearn.learning.cluster import Dask

    return Dask(sources, rho, None if backend == "dask" else backend, n_jobs)
