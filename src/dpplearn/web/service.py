"""The routes' work: read the body, hand the rest to the pool, keep what was read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import TypeVar

from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from dpplearn import __version__
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.explain.summary import Summary
from dpplearn.web import schema
from dpplearn.web.answers import day_of, described, passed_over, selection_answer, shown, whole_answer
from dpplearn.web.body import FORM, JSON, Bodies, check_type
from dpplearn.web.clusters import Clusters
from dpplearn.web.engine import Engine, Reading
from dpplearn.web.exports import exported
from dpplearn.web.metrics import Counts, Metrics
from dpplearn.web.pool import Deadline, Pool
from dpplearn.web.problems import Problem
from dpplearn.web.readers import Body, ReaderError, Readers
from dpplearn.web.sending import Sending
from dpplearn.web.settings import Settings
from dpplearn.web.validation import parse

T = TypeVar("T")
S = TypeVar("S", bound=schema.Selection)


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
        room = settings.max_clusters_bytes, settings.cluster_seconds, settings.max_clusters
        self.clusters: Clusters[Kept] = Clusters(*room)
        self._until, self._warming = Deadline(3_600.0), Thread()
        self.bodies, self.sending = Bodies(settings), Sending(settings)
        self.seen = Metrics(self.counts)
        title = "The Halvern Dam accident, eight articles on an invented event"
        self.first = schema.Example(title=title, documents=shown(Cluster.example().documents))

    async def work(self, request: Request, task: Callable[[bytes, Deadline], T]) -> T:
        """Read the body, then do the task in the pool; both within the time limit."""
        deadline = Deadline(self.settings.max_seconds)
        self.pool.check_room()
        body = await self.bodies.read(request, deadline, self.pool.busy())
        return await self.pool.run(lambda: task(body, deadline), deadline, lambda: left(request))

    def warm(self) -> None:
        """Begin to load and compile all that requests need; those that come before are answered a little slower."""
        self._warming = Thread(target=self._warm, name="dpplearn-warm", daemon=True)
        self._warming.start()

    def _warm(self) -> None:
        with suppress(Problem, ReaderError):  # told to stop, or a process that ended: requests start another
            self.readers.warm()
            if not self.engine.is_compiled():
                self.readers.compile(self._until)
            self.engine.warm(self._until)

    def close(self) -> None:
        """Finish what is running and what waits, then end threads and processes."""
        self._until.stop()
        self.pool.close()
        if self._warming.is_alive():
            self._warming.join()
        self.readers.close()

    async def example(self) -> schema.Example:
        return self.first

    async def add_cluster(self, request: Request) -> Response:
        """Split documents into sentences and featurize them, once; select from them as often as you like."""
        given = schema.NewCluster if check_type(request, JSON, FORM) == JSON else None

        def task(body: bytes, deadline: Deadline) -> tuple[str, bytes]:
            return self.keep(self.read(Body(given, request.headers["content-type"], body), deadline)[0], deadline)

        name, answer = await self.work(request, task)
        return Response(answer, 201, {"Location": f"/api/v1/clusters/{name}"}, JSON)

    def read(self, body: Body, deadline: Deadline) -> tuple[Reading, schema.NewCluster | None]:
        """What a client sent, read in a process that ends at the deadline; what follows is bounded by its sentences."""
        read, asked = self.readers.run(body, deadline)
        return self.engine.prepare(read, deadline), asked

    def keep(self, reading: Reading, deadline: Deadline) -> tuple[str, bytes]:
        """Keep a cluster; its name and the answer that describes it."""
        name = self.clusters.new_name()
        ready = reading.ready
        described_by = schema.ClusterAnswer(
            id=name,
            model=reading.model,
            expires_in=self.settings.cluster_seconds,
            documents=shown(ready.read.cluster.documents),
            days=[day_of(one) for one in ready.read.cluster.documents],
            sentences=described(ready, ready.names),
            set_aside=passed_over(ready),
            defaults=reading.defaults,
            notes=list(reading.notes),
            skipped=list(reading.skipped),
        )
        answer = described_by.model_dump_json().encode()
        deadline.check()
        self.clusters.put(name, Kept(reading, answer), reading.nbytes + len(answer))
        return name, answer

    def keep_more(self, name: str, kept: Kept, options: schema.Selection) -> Reading:
        """A cluster with shorter forms of its sentences, or with a question, which take room from now on."""
        reading = self.engine.with_forms(kept.reading) if options.compress else kept.reading
        if options.about and not reading.asked:
            reading = replace(reading, asked=True)
        if reading is not kept.reading:
            more = Kept(reading, kept.answer), reading.nbytes + len(kept.answer)
            self.clusters.put(name, *more, instead_of=kept)
        return reading

    def held(self, name: str) -> Kept:
        """A cluster that is still there."""
        kept = self.clusters.get(name)
        if kept is None:
            raise Problem("cluster-gone")
        return kept

    async def get_cluster(self, id: str) -> Response:  # noqa: A002  # the name in the address
        return Response(self.held(id).answer, media_type=JSON)

    async def delete_cluster(self, id: str) -> Response:  # noqa: A002  # the name in the address
        if not self.clusters.remove(id):
            raise Problem("cluster-gone")
        return Response(status_code=204)

    async def select(self, id: str, request: Request) -> Response:  # noqa: A002  # the name in the address
        """The best set of a cluster's sentences under a budget, given what is pinned and banned."""
        if request.headers.get("content-type") or request.headers.get("content-length", "0") != "0":
            check_type(request, JSON)

        def answer(summary: Summary, _: schema.Selection) -> bytes:
            return selection_answer(summary).model_dump_json().encode()

        return Response(await self.selected(id, request, schema.Selection, answer), media_type=JSON)

    async def export(self, id: str, request: Request) -> Response:  # noqa: A002  # the name in the address
        """The same summary as a file: text, Markdown with its sources, a report in HTML, or JSON."""
        check_type(request, JSON)
        kind, data = await self.selected(id, request, schema.Export, exported)
        return Response(data, media_type=kind)

    async def selected(self, name: str, request: Request, record: type[S], answer: Callable[[Summary, S], T]) -> T:
        """What `answer` makes of a summary of a cluster."""
        self.held(name)

        def task(body: bytes, deadline: Deadline) -> T:
            if body:
                check_type(request, JSON)  # of a length that was not announced
            options = parse(record, body or b"{}")
            kept = self.held(name)  # now, so that what waits keeps no cluster that made room
            reading = self.keep_more(name, kept, options)
            return answer(self.engine.find(reading, options, deadline), options)

        return await self.work(request, task)

    async def summarize(self, request: Request) -> Response:
        """Read documents and select from them in one call; nothing is kept."""
        check_type(request, JSON)

        def task(body: bytes, deadline: Deadline) -> bytes:
            reading, asked = self.read(Body(schema.Whole, JSON, body), deadline)
            assert isinstance(asked, schema.Whole)
            return whole_answer(self.engine.find(reading, asked, deadline), reading.notes).model_dump_json().encode()

        return Response(await self.work(request, task), media_type=JSON)

    async def models(self) -> Response:
        return Response(self.engine.describe().model_dump_json(), media_type=JSON)  # nan as null

    async def health(self) -> schema.Health:
        """Answered by the event loop, also while all workers are busy."""
        return schema.Health(
            status="ok",
            version=__version__,
            workers=self.pool.workers,
            running=self.pool.running,
            waiting=self.pool.waiting,
            clusters=len(self.clusters),
            warm=self.engine.warmed,
        )

    async def metrics(self) -> Response:
        """Counts and times of requests, the queue, and the clusters kept; nothing of their texts."""
        return Response(self.seen.text(), media_type=CONTENT_TYPE_LATEST)

    def counts(self) -> Counts:
        pool, clusters = self.pool, self.clusters
        yield "dpplearn_workers", "Threads that do the work.", pool.workers
        yield "dpplearn_work_running", "Requests being worked on.", pool.running
        yield "dpplearn_work_waiting", "Requests waiting for a worker.", pool.waiting
        yield "dpplearn_work_refused_total", "Requests answered 429.", pool.refused
        yield "dpplearn_work_timed_out_total", "Requests past the time limit.", pool.timed_out
        yield "dpplearn_readers_killed_total", "Processes ended while they read.", self.readers.killed
        yield "dpplearn_answers_unsent_bytes", "Answers that clients have still to read.", self.sending.unsent
        yield "dpplearn_clusters", "Clusters in memory.", len(clusters)
        yield "dpplearn_clusters_bytes", "Memory of the clusters, estimated.", clusters.nbytes
        yield "dpplearn_clusters_evicted_total", "Clusters that made room.", clusters.evicted
        yield "dpplearn_clusters_expired_total", "Clusters not used for long.", clusters.expired


async def left(request: Request) -> None:
    """Comes when the client has closed its connection. The body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
