"""A training set: what it must be, what is known of it before the first step, and where its shards are evaluated.

Shards live in this process, in others, or on a Dask cluster. A backend answers `evaluate(request)` with the sum over
all instances, added in shard order whoever was first. An evaluator makes a shard ready where it lives:
`prepare(shard, similarity)` returns an object whose `evaluate(request)` is the sum over the instances of the shard.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import combinations, groupby, pairwise
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, check_jobs
from dpplearn._linalg import logdet
from dpplearn._numba import compiled_always, compiles_always
from dpplearn._precision import rounding
from dpplearn._run.blas import blas_threads, one_thread
from dpplearn._run.processes import Processes
from dpplearn._run.workers import cluster_client
from dpplearn.learning.files import load_shard
from dpplearn.learning.itemset import ItemSet, Shard, check_encoding, check_examples
from dpplearn.learning.likelihood import Instance, LikelihoodRequest, Terms
from dpplearn.learning.similarity import INDEPENDENT, RESERVED, Similarity, shared_names
from dpplearn.learning.sized import LostDigitsError
from dpplearn.learning.tables import Encoding

MOST_FEATURE = 1e100  # products of two of them, summed, are floats
SAMPLED = 3  # one instance in so many is in the sample by which starts are compared
TOGETHER = 16  # targets of the same items in one piece, at least
N_SHARDS = 32  # a list is cut into as many pieces, whatever the backend: the same sums in the same order
CACHED = 2**25  # bytes of files, up to which their shards stay in the memory of a process

Source: TypeAlias = Any  # a shard in memory, or the path of a file that holds one


def training_data(X: Any, y: Any, sample_weight: ArrayLike | None) -> Shard | list[str]:
    """Instances in memory, or the paths of shards that hold them."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"X must be a list of ItemSets or of paths of shards, found a single path. Pass [{str(X)!r}].")
    if isinstance(X, Sequence) and len(X) > 0 and all(isinstance(x, str | os.PathLike) for x in X):
        if y is not None or sample_weight is not None:
            raise TypeError("Shards hold their own targets and weights: with paths, leave y and sample_weight out.")
        paths = [os.fspath(path) for path in X]
        if missing := [path for path in paths if not os.path.exists(path)]:
            raise FileNotFoundError(f"There is no shard file {missing[0]} ({len(missing)} of {len(paths)} missing).")
        return paths
    return Shard(X, *check_examples(X, y, sample_weight))


class Survey(NamedTuple):
    """What must be known of a shard, or of all shards, before the first step."""

    n_instances: int
    names: tuple[str, ...] | None
    encoding: Encoding | None  # how the features were made of a table
    impossible: list[tuple[int, str]]  # instances whose target has probability 0, and why
    kept: list[int]  # those that count: they are possible, and their weight is not 0
    low: FloatArray  # smallest f_ij of each feature,
    high: FloatArray  # and the largest
    products: FloatArray  # sum of [F 1]^T [F 1]
    weight: float  # sum of the weights of the instances that count,
    n_chosen: float  # of the items chosen in them,
    n_items: float  # of all their items,
    sampled: float  # and of those in the sample by which starts are compared
    n_counted: int  # items of the instances that count, whatever their weight
    largest: int  # items of one instance, at most
    parts: tuple[str, ...]  # names of what a learned similarity is made of
    same_parts: frozenset[tuple[str, str]]  # parts that are the same matrix in every instance


