"""The Dask backend: shards are loaded by tasks, so that those of a lost worker are loaded again elsewhere."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from dpplearn._checks import check_jobs
from dpplearn._run.blas import blas_threads
from dpplearn._run.signals import deaf_children
from dpplearn.learning.backends import Backend, Prepare, Request, Source, Tick, answer
from dpplearn.learning.evaluators import Part
from dpplearn.learning.storage.shards import load_shard


class Dask(Backend):
    """Shards as the results of tasks on a `distributed` cluster, kept in the workers' memory.

    Parameters
    ----------
    sources : list of Shard or of paths that every worker can read
    client : distributed.Client, optional
        By default the current one; where there is none, a local cluster for the duration of the fit.
    """

    def __init__(self, sources: Sequence[Source], prepare: Prepare, client: Any, n_jobs: int | None) -> None:
        try:
            import distributed as dd
        except ImportError:
            raise ImportError('backend="dask" needs the package distributed: pip install "dpplearn[dask]".') from None
        self.n_shards, self.prepare = len(sources), prepare
        self.parts: list[Any] = []
        self._own: list[Any] = []
        try:
            self.client = client if client is not None else self._find(dd, n_jobs)
            # Tasks, never scatter: what a lost worker held is computed again from its task, and scattered data is gone.
            name = f"dpplearn-{uuid.uuid4().hex}"
            keys = [f"{name}-{k}" for k in range(self.n_shards)]
            with quiet():
                self.parts = self.client.map(load, list(sources), prepare=prepare, key=keys, pure=False)
        except BaseException:
            self.close()
            raise

    def _find(self, dd: Any, n_jobs: int | None) -> Any:
        """The current client, or that of a local cluster."""
        try:
            return dd.get_client()
        except ValueError:
            with deaf_children():  # stopped half-way, distributed would print its own tracebacks
                jobs = check_jobs(None if n_jobs == 1 else n_jobs)
                cluster = dd.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
                self._own = [cluster]
                self._own = [dd.Client(cluster), cluster]
            return self._own[0]

    def run(self, request: Request[Any] | None, tick: Tick) -> list[Any]:
        with quiet():
            futures = self.client.map(ask, self.parts, request=request, prepare=self.prepare, pure=False)
        answers = []
        for k, future in enumerate(futures, start=1):
            answers.append(future.result())
            tick(k, self.n_shards)
        return answers

    def close(self) -> None:
        self.parts = []
        for started in self._own:
            started.close()
        self._own = []


def load(source: Source, prepare: Prepare) -> Part:
    return prepare(load_shard(source) if isinstance(source, str) else source)


def ask(part: Part, request: Request[Any] | None, prepare: Prepare) -> Any:
    with blas_threads(0, one=True):  # workers share the machine's cores: more BLAS threads only wait for one another
        return answer(part, request, prepare)


@contextmanager
def quiet() -> Any:
    """A list of item sets travels inside the graph by design; for data that is too large for that, there are files."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        yield
