"""Where the shards of a training set are evaluated: here, in processes, or on a Dask cluster.

A backend answers `evaluate(request)` with the sum over all instances, added in shard order whoever was first, so that
every backend gives the same digits. How a shard is evaluated is none of its business.
"""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from itertools import groupby, pairwise
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from dpplearn._checks import check_jobs
from dpplearn._numba import compiled_always
from dpplearn._run.blas import one_thread
from dpplearn._run.workers import LOSSES, Executor, check_backend, cluster_client, is_lost, lost_worker
from dpplearn.learning.evaluators import Survey, merge_surveys
from dpplearn.learning.storage.shards import load_shard
from dpplearn.learning.training_set import Shard

TOGETHER = 16  # targets of the same items in one piece, at least
N_SHARDS = 32  # a list is cut into as many pieces, whatever the backend: the same sums in the same order
CALLS = 4  # that a process is asked in one evaluation, so that progress is seen
KEPT = 2**27  # bytes of files for each Dask worker, up to which their shards stay in memory

Tick: TypeAlias = Callable[[int, int], None]  # shards done, shards in all
Source: TypeAlias = Any  # a shard in memory (it says its cost), or the path of a file that holds one
Prepare: TypeAlias = Callable[..., Any]  # prepare(shard, survey=...) makes a shard ready for requests; it pickles
Answer = TypeVar("Answer")


class Request(Protocol[Answer]):
    """What shards are asked: it pickles, and can add their answers."""

    def total(self, weighted: Iterable[tuple[float, Answer]]) -> Answer:
        """The sum of w times the answers, in the order given."""