def survey_of(shard: Shard, similarity: Similarity | None) -> Survey:
    """The survey of a shard, the same for all evaluators."""
    learned = similarity is None  # its nugget is never 0: all is possible
    item_sets, m, impossible, kept = shard.item_sets, shard.item_sets[0].features.shape[1], [], []
    low, high, products = np.full(m, np.inf), np.full(m, -np.inf), np.zeros((m + 1, m + 1))
    for t, (items, Y, w) in enumerate(zip(item_sets, shard.subsets, shard.weights.tolist(), strict=True)):
        if w > 0 and similarity is not None and (why := why_impossible(items, Y, similarity)):
            impossible.append((t, why))
        elif w > 0:
            kept.append(t)
        F = np.column_stack([items.features, np.ones(items.n)])
        low, high = np.minimum(low, F.min(axis=0)[:-1]), np.maximum(high, F.max(axis=0)[:-1])
        with np.errstate(over="ignore", invalid="ignore"):  # features that are too large are refused below
            products += F.T @ F
    names = next((items.names for items in item_sets if items.names is not None), None)
    largest = np.maximum(np.abs(low), np.abs(high))
    if largest.max() > MOST_FEATURE:
        j = int(largest.argmax())
        name = repr(names[j]) if names else j
        raise ValueError(f"Feature {name} has values up to {largest[j]:.3g}, above {MOST_FEATURE:g}. Divide it.")
    parts = shared_names([items.part_names for items in item_sets]) if learned else ()
    if parts == (INDEPENDENT,):
        raise ValueError("A mixture learns what makes items alike, and these item sets have neither phi nor S.")
    weights, sizes = shard.weights[kept], [item_sets[t].n for t in kept]
    return Survey(
        n_instances=len(item_sets),
        names=names,
        encoding=next((items.encoding for items in item_sets if items.encoding is not None), None),
        impossible=impossible,
        kept=kept,
        low=low,
        high=high,
        products=products,
        weight=float(weights.sum()),
        n_chosen=float(weights @ [len(shard.subsets[t]) for t in kept]),
        n_items=float(weights @ sizes),
        sampled=float(shard.weights[[t for t in kept if is_sampled(shard, t)]].sum()) if learned else 0.0,
        n_counted=sum(sizes),
        largest=max(items.n for items in item_sets),
        parts=parts,
        same_parts=same_parts(item_sets, learned) if learned or len(item_sets[0].parts) > 1 else frozenset(),
    )


def is_sampled(shard: Shard, t: int) -> bool:
    """Whether an instance is in the sample; its content decides, so that no layout of files changes the answer."""
    return crc32(shard.subsets[t].tobytes(), crc32(shard.item_sets[t].features.tobytes())) % SAMPLED == 0


def same_parts(item_sets: Sequence[ItemSet], learned: bool) -> frozenset[tuple[str, str]]:
    """Parts of the similarity that are the same matrix in all of these; one that is learned also has I and 11^T."""
    names = [part.name for part in item_sets[0].parts]
    pairs = set(combinations((*RESERVED, *names) if learned else names, 2)) - {RESERVED}
    for items in item_sets:
        if not pairs:
            break
        matrices = {part.name: part.cosines() for part in items.parts}
        matrices |= {"own": np.eye(items.n), "all": np.ones((items.n, items.n))}
        pairs = {(a, b) for a, b in pairs if np.allclose(matrices[a], matrices[b], rtol=0.0, atol=1e-9)}
    return frozenset(pairs)


def why_impossible(items: ItemSet, Y: IntArray, similarity: Similarity) -> str | None:
    """Why the target has probability 0 whatever the qualities are, or None."""
    S_Y = similarity.matrix(items, Y)
    if logdet(S_Y) > -np.inf:
        return None
    close = np.argwhere(np.triu(np.abs(S_Y) ** 2 > 1 - rounding(Y.size), 1))
    if close.size:
        i, j = Y[close[0]]
        return f"its target holds items {i} and {j}, which are duplicates of each other (similarity 1)"
    d = similarity.rank(items)
    if d is not None and Y.size > d:
        return f"its target holds {Y.size} items, and {d} similarity features allow at most {d}"
    return "the similarity features of the items in its target are linearly dependent"


# Shards that are ready for many evaluations


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


