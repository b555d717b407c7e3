"""Documents, the sentences in them, and clusters of documents on one topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypeAlias

from dpplearn.summarize.text.characters import has_word, one_line, without_surrogates
from dpplearn.summarize.text.newswire import dateline_end
from dpplearn.summarize.text.sentences import Piece, find_pieces

Splitter: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]

MAX_SENTENCES = 1_000_000  # in one cluster; so many take minutes and gigabytes


@dataclass(frozen=True)
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

    def __post_init__(self) -> None:
        for name in ("id", "text", "title", "date", "role"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("id", "text")):
                raise TypeError(f"{name} of a Document must be a string, found {type(value).__name__}.")
            if value is not None:
                object.__setattr__(self, name, without_surrogates(value))


@dataclass(frozen=True)
class Sentence:
    """A sentence and where it stands: `cluster.documents[document].text[start:end]` covers it.

    Parameters
    ----------
    text : str
        On one line: white space is collapsed and control characters are left out, so this is what is printed,
        while the offsets say what to highlight.
    document : int
        Index of its document in `cluster.documents`, from 0.
    position : int
        Position among the sentences of its document, from 1 (section 7.2).
    start, end : int
        Character offsets into the document's text.
    """

    text: str
    document: int
    position: int
    start: int
    end: int


@dataclass(frozen=True)
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
        for field in ("documents", "references", "reference_ids"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        if self.reference_ids and len(self.reference_ids) != len(self.references):
            raise ValueError(
                f"{self.name} must have a name in reference_ids for each of its {len(self.references)} references, "
                f"found {len(self.reference_ids)}."
            )
        seen: set[str] = set()
        for document in self.documents:
            if not isinstance(document, Document):
                raise TypeError(
                    f"A Cluster holds Document objects, found {type(document).__name__}. "
                    "For strings, use Cluster.from_texts."
                )
            if document.id in seen:
                raise ValueError(
                    f"The id {document.id!r} occurs twice among the documents of {self.name}. "
                    "Ids of documents must differ; rename one."
                )
            seen.add(document.id)
        for reference in self.references:
            if not isinstance(reference, str):
                raise TypeError(f"A reference must be a string, found {type(reference).__name__}.")

    @property
    def name(self) -> str:
        """What messages call it."""
        return "the cluster" if self.id is None else f"cluster {self.id}"

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        titles: Iterable[str | None] | None = None,
        references: Sequence[str] = (),
        id: str | None = None,
        language: str | None = None,
    ) -> Cluster:
        """Make a cluster of strings; its documents are called "1", "2", ...

        Examples
        --------
        >>> Cluster.from_texts(["It rained.", "It poured."]).documents[1]
        Document(id='2', text='It poured.', title=None, date=None, role=None)
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of strings, one per document, found one string. Pass [text].")
        texts = list(texts)
        if not texts:
            raise ValueError("There must be at least one text to make a cluster of, but the list is empty.")
        names = [None] * len(texts) if titles is None else list(titles)
        if len(names) != len(texts):
            raise ValueError(f"There must be as many titles as texts ({len(texts)}), found {len(names)}.")
        documents = [Document(str(i), text, title) for i, (text, title) in enumerate(zip(texts, names, strict=True), 1)]
        return cls(documents, references, id, language)

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

        Text, Markdown, HTML and newswire SGML files are told apart by name and content; ids are file names.
        Files of other kinds in a folder, and files without a word, are named in a `SkippedWarning`; hidden files and
        those called README are no matter.
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
        from dpplearn.summarize.corpora.cluster_folders import read_example

        return read_example()

    def sentences(
        self, splitter: Splitter | None = None, *, headings: bool = False, limit: int | None = MAX_SENTENCES
    ) -> tuple[Sentence, ...]:
        """Return the candidate sentences, in order of documents.

        A dateline at the head of a document ("LONDON (AP) _") is left out of its first sentence, and pieces
        without a letter or digit are no sentences.

        Parameters
        ----------
        splitter : callable, optional
            Takes a text and returns pairs (start, end) of character offsets, in order; by default
            `split_sentences`.
        headings : bool
            Whether headings and lines that hold only a date are candidates too. They always are in a document
            that has nothing else, or where the splitter is not ours.
        limit : int, optional
            The most sentences there may be; None for any number.

        Examples
        --------
        >>> Cluster.from_texts(["OSLO (AP) _ Snow fell."]).sentences()
        (Sentence(text='Snow fell.', document=0, position=1, start=12, end=22),)
        """
        found: list[Sentence] = []
        for index, document in enumerate(self.documents):
            text, first = document.text, dateline_end(document.text)
            if splitter is None:
                pieces = find_pieces(text)
            else:
                pieces = (Piece(start, end, heading=False) for start, end in check_spans(splitter(text), text))
            titles: list[tuple[int, int]] = []
            spans: list[tuple[int, int]] = []
            for start, end, heading in pieces:
                if start < first or splitter is not None:  # else it has a word
                    start = max(start, first)
                    if start >= end or not has_word(text, start, end):
                        continue
                kept = titles if heading and not headings else spans
                kept.append((start, end))
                if limit is not None and len(found) + len(kept) > limit:
                    raise ValueError(
                        f"{self.name} must have at most {limit:,} sentences, but has more (document {document.id}, "
                        f"number {index + 1} of {len(self.documents)}, passes the limit). "
                        "Give fewer or shorter documents."
                    )
            found += [
                Sentence(one_line(text[start:end]), index, position, start, end)
                for position, (start, end) in enumerate(spans or titles, 1)
            ]
        return tuple(found)


def check_spans(spans: Iterable[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Pairs of offsets that lie in the text and do not overlap, from a splitter that is not ours."""
    checked: list[tuple[int, int]] = []
    before = 0
    for span in spans:
        try:
            start, end = (int(offset) for offset in span)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"splitter must return pairs (start, end) of character offsets, found {span!r}. "
                "For a splitter that returns strings, look each one up in the text."
            ) from error
        if not before <= start <= end <= len(text):
            raise ValueError(
                f"splitter must return offsets in order and within the text of {len(text)} characters, "
                f"but ({start}, {end}) follows {before}."
            )
        checked.append((start, end))
        before = end
    return checked
