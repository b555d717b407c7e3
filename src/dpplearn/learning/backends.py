"""Where the shards of a training set are evaluated, and how: here, in processes, or on a Dask cluster.

A backend answers `evaluate(request)` with the sum over all instances, added in shard order whoever was first, so that
every backend gives the same digits. An evaluator makes a shard ready where it lives: `prepare(shard, similarity)`
returns an object whose `evaluate(request)` is the sum over the instances of the shard.
"""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby, pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np

from dpplearn._checks import check_choice, check_jobs
from dpplearn._numba import compiled_always
from dpplearn._run.blas import blas_threads, one_thread
from dpplearn._run.processes import Processes
from dpplearn._run.workers import check_backend, cluster_client
from dpplearn.learning.files import load_shard
from dpplearn.learning.likelihood import Instance, LikelihoodRequest, Terms
from dpplearn.learning.similarity import Mixture, Similarity
from dpplearn.learning.sized import LostDigitsError
from dpplearn.learning.training_set import Shard, Survey, is_sampled, merge_surveys, survey_of

EVALUATORS = ("numpy", "torch")  # by name; any object with `prepare` is one too
TOGETHER = 16  # targets of the same items in one piece, at least
N_SHARDS = 32  # a list is cut into as many pieces, whatever the backend: the same sums in the same order
KEPT = 2**25  # bytes of files, here or for each Dask worker, up to which their shards stay in memory

Tick: TypeAlias = Callable[[int, int], None]  # shards done, shards in all
Source: TypeAlias = Any  # a shard in memory, or the path of a file that holds one
Prepare: TypeAlias = Callable[..., "PreparedShard"]  # `PreparedShard.of` with its evaluator and similarity; it pickles


def quietly(*_: int) -> None:
    """A tick that nobody sees."""


class Evaluator(Protocol):
    """Makes shards ready. It travels to where they live: it must pickle."""

    def prepare(self, shard: Shard, similarity: Similarity) -> Any:
        """An object with `evaluate(request) -> Terms`, the sum over the instances, each times its weight.

        All instances of the shard count: none has weight 0, and none is impossible under this similarity.
        """


class PreparedInstances:
    """Instances that keep what does not change between evaluations; targets of the same items are one instance."""

    def __init__(self, shard: Shard, similarity: Similarity) -> None:
        self.instances: list[Instance] = []
        start = 0
        for _, same in groupby(shard.item_sets, key=id):
            end = start + len(list(same))
            weights = shard.weights[start:end].tolist()
            self.instances.append(Instance(shard.item_sets[start], shard.subsets[start:end], weights, similarity))
            start = end

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        return request.total([(1.0, instance.evaluate(request)) for instance in self.instances])


class OneByOne:
    """The numpy evaluator: one instance after the other, each with LAPACK's factors."""

    prepare = PreparedInstances


@dataclass(frozen=True, eq=False)
class PreparedShard:
    """A shard where it lives: what is known of it, and its instances that count, made ready by an evaluator."""

    survey: Survey
    ready: Any
    sample: Any = None  # where the similarity is learned: the instances by which starts are compared

    @classmethod
    def of(
        cls, source: Source, survey: Survey | None = None, *, evaluator: Evaluator, similarity: Similarity
    ) -> PreparedShard:
        """Read a shard if it is in a file, survey it unless its survey is known, and leave out what does not count."""
        shard = load_shard(source) if isinstance(source, str) else source
        survey = survey_of(shard, similarity) if survey is None else survey
        learned = isinstance(similarity, Mixture)
        S = similarity.bind(survey.parts) if isinstance(similarity, Mixture) else similarity
        some = [t for t in survey.kept if is_sampled(shard, t)] if learned else []
        ready, sample = (evaluator.prepare(shard.pick(t), S) if t else None for t in (survey.kept, some))
        return cls(survey, ready, sample)

    def answer(self, request: LikelihoodRequest | None) -> Any:
        """The survey where there is no request; else the sum over the instances that count, or over the sample."""
        if request is None:
            return self.survey
        ready = self.sample if request.sample else self.ready
        try:
            return request.total(()) if ready is None else ready.evaluate(request)
        except LostDigitsError:
            if not isinstance(request.similarity, Mixture):
                raise
            return request.impossible()  # its nugget is too small to tell: a step that came here is turned back

    def __sizeof__(self) -> int:  # of S at most: a scheduler that thinks this small would move it about
        return 8 * self.survey.largest * self.survey.n_counted


def make_evaluator(evaluator: str | Evaluator) -> Evaluator:
    """The evaluator of a name, or the one given."""
    if isinstance(evaluator, str):
        check_choice(evaluator, "evaluator", EVALUATORS)
        if evaluator == "numpy":
            return OneByOne()
        batches: Evaluator = import_module("dpplearn.torch.evaluator").Batches()
        return batches
    if not callable(getattr(evaluator, "prepare", None)):
        raise TypeError(
            'evaluator must be "numpy", "torch", or an object with prepare(shard, similarity); found '
            f"{type(evaluator).__name__}."
        )
    return evaluator