@dataclass(frozen=True, eq=False)
class PreparedShard:
    """A shard where it lives: what is known of it, and its instances that count, made ready by an evaluator."""

    survey: Survey
    ready: Any
    sample: Any = None  # where the similarity is learned: the instances by which starts are compared

    @classmethod
    def of(
        cls, source: Source, survey: Survey | None = None, *, evaluator: Any, similarity: Similarity | None
    ) -> PreparedShard:
        """Read a shard if it is in a file, survey it unless its survey is known, and leave out what does not count.

        Without a similarity, that is to be learned. "numpy" is an evaluator, and any object with `prepare`.
        """
        prepare = PreparedInstances if evaluator == "numpy" else evaluator.prepare
        shard = load_shard(source) if isinstance(source, str) else source
        survey = survey_of(shard, similarity) if survey is None else survey
        S = Similarity(survey.parts) if similarity is None else similarity
        some = [t for t in survey.kept if is_sampled(shard, t)] if similarity is None else []
        counted = shard if len(survey.kept) == len(shard.subsets) else shard.pick(survey.kept)
        ready = prepare(counted, S) if survey.kept else None
        return cls(survey, ready, prepare(shard.pick(some), S) if some else None)

    def answer(self, request: LikelihoodRequest | None) -> Any:
        """The survey where there is no request; else the sum over the instances that count, or over the sample."""
        if request is None:
            return self.survey
        ready = self.sample if request.sample else self.ready
        try:
            return request.total(()) if ready is None else ready.evaluate(request)
        except LostDigitsError:
            if not request.similarity.names:
                raise
            return request.impossible()  # its nugget is too small to tell: a step that came here is turned back

    def __sizeof__(self) -> int:  # of S at most: a scheduler that thinks this small would move it about
        return 8 * self.survey.largest * self.survey.n_counted


# Where they are


def unwatched(done: int, total: int) -> None:
    """How many shards have answered, where nobody wants to know."""


