"""The application: routes of the API, the page, and the reference."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException as StarletteError

from dpplearn import __version__
from dpplearn._run.blas import blas_threads
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.documents import suffixes
from dpplearn.web import schema
from dpplearn.web.answers import WRITERS, Answer, document_answer, json_bytes, summary_answer, why_answer
from dpplearn.web.engine import offered_decoder
from dpplearn.web.guard import FORM, JSON, Guard, forget
from dpplearn.web.problems import PROBLEM_JSON, PROBLEMS, Problem, of_validation
from dpplearn.web.service import Service
from dpplearn.web.settings import Settings
from dpplearn.web.uploads import read_sent
from dpplearn.web.work import Deadline

API = "/api/v1"
MOST_FILES = 1_000  # of a form
ClusterId = Annotated[str, Path(alias="id")]
BY_DEFAULT = schema.Selection.model_validate({})


def create_app(settings: Settings = Settings()) -> FastAPI:  # noqa: B008  # frozen
    """The page and the API as an ASGI application, for any server that runs one.

    Parameters
    ----------
    settings : Settings
        Limits, workers and the model.

    Examples
    --------
    >>> app = create_app(Settings(max_documents=10))
    >>> sorted(app.openapi()["paths"])[:2]
    ['/api/v1/clusters', '/api/v1/clusters/{id}']
    """
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        return_large_blocks()
        with blas_threads(0):  # one BLAS thread per worker, for as long as the server runs
            service.warming.start()
            yield
            await asyncio.to_thread(service.close)

    app = FastAPI(
        title="dpplearn",
        version=__version__,
        description="Summaries of documents on one topic: the best set of their sentences, with reasons.",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        lifespan=lifespan,
    )
    app.state.service = service
    app.add_middleware(Guard, service=service)
    app.add_exception_handler(StarletteError, on_http)
    app.add_exception_handler(RequestValidationError, on_http)
    app.include_router(routes(service))
    app.include_router(page())

    @app.get(f"{API}/health", responses=INSTEAD, summary="Health")
    async def health() -> schema.Health:
        """That it lives, and how busy it is; answered by the event loop, also while all workers are busy."""
        pool, warm, clusters = service.pool, service.engine.warmed, len(service.clusters.sizes())
        busy = {"workers": pool.workers, "running": pool.running, "waiting": pool.waiting}
        return schema.Health(status="ok", version=__version__, clusters=clusters, warm=warm, **busy)

    folders = ("dpplearn.web", "static"), ("dpplearn.summarize", "data"), ("fastapi_swagger", "resources")
    app.mount("/static", StaticFiles(packages=[*folders]))
    return app


def return_large_blocks(size: int = 4_000_000) -> None:
    """Have the C library return freed blocks of this many bytes to the system at once.

    glibc keeps them for later once it has freed one, up to 32 MB each: a few uploads at a time, and the process stays
    hundreds of megabytes larger for as long as it lives.
    """
    with suppress(OSError, TypeError, AttributeError):  # Windows; a C library that does without
        ctypes.CDLL(None).mallopt(-3, size)  # M_MMAP_THRESHOLD, which is then fixed


def described_problems(hundreds: int) -> dict[str, Any]:
    """What a route may answer instead, for its description."""
    ref = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
    kinds = " ".join(f"`{slug}`: {about}" for slug, (code, _, about) in PROBLEMS.items() if code // 100 == hundreds)
    return {"model": schema.ProblemDocument, "description": kinds, "content": {PROBLEM_JSON: ref}}


INSTEAD: dict[int | str, dict[str, Any]] = {"4XX": described_problems(4), "5XX": described_problems(5)}


def described(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a body; what it refers to, other routes bring."""
    found = model.model_json_schema(ref_template="#/components/schemas/{model}")
    return {"schema": {name: value for name, value in found.items() if name != "$defs"}}


NEW_CLUSTER = {"required": True, "content": {JSON: described(schema.NewCluster), FORM: described(schema.Form)}}


