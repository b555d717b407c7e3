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


@contextmanager
def scheduler_client(address: str | None, backend: Any = None) -> Iterator[Any]:
    """A client of the cluster at an address, for as long as the block lasts; without one, the backend given."""
    if address is None:
        yield backend
        return
    if backend not in (None, "dask"):
        raise ValueError(f"--scheduler is for --backend dask, found {backend}. Leave one of them out.")
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


def find_client(own: list[Any], n_jobs: int | None = None) -> Any:
    """The current client, or that of a local cluster, both noted in `own` as what is to be closed."""
    dd = import_distributed()
    try:
        return dd.get_client()
    except ValueError:
        with deaf_children():  # stopped half-way, distributed would print its own tracebacks
            options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": CRITICAL}
            own.append(dd.LocalCluster(n_workers=check_jobs(n_jobs), **options))
            own.insert(0, dd.Client(own[0]))
        return own[0]
