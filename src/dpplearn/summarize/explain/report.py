"""One HTML file with the summary, the reasons, and the sources with the chosen sentences marked."""

from __future__ import annotations

from html import escape
from importlib import resources
from string import Template

from dpplearn.summarize.corpora.cluster import Sentence
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.text.units import measured


def html_report(summary: Summary, title: str = "Summary") -> str:
    """A page that needs nothing else: no script, nothing loaded from elsewhere."""
    documents, explanation = summary.read.cluster.documents, summary.explain()
    names = [escape(document.title or document.id) for document in documents]
    number = {sentence: k for k, sentence in enumerate(summary.sentences, 1)}
    marks = {x.sentence: '<mark class="again">' for x in explanation.redundant()}
    marks |= {sentence: f'<mark id="s{k}">' for sentence, k in number.items()}
    lines = [
        f'<li dir="auto">{escape(line)} <small><a href="#s{k}">{names[sentence.document]}, '
        f"sentence {sentence.position}</a></small>{in_full(sentence)}</li>"
        for (sentence, k), line in zip(number.items(), summary.text.split("\n"), strict=True)
    ]
    chosen = [f'<tr><td class="n">{k}<td>{escape(c.words)}' for k, c in enumerate(explanation.chosen, 1)]
    left_out = [
        f"<tr><td>{escape(x.sentence.text)} <small>{names[x.sentence.document]}</small><td>{escape(x.reason)}"
        for x in explanation.best_left_out()
    ]
    sources = [
        f'<article dir="auto"><h3>{names[i]}</h3>{marked(document.text, i, marks)}</article>'
        for i, document in enumerate(documents)
    ]
    page = resources.files("dpplearn.summarize").joinpath("data", "report.html").read_text(encoding="utf-8")
    return Template(page).substitute(
        title=escape(title),
        size=f"{len(summary.sentences)} sentences of {len(summary.read.whole)} from {len(documents)} "
        f"documents, {summary.length:g} of {escape(measured(summary.budget, summary.unit))}.",
        note=f"<p>{escape(summary.note)}</p>" if summary.note else "",
        summary="\n".join(lines),
        chosen="\n".join(chosen),
        together="\n".join(
            f"<tr><td>{escape(name)}<td>{escape(words)}" for name, words in explanation.as_a_set.lines()
        ),
        hidden="" if left_out else "hidden",
        left_out="\n".join(left_out),
        first_choice=f"<p>{escape(explanation.first_choice)}</p>" if explanation.passed else "",
        sources="\n".join(sources),
    )


def in_full(sentence: Sentence) -> str:
    """A sentence of which the summary has a shorter form, with what was dropped struck through; else nothing."""
    out, end = "", 0
    for start, stop in sentence.dropped:
        out += f"{escape(sentence.full[end:start])}<del>{escape(sentence.full[start:stop])}</del>"
        end = stop
    return f'<div class="full">{out}{escape(sentence.full[end:])}</div>' if out else ""


def marked(text: str, document: int, marks: dict[Sentence, str]) -> str:
    """A document's text with the sentences in `marks` between these tags."""
    out, end = "", 0
    for sentence in sorted((one for one in marks if one.document == document), key=lambda one: one.start):
        inside = escape(text[sentence.start : sentence.end])
        out += f"{escape(text[end : sentence.start])}{marks[sentence]}{inside}</mark>"
        end = sentence.end
    return out + escape(text[end:])