def routes(service: Service) -> APIRouter:
    """The routes that need the token, if there is one, which the guard checks."""
    bearer = [Depends(HTTPBearer(auto_error=False, scheme_name="bearer"))] if service.settings.token else []
    router, engine = APIRouter(prefix=API, responses=INSTEAD, dependencies=bearer), service.engine
    title = "The Halvern Dam accident, eight articles on an invented event"
    example = {"title": title, "documents": [*map(document_answer, Cluster.example().documents)]}

    @router.get("/example", response_model=schema.Example, summary="The example cluster")
    async def get_example() -> Response:
        """Its documents, ready to be posted."""
        return json_response(example)

    @router.post(
        "/clusters",
        status_code=201,
        response_model=schema.ClusterAnswer,
        openapi_extra={"requestBody": NEW_CLUSTER},
        summary="Read documents",
    )
    async def add_cluster(request: Request) -> Response:
        """Split documents into sentences and featurize them, once; select from them as often as you like.

        `Location` is the address of the cluster.
        """
        job = partial(read_sent, await sent_in(request))
        name, answer = await service.pool.run(request, lambda deadline: service.keep(service.read(job, deadline)))
        return Response(answer, 201, {"Location": f"{API}/clusters/{name}"}, JSON)

    @router.get("/clusters/{id}", response_model=schema.ClusterAnswer, summary="A cluster")
    async def get_cluster(cluster: ClusterId) -> Response:
        """The same as when it was posted."""
        return Response(service.clusters.get(cluster).answer, media_type=JSON)

    @router.delete("/clusters/{id}", status_code=204, response_model=None, summary="Forget a cluster")
    async def delete_cluster(cluster: ClusterId) -> None:
        """It is forgotten."""
        service.clusters.remove(cluster)

    @router.post("/clusters/{id}/select", response_model=schema.SummaryAnswer, summary="Select sentences")
    async def select(
        cluster: ClusterId, request: Request, options: Annotated[schema.Selection, Body()] = BY_DEFAULT
    ) -> Response:
        """The best set of a cluster's sentences under a budget, given what is pinned and banned, with reasons."""
        return json_response(await service.select(request, cluster, options, summary_answer))

    @router.get(
        "/clusters/{id}/why/{sentence}",
        response_model=schema.ChosenSentence | schema.SentenceLeftOut,
        summary="Why a sentence is in a summary, or not",
    )
    async def why(
        cluster: ClusterId, sentence: schema.SentenceId, request: Request, options: Annotated[schema.Query, Query()]
    ) -> Response:
        """Of any sentence; the answer of `select` tells of the chosen ones and the best of the others."""
        return json_response(await service.select(request, cluster, options, partial(why_answer, sentence=sentence)))

    @router.post(
        "/clusters/{id}/export",
        response_class=Response,
        responses={200: {"content": {kind: {} for kind in schema.MEDIA_TYPES.values()}}},
        summary="Select sentences, as a file",
    )
    async def export(cluster: ClusterId, request: Request, options: schema.Export) -> Response:
        """The same summary as a file: text, Markdown with its sources, a report in HTML, or JSON."""
        text = await service.select(request, cluster, options, WRITERS[options.format])
        return Response(text, media_type=schema.MEDIA_TYPES[options.format])

    @router.post("/summarize", response_model=schema.SummaryAnswer, summary="Summarize documents")
    async def summarize(request: Request, options: schema.Whole) -> Response:
        """Read documents and select from them in one call; nothing is kept."""

        def task(deadline: Deadline) -> Answer:
            reading = service.read(partial(read_sent, options), deadline)
            return summary_answer(engine.find(reading, options), reading.read.notes)

        return json_response(await service.pool.run(request, task))

    @router.get("/models", response_model=schema.Models, summary="Models")
    async def models() -> Response:
        """All that the server has loaded, and what may be asked of them."""
        loaded = [
            {"name": name, "default": name == engine.default, "trained_on": model.training_}
            | {own: getattr(model, own) for own in ("language", "features", "budget", "unit")}
            | {"decoder": offered_decoder(model)}
            for name, model in engine.models.items()
        ]
        units = {unit: {"budget": usual, "reach": reach} for unit, (usual, reach) in schema.BUDGETS.items()}
        offered = {"decoders": schema.DECODERS, "units": units, "orders": schema.ORDER_WORDS, "files": suffixes()}
        return json_response({"models": loaded, **offered})

    @router.get("/metrics", response_class=PlainTextResponse, summary="Metrics")
    async def metrics() -> Response:
        """Counts and times of requests, the queue, and the clusters kept, for Prometheus; nothing of their texts."""
        return Response(generate_latest(service.registry), media_type=CONTENT_TYPE_LATEST)

    return router


def json_response(answer: Answer) -> Response:
    return Response(json_bytes(answer), media_type=JSON)


async def sent_in(request: Request) -> schema.NewCluster | schema.Form:
    """What is to be read of a body in JSON, or of a form."""
    try:
        if not request.headers.get("content-type", "").lower().startswith(FORM):
            return schema.NewCluster.model_validate_json(await request.body())
        async with request.form(max_files=MOST_FILES, max_fields=MOST_FILES) as form:
            sent = [one for one in form.getlist("files") if isinstance(one, UploadFile)]
            files = [(one.filename or "", one.content_type or "", await one.read()) for one in sent]
            return schema.Form.model_validate({**form, "files": files})
    except ValidationError as error:
        raise of_validation([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from None
    except (ValueError, KeyError):  # no boundary; as some versions of the parser say it
        raise Problem("malformed", "The body must be a multipart form with a boundary.") from None


def page() -> APIRouter:
    """The page, the reference of the API (Swagger's own, from local files), and what each problem means."""
    router, static = APIRouter(include_in_schema=False), files("dpplearn.web") / "static"

    @router.get("/")
    async def index() -> FileResponse:
        return FileResponse(str(static / "index.html"))

    @router.get("/docs")
    async def docs() -> FileResponse:
        return FileResponse(str(static / "docs.html"))

    @router.get("/problems/{slug}")
    async def problem(slug: str) -> PlainTextResponse:
        if slug not in PROBLEMS:
            raise Problem("not-found", f"No problem has this name. There are {', '.join(PROBLEMS)}.")
        status, title, about = PROBLEMS[slug]
        return PlainTextResponse(f"{status} {title}\n\n{about}\n")

    return router


async def on_http(request: Request, error: Exception) -> Response:
    """Our problems, and the framework's: no such address or method, a body that cannot be read or does not fit."""
    forget(error)
    if isinstance(error, RequestValidationError):
        error = of_validation(error.errors())
    assert isinstance(error, StarletteError)
    if not isinstance(error, Problem):
        slug = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "malformed")
        detail = f"{error.detail.rstrip('.')}." if slug == "malformed" else ""
        error = Problem(slug, detail, error.headers)
    return error.response(request.url.path)
