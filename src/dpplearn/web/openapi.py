"""The OpenAPI schema: requests with examples, answers, and the problems of each route."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from dpplearn.web.guard import OPEN
from dpplearn.web.problems import KINDS, MEDIA_TYPE, Problem
from dpplearn.web.schema import Export, NewCluster, ProblemDocument, Selection, Whole

BEARER = {"type": "http", "scheme": "bearer", "description": "Where the server has a token (`dpplearn serve --token`)."}
REF = "#/components/schemas/{model}"
MODELS: tuple[type[BaseModel], ...] = (NewCluster, Selection, Export, Whole, ProblemDocument)
RETRY_AFTER = {"Retry-After": {"schema": {"type": "integer"}, "required": True}}
FORM = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "format": "binary"},
            "description": "Files of the kinds that GET /models names under `files`: text, HTML, PDF, Word, e-mail ...",
        },
        "model": {"type": "string", "description": "A name from GET /models."},
        "keep_all": {"type": "boolean", "description": "As in the JSON of this route."},
    },
}


def body(model: type[BaseModel], *, form: bool = False, required: bool = True) -> dict[str, Any]:
    """The request body of a route."""
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": REF.format(model=model.__name__)}}}
    if form:
        content["multipart/form-data"] = {"schema": FORM}
    return {"requestBody": {"required": required, "content": content}}


def problems(*slugs: str) -> dict[int | str, dict[str, Any]]:
    """What a route may answer instead, by status, with an example of each."""
    grouped: dict[int, list[str]] = defaultdict(list)
    for slug in slugs:
        grouped[KINDS[slug][0]].append(slug)
    return {
        status: {
            "description": " ".join(KINDS[slug][2] for slug in found),
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": REF.format(model=ProblemDocument.__name__)},
                    "examples": {slug: {"value": Problem(slug).document("/api/v1/...")} for slug in found},
                }
            },
            **({"headers": RETRY_AFTER} if status == 429 else {}),
        }
        for status, found in grouped.items()
    }


def describe(app: FastAPI) -> None:
    """Give the application its schema, made when first asked for."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        found = FastAPI.openapi(app)  # kept there; what follows completes it
        _, made = models_json_schema([(model, "validation") for model in MODELS], ref_template=REF)
        components = found["components"]["schemas"]
        components.update(made["$defs"])
        for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, which we never answer
            components.pop(name, None)
        found["components"]["securitySchemes"] = {"bearer": BEARER}
        asked = app.state.service.settings.token is not None
        for name, path in found["paths"].items():
            for operation in path.values():
                if asked and name not in OPEN:
                    operation["security"] = [{"bearer": []}]
                    operation["responses"] |= {str(code): one for code, one in problems("unauthorized").items()}
                answer = operation["responses"].get("422", {})
                if "application/json" in answer.get("content", {}):
                    del operation["responses"]["422"]
        return found

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's way to change it