class Backend(AbstractContextManager["Backend"]):
    """The shards in this process, prepared once; those in files that are large together are read for each request."""

    def __init__(self, sources: Sequence[Source], prepare: Prepare) -> None:
        self.sources, self.n_shards, self.prepare = list(sources), len(sources), prepare
        self.known: dict[int, Any] = {}  # the prepared shard, or the survey of one that is read again
        self.largest = 0  # items of an instance, once the survey says how many
        self.files = sum(os.path.getsize(source) for source in sources if isinstance(source, str))

    def run(self, request: LikelihoodRequest | None, tick: Tick) -> list[Any]:
        """The answers of all shards, in their order; their surveys where there is no request."""
        answers = []
        with blas_threads(self.largest), compiled_always():  # so that the digits are the same in whatever process
            for k, source in enumerate(self.sources):
                in_file, known = isinstance(source, str) and self.files > KEPT, self.known.get(k)
                shard = self.prepare(source, known) if in_file or known is None else known
                self.known[k] = shard.survey if in_file else shard
                answers.append(shard.answer(request))
                tick(k + 1, self.n_shards)
        return answers

    def survey(self) -> Survey:
        """One survey of all shards, with instances numbered through."""
        survey = merge_surveys(self.run(None, quietly))
        self.largest = survey.largest
        return survey

    def evaluate(self, request: LikelihoodRequest, tick: Tick = quietly) -> Terms:
        """The sum over all instances."""
        return request.total([(1.0, terms) for terms in self.run(request, tick)])

    def __exit__(self, *_: object) -> None:
        """End what was started."""


class ProcessBackend(Backend):
    """Shards dealt out to processes, each of which keeps its own; a process that is lost is replaced."""

    def __init__(self, sources: Sequence[Source], prepare: Prepare, n_jobs: int) -> None:
        super().__init__(sources, prepare)
        self.jobs = min(n_jobs, self.n_shards)
        self.processes = [Processes(1, Backend(sources[w :: self.jobs], prepare)) for w in range(self.jobs)]

    def run(self, request: LikelihoodRequest | None, tick: Tick) -> list[Any]:
        answers: list[Any] = [None] * self.n_shards
        futures = [process.submit(run_in_process, request) for process in self.processes]
        for w, process in enumerate(self.processes):
            answers[w :: self.jobs] = process.answer(futures[w], run_in_process, request)
            tick((w + 1) * self.n_shards // self.jobs, self.n_shards)
        return answers

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.close()


def run_in_process(request: LikelihoodRequest | None, shards: Backend) -> list[Any]:
    """In a process: the answers of its shards."""
    return shards.run(request, quietly)


class DaskBackend(Backend):
    """Shards as the results of tasks on a `distributed` cluster, kept in the workers' memory.

    Tasks, never `scatter`: what a lost worker held is computed again from its task, and scattered data is gone. Files
    too large to be kept are read where they lie, for each evaluation.
    """

    def __init__(self, sources: Sequence[Source], prepare: Prepare, backend: Any, n_jobs: int | None) -> None:
        super().__init__(sources, prepare)
        self._open = ExitStack()
        client = cluster_client(check_backend(backend), None if n_jobs == 1 else n_jobs)
        self.client = self._open.enter_context(client)
        if self.files <= KEPT * max(len(self.client.nthreads()), 1):  # in memory they are several times as large
            keys = [f"dpplearn-{uuid.uuid4().hex}-{k}" for k in range(self.n_shards)]
            self.sources = self._map(in_worker, self.sources, key=keys, prepare=prepare)

    def _map(self, *call: Any, **options: Any) -> list[Any]:
        """A list of item sets travels inside the graph by design; for data that is too large for that, use files."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="distributed")
            return list(self.client.map(*call, pure=False, **options))

    def run(self, request: LikelihoodRequest | None, tick: Tick) -> list[Any]:
        answers: list[Any] = []
        surveys = [self.known.get(k) for k in range(self.n_shards)]
        futures = self._map(ask_in_worker, self.sources, surveys, request=request, prepare=self.prepare)
        for k, future in enumerate(futures):
            answers.append(future.result())
            tick(k + 1, self.n_shards)
            if request is None and isinstance(self.sources[k], str):
                self.known[k] = answers[k]._replace(products=np.empty(0))
        return answers

    def __exit__(self, *_: object) -> None:
        self.sources = []
        self._open.close()


def in_worker(source: Source, prepare: Prepare) -> PreparedShard:
    """In a Dask worker: a shard made ready."""
    with one_thread(), compiled_always():
        return prepare(source)


def ask_in_worker(shard: Any, survey: Survey | None, request: LikelihoodRequest | None, prepare: Prepare) -> Any:
    """In a Dask worker: what a shard says; a path is read, used and forgotten."""
    with one_thread(), compiled_always():
        return (prepare(shard, survey) if isinstance(shard, str) else shard).answer(request)


def make_backend(backend: Any, n_jobs: int | None, data: Shard | Sequence[Source], prepare: Prepare) -> Backend:
    """The backend that `n_jobs`, or "dask" or a distributed.Client, ask for, with the data in it; one shard is cut."""
    jobs, sources = check_jobs(n_jobs), cut(data, N_SHARDS) if isinstance(data, Shard) else list(data)
    if backend is not None:
        return DaskBackend(sources, prepare, backend, n_jobs)
    return Backend(sources, prepare) if jobs == 1 else ProcessBackend(sources, prepare, jobs)


def cut(shard: Shard, n_shards: int) -> list[Source]:
    """The instances in order, cut into at most n_shards pieces of about the same cost.

    Targets of the same items share a normalizer, and stay together, unless they are very many.
    """
    runs = [len(list(run)) for _, run in groupby(shard.item_sets, key=id)]
    first = np.concatenate([np.arange(n) % TOGETHER == 0 for n in runs])
    work = np.cumsum(first * np.array([float(items.n) ** 3 for items in shard.item_sets]))
    piece = np.minimum((work / work[-1] * n_shards - 1e-9).astype(np.int64), n_shards - 1)
    ends = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(shard.item_sets)]
    return [Shard(shard.item_sets[a:b], shard.subsets[a:b], shard.weights[a:b]) for a, b in pairwise(ends)]
