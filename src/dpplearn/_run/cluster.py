"""A Dask cluster to work on: the current one, or a local one for as long as the work takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from logging import CRITICAL
from typing import Any

from dpplearn._checks import check_jobs
from dpplearn._run.processes import block_sigint


def check_backend(backend: Any) -> Any:
    """None for this machine, or "dask", or a distributed.Client."""
    if backend is None or (isinstance(backend, str) and backend == "dask"):
        return backend
    if hasattr(backend, "map") and hasattr(backend, "scheduler_info"):
        return backend
    raise TypeError(
        f'backend must be None, "dask" or a distributed.Client, found {backend!r:.60}. On this machine n_jobs says how '
        "many processes work."
    )


@contextmanager
def cluster_client(client: Any = None, n_jobs: int | None = None) -> Iterator[Any]:
    """The client given, or the current one, or that of a local cluster, which ends with the block."""
    if client is not None:
        yield client
        return
    dd = import_distributed()
    try:
        current = dd.get_client()
    except ValueError:
        current = None
    if current is not None:
        yield current
        return
    with block_sigint():  # stopped half-way, distributed would print its own tracebacks
        jobs = check_jobs(n_jobs)
        cluster = dd.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=CRITICAL)
        own = dd.Client(cluster)
    try:
        yield own
    finally:
        own.close()
        cluster.close()


@contextmanager
def scheduler_client(address: str | None, backend: Any = None) -> Iterator[Any]:
    """A client of the cluster at an address, for as long as the block lasts; without one, the backend given."""
    if address is None:
        yield backend
        return
    dd = import_distributed()
    try:
        client = dd.Client(address, timeout=20)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"There must be a Dask scheduler at {address}, but it cannot be reached: {error}. Start one with "
            "`dask scheduler`, or leave --scheduler out for a cluster on this machine."
        ) from None
    with client:
        yield client


def import_distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise ImportError('backend="dask" needs the package distributed: pip install "dpplearn[dask]".') from None


def gone(client: Any) -> ConnectionError:
    """What to raise where a scheduler is lost."""
    address = getattr(client.scheduler, "address", "") if client.scheduler is not None else ""
    return ConnectionError(
        f"The Dask scheduler {address} cannot be reached any more, or has no worker. Start it again."
    )
