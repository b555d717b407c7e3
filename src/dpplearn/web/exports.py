"""A summary as a file to keep: text, Markdown with its sources, a report in HTML, or all of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

from dpplearn.summarize.explain.summary import Summary
from dpplearn.web import schema


def exported(summary: Summary, asked: schema.Export) -> tuple[str, bytes]:
    """Its media type and its bytes; the words are those of the library's own records."""
    return schema.FORMATS[asked.format], WRITERS[asked.format](summary).encode()


def as_json(summary: Summary) -> str:
    """As `dpplearn summarize --json` prints it."""
    documents = [{"id": one.id, "title": one.title} for one in summary.read.cluster.documents]
    return json.dumps({**summary.to_dict(), "documents": documents}, indent=2, ensure_ascii=False) + "\n"


WRITERS: dict[str, Callable[[Summary], str]] = {
    "text": lambda summary: f"{summary.text}\n",
    "markdown": lambda summary: f"{summary.to_markdown()}\n",
    "html": lambda summary: summary.to_html(),
    "json": as_json,
}
