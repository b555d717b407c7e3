"""A summary: sentences of the sources in their order, with the reasons for each; as text, Markdown, JSON and HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from html import escape
from importlib import resources
from string import Template
from typing import Any

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_subset, count_of
from dpplearn._notebook import card, shown
from dpplearn.decoding.limits import fits
from dpplearn.dpp import DPP
from dpplearn.summarize.corpora.cluster import Sentence, document_name
from dpplearn.summarize.explain.explanation import Explanation
from dpplearn.summarize.explain.records import Chosen, LeftOut, place
from dpplearn.summarize.model.choice import Choice, Decision, in_order
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.split_cluster import EXACT, SplitCluster
from dpplearn.summarize.text.introductions import annotated, time_words
from dpplearn.summarize.text.units import Unit, cut, joined_length, lengths_with, size_in_words, unit_name


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """Sentences taken from a cluster's documents.

    Attributes
    ----------
    text : str
        The sentences, one per line, in the order that was asked for.
    sentences : tuple of Sentence
        In the same order. `text` of each is as in the summary, `full` is the whole sentence, `dropped` has the spans of
        it that were left out, and `added` the words in brackets that came from its document.
    length, budget, unit
        How long the text is, and how long it might have been.
    note : str
        What a reader should know, such as that the only sentence had to be cut; else empty.
    order : array of int
        The numbers of the sentences in `split.sentences`, in the order of the text, as `include=` and `exclude=` take
        them. `subset` has them sorted.
    choice : Choice
        How likely each sentence was in a summary of this length, and which was worth having.
    """

    text: str
    sentences: tuple[Sentence, ...]
    length: float
    budget: float
    unit: Unit
    note: str
    order: IntArray = field(repr=False)
    choice: Choice = field(repr=False)
    decision: Decision = field(repr=False)

    @classmethod
    def of(cls, decision: Decision) -> Summary:
        """The sentences chosen, in their order; if none fits the budget, the best that may be chosen, cut."""
        prepared, choice, budget, unit = decision.prepared, decision.choose(), decision.budget, decision.unit
        split, subset, texts, allowed, note = prepared.split, choice.subset, decision.texts, decision.allowed, ""
        if decision.annotate and not subset.size:
            return cls.of(replace(decision, annotate=False))
        if not subset.size:  # none fits; or one does, but not the chosen one, in a unit that rounds up
            whole = allowed & fits(lengths_with([], texts, unit), budget)
            candidates = whole if whole.any() else allowed
            subset = np.array([np.where(candidates, prepared.dpp.quality, -1.0).argmax()])
            note = "" if whole.any() else f"No sentence fits {size_in_words(budget, unit)}: the best one was cut."
        order = in_order(split, subset, decision.order, prepared.kernel(decision.diversity))
        sentences = [split.sentences[i] for i in order]
        if decision.annotate and split.listed_language == "English":
            sentences = introduced(split, sentences, budget, unit)
        lines = [cut(sentence.text, budget, unit) if note else sentence.text for sentence in sentences]
        if split.n_dropped and subset.size == EXACT:  # a first choice keeps fewer only if all others are copies
            note = f"All {EXACT:,} sentences are in it that a first choice kept of {EXACT + split.n_dropped:,}."
        note = " ".join(filter(None, [note, "" if prepared.question is None else prepared.question.note]))
        choice, length = choice._replace(subset=np.sort(subset)), joined_length(lines, unit)
        return cls("\n".join(lines), tuple(sentences), length, budget, unit, note, order, choice, decision)

    @property
    def prepared(self) -> Prepared:
        """The cluster as it was prepared."""
        return self.decision.prepared

    @property
    def split(self) -> SplitCluster:
        """The sentences of the cluster; of a very large one, those that a first choice kept."""
        return self.prepared.split

    @property
    def dpp(self) -> DPP:
        """The model of its sentences."""
        return self.prepared.dpp

    @property
    def subset(self) -> IntArray:
        """The numbers of the sentences, sorted."""
        return np.sort(self.order)

    @property
    def other_languages(self) -> tuple[str, ...]:
        """Ids of documents of which most was set aside because it is in another language than the others."""
        size = Counter[int]()
        for piece in self.split.set_aside:
            size[piece.document] += (piece.code == "language") * (piece.end - piece.start)
        documents = enumerate(self.split.cluster.documents)
        return tuple(document.id for k, document in documents if 2 * size[k] > len(document.text))

    @cached_property
    def marginals(self) -> FloatArray:
        """Probability of every sentence, given what must be in and out; budget and diversity do not change it."""
        return self.prepared.marginals(self.decision.include, self.decision.exclude)

    def __str__(self) -> str:
        return self.text

    def explain(self) -> Explanation:
        """Why these sentences, and not others."""
        return self._explanation

    @cached_property
    def _explanation(self) -> Explanation:
        return Explanation(self)

    def why(self, number: int) -> Chosen | LeftOut:
        """Why a sentence is in the summary, or why it is not, by its number in `split.sentences`.

        Examples
        --------
        >>> from dpplearn.summarize import summarize
        >>> summarize("A storm sank ten boats on Friday. Nobody was hurt.", budget=7).why(1).reason
        'no room: takes 3 words, with 0 left'
        """
        return self.explain().why(check_subset([number], self.prepared.n, "number")[0])

    def __repr__(self) -> str:
        many = count_of(len(self.sentences), "sentence", "sentences")
        return f"<Summary of {many}, {self.length:g} of {size_in_words(self.budget, self.unit)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, where each is from, and why."""
        rows = zip(self.text.split("\n"), map(self.explain().row, self.explain().chosen), strict=True)
        items = "".join(
            f'<li dir="auto">{escape(line)}<div class="why">{shown(where)}: {shown(words)}</div></li>'
            for line, (_, where, words) in rows
        )
        note = f"<p>{shown(self.note)}</p>" if self.note else ""
        return card(repr(self).strip("<>"), note, f"<ol>{items}</ol>")

    def to_html(self, title: str = "Summary") -> str:
        """A page with the reasons and the marked sources; nothing in it is loaded from elsewhere."""
        return html_report(self, title)

    def to_markdown(self) -> str:
        """A paragraph for each sentence, with a footnote that says where it is from.

        Examples
        --------
        >>> from dpplearn.summarize import summarize
        >>> print(summarize("A storm sank ten boats on Friday. Nobody was hurt.", budget=7).to_markdown())
        A storm sank ten boats on Friday.[^1]
        <BLANKLINE>
        [^1]: document 1, sentence 1
        """
        lines, notes = [], []
        for k, (line, sentence) in enumerate(zip(self.text.split("\n"), self.sentences, strict=True), 1):
            source = self.split.cluster.documents[sentence.document]
            reference = ", ".join(filter(None, (source.title, document_name(source.id), source.date)))
            lines.append(f"{plain_markdown(line)}[^{k}]")
            notes.append(f"[^{k}]: {plain_markdown(reference)}, sentence {sentence.position}")
        return "\n\n".join([*lines, "\n".join(notes)])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as data for JSON."""
        return {
            "text": self.text,
            "length": self.length,
            "budget": self.budget,
            "unit": unit_name(self.unit),
            "note": self.note,
            "sentences": [place(sentence) for sentence in self.sentences],
            "explanation": self.explain().to_dict(),
        }


def introduced(split: SplitCluster, sentences: list[Sentence], budget: float, unit: Unit) -> list[Sentence]:
    """English sentences, each with the first names that those before it lack, and with the dates of its time words.

    Where the day of one time word is not known, no other gets a date: a reader would take it for the day of all. In the
    news, "today" and the like are left out where there is no date, or no room for one.
    """
    bare = [*map(split.without_spare_times, sentences)]
    with_year = len({time.year for sentence in sentences if (time := split.times[sentence.document]) is not None}) > 1
    with_dates = not any(split.times[x.document] is None and time_words(x.text) for x in bare)
    shown = [annotated(x.text, split.additions(x, "", with_year, with_dates)) for x in bare]
    for k, forms in enumerate(zip(sentences, bare, strict=True)):
        before = "\n".join(shown[:k])
        longest = with_dates and split.times[forms[0].document] is not None
        for form in forms if longest else forms[1:]:
            added = split.additions(form, before, with_year, with_dates)
            shown[k] = annotated(form.text, added)
            if form is forms[1] or fits(joined_length(shown, unit), budget):
                bare[k] = replace(form, text=shown[k], added=tuple(x.text.strip() for x in added))
                break
    return bare


def plain_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it as it is.

    Examples
    --------
    >>> print(plain_markdown("a_b *c* <i>"), plain_markdown("3. May"))
    a\\_b \\*c\\* \\<i\\> 3\\. May
    """
    text = re.sub(r"([\\`*_\[\]<>&|~$^])", r"\\\1", " ".join(text.split()))
    return re.sub(r"^(\d*)([-+#=.)])", r"\1\\\2", text)  # after a number its sign is escaped