class Backend(AbstractContextManager["Backend"]):
    """The shards in this process, prepared once; those in files that are large together are read for each request.

    `prepare` makes a shard ready, and pickles; `tick` is told how many of the shards have answered.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        prepare: Callable[..., PreparedShard],
        tick: Any = unwatched,
    ) -> None:
        self.sources, self.n_shards, self.prepare, self.tick = list(sources), len(sources), prepare, tick
        self.known: dict[int, Any] = {}  # the prepared shard, or the survey of one that is read again
        self.largest = 0  # items of an instance, once the survey says how many
        self.files = sum(os.path.getsize(source) for source in sources if isinstance(source, str))

    def run(self, request: LikelihoodRequest | None) -> list[Any]:
        """The answers of all shards, in their order; their surveys where there is no request."""
        answers = []
        with blas_threads(self.largest):
            for k, source in enumerate(self.sources):
                in_file, known = isinstance(source, str) and self.files > CACHED, self.known.get(k)
                shard = self.prepare(source, known) if in_file or known is None else known
                self.known[k] = shard.survey if in_file else shard
                answers.append(shard.answer(request))
                self.tick(k + 1, self.n_shards)
        return answers

    def survey(self) -> Survey:
        """One survey of all shards, with instances numbered through."""
        surveys = self.run(None)
        m = surveys[0].low.size
        names = next((s.names for s in surveys if s.names), None)
        encoding = next((s.encoding for s in surveys if s.encoding is not None), None)
        for k, s in enumerate(surveys):
            if s.low.size != m or (names and s.names and s.names != names):
                raise ValueError(f"Shard {k} must have the features of shard 0 in their order: {m}, not {s.low.size}.")
            if s.encoding is not encoding:
                check_encoding(s.encoding, encoding, f"Shard {k}")
        firsts = np.cumsum([0, *(s.n_instances for s in surveys)]).tolist()
        totals = ("n_instances", "products", "weight", "n_chosen", "n_items", "sampled", "n_counted")
        survey = surveys[0]._replace(
            names=names,
            encoding=encoding,
            impossible=[(a + t, why) for a, s in zip(firsts, surveys, strict=False) for t, why in s.impossible],
            kept=[a + t for a, s in zip(firsts, surveys, strict=False) for t in s.kept],
            low=np.min([s.low for s in surveys], axis=0),
            high=np.max([s.high for s in surveys], axis=0),
            largest=max(s.largest for s in surveys),
            parts=shared_names([s.parts for s in surveys], "Shard {}") if surveys[0].parts else (),
            same_parts=frozenset.intersection(*(s.same_parts for s in surveys)),
            **{name: sum(getattr(s, name) for s in surveys) for name in totals},
        )
        self.largest = survey.largest
        return survey

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        """The sum over all instances."""
        return request.total([(1.0, terms) for terms in self.run(request)])

    def __exit__(self, *_: object) -> None:
        """End what was started."""


class ProcessBackend(Backend):
    """Shards dealt out to processes, each of which keeps its own; a process that is lost is replaced."""

    def __init__(self, sources: Sequence[Source], prepare: Any, tick: Any, n_jobs: int) -> None:
        super().__init__(sources, prepare, tick)
        self.jobs = min(n_jobs, self.n_shards)
        self.processes = [Processes(1, Backend(sources[w :: self.jobs], prepare)) for w in range(self.jobs)]

    def run(self, request: LikelihoodRequest | None) -> list[Any]:
        answers: list[Any] = [None] * self.n_shards
        work = partial(run_in_process, compiled=compiles_always())
        futures = [process.submit(work, request) for process in self.processes]
        for w, process in enumerate(self.processes):
            answers[w :: self.jobs] = process.answer(futures[w], work, request)
            self.tick((w + 1) * self.n_shards // self.jobs, self.n_shards)
        return answers

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.close()


def run_in_process(request: LikelihoodRequest | None, shards: Backend, compiled: bool) -> list[Any]:
    """In a process: the answers of its shards, to the bit those that this process would give."""
    with compiled_always(compiled):
        return shards.run(request)


class DaskBackend(Backend):
    """Shards as the results of tasks on a `distributed` cluster, kept by the workers, on disk beyond their memory.

    Tasks, never `scatter`: what a lost worker held is computed again from its task, and scattered data is gone.
    """

    def __init__(self, sources: Sequence[Source], prepare: Any, tick: Any, backend: Any, n_jobs: int | None) -> None:
        super().__init__(sources, prepare, tick)
        self._open = ExitStack()
        client = cluster_client(backend, None if n_jobs == 1 else n_jobs)
        self.client = self._open.enter_context(client)
        self.sources = self._map(self.sources, prepare)

    def _map(self, arguments: list[Any], work: Callable[..., Any], **options: Any) -> list[Any]:
        """A list of item sets travels inside the graph by design; for data that is too large for that, use files."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="distributed")
            call = partial(in_worker, work=work, compiled=compiles_always())
            return list(self.client.map(call, arguments, pure=False, **options))

    def run(self, request: LikelihoodRequest | None) -> list[Any]:
        answers: list[Any] = []
        for k, future in enumerate(self._map(self.sources, PreparedShard.answer, request=request)):
            answers.append(future.result())
            self.tick(k + 1, self.n_shards)
        return answers

    def __exit__(self, *_: object) -> None:
        self.sources = []
        self._open.close()


def in_worker(argument: Any, work: Callable[..., Any], compiled: bool, **options: Any) -> Any:
    """In a Dask worker: a shard made ready, or what it answers."""
    with one_thread(), compiled_always(compiled):
        return work(argument, **options)


def make_backend(
    backend: Any, n_jobs: int | None, data: Shard | Sequence[Source], prepare: Any, tick: Any = unwatched
) -> Backend:
    """The backend that `n_jobs`, or "dask" or a distributed.Client, ask for, with the data in it; one shard is cut."""
    jobs, sources = check_jobs(n_jobs), cut(data, N_SHARDS) if isinstance(data, Shard) else list(data)
    if backend is not None:
        return DaskBackend(sources, prepare, tick, backend, n_jobs)
    return Backend(sources, prepare, tick) if jobs == 1 else ProcessBackend(sources, prepare, tick, jobs)


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
