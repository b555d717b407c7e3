"""Where the shards live: here, in processes, or on a cluster. How one is evaluated is none of their business."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from dpplearn._checks import check_choice, check_jobs
from dpplearn._numba import compiled_always
from dpplearn.learning.evaluators import Survey
from dpplearn.learning.parts import shared_names
from dpplearn.learning.storage.shards import load_shard
from dpplearn.learning.training_set import Shard

TOGETHER = 16  # targets of the same items in one piece, at least
N_SHARDS = 32  # a list is cut into as many pieces, whatever the backend: the same sums in the same order

Tick: TypeAlias = Callable[[int, int], None]  # shards done, shards in all
Source: TypeAlias = Any  # a shard in memory (it says its cost), or the path of a file that holds one
Prepare: TypeAlias = Callable[[Any], Any]  # makes a shard ready for requests (PreparedShard.of); it pickles


Answer = TypeVar("Answer")


class Request(Protocol[Answer]):
    """What shards are asked: it pickles, and can add their answers."""

    def total(self, weighted: Iterable[tuple[float, Answer]]) -> Answer:
        """The sum of w times the answers, in the order given."""


class Backend(ABC):
    """Where the shards are. `run` asks all of them, or some, and returns their answers in shard order."""

    n_shards: int

    @abstractmethod
    def run(self, request: Request[Any] | None, tick: Tick, some: Sequence[int] | None = None) -> list[Any]: ...

    def close(self) -> None:  # noqa: B027  # nothing to end where no process was started
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
        low, high = np.min([s.low for s in surveys], axis=0), np.max([s.high for s in surveys], axis=0)
        products = np.sum([s.products for s in surveys], axis=0)
        weight, n_chosen, n_items, sampled = (float(sum(x)) for x in zip(*(s[7:11] for s in surveys), strict=True))
        encoding = next((s.encoding for s in surveys if s.encoding is not None), None)
        raw = [s.raw for s in surveys if s.raw is not None]
        sizes = np.concatenate([s.sizes for s in surveys])
        columns = np.concatenate(raw) if raw else None
        parts = shared_names([s.parts for s in surveys], "Shard {}")
        same = frozenset.intersection(*(s.same_parts for s in surveys))
        known = (start, m, names, impossible, low, high, products, weight, n_chosen, n_items, sampled)
        return Survey(*known, parts, encoding, columns, sizes, same)

    def evaluate(self, request: Request[Answer], tick: Tick, some: Sequence[int] | None = None) -> Answer:
        """The sum over all instances, added in shard order so that it does not depend on who was first.

        With `some` shards, an estimate of it from these alone.
        """
        each = 1.0 if some is None else self.n_shards / len(some)
        return request.total((each, terms) for terms in self.run(request, tick, some))


class Serial(Backend):
    """All shards in this process; those in files are read one at a time, for each evaluation."""

    def __init__(self, sources: Sequence[Source], prepare: Prepare) -> None:
        self.n_shards, self.prepare = len(sources), prepare
        self.parts = [source if isinstance(source, str) else prepare(source) for source in sources]

    def run(self, request: Request[Any] | None, tick: Tick, some: Sequence[int] | None = None) -> list[Any]:
        answers = []
        parts = self.parts if some is None else [self.parts[k] for k in some]
        for k, part in enumerate(parts, start=1):
            answers.append(answer(part, request, self.prepare))
            tick(k, len(parts))
        return answers


def answer(part: Any, request: Request[Any] | None, prepare: Prepare) -> Any:
    """What a shard says to a request, or its survey where there is none; a path is read, used and forgotten."""
    with compiled_always():  # so that the digits are the same in whatever process, and whatever is on disk
        ready = prepare(load_shard(part)) if isinstance(part, str) else part
        return ready.survey if request is None else ready.evaluate(request)


def make_backend(backend: Any, n_jobs: int | None, data: Shard | Sequence[Source], prepare: Prepare) -> Backend:
    """The backend that a name, a distributed.Client or `n_jobs` asks for, with the data in it; one shard is cut."""
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
    sources: list[Source] = cut(data, N_SHARDS) if isinstance(data, Shard) else list(data)
    if backend == "serial":
        return Serial(sources, prepare)
    if backend == "processes":
        from dpplearn.learning.backends.processes import Processes

        return Processes(sources, prepare, jobs)
    from dpplearn.learning.backends.dask import Dask

    return Dask(sources, prepare, None if backend == "dask" else backend, n_jobs)


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
