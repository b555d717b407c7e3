"""What a summary is made of: documents, the sentences in them, and clusters of documents on one topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import as_file, files
from os import PathLike
from typing import TYPE_CHECKING, Any

from dpplearn._cached import LatestValue, cached_property
from dpplearn._checks import count_of
from dpplearn._notebook import card, table
from dpplearn.summarize.text.blocks import Block, Part, check_blocks, join_blocks
from dpplearn.summarize.text.words import ANY, foreign_language, normal_language, without_surrogates

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.candidates import Candidates

MAX_SENTENCES = 1_000_000  # in one cluster; so many take minutes and gigabytes


@dataclass(frozen=True, repr=False)
class Document:
    """A text and what is known about it.

    Parameters
    ----------
    id : str
        Unique in its cluster.
    text : str
        Blank lines separate paragraphs. Sentences point into this text. Halves of surrogate pairs, which no file
        can hold, are replaced by U+FFFD.
    title, date, role : str, optional
        Not part of the text: no sentence comes from them.
    blocks : sequence of Block, optional
        What each stretch of the text is, as its reader knows (`Document.of_blocks`); None to see it in the lines. It is
        not printed.

    Examples
    --------
    >>> Document("a", "It rained. The river rose.", title="Rain").title
    'Rain'
    """

    id: str
    text: str
    title: str | None = None
    date: str | None = None
    role: str | None = None
    blocks: tuple[Block, ...] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        fields = {name: value for name in ("title", "date", "role") if (value := getattr(self, name)) is not None}
        return f"Document({short(self.id)!r}, {short(self.text)!r}{named(fields)})"

    def __post_init__(self) -> None:
        for name in ("id", "text", "title", "date", "role"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("id", "text")):
                raise TypeError(f"{name} of a Document must be a string, found {type(value).__name__}.")
            if value is not None:
                object.__setattr__(self, name, without_surrogates(value))
        if self.blocks is not None:
            object.__setattr__(self, "blocks", check_blocks(self.blocks, self.text))

    @classmethod
    def of_blocks(cls, id: str, parts: Iterable[Part], title: str | None = None, date: str | None = None) -> Document:
        """Make a document of its blocks: for each its kind and its text.

        Examples
        --------
        >>> Document.of_blocks("a", [("heading", "Rain"), ("item", "It rained.")]).text
        '# Rain\\n\\n- It rained.'
        """
        text, blocks = join_blocks(parts)
        return cls(id, text, title, date, blocks=blocks)


@dataclass(frozen=True, repr=False)
class Sentence:
    """A sentence and where it stands: `cluster.documents[document].text[start:end]` covers it.

    Parameters
    ----------
    text : str
        On one line, as it is printed: white space is collapsed and control characters are left out. The offsets say
        what to highlight.
    document : int
        Index of its document in `cluster.documents`, from 0.
    position : int
        Position among the sentences of its document, from 1 (section 7.2).
    start, end : int
        Character offsets into the document's text.
    kind : str
        The kind of its block, one of `dpplearn.summarize.text.blocks.BLOCK_KINDS`.
    section : str, optional
        The heading above it.
    full : str
        The whole sentence on one line; `text` may leave out some of it, or add to it.
    dropped : tuple of (start, end)
        The spans of `full` that `text` leaves out.
    added : tuple of str
        First names and dates from the document, which `text` has in brackets and `full` has not.
    """

    text: str
    document: int
    position: int
    start: int
    end: int
    kind: str = field(default="paragraph", repr=False, compare=False)
    section: str | None = field(default=None, repr=False, compare=False)
    full: str = field(default="", repr=False, compare=False)
    dropped: tuple[tuple[int, int], ...] = field(default=(), repr=False, compare=False)
    added: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        place = {name: getattr(self, name) for name in ("document", "position", "start", "end")}
        return f"Sentence({short(self.text)!r}{named(place)})"

    @property
    def origin(self) -> tuple[int, int]:
        """Where it begins: all forms of a sentence have the same origin."""
        return self.document, self.start

    def __post_init__(self) -> None:
        if not self.full:
            object.__setattr__(self, "full", self.text)


def short(text: str, width: int = 50) -> str:
    """A text, or its beginning."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def named(values: dict[str, Any]) -> str:
    """Values as a call gives them by name, after a comma each."""
    return "".join(f", {name}={(short(x) if isinstance(x, str) else x)!r}" for name, x in values.items())


