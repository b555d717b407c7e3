"""One HTML file with the summary, the reasons, and the sources with the chosen sentences marked."""

from __future__ import annotations

from html import escape
from importlib import resources
from string import Template

from dpplearn._checks import count_of
from dpplearn.summarize.corpora.cluster import Document, Sentence
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.explain.topics import document_name
from dpplearn.summarize.text.units import measured


def html_report(summary: Summary, title: str = "Summary") -> str:
    """A page that needs nothing else: no script, nothing loaded from elsewhere; printed, it is the summary and why."""
    read, explanation = summary.read, summary.explain()
    documents = read.cluster.documents
    names = [escape(document.title or document_name(document.id)) for document in documents]
    number = {i: k for k, i in enumerate(summary.order.tolist(), 1)}
    marks = {x.sentence: mark("again", f"≈{number[x.by[0]]}") for x in explanation.redundant}
    marks |= {read.sentences[i]: mark("in", str(k), f' id="s{k}"') for i, k in number.items()}
    lines = [
        f'<li dir="auto" data-order="{k}"><p class="line">{escape(line)}</p>{in_full(c.sentence)}'
        f'<p class="meta" dir="ltr"><a href="#s{k}"><bdi>{names[c.sentence.document]}</bdi>, sentence '
        f"{c.sentence.position}</a> &#183; {escape(c.words)}</p></li>"
        for k, (c, line) in enumerate(zip(explanation.chosen, summary.text.split("\n"), strict=True), 1)
    ]
    left_out = [
        f'<li dir="auto">{escape(x.sentence.text)} <span class="meta" dir="ltr"><bdi>{names[x.sentence.document]}</bdi>'
        f", sentence {x.sentence.position} &#183; {escape(x.reason)}</span></li>"
        for x in explanation.left_out
    ]
    sources = [
        f'<article class="source"><header><h3 dir="auto">{names[i]}</h3>{by_id(document)}</header>'
        f'<div class="body" dir="auto">{marked(document.text, i, marks)}</div></article>'
        for i, document in enumerate(documents)
    ]
    return Template(packaged("report.html")).substitute(
        look=packaged("look.css"),
        title=escape(title),
        size=f"{count_of(len(summary.sentences), 'sentence', 'sentences')} of {len(read.whole):,} from "
        f"{count_of(len(documents), 'document', 'documents')}, {summary.length:g} of "
        f"{escape(measured(summary.budget, summary.unit))}.",
        note=f'<p class="note">{escape(summary.note)}</p>' if summary.note else "",
        summary="\n".join(lines),
        together="\n".join(
            f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in explanation.as_a_set.lines()
        ),
        hidden="" if left_out else "hidden",
        left_out="\n".join(left_out),
        first_choice=f'<p class="hint">{escape(explanation.first_choice)}</p>' if explanation.passed else "",
        sources="\n".join(sources),
    )


def by_id(document: Document) -> str:
    """What the reasons call a document that has a title; else nothing."""
    return f'<p class="source-count"><bdi>{escape(document_name(document.id))}</bdi></p>' if document.title else ""


def packaged(name: str) -> str:
    """A file that comes with the package."""
    return resources.files("dpplearn.summarize").joinpath("data", name).read_text(encoding="utf-8")


def mark(state: str, label: str, more: str = "") -> str:
    """What opens a marked sentence in its source."""
    return f'<span class="s" data-state="{state}"{more}><b class="badge">{label}</b><span class="t">'


def in_full(sentence: Sentence) -> str:
    """A sentence of which the summary has a shorter form, with what was dropped struck through; else nothing."""
    out, end = "", 0
    for start, stop in sentence.dropped:
        out += f"{escape(sentence.full[end:start])}<del>{escape(sentence.full[start:stop])}</del>"
        end = stop
    return f'<p class="hint dropped">{out}{escape(sentence.full[end:])}</p>' if out else ""


def marked(text: str, document: int, marks: dict[Sentence, str]) -> str:
    """A document's text with the sentences in `marks` between these tags."""
    out, end = "", 0
    for sentence in sorted((one for one in marks if one.document == document), key=lambda one: one.start):
        inside = escape(text[sentence.start : sentence.end])
        out += f"{escape(text[end : sentence.start])}{marks[sentence]}{inside}</span></span>"
        end = sentence.end
    return out + escape(text[end:])
