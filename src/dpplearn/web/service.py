"""One server: its models, its workers, the clusters it keeps, and its counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import TypeVar

from fastapi import Request

from dpplearn._run.stop import stops_when
from dpplearn.summarize.explain.summary import Summary
from dpplearn.web import schema
from dpplearn.web.answers import cluster_answer
from dpplearn.web.clusters import Clusters
from dpplearn.web.engine import Engine, Read, Reading
from dpplearn.web.guard import Room
from dpplearn.web.metrics import Counts, Metrics
from dpplearn.web.problems import Problem
from dpplearn.web.settings import Settings
from dpplearn.web.work import Deadline, Pool, ReaderError, Readers

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Kept:
    """A cluster in memory and the answer that described it."""

    reading: Reading
    answer: bytes


class Service:
    """One server: its models, its workers, its clusters."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engine = Engine(settings)
        self.pool = Pool(settings.workers, settings.queue)
        self.readers = Readers(settings)
        self.room = Room(settings.max_transit_bytes)
        limits = settings.max_clusters_bytes, settings.cluster_seconds, settings.max_clusters
        self.clusters: Clusters[Kept] = Clusters(*limits)
        self.seen = Metrics(self.counts)
        self._until, self._warming = Deadline(3_600.0), Thread()

    async def work(self, request: Request, task: Callable[[Deadline], T]) -> T:
        """Do the task in the pool, within the time limit, as long as the client is there."""
        deadline: Deadline = request.scope["dpplearn.deadline"]

        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        return await self.pool.run(partial(task, deadline), deadline, gone)

    def warm(self) -> None:
        """Begin to load and compile all that requests need; those that come before are answered a little slower."""
        self._warming = Thread(target=self._warm, name="dpplearn-warm", daemon=True)
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
        name = self.clusters.new_name()
        answer = cluster_answer(name, reading, self.settings.cluster_seconds).model_dump_json().encode()
        self._until.check()
        self.clusters.put(name, Kept(reading, answer), reading.nbytes + len(answer))
        return name, answer

    def held(self, name: str) -> Kept:
        """A cluster that is still there."""
        kept = self.clusters.get(name)
        if kept is None:
            raise Problem("cluster-gone")
        return kept

    async def selected(
        self, request: Request, name: str, options: schema.Selection, answer: Callable[[Summary, Reading], T]
    ) -> T:
        """What `answer` makes of a summary of a cluster."""
        self.held(name)

        def task(_: Deadline) -> T:
            kept = self.held(name)  # now, so that what waits keeps no cluster that made room
            made = answer(self.engine.find(kept.reading, options), kept.reading)
            self.clusters.put(name, kept, kept.reading.nbytes + len(kept.answer), instead_of=kept)  # it may have grown
            return made

        return await self.work(request, task)

    def counts(self) -> Counts:
        pool, clusters = self.pool, self.clusters
        yield "dpplearn_workers", "Threads that do the work.", pool.workers
        yield "dpplearn_work_running", "Requests being worked on.", pool.running
        yield "dpplearn_work_waiting", "Requests waiting for a worker.", pool.waiting
        yield "dpplearn_work_refused_total", "Requests answered 429.", pool.refused
        yield "dpplearn_work_timed_out_total", "Requests past the time limit.", pool.timed_out
        yield "dpplearn_readers_killed_total", "Processes ended while they read.", self.readers.killed
        yield "dpplearn_transit_bytes", "Bodies being received and answers still to read.", self.room.held
        yield "dpplearn_clusters", "Clusters in memory.", len(clusters)
        yield "dpplearn_clusters_bytes", "Memory of the clusters, estimated.", clusters.nbytes
        yield "dpplearn_clusters_evicted_total", "Clusters that made room.", clusters.evicted
        yield "dpplearn_clusters_expired_total", "Clusters not used for long.", clusters.expired
