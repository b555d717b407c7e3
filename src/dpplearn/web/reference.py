"""The reference of the API as a page of its own: HTML made from the OpenAPI schema, with nothing from elsewhere."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response

from dpplearn.web.problems import KINDS, Problem
from dpplearn.web.static import Asset


def add_reference(app: FastAPI) -> None:
    """The routes /docs and /problems/{slug}."""
    style = Asset.of((files("dpplearn.web") / "reference.css").read_bytes(), "css")

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return Asset.of(render(app.openapi()).encode(), "html").response(request)

    @app.get("/docs/reference.css", include_in_schema=False)
    async def css(request: Request) -> Response:
        return style.response(request)

    @app.get("/problems/{slug}", include_in_schema=False)
    async def problem(slug: str) -> Response:
        if slug not in KINDS:
            raise Problem("not-found", "No problem has this name. They are listed at /docs.")
        return Response(status_code=303, headers={"Location": f"/docs#problem-{slug}"})


def render(api: dict[str, Any]) -> str:
    """The whole page."""
    schemas = api["components"]["schemas"]
    operations = [
        operation(method, path, spec, schemas)
        for path, methods in api["paths"].items()
        for method, spec in methods.items()
    ]
    links = "".join(
        f'<li><a href="#{anchor(method, path)}"><b>{method.upper()}</b> {escape(path)}</a>'
        for path, methods in api["paths"].items()
        for method in methods
    )
    kinds = "".join(
        f'<tr id="problem-{slug}"><td><code>/problems/{slug}</code><td>{status}<td>{escape(title)}<td>{prose(about)}'
        for slug, (status, title, about) in KINDS.items()
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(api['info']['title'])} API</title>"
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/docs/reference.css"></head>\n<body>\n'
        f"<header><h1>{escape(api['info']['title'])} API <small>{escape(api['info']['version'])}</small></h1>"
        f"<p>{escape(api['info']['description'])} "
        'The same as data: <a href="/api/v1/openapi.json">openapi.json</a>. The page: <a href="/">/</a>.</p></header>\n'
        f'<nav aria-label="Routes"><ul>{links}<li><a href="#problems">Problems</a></ul></nav>\n<main>\n'
        + "\n".join(operations)
        + '\n<section id="problems"><h2>Problems</h2><p>Errors are problem documents (RFC 9457), of the type '
        "<code>application/problem+json</code>. <code>detail</code> says what to change; where a limit was passed, "
        "<code>limit</code> names it and <code>value</code> says what it allows.</p>"
        f"<table><thead><tr><th>type<th>status<th>title<th>meaning</thead><tbody>{kinds}</tbody></table></section>\n"
        + "\n".join(model(name, spec) for name, spec in sorted(schemas.items()))
        + "\n</main>\n</body>\n</html>\n"
    )


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
    parts.append(f"<table><thead><tr><th>status<th>meaning<th>body</thead><tbody>{''.join(rows)}</tbody></table>")
    return "".join(parts) + "</section>"


def model(name: str, spec: dict[str, Any]) -> str:
    """One record: its members, their types, and an example."""
    needed = spec.get("required", ())
    rows = "".join(
        f"<tr><td><code>{escape(member)}</code><td>{typed(about)}<td>{'' if member in needed else 'optional'}"
        f"<td>{prose(about.get('description', ''))}"
        for member, about in spec.get("properties", {}).items()
    )
    examples = "".join(map(example, spec.get("examples", [])))
    return (
        f'<section id="model-{escape(name)}"><h2>{escape(name)}</h2><p>{escape(spec.get("description", ""))}</p>'
        f"<table><thead><tr><th>member<th>type<th><th>meaning</thead><tbody>{rows}</tbody></table>{examples}</section>"
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
