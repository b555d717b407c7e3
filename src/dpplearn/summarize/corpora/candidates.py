"""Which sentences of a cluster a summary may be made of, and what was set aside, with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dpplearn._checks import check_int
from dpplearn.summarize.corpora.document import Document, Sentence, TooManySentencesError
from dpplearn.summarize.corpora.repeats import find_repeats
from dpplearn.summarize.text.blocks import RUNNING, Block
from dpplearn.summarize.text.characters import STOPS, has_word, one_line
from dpplearn.summarize.text.dates import dated_opening
from dpplearn.summarize.text.lines import is_closed
from dpplearn.summarize.text.newswire import dateline_end
from dpplearn.summarize.text.sentences import Piece, find_pieces
from dpplearn.summarize.text.standing import is_courtesy, is_sentence, may_state
from dpplearn.summarize.text.units import count_words
from dpplearn.summarize.text.words import word_lists

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster

Splitter: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]

# What is chosen from, best first; the next only where a document, or past TITLE the cluster, has nothing.
SENTENCE, TITLE, FRAGMENT, LABEL, REST = range(5)
LINES = 5  # the fewest lines without stops that a document of headlines has
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


class _Ranked(NamedTuple):
    """A piece on one line, its place, how good a candidate it is, and the code of the reason if it is none."""

    text: str
    document: int
    piece: Piece
    rank: int
    code: str


def find_candidates(
    cluster: Cluster,
    splitter: Splitter | None = None,
    limit: int | None = None,
    min_words: int = 1,
    keep_all: bool = False,
) -> Candidates:
    """Tell the sentences of a cluster that a summary may be made of from all other pieces of its documents.

    `min_words` is the fewest words of one; with `keep_all`, every piece with so many is a candidate, whatever it is.
    """
    check_int(min_words, "min_words")
    ranked: list[_Ranked] = []
    passed, documents = 0, cluster.documents
    for index, document in enumerate(documents):
        pieces: list[_Ranked] = []
        for piece in _pieces(document, splitter):
            text = one_line(document.text[piece.start : piece.end])
            rank, code = (SENTENCE, "") if keep_all else _rank(text, piece)
            if min_words > 1 and count_words(text) < min_words:  # after all that is not, in the same order
                rank, code = REST + 1 + rank, "too-short"
            pieces.append(_Ranked(text, index, piece, rank, code))
            passed += rank == SENTENCE
            if limit is not None and passed > limit:
                raise _too_many(cluster, index, limit)
        ranked += pieces if keep_all else _with_lines(_without_announcements(pieces))
    best = min((one.rank for one in ranked), default=REST)
    last = [best] * len(documents)
    for index, group in groupby(ranked, key=attrgetter("document")):
        own = min(one.rank for one in group)
        last[index] = own if own <= TITLE else best
    chosen = [one for one in ranked if one.rank <= last[one.document]]
    if limit is not None and len(chosen) > limit:
        raise _too_many(cluster, chosen[limit].document, limit)
    repeats = {} if keep_all else find_repeats(documents, [(one.document, one.piece) for one in chosen])
    return _sorted_out(documents, ranked, last, repeats)


def _rank(text: str, piece: Piece) -> tuple[int, str]:
    """How good a candidate a piece is, from SENTENCE to REST, and the code of the reason if it is none."""
    kind = piece.kind
    if kind in RUNNING:
        if is_courtesy(text):
            return FRAGMENT, "courtesy"
        if is_sentence(text, among=not piece.is_whole and is_closed(text)):
            return SENTENCE, ""
        return (FRAGMENT if _is_wordy(text) else REST), "no-sentence"
    if kind in ("heading", "caption", "byline"):
        return (TITLE if is_sentence(text) and not is_courtesy(text) else LABEL), "kind"
    return REST, "kind"


def _is_wordy(text: str) -> bool:
    """Whether most of a text is words, and more than two of them: the better sort of fragments."""
    return count_words(text) >= 3 and sum(map(str.isalpha, text)) > 0.7 * sum(not c.isspace() for c in text)


def _without_announcements(pieces: list[_Ranked]) -> list[_Ranked]:
    """Without sentences that only announce the list, table or code after them, and without items that go on where the
    one before ends, ("...; and", "a statement ...").
    """
    out = list(pieces)
    for i, one in enumerate(pieces):
        if one.rank != SENTENCE:
            continue
        if one.piece.kind == "item":
            before = pieces[i - 1].text if i and pieces[i - 1].piece.kind == "item" else ""
            if one.text[0].islower() and before.removesuffix(" and").removesuffix(" or").endswith((";", ",")):
                out[i] = one._replace(rank=FRAGMENT, code="no-sentence")
        elif one.text[-1] in ":：" and i + 1 < len(pieces) and pieces[i + 1].piece.kind in _LISTED:
            out[i] = one._replace(rank=FRAGMENT, code="announces")
    return out


def _with_lines(pieces: list[_Ranked]) -> list[_Ranked]:
    """Where a document is lines without stops, as a list of headlines is, and few of them are told for sentences, the
    others that may state something are candidates too: one in five is no choice.
    """
    found = sum(one.rank <= TITLE for one in pieces)
    lines = [not is_courtesy(one.text) for one in pieces]
    if (
        len(pieces) < LINES
        or 5 * found >= 2 * len(pieces)
        or any(one.piece.kind not in ("paragraph", "heading") for one in pieces)
        or any(line and is_closed(one.text) for one, line in zip(pieces, lines, strict=True))
    ):
        return pieces
    rank = TITLE if any(one.rank == TITLE for one in pieces) else SENTENCE
    return [
        one._replace(rank=min(rank, one.rank)) if line and may_state(one.text) else one
        for one, line in zip(pieces, lines, strict=True)
    ]


def _pieces(document: Document, splitter: Splitter | None) -> Iterator[Piece]:
    """The pieces of a document that have a word, without the dateline before its first running text."""
    text, dated = document.text, False
    ours = cut_clauses(text, find_pieces(text, document.blocks))
    for piece in ours if splitter is None else _split(document, splitter):
        start = piece.start
        if not dated and piece.kind in RUNNING:
            dated = True
            opening = text[start : piece.end]
            glued = dated_opening(opening)
            start += glued[1] if glued else dateline_end(opening)
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


def check_spans(spans: Iterable[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """Pairs of offsets that lie in the text and do not overlap, from a splitter that is not ours."""
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
        yield start, end
        before = end


def _sorted_out(
    documents: Sequence[Document], ranked: Iterable[_Ranked], last: Sequence[int], repeats: dict[int, tuple[str, int]]
) -> Candidates:
    """Sentences, numbered in their documents, and what is none or not the first of its kind."""
    sentences, set_aside, positions = list[Sentence](), list[SetAside](), [0] * len(documents)
    number = -1  # among the candidates
    title: str | None = None  # of the last section
    above: tuple[int, Block | None] = -1, None
    for text, index, (start, end, block, section), rank, code in ranked:
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


# A sentence of sixty words in a text with stops is one sentence. Where a text has no stop for hundreds of words, as
# what machines hear and some people write, it is cut where a clause with its own subject begins.
STOPLESS = 400  # characters for each stop, some eighty words, from which on a text has hardly any
_LONG_CLAUSE = 60  # words of a piece that is left whole
# Words after which a piece is cut before the word that follows: at a conjunction and a subject, at any conjunction or
# comma before what may begin a clause, at any of them.
_ENOUGH, _PLENTY, _TOO_MANY = 10, 16, 35
_LISTS = word_lists("sentence-words")
_CONTINUE = frozenset(["that", "which", "who", "whom", "whose", "what"])  # a clause that leans on the one before
_STOP = re.compile(f"[{re.escape(STOPS)}]")
_TOKEN = re.compile(r"\S+")
_EAST = re.compile(r"(?<=[^，、,;；：]{8})[，、,;；：]")  # scripts without spaces: at commas


def cut_clauses(text: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a document, the long ones cut into clauses if it has hardly any stops.

    Examples
    --------
    >>> text = "so we took the small road along the river because the bridge was closed " * 9
    >>> pieces = list(cut_clauses(text, find_pieces(text)))
    >>> len(pieces), text[pieces[1].start : pieces[1].end]
    (9, 'so we took the small road along the river because the bridge was closed')
    """
    few = len(text) // STOPLESS
    stopless = few > 0 and sum(text.count(stop) for stop in ".!?") < few and len(_STOP.findall(text)) < few
    for piece in pieces:
        begin = end = piece.start
        if stopless and piece.kind == "paragraph":
            for end, after in _clause_ends(text, piece):
                yield piece._replace(start=begin, end=end)
                begin = end = after
        if end < piece.end:
            yield piece._replace(start=begin) if begin > piece.start else piece


