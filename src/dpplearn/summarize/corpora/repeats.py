"""What the documents of a cluster have word for word in common: agency copy, and what every page of a site says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.text.sentences import Piece

_ALPHANUMERIC = re.compile(r"[^\W_]+")
_LEAST = 30  # letters and spaces of a paragraph, below which two writers may well have written the same
_WHOSE = 80  # characters before a quotation that say whose it is
_SAME = 3  # the fewest rows of words that tell a quotation
_FAMILIES = 4  # the fewest different documents of which "most" says anything


def find_repeats(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]]) -> dict[int, tuple[str, int]]:
    """Tell which pieces, of the documents so numbered and in their order, repeat others.

    A paragraph of an earlier document, but for case, punctuation and white space, is "repeated"; so is a sentence in a
    quotation that stands elsewhere in its document, perhaps after a few words that say whose it is. A sentence that
    stands in more than half of at least `_FAMILIES` documents is "boilerplate", with the first that has it. There,
    documents that are mostly the same as an earlier one (half of the words of either) count as one: a story that most
    papers took from an agency is no boilerplate.

    Returns
    -------
    dict from piece number to (code, number of the first document)
    """
    repeats = find_quoted(documents, pieces) if any(piece.kind == "quotation" for _, piece in pieces) else {}
    if len(documents) < 2 or not pieces:
        return repeats
    said, first = [normal(documents[i].text[piece.start : piece.end]) for i, piece in pieces], dict[str, int]()
    paragraph, key = None, ""
    for number, (i, piece) in enumerate(pieces):
        start, end = min(piece.start, piece.block.start), max(piece.end, piece.block.end)
        if paragraph != (i, start, end):
            paragraph = i, start, end
            key = said[number] if piece.is_whole else normal(documents[i].text[start:end])
        if first.setdefault(key, i) != i and len(key) >= _LEAST:
            repeats[number] = "repeated", first[key]
    families = find_families(len(documents), pieces, said)
    holders = defaultdict[str, dict[int, int]](dict)  # of each sentence the families, and the first document of each
    for (i, _), text in zip(pieces, said, strict=True):
        holders[text].setdefault(families[i], i)
    n = len({families[i] for i, _ in pieces})
    common = {text: min(where.values()) for text, where in holders.items() if 2 * len(where) > n >= _FAMILIES}
    if len(common) < len(holders):  # else nothing would be left
        repeats |= {number: ("boilerplate", common[text]) for number, text in enumerate(said) if text in common}
    return repeats


def find_quoted(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]]) -> dict[int, tuple[str, int]]:
    """Pieces of quotations that are quoted from their own document: nearly all their rows of words stand there."""
    own: dict[int, set[tuple[str, ...]]] = {i: set() for i, piece in pieces if piece.kind == "quotation"}
    quoted = list[tuple[int, int, list[tuple[str, ...]]]]()
    for number, (i, piece) in enumerate(pieces):
        text = documents[i].text[piece.start : piece.end] if i in own else ""
        if piece.kind == "quotation":  # "Ann wrote: ..." says whose it is
            quoted.append((number, i, rows_of_words(text[text.find(":", 0, _WHOSE) + 1 :])))
        elif text:
            own[i].update(rows_of_words(text))
    return {
        number: ("repeated", i)
        for number, i, rows in quoted
        if sum(row in own[i] for row in rows) >= max(_SAME, 0.8 * len(rows))
    }


def rows_of_words(text: str) -> list[tuple[str, ...]]:
    """Every five words in a row, or every ten characters where words have no spaces between them."""
    text = normal(text)
    words, size = (text.split(), 5) if text.count(" ") * 12 > len(text) else (list(text), 10)
    return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]


def normal(text: str) -> str:
    """The words of a text, in lower case.

    Examples
    --------
    >>> normal("Rain --  in OSLO!") == normal("rain in Oslo")
    True
    """
    return " ".join(_ALPHANUMERIC.findall(text.lower()))


def find_families(n: int, pieces: Iterable[tuple[int, Piece]], said: Sequence[str]) -> list[int]:
    """For each document the first that it is mostly the same as, by the characters of the sentences they share.

    A document is compared with the first that has its sentence, so that the time is linear in their number.
    """
    first, shared, size = dict[str, int](), Counter[tuple[int, int]](), Counter[int]()
    for (owner, _), text in zip(pieces, said, strict=True):
        size[owner] += len(text)
        holder = first.setdefault(text, owner)
        if holder != owner:
            shared[holder, owner] += len(text)
    families = list(range(n))
    for (holder, owner), length in sorted(shared.items()):
        if 2 * length >= min(size[holder], size[owner]):
            families[owner] = families[holder]
    return families
