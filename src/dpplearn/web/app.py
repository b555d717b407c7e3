"""The application: the routes of the API, the page, and the API reference."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, FastAPI, Form, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteError
from starlette.middleware.trustedhost import TrustedHostMiddleware

from dpplearn import __version__
from dpplearn._run.blas import blas_threads
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.documents import suffixes
from dpplearn.web import schema
from dpplearn.web.answers import FILES, document_answer, summary_answer, why_answer
from dpplearn.web.engine import offered_decoder
from dpplearn.web.guard import FORM, Guard, forget
from dpplearn.web.problems import PROBLEM_JSON, PROBLEMS, Problem, of_validation
from dpplearn.web.service import Service
from dpplearn.web.settings import Settings
from dpplearn.web.uploads import read_texts, read_uploads
from dpplearn.web.work import Deadline

API = "/api/v1"
ClusterId = Annotated[str, Path(alias="id")]
BY_DEFAULT = schema.Options.model_validate({})
SOME_PROBLEM: dict[str, Any] = {
    "model": schema.ProblemDocument,
    "description": "; ".join(f"{status} `{slug}`: {about}" for slug, (status, _, about) in PROBLEMS.items()),
    "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
}
INSTEAD: dict[int | str, dict[str, Any]] = {"4XX": SOME_PROBLEM, "5XX": SOME_PROBLEM}


def create_app(settings: Settings = Settings()) -> FastAPI:  # noqa: B008  # frozen
    """The page and the API as an ASGI application, for any ASGI server.

    Examples
    --------
    >>> app = create_app(Settings(max_documents=10))
    >>> sorted(app.openapi()["paths"])[:2]
    ['/api/v1/clusters', '/api/v1/clusters/files']
    """
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with blas_threads(0):  # one BLAS thread for each thread of ours, while the server runs
            service.warming.start()
            app.state.ready()
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
    app.state.service, app.state.ready = service, lambda: None  # called once requests are answered
    app.add_middleware(Guard, service=service)
    hosts = ["*"] if settings.hosts is None else settings.hosts  # so that no foreign page reaches us by its own name
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_exception_handler(StarletteError, on_http)
    app.add_exception_handler(RequestValidationError, on_http)
    app.include_router(routes(service))

    @app.get(f"{API}/health", responses=INSTEAD, summary="Health")
    async def health() -> dict[str, Any]:
        """Say that the server runs, how busy it is, and whether it is warm: before that, answers take longer."""
        n_jobs, tasks, clusters = settings.n_jobs, service.pool.taken, len(service.clusters.current())
        busy = {"n_jobs": n_jobs, "running": min(tasks, n_jobs), "waiting": max(tasks - n_jobs, 0)}
        return {"status": "ok", "version": __version__, "clusters": clusters, "warm": service.engine.warmed, **busy}

    static = files("dpplearn.web") / "static"

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(str(static / "index.html"))

    @app.get("/docs", include_in_schema=False)
    async def reference() -> FileResponse:
        return FileResponse(str(static / "docs.html"))  # Swagger UI, from local files

    folders = ("dpplearn.web", "static"), ("dpplearn.summarize", "data"), ("fastapi_swagger", "resources")
    app.mount("/static", StaticFiles(packages=[*folders]))
    return app


def routes(service: Service) -> APIRouter:
    """The routes of the API. If there is a token, they need it; the guard checks it."""
    bearer = [Depends(HTTPBearer(auto_error=False, scheme_name="bearer"))] if service.settings.token else []
    router, engine = APIRouter(prefix=API, responses=INSTEAD, dependencies=bearer), service.engine

    async def added(request: Request, job: Any) -> Response:
        """Read documents, keep the cluster, and answer with it."""
        name, answer = await service.pool.run(request, lambda deadline: service.keep(service.read(job, deadline)))
        return Response(answer, 201, {"Location": f"{API}/clusters/{name}"}, schema.JSON)

    @router.get("/example", summary="The example cluster")
    async def get_example() -> dict[str, Any]:
        """Its title and its documents, as they can be posted."""
        title = "The Halvern Dam accident, eight articles on an invented event"
        return {"title": title, "documents": [*map(document_answer, Cluster.example().documents)]}

    @router.post("/clusters", status_code=201, response_model=schema.ClusterAnswer, summary="Read documents")
    async def add_texts(request: Request, sent: schema.NewCluster) -> Response:
        """Split documents into sentences, once, to select from as often as you like. `Location` is the new address."""
        return await added(request, partial(read_texts, sent))

    @router.post("/clusters/files", status_code=201, response_model=schema.ClusterAnswer, summary="Read files")
    async def add_files(request: Request, sent: Annotated[schema.FileForm, Form(media_type=FORM)]) -> Response:
        """Read documents from files. A file that cannot be read does not block the others."""
        data = [(file.filename or "", await file.read()) for file in sent.files]
        return await added(request, partial(read_uploads, data, sent.model, sent.keep_all))

    @router.get("/clusters/{id}", response_model=schema.ClusterAnswer, summary="A cluster")
    async def get_cluster(cluster: ClusterId) -> Response:
        """The same answer as when it was posted."""
        return Response(service.clusters.get(cluster).answer, media_type=schema.JSON)

    @router.delete("/clusters/{id}", status_code=204, response_model=None, summary="Forget a cluster")
    async def delete_cluster(cluster: ClusterId) -> None:
        """Forget the cluster."""
        service.clusters.remove(cluster)

    @router.post("/clusters/{id}/select", response_model=schema.SummaryAnswer, summary="Select sentences")
    async def select(
        cluster: ClusterId, request: Request, options: Annotated[schema.Options, Body()] = BY_DEFAULT
    ) -> Response:
        """Choose the best set of sentences under a budget, given what is included and excluded, with reasons."""
        return Response(await service.select(request, cluster, options, summary_answer), media_type=schema.JSON)

    @router.get(
        "/clusters/{id}/why/{sentence}",
        response_model=schema.ChosenSentence | schema.SentenceLeftOut,
        summary="Why a sentence is in a summary, or not",
    )
    async def why(
        cluster: ClusterId, sentence: schema.SentenceId, request: Request, options: Annotated[schema.Query, Query()]
    ) -> Response:
        """Explain any sentence. The answer of `select` explains only the chosen ones and the best of the others."""
        answer = partial(why_answer, sentence=sentence)
        return Response(await service.select(request, cluster, options, answer), media_type=schema.JSON)

    @router.post(
        "/clusters/{id}/export",
        response_class=Response,
        responses={200: {"content": {kind: {} for kind, _ in FILES.values()}}},
        summary="Select sentences, as a file",
    )
    async def export(cluster: ClusterId, request: Request, options: schema.Export) -> Response:
        """Get the same summary as a file: text, Markdown with sources, an HTML report, or JSON."""
        kind, write = FILES[options.format]
        return Response(await service.select(request, cluster, options, write), media_type=kind)

    @router.post("/summarize", response_model=schema.SummaryAnswer, summary="Summarize documents")
    async def summarize(request: Request, options: schema.Whole) -> Response:
        """Read documents and select from them in one call; nothing is kept."""

        def task(deadline: Deadline) -> bytes:
            reading = service.read(partial(read_texts, options), deadline)
            return summary_answer(engine.summarize(reading, options), reading.read.notes)

        return Response(await service.pool.run(request, task), media_type=schema.JSON)

    @router.get("/models", summary="Models")
    async def models() -> dict[str, Any]:
        """List the models, and the decoders, units, orders and kinds of files that requests may name."""
        loaded = [
            {"name": name, "default": name == engine.default, "trained_on": model.training_}
            | {setting: getattr(model, setting) for setting in ("language", "features", "budget", "unit")}
            | {"decoder": offered_decoder(model)}
            for name, model in engine.models.items()
        ]
        units = {unit: {"budget": usual, "reach": reach} for unit, (usual, reach) in schema.BUDGETS.items()}
        offered = {"decoders": schema.DECODERS, "units": units, "orders": schema.ORDER_WORDS, "files": suffixes()}
        return {"models": loaded, **offered}

    return router


async def on_http(request: Request, error: Exception) -> Response:
    """Turn an error of ours, or of the framework, into a problem document."""
    forget(error)
    if isinstance(error, RequestValidationError):
        error = of_validation(error.errors())
    assert isinstance(error, StarletteError)
    if not isinstance(error, Problem):
        slug = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "malformed")
        detail = f"{error.detail.rstrip('.')}." if slug == "malformed" else ""
        error = Problem(slug, detail, error.headers)
    return error.response(request.url.path)
