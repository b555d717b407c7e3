"""A summary as a file to keep: text, Markdown with its sources, a report in HTML, or all of it as JSON."""

from __future__ import annotations

import json

from dpplearn.summarize.explain.summary import Summary
from dpplearn.web import schema


def exported(summary: Summary, asked: schema.Export) -> tuple[str, bytes]:
    """Its media type and its bytes; the words are those of the library's own records."""
    made = {"text": as_text, "markdown": as_markdown, "html": Summary.to_html, "json": as_json}[asked.format](summary)
    return schema.FORMATS[asked.format], made.encode()


def as_text(summary: Summary) -> str:
    return f"{summary.text}\n"


def as_markdown(summary: Summary) -> str:
    return f"{summary.to_markdown()}\n"


def as_json(summary: Summary) -> str:
    documents = [{"id": one.id, "title": one.title} for one in summary.read.cluster.documents]
    return json.dumps({**summary.to_dict(), "documents": documents}, indent=2, ensure_ascii=False) + "\n"
