"""The state of a server: its models, its threads and processes, and the clusters it keeps."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from threading import RLock, Thread

from fastapi import Request

from dpplearn._run.processes import Sandboxes
from dpplearn.summarize.explain.summary import Summary
from dpplearn.web import schema
from dpplearn.web.answers import cluster_answer
from dpplearn.web.engine import Engine, FeaturizedCluster, ServedCluster
from dpplearn.web.problems import Problem
from dpplearn.web.settings import Settings
from dpplearn.web.work import Deadline, Pool, T, run_in_process


class Clusters:
    """Clusters in memory, within the limits of the settings; those used longest ago are dropped first."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings, self.clock = settings, clock
        self._held: OrderedDict[str, tuple[ServedCluster, float]] = OrderedDict()  # and time of last use, in its order
        self._lock = RLock()  # threads keep and use clusters, too

    def current(self) -> OrderedDict[str, tuple[ServedCluster, float]]:
        """The clusters that are left after dropping what is too old or too much, but never the one used last."""
        with self._lock:
            oldest = self.clock() - self.settings.cluster_seconds
            total = sum(cluster.nbytes for cluster, _ in self._held.values())
            while self._held:
                cluster, used = next(iter(self._held.values()))
                is_full = total > self.settings.max_clusters_bytes or len(self._held) > self.settings.max_clusters
                if used > oldest and not (is_full and len(self._held) > 1):
                    break
                self._held.popitem(last=False)
                total -= cluster.nbytes
            return self._held

    def put(self, name: str, cluster: ServedCluster) -> None:
        """Keep a cluster, and drop others to make room for it."""
        with self._lock:
            self._held[name] = cluster, self.clock()
            self.current()

    def get(self, name: str) -> ServedCluster:
        """The cluster, which now counts as used; raises a problem if it is gone."""
        with self._lock:
            cluster = self.remove(name)
            self._held[name] = cluster, self.clock()
            return cluster

    def remove(self, name: str) -> ServedCluster:
        """Forget a cluster; raises a problem if it is gone."""
        with self._lock:
            if name not in self.current():
                raise Problem("cluster-gone")
            return self._held.pop(name)[0]


class Service:
    """The state of a server: its models, its threads and processes, and its clusters."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.engine, self.clusters = settings, Engine(settings), Clusters(settings)
        self.pool = Pool(settings.n_jobs, settings.queue)
        self.boxes = Sandboxes()  # processes that read what clients send
        self.large_bodies = asyncio.Semaphore(2 * settings.n_jobs)  # in memory at once
        self.warming = Thread(target=self.warm, name="dpplearn-warm", daemon=True)

    def warm(self) -> None:
        """Load and compile everything that requests need; requests that come meanwhile are a little slower."""
        run_in_process(self.boxes, self.settings, bool, Deadline(600))  # starts a process that loads the models
        self.engine.warm()

    def close(self) -> None:
        """Finish the requests that run or wait, then end threads and processes."""
        self.pool.threads.shutdown()
        self.warming.join()
        self.boxes.close()

    def read(self, job: Callable[[Engine], FeaturizedCluster], deadline: Deadline) -> ServedCluster:
        """Read what a client sent, in a process that is killed at the deadline, and prepare the cluster."""
        return self.engine.prepare(run_in_process(self.boxes, self.settings, job, deadline))

    def keep(self, reading: ServedCluster) -> tuple[str, bytes]:
        """Keep a cluster, and return its name and the answer that describes it."""
        name = secrets.token_urlsafe(18)  # cannot be guessed: anyone who knows it may use the cluster
        answer = cluster_answer(name, reading, self.settings.cluster_seconds)
        self.clusters.put(name, replace(reading, answer=answer))
        return name, answer

    async def select(self, request: Request, name: str, options: schema.Options, answer: Callable[[Summary], T]) -> T:
        """Summarize a cluster, and return the `answer` for the summary."""
        self.clusters.get(name)

        def task(_: Deadline) -> T:
            reading = self.clusters.get(name)  # again, as it may be dropped while the task waits
            return answer(self.engine.summarize(reading, options))

        return await self.pool.run(request, task)
