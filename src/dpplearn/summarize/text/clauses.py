"""Clauses of a text that has hardly any stops, so that something shorter than the whole can be chosen.

A sentence of sixty words in a text with stops is one sentence. Where a text has no stop for hundreds of words, as
what machines hear and some people write, it is cut where a clause with its own subject begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from dpplearn.summarize.text.characters import STOPS
from dpplearn.summarize.text.sentences import Piece
from dpplearn.summarize.text.standing import listed
from dpplearn.summarize.text.word_lists import word_set

LONGEST = 60  # words of a piece that is left whole
STOPLESS = 400  # characters for each stop, some eighty words, from which on a text has hardly any
# Words after which a piece is cut before the word that follows: at a conjunction and a subject, at any conjunction or
# comma before what may begin a clause, at any of them.
ENOUGH, PLENTY, TOO_MANY = 10, 16, 35
_CONTINUE = word_set("that which who whom whose what")  # a clause that leans on the one before
_STOP = re.compile(f"[{re.escape(STOPS)}]")
_TOKEN = re.compile(r"\S+")
_EAST = re.compile(r"(?<=[^，、,;；：]{8})[，、,;；：]")  # scripts without spaces: at commas


def cut_clauses(text: str, pieces: Iterable[Piece]) -> Iterable[Piece]:
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
    stopless = sum(1 for _ in islice(_STOP.finditer(text), few)) < few
    return chain.from_iterable(_cut(text, piece) for piece in pieces) if stopless else pieces


def _count(text: str) -> int:
    return max(len(text.split()), len(_EAST.findall(text)) * 4)


def _cut(text: str, piece: Piece) -> Iterator[Piece]:
    if piece.kind != "paragraph" or _count(text[piece.start : piece.end]) <= LONGEST:
        yield piece
        return
    begin = end = piece.start
    for start, stop in _ends(text, piece):
        yield piece._replace(start=begin, end=stop)
        begin, end = start, stop
    if end < piece.end:
        yield piece._replace(start=begin)


def _ends(text: str, piece: Piece) -> Iterator[tuple[int, int]]:
    """Where the next clause begins, and where the one before ended."""
    tokens = [match.span() for match in _TOKEN.finditer(text, piece.start, piece.end)]
    words = [text[start:end].lower() for start, end in tokens]
    if len(words) * 30 < piece.end - piece.start:  # hardly any spaces
        yield from _eastern_ends(text, piece)
        return
    n = 0
    for i in range(1, len(words) - ENOUGH // 2):
        n += 1
        joint = _joint(words, i)
        if (joint == 3 and n >= ENOUGH) or (joint == 2 and n >= PLENTY) or (joint and n >= TOO_MANY):
            skipped = words[i] in listed("mere joints")  # "and" at the head of a sentence says nothing
            yield tokens[i + skipped][0], tokens[i - 1][1]
            n = 0


def _joint(words: list[str], i: int) -> int:
    """How well a clause could begin with word i: 3 a conjunction with a subject, 2 one with a phrase, 1 perhaps, 0."""
    comma = words[i - 1][-1] in ",;:،"
    word, after = words[i], words[i + 1]
    if word in listed("joints"):
        if after in _CONTINUE:
            return 0
        if after in listed("subjects") or after in listed("clause heads"):
            return 3
        return 2 if comma or after in listed("phrase heads") else 1
    if comma:
        return 3 if word in listed("subjects") else 2
    return 0


def _eastern_ends(text: str, piece: Piece) -> Iterator[tuple[int, int]]:
    begin = piece.start
    for match in _EAST.finditer(text, piece.start, piece.end):
        if match.end() - begin >= 2 * PLENTY and match.end() < piece.end:
            yield match.end(), match.end()
            begin = match.end()
