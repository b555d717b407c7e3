"""Which sentences of a cluster a summary may be made of, and what was set aside, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dpplearn._checks import check_int
from dpplearn.summarize.corpora.document import Document, Sentence, TooManySentencesError
from dpplearn.summarize.corpora.repeats import find_repeats
from dpplearn.summarize.text.blocks import RUNNING, Block
from dpplearn.summarize.text.characters import has_word, one_line
from dpplearn.summarize.text.clauses import cut_clauses
from dpplearn.summarize.text.courtesy import is_courtesy
from dpplearn.summarize.text.glance import LINE, PLAIN, glance
from dpplearn.summarize.text.lines import is_closed
from dpplearn.summarize.text.newswire import dateline_end
from dpplearn.summarize.text.sentences import Piece, find_pieces
from dpplearn.summarize.text.standing import is_standing, may_state
from dpplearn.summarize.text.units import count_words

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster

Splitter: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]

# What is chosen from, best first; the next only where a document, or past `LAST_OF_DOCUMENT` the cluster, has nothing.
SENTENCE, TITLE, FRAGMENT, LABEL, REST = range(5)
LAST_OF_DOCUMENT = TITLE
TOGETHER = 4096  # pieces that are looked at together
LINES = 5  # the fewest lines without stops that a document of headlines has
_LABELS = ("heading", "caption", "byline")
_LISTED = ("item", "row", "code")  # what a sentence before it may announce


class SetAside(NamedTuple):
    """A piece of a document that is no candidate: where it stands, the kind of its block, and why.

    `code` is "kind" (its block is no running text), "no-sentence", "courtesy" (a greeting, thanks), "announces" (a
    list, table or code after it), "too-short", "repeated" (its paragraph stands in an earlier document, number
    `copy_of`, or it is quoted from the same one), or "boilerplate" (it stands in most documents).
    """

    text: str
    document: int
    start: int
    end: int
    kind: str
    code: str
    copy_of: int | None = None


@dataclass(frozen=True)
class Candidates:
    """The sentences to choose from, in order of documents, and all other pieces that have a word."""

    sentences: tuple[Sentence, ...]
    set_aside: tuple[SetAside, ...]


@dataclass(frozen=True)
class Wanted:
    """Which pieces are candidates.

    Parameters
    ----------
    min_words : int
        The fewest words of one.
    keep_all : bool
        Every piece that has so many words, whatever it is.
    headings : bool
        Headings, and lines that only say who wrote or when, too.
    """

    min_words: int = 1
    keep_all: bool = False
    headings: bool = False

    def __post_init__(self) -> None:
        check_int(self.min_words, "min_words")

    def rank(self, text: str, kind: str, among: bool = False) -> tuple[int, str]:
        """How good a candidate a piece is, from `SENTENCE` to `REST`, and the code of the reason if it is none.

        `among` says that it is one of the sentences of its block. What is too short comes after all that is not, in the
        same order.
        """
        if self.min_words > 1 and not _has_words(text, self.min_words):
            return REST + 1 + self._rank(text, kind, among)[0], "too-short"
        return self._rank(text, kind, among)

    def _rank(self, text: str, kind: str, among: bool) -> tuple[int, str]:
        if self.keep_all or (self.headings and kind in ("heading", "byline")):
            return SENTENCE, ""
        if kind in RUNNING:
            if is_courtesy(text):
                return FRAGMENT, "courtesy"
            if is_standing(text, among):
                return SENTENCE, ""
            return (FRAGMENT if is_wordy(text) else REST), "no-sentence"
        if kind in _LABELS:
            return (TITLE if is_standing(text) and not is_courtesy(text) else LABEL), "kind"
        return REST, "kind"


def is_wordy(text: str) -> bool:
    """Whether most of a text is words, and more than two of them: the better sort of fragments."""
    return _has_words(text, 3) and sum(map(str.isalpha, text)) > 0.7 * sum(not c.isspace() for c in text)


def _has_words(text: str, least: int) -> bool:
    """Whether there are so many words: those between spaces, unless they have none between them."""
    return len(text.split(None, least - 1)) >= least or count_words(text) >= least


class _Found(NamedTuple):
    """A piece on one line, its place, and how good a candidate it is."""

    text: str
    document: int
    piece: Piece
    rank: int
    code: str


def find_candidates(
    cluster: Cluster, wanted: Wanted, splitter: Splitter | None = None, limit: int | None = None
) -> Candidates:
    """Tell the sentences of a cluster that a summary may be made of from all other pieces of its documents."""
    found: list[_Found] = []
    passed, documents, texts = 0, cluster.documents, [document.text for document in cluster.documents]
    pieces = ((index, piece) for index, document in enumerate(documents) for piece in _pieces(document, splitter))
    while some := list(islice(pieces, TOGETHER)):
        looks = glance(texts, [(index, piece.start, piece.end) for index, piece in some])
        for (index, piece), look in zip(some, looks, strict=True):
            text = texts[index][piece.start : piece.end]
            if not look & LINE:
                text = one_line(text)
            if look & PLAIN and wanted.min_words == 1 and piece.block.kind in RUNNING:
                rank, code = SENTENCE, ""
            else:
                among = not piece.is_whole and is_closed(text) and _has_words(text, 3)
                rank, code = wanted.rank(text, piece.kind, among)
            found.append(_Found(text, index, piece, rank, code))
            passed += rank == SENTENCE
            if limit is not None and passed > limit:
                raise _too_many(cluster, index, limit)
    if not wanted.keep_all:
        if any(one.piece.kind in _LISTED for one in found):
            found = [_without_lead(*pair) for pair in pairwise([None, *found])]
            found = [_without_promise(*pair) for pair in pairwise([*found, None])]
        found = _with_lines(found)
    last = _last_ranks(found, len(cluster.documents))
    chosen = [one for one in found if one.rank <= last[one.document]]
    if limit is not None and len(chosen) > limit:
        raise _too_many(cluster, chosen[limit].document, limit)
    repeats = {} if wanted.keep_all else find_repeats(cluster.documents, [(one.document, one.piece) for one in chosen])
    return _sorted_out(cluster.documents, found, last, repeats)


def _without_promise(one: _Found | None, after: _Found | None) -> _Found:
    """A sentence that only announces the list, table or code after it is no candidate."""
    assert one is not None
    announced = after is not None and after.document == one.document and after.piece.kind in _LISTED
    if one.rank == SENTENCE and announced and one.piece.kind != "item" and one.text[-1] in ":：":
        return one._replace(rank=FRAGMENT, code="announces")
    return one


def _without_lead(before: _Found | None, one: _Found | None) -> _Found:
    """An item that goes on where the one before it ends, ("...; and", "a statement ..."), is no sentence of its own."""
    assert one is not None
    if one.rank == SENTENCE and one.piece.kind == "item" and one.text[0].islower() and before is not None:
        listed = before.document == one.document and before.piece.kind == "item"
        if listed and before.text.removesuffix(" and").removesuffix(" or").endswith((";", ",")):
            return one._replace(rank=FRAGMENT, code="no-sentence")
    return one


def _with_lines(found: list[_Found]) -> list[_Found]:
    """Where a document is lines without stops, as a list of headlines is, and few of them are told for sentences, the
    others that may state something are candidates too: one in five is no choice.
    """
    out: list[_Found] = []
    for _, group in groupby(found, key=attrgetter("document")):
        pieces = list(group)
        lines = [one for one in pieces if one.piece.kind in ("paragraph", "heading")]
        stated = sum(one.rank <= TITLE for one in lines)
        few = len(lines) == len(pieces) >= LINES and 5 * stated < 2 * len(lines)
        if few and not any(is_closed(one.text) for one in lines if not is_courtesy(one.text)):
            rank = TITLE if any(one.rank == TITLE for one in lines) else SENTENCE
            pieces = [
                one._replace(rank=min(rank, one.rank)) if may_state(one.text) and not is_courtesy(one.text) else one
                for one in pieces
            ]
        out += pieces
    return out


def _pieces(document: Document, splitter: Splitter | None) -> Iterator[Piece]:
    """The pieces of a document that have a word, without the dateline before its first running text."""
    text, dated = document.text, False
    ours = cut_clauses(text, find_pieces(text, document.blocks))
    pieces = ours if splitter is None else _split(document, splitter)
    for piece in pieces:
        start = piece.start
        if not dated and piece.kind in RUNNING:
            dated = True
            start += dateline_end(text[start : piece.end])
            piece = piece._replace(start=start)
        if text[start : start + 1].isalnum() or has_word(text, start, piece.end):
            yield piece


def _split(document: Document, splitter: Splitter) -> Iterator[Piece]:
    """The pieces of a splitter that is not ours, each in the block that its beginning is in, if blocks are known."""
    blocks = iter(document.blocks or ())
    block, section = next(blocks, None), None
    for start, end in check_spans(splitter(document.text), document.text):
        while block is not None and block.end <= start:
            section = block if block.kind == "heading" else section
            block = next(blocks, None)
        inside = block is not None and block.start < end
        yield Piece(start, end, block if inside and block is not None else Block(start, end), section)


def _last_ranks(found: Iterable[_Found], n: int) -> list[int]:
    """The last rank that is a candidate in each document: the first that it has, or else that the cluster has."""
    own = [2 * REST + 2] * n
    for one in found:
        own[one.document] = min(own[one.document], one.rank)
    best = min(own, default=REST)
    return [rank if rank <= LAST_OF_DOCUMENT else best for rank in own]


def _sorted_out(
    documents: Sequence[Document], found: Iterable[_Found], last: Sequence[int], repeats: dict[int, tuple[str, int]]
) -> Candidates:
    """Sentences, numbered in their documents, and what is none or not the first of its kind."""
    sentences: list[Sentence] = []
    set_aside: list[SetAside] = []
    positions = [0] * len(documents)
    number = -1  # among the candidates
    title: str | None = None  # of the last section
    above: tuple[int, Block | None] = -1, None
    for text, index, (start, end, block, section), rank, code in found:
        copy_of = None
        if rank <= last[index]:
            number += 1
            code, copy_of = repeats.get(number, ("", None))
            positions[index] += code != "boilerplate"
            if not code:
                if above != (index, section):
                    above = index, section
                    title = None if section is None else one_line(documents[index].text[section.start : section.end])
                sentences.append(Sentence._of(text, index, positions[index], start, end, block.kind, title))
                continue
        set_aside.append(SetAside(text, index, start, end, block.kind, code, copy_of))
    return Candidates(tuple(sentences), tuple(set_aside))


def _too_many(cluster: Cluster, index: int, limit: int) -> TooManySentencesError:
    return TooManySentencesError(
        f"{cluster.name} must have at most {limit:,} sentences, but has more (document {cluster.documents[index].id}, "
        f"number {index + 1} of {len(cluster.documents)}, passes the limit). Give fewer or shorter documents."
    )


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
