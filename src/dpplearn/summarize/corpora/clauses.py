"""Clauses of a text without stops, such as what machines hear and some people write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dpplearn.summarize.text.sentences import Piece
from dpplearn.summarize.text.words import STOPS, word_lists

# A sentence of sixty words in a text with stops is one sentence. Where a text has no stop for hundreds of words, it is
# cut where a clause with its own subject begins.
STOPLESS = 400  # characters for each stop, some eighty words, from which on a text has hardly any
_LONG_CLAUSE = 60  # words of a piece that is left whole
# Words after which a piece is cut before the word that follows: at a conjunction and a subject, at any conjunction or
# comma before what may begin a clause, at any of them.
_ENOUGH, _PLENTY, _TOO_MANY = 10, 16, 35
_LISTS = word_lists("sentence-words")
_CONTINUE = frozenset(["that", "which", "who", "whom", "whose", "what"])  # a clause that leans on the one before
_STOP = re.compile(f"[{re.escape(STOPS)}]")
_SPACED_TOKEN = re.compile(r"\S+")
_EAST = re.compile(r"(?<=[^，、,;；：]{8})[，、,;；：]")  # scripts without spaces: at commas


def cut_clauses(text: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a document, the long ones cut into clauses if it has hardly any stops.

    Examples
    --------
    >>> from dpplearn.summarize.text.sentences import find_pieces
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
    tokens = [match.span() for match in _SPACED_TOKEN.finditer(text, piece.start, piece.end)]
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
    comma, word, after = words[i - 1][-1] in ",;:،", words[i], words[i + 1]
    if word not in _LISTS["joints"]:
        return (3 if word in _LISTS["subjects"] else 2) if comma else 0
    if after in _CONTINUE:
        return 0
    if after in _LISTS["subjects"] or after in _LISTS["clause heads"]:
        return 3
    return 2 if comma or after in _LISTS["phrase heads"] else 1
