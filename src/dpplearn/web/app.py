"""The application: routes of the API, the page, and the reference."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from dpplearn import __version__
from dpplearn._run.blas import blas_threads
from dpplearn.web import schema
from dpplearn.web.apidocs import reference
from dpplearn.web.assets import page
from dpplearn.web.guard import METHODS, Guard
from dpplearn.web.openapi import body, describe, problems
from dpplearn.web.problems import Problem
from dpplearn.web.service import Service
from dpplearn.web.settings import Settings

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
        return_large_blocks()
        with blas_threads(0):  # one BLAS thread per worker, for as long as the server runs
            service.warm()
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
    app.add_middleware(Guard, settings=settings, metrics=service.seen, sending=service.sending)
    app.add_exception_handler(HTTPException, on_http)
    app.include_router(routes(service))
    app.include_router(page())
    app.include_router(reference(app))
    describe(app)
    return app


def return_large_blocks(size: int = 4_000_000) -> None:
    """Have the C library return freed blocks of this many bytes to the system at once.

    glibc keeps them for later once it has freed one, up to 32 MB each: a few uploads at a time, and the process stays
    hundreds of megabytes larger for as long as it lives.
    """
    with suppress(OSError, TypeError, AttributeError):  # Windows; a C library that does without
        ctypes.CDLL(None).mallopt(-3, size)  # M_MMAP_THRESHOLD, which is then fixed


def routes(service: Service) -> APIRouter:
    """The routes under /api/v1; what each method of the service says of itself is its description."""
    router = APIRouter(prefix=API)
    router.get(
        "/example",
        response_description="Its documents, ready to be posted.",
        summary="The example cluster",
    )(service.example)
    router.post(
        "/clusters",
        status_code=201,
        response_model=schema.ClusterAnswer,
        responses=problems(*BODY, "unreadable", "nothing-to-choose"),
        response_description="The cluster as it was read; `Location` is its address.",
        openapi_extra=body(schema.NewCluster, form=True),
        summary="Read documents",
    )(service.add_cluster)
    router.get(
        "/clusters/{id}",
        response_model=schema.ClusterAnswer,
        responses=problems("cluster-gone"),
        response_description="The same as when it was posted.",
        summary="A cluster",
    )(service.get_cluster)
    router.delete(
        "/clusters/{id}",
        status_code=204,
        responses=problems("cluster-gone"),
        response_description="It is forgotten.",
        summary="Forget a cluster",
    )(service.delete_cluster)
    router.post(
        "/clusters/{id}/select",
        response_model=schema.SelectionAnswer,
        responses=problems(*BODY, "cluster-gone", "infeasible"),
        response_description="The summary, with reasons.",
        openapi_extra=body(schema.Selection, required=False),
        summary="Select sentences",
    )(service.select)
    router.post(
        "/clusters/{id}/export",
        responses={
            200: {"content": {kind: {} for kind in schema.FORMATS.values()}},
            **problems(*BODY, "cluster-gone", "infeasible"),
        },
        response_class=Response,
        response_description="The file.",
        openapi_extra=body(schema.Export),
        summary="Select sentences, as a file",
    )(service.export)
    router.post(
        "/summarize",
        response_model=schema.WholeAnswer,
        responses=problems(*BODY, "nothing-to-choose"),
        response_description="The summary, with reasons and places.",
        openapi_extra=body(schema.Whole),
        summary="Summarize documents",
    )(service.summarize)
    router.get(
        "/models",
        response_model=schema.Models,
        response_description="All that the server has loaded.",
        summary="Models",
    )(service.models)
    router.get("/health", response_description="It lives, and is so busy.", summary="Health")(service.health)
    router.get(
        "/metrics",
        response_class=PlainTextResponse,
        response_description="Prometheus text",
        summary="Metrics",
    )(service.metrics)
    return router


async def on_http(request: Request, error: Exception) -> Response:
    """Answers of the framework itself: no such address, or not by this method."""
    assert isinstance(error, HTTPException)
    problem = Problem("not-found" if error.status_code == 404 else "malformed")
    if error.status_code == 405:
        allowed = allowed_methods(request)
        detail = f"{request.method} is not possible here. Use {' or '.join(allowed)}."
        problem = Problem("method-not-allowed", detail, headers={"Allow": ", ".join(allowed)})
    return problem.response(request.url.path)


def allowed_methods(request: Request) -> list[str]:
    """The methods of all routes with this address: the framework names those of the first only."""
    tried = ({**request.scope, "method": method} for method in METHODS)
    found = {one["method"] for one in tried if any(r.matches(one)[0] == Match.FULL for r in request.app.routes)}
    return [method for method in METHODS if method in found or (method == "HEAD" and "GET" in found)]
