"""Where the shards live: here, in processes, or on a cluster. How one is evaluated is none of their business."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dpplearn._checks import check_choice, check_jobs
from dpplearn.learning.backends.protocol import Backend, Prepare, Serial, Source
from dpplearn.learning.training_set import Shard

N_SHARDS = 32  # a list is cut into as many pieces, whatever the backend: the same sums in the same order


def make_backend(backend: Any, n_jobs: int | None, data: Shard | list[str], prepare: Prepare) -> Backend:
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
        return Serial(sources, prepare)
    if backend == "processes":
        from dpplearn.learning.backends.processes import Processes

        return Processes(sources, prepare, jobs)
    from dpplearn.learning.backends.dask import Dask

    return Dask(sources, prepare, None if backend == "dask" else backend, n_jobs)


def cut(shard: Shard, n_shards: int) -> list[Source]:
    """The instances in order, cut into at most n_shards pieces of about the same cost."""
    work = np.cumsum([float(items.n) ** 3 for items in shard.item_sets])
    piece = np.minimum((work / work[-1] * n_shards - 1e-9).astype(np.int64), n_shards - 1)
    ends = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(shard)]
    return [Shard(shard.item_sets[a:b], shard.subsets[a:b], shard.weights[a:b]) for a, b in pairwise(ends)]
