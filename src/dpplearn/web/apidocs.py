"""The reference of the API as a page of its own: HTML made from the OpenAPI schema, with nothing from elsewhere.

The readers that FastAPI and others offer are megabytes of scripts from a CDN, with styles that our
Content-Security-Policy refuses; this needs no script at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response

from dpplearn.web.assets import Asset
from dpplearn.web.problems import KINDS, Problem


def reference(app: FastAPI) -> APIRouter:
    """The routes /docs and /problems/{slug}."""
    router = APIRouter(include_in_schema=False)
    frame = Template((files("dpplearn.web") / "apidocs.html").read_text("utf-8"))

    @router.get("/docs")
    async def docs(request: Request) -> Response:
        return Asset.of(render(frame, app.openapi()).encode(), "html").response(request)

    @router.get("/problems/{slug}")
    async def problem(slug: str) -> Response:
        if slug not in KINDS:
            raise Problem("not-found", "No problem has this name. They are listed at /docs.")
        return Response(status_code=303, headers={"Location": f"/docs#problem-{slug}"})

    return router


def render(frame: Template, api: dict[str, Any]) -> str:
    """The whole page."""
    schemas = api["components"]["schemas"]
    routes = [(method, path, spec) for path, methods in api["paths"].items() for method, spec in methods.items()]
    kinds = (
        f'<tr id="problem-{slug}"><td><code>/problems/{slug}</code><td>{status}<td>{escape(title)}<td>{prose(about)}'
        for slug, (status, title, about) in KINDS.items()
    )
    links = (
        f'<li><a href="#{anchor(method, path)}"><b>{method.upper()}</b> {escape(path)}</a>'
        for method, path, _ in routes
    )
    return frame.substitute(
        {name: escape(api["info"][name]) for name in ("title", "version", "description")},
        links="".join(links),
        operations="\n".join(operation(*route, schemas) for route in routes),
        problems=table(("type", "status", "title", "meaning"), kinds),
        models="\n".join(model(name, spec) for name, spec in sorted(schemas.items())),
    )


def table(head: Iterable[str], rows: Iterable[str]) -> str:
    names = "".join(f"<th>{name}" for name in head)
    return f"<table><thead><tr>{names}</thead><tbody>{''.join(rows)}</tbody></table>"


def anchor(method: str, path: str) -> str:
    return escape(f"{method}{path}".replace("/", "-").replace("{", "").replace("}", ""), quote=True)


def prose(text: str) -> str:
    """Text in which `this` is code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def example(value: object) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"


def named(spec: dict[str, Any]) -> str:
    """The record that a schema refers to."""
    return str(spec.get("$ref", "")).rpartition("/")[2]


def operation(method: str, path: str, spec: dict[str, Any], schemas: dict[str, Any]) -> str:
    """One route: what it takes and what it answers."""
    parts = [
        f'<section id="{anchor(method, path)}"><h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2>',
        f"<p><strong>{escape(spec.get('summary', ''))}.</strong> {escape(spec.get('description', ''))}</p>",
    ]
    for kind, content in spec.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<h3>Body: <code>{escape(kind)}</code></h3><p>{typed(content['schema'])}</p>")
        parts += [example(value) for value in schemas.get(named(content["schema"]), {}).get("examples", [])]
    rows = []
    for status, answer in spec["responses"].items():
        found = [typed(content["schema"]) for content in answer.get("content", {}).values() if content.get("schema")]
        rows.append(f"<tr><td>{escape(str(status))}<td>{prose(answer['description'])}<td>{', '.join(found)}")
    return "".join(parts) + table(("status", "meaning", "body"), rows) + "</section>"


def model(name: str, spec: dict[str, Any]) -> str:
    """One record: its members, their types, and an example."""
    needed = spec.get("required", ())
    rows = (
        f"<tr><td><code>{escape(member)}</code><td>{typed(about)}<td>{'' if member in needed else 'optional'}"
        f"<td>{prose(about.get('description', ''))}"
        for member, about in spec.get("properties", {}).items()
    )
    examples = "".join(map(example, spec.get("examples", [])))
    return (
        f'<section id="model-{escape(name)}"><h2>{escape(name)}</h2><p>{escape(spec.get("description", ""))}</p>'
        f"{table(('member', 'type', '', 'meaning'), rows)}{examples}</section>"
    )


def typed(spec: dict[str, Any]) -> str:
    """A type in words, with links to records."""
    if "$ref" in spec:
        name = escape(named(spec))
        return f'<a href="#model-{name}">{name}</a>'
    if "enum" in spec:
        return " | ".join(f"<code>{escape(json.dumps(value))}</code>" for value in spec["enum"])
    if "const" in spec:
        return f"<code>{escape(json.dumps(spec['const']))}</code>"
    if "anyOf" in spec:
        return " or ".join(typed(one) for one in spec["anyOf"])
    if spec.get("type") == "array":
        return f"list of {typed(spec.get('items', {}))}"
    if isinstance(spec.get("additionalProperties"), dict):
        return f"object of {typed(spec['additionalProperties'])}"
    if spec.get("format") == "binary":
        return "file"
    if spec.get("properties"):
        return "; ".join(f"<code>{escape(name)}</code>: {typed(one)}" for name, one in spec["properties"].items())
    return escape(str(spec.get("type", "any"))) + bounds(spec)


def bounds(spec: dict[str, Any]) -> str:
    """Between what a number or a text's length must be."""
    low, high = spec.get("minimum"), spec.get("maximum")
    if low is not None or high is not None:
        return f" from {low if low is not None else '-∞'} to {high if high is not None else '∞'}"
    if spec.get("maxLength"):
        return f" of at most {spec['maxLength']} characters"
    return ""
