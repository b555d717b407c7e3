"""The application: routes of the API, the page, and the reference."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from dpplearn import __version__
from dpplearn._run.blas import blas_threads
from dpplearn.web import schema
from dpplearn.web.guard import METHODS, Guard
from dpplearn.web.openapi import body, describe, problems
from dpplearn.web.problems import Problem, invalid
from dpplearn.web.reference import add_reference
from dpplearn.web.service import Service
from dpplearn.web.settings import Settings
from dpplearn.web.static import Assets

API = "/api/v1"
# what may be wrong with any request that has a body
BODY = ("malformed", "too-slow", "too-large", "unsupported-media-type", "invalid", "busy", "time-limit")


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
        with blas_threads(0):  # one BLAS thread per worker, for as long as the server runs
            await asyncio.to_thread(service.engine.warm)
            yield
            await asyncio.to_thread(service.pool.close)

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
    app.add_middleware(Guard, settings=settings, metrics=service.metrics)
    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_validation)
    app.include_router(routes(service))
    add_page(app)
    add_reference(app)
    describe(app)
    return app


def routes(service: Service) -> APIRouter:
    """The routes under /api/v1."""
    router = APIRouter(prefix=API)

    @router.get(
        "/example",
        response_model=schema.Example,
        response_description="Its documents, ready to be posted.",
        summary="The example cluster",
    )
    async def example() -> Response:
        return as_json(service.example)

    @router.post(
        "/clusters",
        status_code=201,
        response_model=schema.ClusterAnswer,
        responses=problems(*BODY, "unreadable", "nothing-to-choose"),
        response_description="The cluster as it was read; `Location` is its address.",
        openapi_extra=body(schema.NewCluster, form=True),
        summary="Read documents",
    )
    async def add_cluster(request: Request) -> Response:
        """Split documents into sentences and featurize them, once; select from them as often as you like."""
        return await service.add(request)

    @router.get(
        "/clusters/{id}",
        response_model=schema.ClusterAnswer,
        responses=problems("cluster-gone"),
        response_description="The same as when it was posted.",
        summary="A cluster",
    )
    async def get_cluster(id: str) -> Response:  # noqa: A002  # the name in the address
        return as_json(service.held(id).answer)

    @router.delete(
        "/clusters/{id}",
        status_code=204,
        responses=problems("cluster-gone"),
        response_description="It is forgotten.",
        summary="Forget a cluster",
    )
    async def delete_cluster(id: str) -> Response:  # noqa: A002  # the name in the address
        service.forget(id)
        return Response(status_code=204)

    @router.post(
        "/clusters/{id}/select",
        response_model=schema.SelectionAnswer,
        responses=problems(*BODY, "cluster-gone", "infeasible"),
        response_description="The summary, with reasons.",
        openapi_extra=body(schema.Selection, required=False),
        summary="Select sentences",
    )
    async def select(id: str, request: Request) -> Response:  # noqa: A002  # the name in the address
        """The best set of a cluster's sentences under a budget, given what is pinned and banned."""
        return await service.select(id, request)

    @router.post(
        "/summarize",
        response_model=schema.WholeAnswer,
        responses=problems(*BODY, "nothing-to-choose"),
        response_description="The summary, with reasons and places.",
        openapi_extra=body(schema.Whole),
        summary="Summarize documents",
    )
    async def summarize(request: Request) -> Response:
        """Read documents and select from them in one call; nothing is kept."""
        return await service.summarize(request)

    @router.get(
        "/models",
        response_model=schema.Models,
        response_description="All that the server has loaded.",
        summary="Models",
    )
    async def models() -> Response:
        return as_json(service.models)

    @router.get("/health", response_description="It lives, and is so busy.", summary="Health")
    async def health() -> schema.Health:
        """Answered by the event loop, also while all workers are busy."""
        return service.health()

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text"}},
        summary="Metrics",
    )
    async def metrics() -> Response:
        """Counts and times of requests, the queue, and the clusters kept; nothing of their texts."""
        return Response(service.report(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


def as_json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


def add_page(app: FastAPI) -> None:
    """The static page."""
    assets = Assets()

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return assets.response("index.html", request)

    @app.get("/static/{name:path}", include_in_schema=False)
    async def asset(name: str, request: Request) -> Response:
        return assets.response(name, request)


async def on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response(request.url.path)


async def on_http(request: Request, error: Exception) -> Response:
    """Answers of the framework itself: no such address, or not by this method."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 405:
        allowed = allowed_methods(request)
        detail = f"{request.method} is not possible here. Use {' or '.join(allowed)}."
        return Problem("method-not-allowed", detail, headers={"Allow": ", ".join(allowed)}).response(path)
    if error.status_code == 404:
        detail = "No route has this address. The page is at /, the reference of the API at /docs."
        return Problem("not-found", detail).response(path)
    return Problem("malformed", "The request could not be read. Check it against the reference at /docs.").response(
        path
    )


def allowed_methods(request: Request) -> list[str]:
    """The methods of all routes with this address: the framework names those of the first only."""
    tried = ({**request.scope, "method": method} for method in METHODS)
    found = [
        scope["method"]
        for scope in tried
        if any(route.matches(scope)[0] == Match.FULL for route in request.app.router.routes)
    ]
    return [part for method in found for part in (("GET", "HEAD") if method == "GET" else (method,))]


async def on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return invalid((one["loc"], one["msg"]) for one in error.errors()).response(request.url.path)
