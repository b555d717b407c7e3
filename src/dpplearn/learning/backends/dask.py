"""The Dask backend: shards are loaded by tasks, so that those of a lost worker are loaded again elsewhere."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from dpplearn._run.blas import blas_threads
from dpplearn._run.cluster import find_client
from dpplearn.learning.backends import Backend, Prepare, Request, Source, Tick, answer
from dpplearn.learning.evaluators import PreparedShard
from dpplearn.learning.storage.shards import load_shard

KEPT = 2**27  # bytes of files for each worker, up to which their shards stay in memory


class Dask(Backend):
    """Shards as the results of tasks on a `distributed` cluster, kept in the workers' memory.

    Parameters
    ----------
    sources : list of Shard or of paths that every worker can read
    client : distributed.Client, optional
        By default the current one; where there is none, a local cluster for the duration of the fit.
    """

    def __init__(self, sources: Sequence[Source], prepare: Prepare, client: Any, n_jobs: int | None) -> None:
        self.n_shards, self.prepare = len(sources), prepare
        self.parts: list[Any] = []
        self._own: list[Any] = []
        try:
            self.client = client if client is not None else find_client(self._own, n_jobs)
            # Tasks, never scatter: what a lost worker held is computed again from its task, and scattered data is gone.
            name = f"dpplearn-{uuid.uuid4().hex}"
            keys = [f"{name}-{k}" for k in range(self.n_shards)]
            with quiet():
                if self._fits(sources):
                    self.parts = self.client.map(load, list(sources), prepare=prepare, key=keys, pure=False)
                else:  # read where they lie, for each evaluation
                    self.parts = list(sources)
        except BaseException:
            self.close()
            raise

    def _fits(self, sources: Sequence[Source]) -> bool:
        """Whether shards can stay in the workers' memory, where those in files are several times as large."""
        files = sum(os.path.getsize(source) for source in sources if isinstance(source, str) and os.path.exists(source))
        return files <= KEPT * max(len(self.client.nthreads()), 1)

    def run(self, request: Request[Any] | None, tick: Tick, some: Sequence[int] | None = None) -> list[Any]:
        parts = self.parts if some is None else [self.parts[k] for k in some]
        with quiet():
            futures = self.client.map(ask, parts, request=request, prepare=self.prepare, pure=False)
        answers = []
        for k, future in enumerate(futures, start=1):
            answers.append(future.result())
            tick(k, len(parts))
        return answers

    def close(self) -> None:
        self.parts = []
        for started in self._own:
            started.close()
        self._own = []


def load(source: Source, prepare: Prepare) -> PreparedShard:
    return prepare(load_shard(source) if isinstance(source, str) else source)


def ask(part: PreparedShard, request: Request[Any] | None, prepare: Prepare) -> Any:
    with blas_threads(0, one=True):  # workers share the machine's cores: more BLAS threads only wait for one another
        return answer(part, request, prepare)


@contextmanager
def quiet() -> Any:
    """A list of item sets travels inside the graph by design; for data that is too large for that, there are files."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        yield