def _clause_ends(text: str, piece: Piece) -> Iterator[tuple[int, int]]:
    """Where a clause of a long piece ends, and where the next begins."""
    tokens = [match.span() for match in _TOKEN.finditer(text, piece.start, piece.end)]
    words = [text[start:end].lower() for start, end in tokens]
    if len(words) * 30 < piece.end - piece.start:  # hardly any spaces
        begin = piece.start
        commas = [match.end() for match in _EAST.finditer(text, piece.start, piece.end)]
        for comma in commas if 4 * len(commas) > _LONG_CLAUSE else ():
            if comma - begin >= 2 * _PLENTY and comma < piece.end:
                yield comma, comma
                begin = comma
        return
    n = 0
    for i in range(1, len(words) - _ENOUGH // 2 if len(words) > _LONG_CLAUSE else 0):
        n += 1
        joint = _joint(words, i)
        if (joint == 3 and n >= _ENOUGH) or (joint == 2 and n >= _PLENTY) or (joint and n >= _TOO_MANY):
            skipped = words[i] in _LISTS["mere joints"]  # "and" at the head of a sentence says nothing
            yield tokens[i - 1][1], tokens[i + skipped][0]
            n = 0


def _joint(words: list[str], i: int) -> int:
    """How well a clause could begin with word i: 3 a conjunction with a subject, 2 one with a phrase, 1 perhaps, 0."""
    comma = words[i - 1][-1] in ",;:،"
    word, after = words[i], words[i + 1]
    if word in _LISTS["joints"]:
        if after in _CONTINUE:
            return 0
        if after in _LISTS["subjects"] or after in _LISTS["clause heads"]:
            return 3
        return 2 if comma or after in _LISTS["phrase heads"] else 1
    if comma:
        return 3 if word in _LISTS["subjects"] else 2
    return 0