def html_report(summary: Summary, title: str = "Summary") -> str:
    """A page without scripts that loads nothing from elsewhere; on paper it is the summary with its reasons."""
    split, explanation, data = summary.split, summary.explain(), resources.files("dpplearn.summarize") / "data"
    documents = split.cluster.documents
    ids = [escape(document_name(document.id)) for document in documents]
    names = [escape(document.title) if document.title else name for document, name in zip(documents, ids, strict=True)]
    number = {i: k for k, i in enumerate(summary.order.tolist(), 1)}
    badge = '<span class="s" data-state="{}"{}><b class="badge">{}</b><span class="t">'
    marks = [(x.sentence, badge.format("again", "", f"≈{number[x.by[0]]}")) for x in explanation.redundant]
    marks += [(split.sentences[i], badge.format("in", f' id="s{k}"', k)) for i, k in number.items()]
    lines, left_out, sources = list[str](), list[str](), list[str]()
    for k, (c, line) in enumerate(zip(explanation.chosen, summary.text.split("\n"), strict=True), 1):
        whole = tagged(c.sentence.full, [(*span, "<del>", "</del>") for span in c.sentence.dropped])
        whole = f'<p class="hint dropped">{whole}</p>' if c.sentence.dropped else ""
        lines.append(
            f'<li dir="auto" data-order="{k}"><p class="line">{escape(line)}</p>{whole}'
            f'<p class="meta" dir="ltr"><a href="#s{k}"><bdi>{names[c.sentence.document]}</bdi>, sentence '
            f"{c.sentence.position}</a> &#183; {escape(c.words)}</p></li>"
        )
    for x in explanation.left_out:
        left_out.append(
            f'<li dir="auto">{escape(x.sentence.text)} <span class="meta" dir="ltr"><bdi>{names[x.sentence.document]}'
            f"</bdi>, sentence {x.sentence.position} &#183; {escape(x.reason)}</span></li>"
        )
    for i, document in enumerate(documents):
        body = tagged(document.text, [(s.start, s.end, tag, "</span></span>") for s, tag in marks if s.document == i])
        by_id = f'<p class="source-count"><bdi>{ids[i]}</bdi></p>' if document.title else ""
        sources.append(
            f'<article class="source"><header><h3 dir="auto">{names[i]}</h3>{by_id}</header>'
            f'<div class="body" dir="auto">{body}</div></article>'
        )
    size = f"{count_of(len(summary.sentences), 'sentence', 'sentences')} of {len(split.full_texts):,} from "
    size += f"{count_of(len(documents), 'document', 'documents')}, {summary.length:g} of "
    whole_set = (f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in explanation.as_a_set.lines())
    return Template((data / "report.html").read_text("utf-8")).substitute(
        look=(data / "look.css").read_text("utf-8"),
        title=escape(title),
        size=f"{size}{escape(size_in_words(summary.budget, summary.unit))}.",
        note=f'<p class="note">{escape(summary.note)}</p>' if summary.note else "",
        summary="\n".join(lines),
        together="\n".join(whole_set),
        hidden="" if left_out else "hidden",
        left_out="\n".join(left_out),
        first_choice=f'<p class="hint">{escape(explanation.first_choice)}</p>' if explanation.n_dropped else "",
        sources="\n".join(sources),
    )


def tagged(text: str, spans: Iterable[tuple[int, int, str, str]]) -> str:
    """A text for HTML, with a tag before and after each of some spans."""
    out, end = "", 0
    for start, stop, before, after in sorted(spans):
        out += f"{escape(text[end:start])}{before}{escape(text[start:stop])}{after}"
        end = stop
    return out + escape(text[end:])