def first_few(texts: Sequence[str], most: int = 5, between: str = ", ") -> str:
    """The first of some texts, and how many more there are.

    Examples
    --------
    >>> first_few(["a", "b", "c", "d"], 2), first_few(["a", "b"])
    ('a, b and 2 more', 'a, b')
    """
    more = f"{between.rstrip(', ')} and {len(texts) - most} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


def document_name(document: str) -> str:
    """The name of a document in words, from its id.

    Examples
    --------
    >>> document_name("2"), document_name("report.txt")
    ('document 2', 'report.txt')
    """
    return f"document {document}" if document.isdigit() else document


class TooManySentencesError(ValueError):
    """A cluster has more sentences than are allowed."""


class NoSentencesError(ValueError):
    """No sentence of a cluster has a word in it."""


@dataclass(frozen=True, repr=False)
class Cluster:
    """Documents on one topic, with the summaries that people wrote of them.

    Parameters
    ----------
    documents : sequence of Document
        Their ids must differ.
    references : sequence of str
        One text per reference summary.
    id, language : str, optional
    split : str, optional
        The part of its corpus that it belongs to, such as "train".
    reference_ids : sequence of str
        Names of the references, in their order; empty if they have none.

    Examples
    --------
    >>> cluster = Cluster.from_texts(["It rained. The river rose.", "Dr. Wu left."])
    >>> [sentence.text for sentence in cluster.sentences()]
    ['It rained.', 'The river rose.', 'Dr. Wu left.']
    """

    documents: Sequence[Document]
    references: Sequence[str] = ()
    id: str | None = None
    language: str | None = None
    split: str | None = None
    reference_ids: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.documents, str | Document) or isinstance(self.references, str):
            raise TypeError("documents and references of a Cluster must be sequences, such as lists.")
        for name in ("documents", "references", "reference_ids"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.reference_ids and len(self.reference_ids) != len(self.references):
            raise ValueError(
                f"{self.name} must have a name in reference_ids for each of its {len(self.references)} references, "
                f"found {len(self.reference_ids)}."
            )
        for document in self.documents:
            if not isinstance(document, Document):
                raise TypeError(
                    f"A Cluster holds Document objects, found {type(document).__name__}. "
                    "For strings, use Cluster.from_texts."
                )
        for name, times in Counter(document.id for document in self.documents).items():
            if times > 1:
                raise ValueError(
                    f"documents of {self.name} must have different ids, but {name!r} occurs twice. Rename one."
                )
        for reference in self.references:
            if not isinstance(reference, str):
                raise TypeError(f"A reference must be a string, found {type(reference).__name__}.")

    @cached_property
    def _latest(self) -> LatestValue[Candidates]:
        """The candidates for the options asked for last."""
        return LatestValue()

    def __getstate__(self) -> dict[str, Any]:
        """Without the candidates: copies and other processes find them again, if they need to."""
        return {name: value for name, value in vars(self).items() if name != "_latest"}

    def __repr__(self) -> str:
        return f"<Cluster{f' {self.id!r:.60}' if self.id else ''} of {self._sizes()}>"

    def _sizes(self) -> str:
        """How many documents, characters and references it has, in words."""
        sizes = {"document": len(self.documents), "character": sum(len(document.text) for document in self.documents)}
        sizes |= {"reference": len(self.references)} if self.references else {}
        return ", ".join(count_of(number, what, f"{what}s") for what, number in sizes.items())

    def _repr_html_(self) -> str:
        """What a notebook shows: the documents, and how each begins."""
        rows = ((x.id, x.title or "", x.date or "", " ".join(x.text[:200].split())) for x in self.documents)
        documents = table(("document", "title", "date", "begins"), rows, len(self.documents))
        facts = {"language": self.language} if self.language else {}
        return card(f"Cluster {self.id or ''} of {self._sizes()}", documents, facts=facts)

    @property
    def name(self) -> str:
        """Its name in messages."""
        return "the cluster" if self.id is None else f"cluster {self.id}"

    @cached_property
    def foreign_language(self) -> str | None:
        """The language or script of its documents if that clearly is not English, else None."""
        return foreign_language(document.text for document in self.documents)

    @property
    def own_language(self) -> str | None:
        """Its language as given, or as its text clearly shows; None where that may well be English."""
        return normal_language(self.language) or self.foreign_language

    def read_as(self, language: str | None) -> str | None:
        """The language in which a model reads it: the model's, or its own for a model of any language."""
        return self.own_language if language == ANY else language

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], *, references: Sequence[str] = (), id: str | None = None, language: str | None = None
    ) -> Cluster:
        """Make a cluster of strings; its documents are called "1", "2", ...

        Examples
        --------
        >>> Cluster.from_texts(["It rained.", "It poured."]).documents[1]
        Document('2', 'It poured.')
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of strings, one per document, found one string. Pass [text].")
        texts = list(texts)
        if not texts:
            raise ValueError("There must be at least one text to make a cluster of, but the list is empty.")
        return cls([Document(str(i), text) for i, text in enumerate(texts, 1)], references, id, language)

    @classmethod
    def from_files(
        cls,
        paths: str | PathLike[str] | Iterable[str | PathLike[str]],
        *,
        encoding: str | None = None,
        id: str | None = None,
        language: str | None = None,
    ) -> Cluster:
        """Read files as one cluster: a path, a pattern such as "storm/*.txt", a folder, or several of these.

        Text, Markdown, HTML, newswire SGML, subtitles, PDF (with the extra `documents`), Word, OpenDocument and EPUB
        files, rich text, e-mails and mailboxes are known by name and content; ids are file names. A `SkippedWarning`
        says which file cannot be read and why, and names files of other kinds in a folder and files without a word; if
        no file can be read, that is an error. Hidden files and those called README are left out silently.
        """
        from dpplearn.summarize.corpora.documents import read_files

        return cls(read_files(paths, encoding), (), id, language)

    @classmethod
    def example(cls) -> Cluster:
        """Eight short articles on one invented event, with three reference summaries.

        Examples
        --------
        >>> cluster = Cluster.example()
        >>> len(cluster.documents), len(cluster.references)
        (8, 3)
        """
        from dpplearn.summarize.corpora.reading import read_clusters

        with as_file(files("dpplearn.summarize").joinpath("data", "example")) as folder:
            [cluster] = read_clusters(folder, "utf-8")
        return replace(cluster, id="example", language="english")

    def sentences(self, *, limit: int | None = MAX_SENTENCES, keep_all: bool = False) -> tuple[Sentence, ...]:
        """Return the candidate sentences, in order of documents.

        Candidates are sentences of running text: paragraphs, list items, quotations. Pieces that are no sentences
        (`dpplearn.summarize.text.fragments`) are left out, and so are paragraphs of an earlier document, and sentences
        that stand word for word in most documents. A document without a candidate offers the headings and captions that
        are sentences; a cluster with neither offers its fragments, then its labels, then the rest. A dateline at the
        head of a document ("LONDON (AP) _") is left out of its first sentence.

        There may be at most `limit` sentences (None for any number). With `keep_all` every piece with a word is a
        candidate, whatever it is and wherever else it stands.

        Examples
        --------
        >>> Cluster.from_texts(["OSLO (AP) _ Snow fell."]).sentences()
        (Sentence('Snow fell.', document=0, position=1, start=12, end=22),)
        """
        return self.candidates(limit=limit, keep_all=keep_all).sentences

    def candidates(self, *, limit: int | None = MAX_SENTENCES, keep_all: bool = False) -> Candidates:
        """Return the candidate sentences, as `sentences` does, and what was set aside with the reason for each.

        Examples
        --------
        >>> found = Cluster.from_texts(["# Rain\\n\\nIt rained."]).candidates()
        >>> [(piece.text, piece.kind) for piece in found.set_aside]
        [('Rain', 'heading')]
        """
        from dpplearn.summarize.corpora.candidates import find_candidates

        key = limit, keep_all
        return self._latest.get(key, lambda: find_candidates(self, *key))
