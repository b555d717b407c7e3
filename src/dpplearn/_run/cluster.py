"""A Dask cluster to work on: the current one, or a local one for as long as the work takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from logging import CRITICAL
from typing import Any

from dpplearn._checks import check_jobs
from dpplearn._run.signals import deaf_children


@contextmanager
def cluster_client(client: Any = None, n_jobs: int | None = None) -> Iterator[Any]:
    """The client given, or the current one, or that of a local cluster, which ends with the block."""
    own: list[Any] = []
    try:
        yield client if client is not None else find_client(own, n_jobs)
    finally:
        for started in own:
            started.close()


def find_client(own: list[Any], n_jobs: int | None = None) -> Any:
    """The current client, or that of a local cluster, both noted in `own` as what is to be closed."""
    try:
        dd: Any = import_module("distributed")
    except ImportError:
        raise ImportError('backend="dask" needs the package distributed: pip install "dpplearn[dask]".') from None
    try:
        return dd.get_client()
    except ValueError:
        with deaf_children():  # stopped half-way, distributed would print its own tracebacks
            jobs = check_jobs(None if n_jobs == 1 else n_jobs)
            own.append(
                dd.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=CRITICAL)
            )
            own.insert(0, dd.Client(own[0]))
        return own[0]
