"""One server: its models, its workers, the clusters it keeps, and its counts."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import RLock, Thread
from typing import TypeVar

from fastapi import Request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dpplearn._run.stop import stops_when
from dpplearn.summarize.explain.summary import Summary
from dpplearn.web import schema
from dpplearn.web.answers import cluster_answer
from dpplearn.web.engine import Engine, Read, Reading
from dpplearn.web.problems import Problem
from dpplearn.web.settings import Settings
from dpplearn.web.work import Deadline, Pool, ReaderError, Readers

T = TypeVar("T")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Clusters:
    """Clusters in memory, within the limits of the settings; those used longest ago make room and expire."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings, self.clock, self.evicted, self.expired = settings, clock, 0, 0
        self._held: OrderedDict[str, tuple[Reading, float]] = OrderedDict()  # with the time of its last use, by that
        self._lock = RLock()

    @contextmanager
    def current(self) -> Iterator[OrderedDict[str, tuple[Reading, float]]]:
        """What is held and was used lately, for one thread at a time."""
        with self._lock:
            oldest = self.clock() - self.settings.cluster_seconds
            while self._held and next(iter(self._held.values()))[1] <= oldest:
                self._held.popitem(last=False)
                self.expired += 1
            yield self._held

    @property
    def nbytes(self) -> int:
        """Memory that they take, about."""
        with self.current() as held:
            return sum(kept.nbytes for kept, _ in held.values())

    def __len__(self) -> int:
        with self.current() as held:
            return len(held)

    def put(self, name: str, kept: Reading) -> None:
        """Keep a cluster; others make room for it."""
        with self.current() as held:
            held[name] = kept, self.clock()
        self.make_room()

    def make_room(self) -> None:
        """Forget what is too much; the cluster that was used last stays in any case."""
        with self.current() as held:
            sizes = [kept.nbytes for kept, _ in held.values()]
            total = sum(sizes)
            for size in sizes[:-1]:
                if total <= self.settings.max_clusters_bytes and len(held) <= self.settings.max_clusters:
                    break
                held.popitem(last=False)
                total -= size
                self.evicted += 1

    def get(self, name: str) -> Reading | None:
        """The cluster, used just now; None if it is gone."""
        with self.current() as held:
            if name not in held:
                return None
            held[name] = held[name][0], self.clock()
            held.move_to_end(name)
            return held[name][0]

    def remove(self, name: str) -> bool:
        """Forget a cluster; whether it was there."""
        with self.current() as held:
            return held.pop(name, None) is not None


class Service(Collector):
    """One server: its models, its workers, its clusters; a collector of their counts for Prometheus."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.engine, self.readers = settings, Engine(settings), Readers(settings)
        self.pool, self.clusters = Pool(settings.workers, settings.queue), Clusters(settings)
        self.transit = 0  # bytes of bodies that are being received
        self.registry = CollectorRegistry()
        labels, about = ("method", "route", "status"), "Time from a request to its answer."
        self.requests = Counter("dpplearn_requests", "Requests answered.", labels, registry=self.registry)
        self.seconds = Histogram("dpplearn_request_seconds", about, ("route",), buckets=BUCKETS, registry=self.registry)
        self.registry.register(self)
        self._until, self._warming = Deadline(3_600.0), Thread(target=self._warm, name="dpplearn-warm", daemon=True)

    def collect(self) -> Iterator[Metric]:
        """The counts that others keep."""
        pool, clusters = self.pool, self.clusters
        for name, about, value in (
            ("workers", "Threads that do the work.", pool.workers),
            ("work_running", "Requests being worked on.", pool.running),
            ("work_waiting", "Requests waiting for a worker.", pool.taken - pool.running),
            ("work_refused_total", "Requests answered 429.", pool.refused),
            ("work_timed_out_total", "Requests past the time limit.", pool.timed_out),
            ("readers_killed_total", "Processes ended while they read.", self.readers.boxes.lost),
            ("transit_bytes", "Bodies being received.", self.transit),
            ("clusters", "Clusters in memory.", len(clusters)),
            ("clusters_bytes", "Memory of the clusters, estimated.", clusters.nbytes),
            ("clusters_evicted_total", "Clusters that made room.", clusters.evicted),
            ("clusters_expired_total", "Clusters not used for long.", clusters.expired),
        ):
            family = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            yield family(f"dpplearn_{name}", about, value)

    def warm(self) -> None:
        """Begin to load and compile all that requests need; those that come before are answered a little slower."""
        self._warming.start()

    def _warm(self) -> None:
        with suppress(Problem, ReaderError), stops_when(self._until.check):  # a later request starts another process
            self.readers.boxes.fill()
            self.engine.warm()

    def close(self) -> None:
        """Finish what is running and what waits, then end threads and processes."""
        self._until.stop()
        self.pool.close()
        if self._warming.is_alive():
            self._warming.join()
        self.readers.boxes.close()

    def read(self, job: Callable[[Engine], Read], deadline: Deadline) -> Reading:
        """What a client sent, read in a process that ends at the deadline; what follows is bounded by its sentences."""
        return self.engine.prepare(self.readers.run(job, deadline))

    def keep(self, reading: Reading) -> tuple[str, bytes]:
        """Keep a cluster; its name and the answer that describes it."""
        name = secrets.token_urlsafe(18)  # not to be guessed: who knows it may use the cluster
        answer = cluster_answer(name, reading, self.settings.cluster_seconds).model_dump_json().encode()
        self._until.check()
        self.clusters.put(name, replace(reading, answer=answer))
        return name, answer

    def held(self, name: str) -> Reading:
        """A cluster that is still there."""
        kept = self.clusters.get(name)
        if kept is None:
            raise Problem("cluster-gone")
        return kept

    async def selected(
        self, request: Request, name: str, options: schema.Selection, answer: Callable[[Summary], T]
    ) -> T:
        """What `answer` makes of a summary of a cluster."""
        self.held(name)

        def task(_: Deadline) -> T:
            reading = self.held(name)  # now, so that what waits keeps no cluster that made room
            made = answer(self.engine.find(reading, options))
            if options.compress:  # its shorter forms stay in memory
                self.clusters.make_room()
            return made

        return await self.pool.run(request, task)
