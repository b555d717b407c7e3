"""Training sets: what is checked and measured before the first step, and where the instances are evaluated.

Shards, lists of instances, live in this process, in others, or on a Dask cluster. A backend answers `evaluate(request)`
with the sum over all instances, added in the order of the shards. An evaluator prepares a shard where it lives:
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
from typing import Any, NamedTuple
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

MAX_FEATURE = 1e100  # sums of products of two such features are floats
SAMPLING = 3  # one instance in so many is in the sample on which starts are compared
SHARED_TARGETS = 16  # targets of the same items that one piece may have before it is cut
N_SHARDS = 32  # pieces of a list, whatever the backend, so that sums are the same
CACHED_BYTES = 2**25  # size of all files up to which their shards stay in memory

Source = Shard | str  # a shard in memory, or the path of a file that holds one


def training_data(X: Any, y: Any, sample_weight: ArrayLike | None) -> Shard | list[str]:
    """The instances as one shard, or the paths of shards in files."""
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
    """What a fit must know of a shard, or of all shards, before the first step.

    An instance counts if its target is possible and its weight is not 0.
    """

    n_instances: int
    names: tuple[str, ...] | None
    encoding: Encoding | None  # how the features were made from a table
    impossible: list[tuple[int, str]]  # instances whose target has probability 0, and why
    kept: list[int]  # instances that count
    low: FloatArray  # smallest f_ij of each feature
    high: FloatArray  # largest f_ij of each feature
    products: FloatArray  # sum of [F 1]^T [F 1]
    weight: float  # sum of the weights of the instances that count
    n_chosen: float  # items chosen in them, by weight
    n_items: float  # all their items, by weight
    sampled: float  # weight of the sample on which starts are compared
    n_counted: int  # all their items
    largest: int  # items of the largest instance
    parts: tuple[str, ...]  # names of the parts of a learned similarity
    same_parts: frozenset[tuple[str, str]]  # parts that are the same matrix in every instance


def survey_of(shard: Shard, similarity: Similarity | None) -> Survey:
    """The survey of a shard."""
    learned = similarity is None  # its nugget is never 0, so that every target is possible
    item_sets, m, impossible, kept = shard.item_sets, shard.item_sets[0].features.shape[1], [], []
    low, high, products = np.full(m, np.inf), np.full(m, -np.inf), np.zeros((m + 1, m + 1))
    for t, (items, Y, w) in enumerate(zip(item_sets, shard.subsets, shard.weights.tolist(), strict=True)):
        if w > 0 and similarity is not None and (why := why_impossible(items, Y, similarity)):
            impossible.append((t, why))
        elif w > 0:
            kept.append(t)
        F = np.column_stack([items.features, np.ones(items.n)])
        low, high = np.minimum(low, F.min(axis=0)[:-1]), np.maximum(high, F.max(axis=0)[:-1])
        with np.errstate(over="ignore", invalid="ignore"):  # features that are too large are an error below
            products += F.T @ F
    names = next((items.names for items in item_sets if items.names is not None), None)
    largest = np.maximum(np.abs(low), np.abs(high))
    if largest.max() > MAX_FEATURE:
        j = int(largest.argmax())
        name = repr(names[j]) if names else j
        raise ValueError(f"Feature {name} has values up to {largest[j]:.3g}, above {MAX_FEATURE:g}. Divide it.")
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
    """Whether an instance is in the sample. Its content decides, so that the layout of files does not matter."""
    return crc32(shard.subsets[t].tobytes(), crc32(shard.item_sets[t].features.tobytes())) % SAMPLING == 0


def same_parts(item_sets: Sequence[ItemSet], learned: bool) -> frozenset[tuple[str, str]]:
    """Pairs of parts that are the same matrix in all item sets; a learned similarity also has I and 11^T."""
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
    """Why the target has probability 0 for all qualities; None if it has not."""
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


# Prepared shards


class PreparedInstances:
    """Instances, prepared for many evaluations; targets of the same items make one instance."""

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
    """A shard where it lives: its survey, and its instances that count, prepared by an evaluator."""

    survey: Survey
    instances: Any
    sample: Any = None  # some of them, on which starts are compared if the similarity is learned

    @classmethod
    def of(
        cls, source: Source, survey: Survey | None = None, *, evaluator: Any, similarity: Similarity | None
    ) -> PreparedShard:
        """Load and survey a shard unless that is done, and prepare its instances that count.

        `similarity` is None if it is to be learned. `evaluator` is "numpy" or an object with `prepare`.
        """
        prepare = PreparedInstances if evaluator == "numpy" else evaluator.prepare
        shard = load_shard(source) if isinstance(source, str) else source
        survey = survey_of(shard, similarity) if survey is None else survey
        S = Similarity(survey.parts) if similarity is None else similarity
        sample = [t for t in survey.kept if is_sampled(shard, t)] if similarity is None else []
        counted = shard if len(survey.kept) == len(shard.subsets) else shard.pick(survey.kept)
        instances = prepare(counted, S) if survey.kept else None
        return cls(survey, instances, prepare(shard.pick(sample), S) if sample else None)

    def answer(self, request: LikelihoodRequest | None) -> Any:
        """The sum over the instances that count, or over the sample; without a request, the survey."""
        if request is None:
            return self.survey
        instances = self.sample if request.sample else self.instances
        try:
            return request.total(()) if instances is None else instances.evaluate(request)
        except LostDigitsError:
            if not request.similarity.names:
                raise
            return request.impossible()  # the nugget is too small: the solver takes a shorter step

    def __sizeof__(self) -> int:  # at most that of S: a scheduler would move a shard about that it thinks small
        return 8 * self.survey.largest * self.survey.n_counted


# Backends


def ignore(*_: int) -> None:
    """Show no progress."""


class Backend(AbstractContextManager["Backend"]):
    """Shards in this process, prepared once. If their files together are large, they are read again for each request.

    `prepare` makes a `PreparedShard` of a source, and can be pickled; `tick(done, total)` shows how many have answered.
    """

    def __init__(self, sources: Sequence[Source], prepare: Callable[..., PreparedShard], tick: Any = ignore) -> None:
        self.sources, self.n_shards, self.prepare, self.tick = list(sources), len(sources), prepare, tick
        self.cache: dict[int, Any] = {}  # prepared shards, or surveys of those that are read again
        self.largest = 0  # items of an instance, once they are surveyed
        self.in_files = sum(os.path.getsize(source) for source in sources if isinstance(source, str)) > CACHED_BYTES

    def run(self, request: LikelihoodRequest | None) -> list[Any]:
        """The answers of all shards, in their order."""
        answers = []
        with blas_threads(self.largest):
            for k, source in enumerate(self.sources):
                read_again, cached = self.in_files and isinstance(source, str), self.cache.get(k)
                shard = self.prepare(source, cached) if read_again or cached is None else cached
                self.cache[k] = shard.survey if read_again else shard
                answers.append(shard.answer(request))
                self.tick(k + 1, self.n_shards)
        return answers

    def survey(self) -> Survey:
        """The survey of all shards, with instances numbered from the first shard to the last."""
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
        """Stop the processes and connections of the backend."""


class ProcessBackend(Backend):
    """Shards in several processes, each of which keeps its own; a process that dies is replaced."""

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
    """Answer for the shards of a process; compiled or not as in the main process, so that all bits are the same."""
    with compiled_always(compiled):
        return shards.run(request)


class DaskBackend(Backend):
    """Shards as results of tasks on a `distributed` cluster; the workers keep them, on disk if memory is short.

    They are tasks because a task of a lost worker is run again, while scattered data would be lost.
    """

    def __init__(self, sources: Sequence[Source], prepare: Any, tick: Any, backend: Any, n_jobs: int | None) -> None:
        super().__init__(sources, prepare, tick)
        self._open = ExitStack()
        client = cluster_client(backend, None if n_jobs == 1 else n_jobs)
        self.client = self._open.enter_context(client)
        self.sources = self._map(self.sources, prepare)

    def _map(self, arguments: list[Any], work: Callable[..., Any], **options: Any) -> list[Any]:
        """Futures of `work`. Item sets travel inside the graph on purpose; files are there for larger data."""
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
    """Do the work in a Dask worker, with one thread and compiled or not as in the main process."""
    with one_thread(), compiled_always(compiled):
        return work(argument, **options)


def make_backend(
    backend: Any, n_jobs: int | None, data: Shard | Sequence[Source], prepare: Any, tick: Any = ignore
) -> Backend:
    """The backend that `n_jobs`, "dask" or a distributed.Client ask for; one shard is cut into pieces."""
    jobs, sources = check_jobs(n_jobs), cut(data, N_SHARDS) if isinstance(data, Shard) else list(data)
    if backend is not None:
        return DaskBackend(sources, prepare, tick, backend, n_jobs)
    return Backend(sources, prepare, tick) if jobs == 1 else ProcessBackend(sources, prepare, tick, jobs)


def cut(shard: Shard, n_shards: int) -> list[Source]:
    """The instances in order, cut into at most n_shards pieces of about the same cost.

    Targets of the same items share a normalizer, so they stay together up to `SHARED_TARGETS`.
    """
    runs = [len(list(run)) for _, run in groupby(shard.item_sets, key=id)]
    first = np.concatenate([np.arange(n) % SHARED_TARGETS == 0 for n in runs])
    work = np.cumsum(first * np.array([float(items.n) ** 3 for items in shard.item_sets]))
    piece = np.minimum((work / work[-1] * n_shards - 1e-9).astype(np.int64), n_shards - 1)
    ends = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(shard.item_sets)]
    return [Shard(shard.item_sets[a:b], shard.subsets[a:b], shard.weights[a:b]) for a, b in pairwise(ends)]
