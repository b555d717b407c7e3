"""The routes' work: read the body, hand the rest to the pool, keep what was read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fastapi import Request, Response

from dpplearn import __version__
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.web import schema
from dpplearn.web.answers import described, shown
from dpplearn.web.clusters import Clusters
from dpplearn.web.engine import Engine, Reading
from dpplearn.web.intake import Intake, check_json, check_plain, media_type, parse, unsupported
from dpplearn.web.metrics import Metrics
from dpplearn.web.pool import Deadline, Pool
from dpplearn.web.problems import Problem
from dpplearn.web.settings import Settings
from dpplearn.web.uploads import read_form

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
        self.clusters: Clusters[Kept] = Clusters(settings.max_clusters_bytes, settings.cluster_seconds)
        self.intake = Intake(settings)
        self.metrics = Metrics()
        self.models = self.engine.describe().model_dump_json().encode()  # nan as null
        documents = shown(Cluster.example().documents)
        answer = schema.Example(
            title="The Halvern Dam accident, eight articles on an invented event", documents=documents
        )
        self.example = answer.model_dump_json().encode()

    async def work(self, request: Request, task: Callable[[bytes, Deadline], T]) -> T:
        """Read the body, then do the task in the pool; both within the time limit."""
        deadline = Deadline(self.settings.max_seconds)
        check_plain(request)
        self.pool.check_room()
        body = await self.intake.read(request, deadline, self.pool.busy())
        return await self.pool.run(lambda: task(body, deadline), deadline, lambda: left(request))

    async def add(self, request: Request) -> Response:
        """POST /clusters."""
        kind, content_type = media_type(request), request.headers.get("content-type", "")
        if kind not in ("application/json", "multipart/form-data"):
            raise unsupported(kind, "application/json or multipart/form-data")

        def task(body: bytes, deadline: Deadline) -> tuple[str, bytes]:
            documents: list[Document]
            if kind == "application/json":
                given = parse(schema.NewCluster, body)
                documents, model = self.engine.documents(given.documents), given.model
            else:
                documents, model = read_form(content_type, body, self.settings)
            reading = self.engine.read(documents, model, deadline)
            return self.keep(reading, deadline)

        name, answer = await self.work(request, task)
        return Response(answer, 201, {"Location": f"/api/v1/clusters/{name}"}, "application/json")

    def keep(self, reading: Reading, deadline: Deadline) -> tuple[str, bytes]:
        """Keep a cluster; its name and the answer that describes it."""
        name = self.clusters.new_name()
        ready = reading.ready
        described_by = schema.ClusterAnswer(
            id=name,
            model=reading.model,
            expires_in=self.settings.cluster_seconds,
            documents=shown(ready.read.cluster.documents),
            sentences=described(ready, reading.summarizer.features_.names),
            defaults=reading.defaults,
            notes=list(reading.notes),
        )
        answer = described_by.model_dump_json().encode()
        deadline.check()
        self.clusters.put(name, Kept(reading, answer), reading.nbytes + len(answer))
        return name, answer

    def held(self, name: str) -> Kept:
        """A cluster that is still there."""
        kept = self.clusters.get(name)
        if kept is None:
            raise gone()
        return kept

    def forget(self, name: str) -> None:
        """DELETE /clusters/{id}."""
        if not self.clusters.remove(name):
            raise gone()

    async def select(self, name: str, request: Request) -> Response:
        """POST /clusters/{id}/select."""
        self.held(name)
        if request.headers.get("content-type") or request.headers.get("content-length", "0") != "0":
            check_json(request)

        def task(body: bytes, deadline: Deadline) -> bytes:
            if body:
                check_json(request)  # of a length that was not announced
            options = parse(schema.Selection, body or b"{}")
            reading = self.held(name).reading  # now, so that what waits keeps no cluster that made room
            return self.engine.select(reading, options, deadline).model_dump_json().encode()

        return Response(await self.work(request, task), media_type="application/json")

    async def summarize(self, request: Request) -> Response:
        """POST /summarize."""
        check_json(request)

        def task(body: bytes, deadline: Deadline) -> bytes:
            given = parse(schema.Whole, body)
            reading = self.engine.read(self.engine.documents(given.documents), given.model, deadline)
            return self.engine.summarize(reading, given, deadline).model_dump_json().encode()

        return Response(await self.work(request, task), media_type="application/json")

    def health(self) -> schema.Health:
        self.clusters.expire()
        return schema.Health(
            status="ok",
            version=__version__,
            workers=self.pool.workers,
            running=self.pool.running,
            waiting=self.pool.waiting,
            clusters=len(self.clusters),
        )

    def report(self) -> str:
        """GET /metrics."""
        self.clusters.expire()
        pool, clusters = self.pool, self.clusters
        return self.metrics.text(
            [
                ("dpplearn_workers", "gauge", "Threads that do the work.", pool.workers),
                ("dpplearn_work_running", "gauge", "Requests being worked on.", pool.running),
                ("dpplearn_work_waiting", "gauge", "Requests waiting for a worker.", pool.waiting),
                ("dpplearn_work_refused_total", "counter", "Requests answered 429.", pool.refused),
                ("dpplearn_work_timed_out_total", "counter", "Requests past the time limit.", pool.timed_out),
                ("dpplearn_clusters", "gauge", "Clusters in memory.", len(clusters)),
                ("dpplearn_clusters_bytes", "gauge", "Memory of the clusters, estimated.", clusters.nbytes),
                ("dpplearn_clusters_evicted_total", "counter", "Clusters that made room.", clusters.evicted),
                ("dpplearn_clusters_expired_total", "counter", "Clusters not used for long.", clusters.expired),
            ]
        )


async def left(request: Request) -> None:
    """Comes when the client has closed its connection. The body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def gone() -> Problem:
    return Problem(
        "cluster-gone", "There is no such cluster: it expired, made room for newer ones, or never was. Post it again."
    )