class Backend:
    """The shards in this process. Other backends keep them elsewhere."""

    def __init__(self, sources: Sequence[Source], prepare: Prepare) -> None:
        self.n_shards, self.shards = len(sources), Shards(dict(enumerate(sources)), prepare)

    def run(self, request: Request[Any] | None, tick: Tick) -> list[Any]:
        """The answers of all shards, in their order; their surveys where there is no request."""
        answers = []
        for k in range(self.n_shards):
            answers.append(self.shards.answer(k, request))
            tick(k + 1, self.n_shards)
        return answers

    def survey(self) -> Survey:
        """One survey of all shards, with instances numbered through."""
        return merge_surveys(self.run(None, lambda *_: None))

    def evaluate(self, request: Request[Answer], tick: Tick) -> Answer:
        """The sum over all instances."""
        return request.total((1.0, terms) for terms in self.run(request, tick))

    def close(self) -> None:
        """End what was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Shards:
    """Some shards where they are evaluated. One in memory is prepared once; one in a file is read for each request."""

    def __init__(self, sources: Mapping[int, Source], prepare: Prepare) -> None:
        self.sources, self.prepare = sources, prepare
        self.ready: dict[int, Any] = {}
        self.surveys: dict[int, Survey] = {}  # of those in files

    def answer(self, k: int, request: Request[Any] | None) -> Any:
        """What a shard says to a request, or its survey."""
        part, source = self.ready.get(k), self.sources[k]
        if part is None:
            part = make_ready(source, self.prepare, self.surveys.get(k))
            if isinstance(source, str):
                self.surveys.setdefault(k, part.survey)
            else:
                self.ready[k] = part
        return ask(part, request)


def make_ready(source: Source, prepare: Prepare, survey: Survey | None = None) -> Any:
    """A shard that can be asked, read if it is in a file; not surveyed again where its survey is known."""
    with compiled_always():  # so that the digits are the same in whatever process, and whatever is on disk
        return prepare(load_shard(source), survey=survey) if isinstance(source, str) else prepare(source)


def ask(part: Any, request: Request[Any] | None) -> Any:
    """What a shard that is ready says to a request, or its survey."""
    with compiled_always():
        return part.survey if request is None else part.evaluate(request)


class Processes(Backend):
    """Shards spread over processes, each with its own, sent once; a process that is lost is replaced."""

    def __init__(self, sources: Sequence[Source], prepare: Prepare, n_jobs: int) -> None:
        self.n_shards, self.prepare = len(sources), prepare
        jobs = min(n_jobs, self.n_shards)
        self.shares = [{k: sources[k] for k in range(w, self.n_shards, jobs)} for w in range(jobs)]
        self.executors = [self._start(share) for share in self.shares]

    def _start(self, share: Mapping[int, Source]) -> Executor:
        return Executor(1, hold, (share, self.prepare))

    def run(self, request: Request[Any] | None, tick: Tick) -> list[Any]:
        answers: dict[int, Any] = {}
        for _ in range(LOSSES + 1):
            futures = []
            for w, share in enumerate(self.shares):
                left = [k for k in share if k not in answers]
                futures += [self._ask(w, some, request) for i in range(CALLS) if (some := left[i::CALLS])]
            for future in as_completed(futures):
                try:
                    answers.update(future.result())
                except BrokenProcessPool as error:
                    if not is_lost(error):
                        raise
                    continue  # what it owes is asked again, of another
                tick(len(answers), self.n_shards)
            if len(answers) == self.n_shards:
                return [answers[k] for k in range(self.n_shards)]
        raise lost_worker("With n_jobs=1, learning needs no other process.")

    def _ask(self, w: int, some: Sequence[int], request: Request[Any] | None) -> Any:
        try:
            return self.executors[w].submit(answer_held, some, request)
        except BrokenProcessPool:
            self.executors[w] = self._start(self.shares[w])
            return self.executors[w].submit(answer_held, some, request)

    def close(self) -> None:
        for executor in self.executors:
            executor.close()


def hold(sources: Mapping[int, Source], prepare: Prepare) -> None:
    """In a process: keep its shards."""
    global _held
    _held = Shards(sources, prepare)


_held: Shards | None = None


def answer_held(numbers: Sequence[int], request: Request[Any] | None) -> dict[int, Any]:
    """In a process: the answers of some of its shards."""
    assert _held is not None
    with one_thread():
        return {k: _held.answer(k, request) for k in numbers}


class Dask(Backend):
    """Shards as the results of tasks on a `distributed` cluster, kept in the workers' memory.

    Tasks, never `scatter`: what a lost worker held is computed again from its task, and scattered data is gone. Files
    too large to be kept are read where they lie, for each evaluation.
    """

    def __init__(self, sources: Sequence[Source], prepare: Prepare, client: Any, n_jobs: int | None) -> None:
        self.n_shards, self.prepare = len(sources), prepare
        self.surveys: list[Any] = [None] * self.n_shards
        self._open = ExitStack()
        self.client = self._open.enter_context(cluster_client(client, None if n_jobs == 1 else n_jobs))
        files = sum(os.path.getsize(source) for source in sources if isinstance(source, str))
        self.parts = list(sources)
        if files <= KEPT * max(len(self.client.nthreads()), 1):  # in memory they are several times as large
            keys = [f"dpplearn-{uuid.uuid4().hex}-{k}" for k in range(self.n_shards)]
            with quiet():
                self.parts = self.client.map(load, self.parts, prepare=prepare, key=keys, pure=False)

    def run(self, request: Request[Any] | None, tick: Tick) -> list[Any]:
        answers: list[Any] = []
        with quiet():
            futures = self.client.map(
                answer, self.parts, self.surveys, request=request, prepare=self.prepare, pure=False
            )
        for future in futures:
            answers.append(future.result())
            tick(len(answers), self.n_shards)
        if request is None and isinstance(self.parts[0], str):
            self.surveys = [survey.short() for survey in answers]
        return answers

    def close(self) -> None:
        self.parts = []
        self._open.close()


def load(source: Source, prepare: Prepare) -> Any:
    """In a Dask worker: a shard made ready."""
    with one_thread():
        return make_ready(source, prepare)


def answer(part: Any, survey: Survey | None, request: Request[Any] | None, prepare: Prepare) -> Any:
    """In a Dask worker: what a shard says; a path is read, used and forgotten."""
    with one_thread():
        return ask(make_ready(part, prepare, survey) if isinstance(part, str) else part, request)


@contextmanager
def quiet() -> Any:
    """A list of item sets travels inside the graph by design; for data that is too large for that, there are files."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        yield


def make_backend(backend: Any, n_jobs: int | None, data: Shard | Sequence[Source], prepare: Prepare) -> Backend:
    """The backend that `n_jobs`, or "dask" or a distributed.Client, ask for, with the data in it; one shard is cut."""
    jobs, sources = check_jobs(n_jobs), cut(data, N_SHARDS) if isinstance(data, Shard) else list(data)
    if check_backend(backend) is not None:
        return Dask(sources, prepare, None if isinstance(backend, str) else backend, n_jobs)
    return Backend(sources, prepare) if jobs == 1 else Processes(sources, prepare, jobs)


def cut(shard: Shard, n_shards: int) -> list[Source]:
    """The instances in order, cut into at most n_shards pieces of about the same cost.

    Targets of the same items share a normalizer, and stay together, unless they are very many.
    """
    runs = [len(list(run)) for _, run in groupby(shard.item_sets, key=id)]
    first = np.concatenate([np.arange(n) % TOGETHER == 0 for n in runs])
    work = np.cumsum(first * np.array([float(items.n) ** 3 for items in shard.item_sets]))
    piece = np.minimum((work / work[-1] * n_shards - 1e-9).astype(np.int64), n_shards - 1)
    ends = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(shard)]
    return [Shard(shard.item_sets[a:b], shard.subsets[a:b], shard.weights[a:b]) for a, b in pairwise(ends)]
