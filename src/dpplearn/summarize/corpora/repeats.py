"""What the documents of a cluster have word for word in common: agency copy, and what every page of a site says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.summarize.corpora.document import Document
from dpplearn.summarize.text.glance import codes_of
from dpplearn.summarize.text.sentences import Piece

_WORD = re.compile(r"[^\W_]+")
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_HEAD = 20  # letters by which texts in other scripts are told apart
_FIRST = 60  # letters that are compared before words are
_LEAST = 30  # letters and spaces of a paragraph, below which two writers may well have written the same
_WHOSE = 80  # characters before a quotation that say whose it is
_SAME = 3  # the fewest rows of words that tell one
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
    found = _quoted(documents, pieces)
    if len(documents) < 2 or not pieces:
        return found
    rows = [(document, *piece[:2], *piece.block[:2]) for document, piece in pieces]
    which, *spans = np.array(rows, np.int64).T
    texts = [document.text for document in documents]
    codes, shift = codes_of(texts, which, np.minimum(spans[0], spans[2]), np.maximum(spans[1], spans[3]))
    first_of: dict[str, int] = {}
    for number, key in _shared(texts, codes, which, shift, *spans[2:]).items():
        first = first_of.setdefault(key, pieces[number][0])
        if first != pieces[number][0] and len(key) >= _LEAST:
            found[number] = "repeated", first
    keys = _shared(texts, codes, which, shift, *spans[:2])
    if not keys:
        return found
    family = _families(documents, pieces, keys)
    holders: dict[str, set[int]] = {}
    for number, key in keys.items():
        holders.setdefault(key, set()).add(family[pieces[number][0]])
    n = len({family[document] for document, _ in pieces})
    if n >= _FAMILIES:
        common = {key for key, where in holders.items() if 2 * len(where) > n}
        if len(common) < len(holders) or len(keys) < len(pieces):  # else nothing would be left
            first_of = {}
            for number, key in keys.items():
                if key in common:
                    found[number] = "boilerplate", first_of.setdefault(key, pieces[number][0])
    return found


def _quoted(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]]) -> dict[int, tuple[str, int]]:
    """Pieces of quotations that are quoted from their own document: nearly all their rows of words stand there."""
    quoting = {document for document, piece in pieces if piece.kind == "quotation"}
    own: dict[int, set[tuple[str, ...]]] = {document: set() for document in quoting}
    quoted: list[tuple[int, int, str]] = []
    for number, (document, piece) in enumerate(pieces):
        if document in quoting:
            text = documents[document].text[piece.start : piece.end]
            if piece.kind == "quotation":
                quoted.append((number, document, text))
            else:
                own[document].update(_rows(text))
    found: dict[int, tuple[str, int]] = {}
    for number, document, text in quoted:
        _, colon, rest = text.partition(":")
        for said in (text, rest) if len(text) - len(rest) < _WHOSE and colon else (text,):
            same = [row in own[document] for row in _rows(said)]
            if sum(same) >= max(_SAME, 0.8 * len(same)):
                found[number] = "repeated", document
    return found


def _rows(text: str) -> list[tuple[str, ...]]:
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
    return " ".join(_WORD.findall(text.lower()))


def _shared(
    texts: Sequence[str], codes: Any, which: IntArray, shift: IntArray, starts: IntArray, ends: IntArray
) -> dict[int, str]:
    """The words of those spans whose letters stand in two texts, by number: no others can be the same."""
    from dpplearn.summarize.text._look_loops import letter_keys

    new = np.append(True, (np.diff(starts) != 0) | (np.diff(which) != 0))  # one for all sentences of a paragraph
    keys = letter_keys(codes, (starts + shift)[new], (ends + shift)[new], _FIRST)
    distinct = np.column_stack([which, starts, ends])[new]
    letters = _letters(texts, distinct, keys)
    holder: dict[Hashable, int] = {}
    several = {
        found
        for document, found in zip(distinct[:, 0].tolist(), letters, strict=True)
        if holder.setdefault(found, document) != document
    }
    if not several:
        return {}
    words = [
        normal(texts[i][start:end]) if found in several else None
        for (i, start, end), found in zip(distinct.tolist(), letters, strict=True)
    ]
    every = ((number, words[k]) for number, k in enumerate((np.cumsum(new) - 1).tolist()))
    return {number: said for number, said in every if said is not None}


def _letters(texts: Sequence[str], spans: IntArray, found: IntArray) -> list[Hashable]:
    """For each span what is the same for the same words, and for hardly any others, in a tenth of their time.

    It is made of the first ASCII letters and figures, as found; of a text that has others, the first of all, too.
    """
    from dpplearn.summarize.text._look_loops import letter_keys

    kinds: list[Hashable] = found.tolist()
    others = np.flatnonzero(found == -1)
    if not others.size:
        return kinds
    lower = [texts[i][start:end].lower() for i, start, end in spans[others].tolist()]
    plain = [one.encode("ascii", "ignore").decode() for one in lower]
    ends = np.cumsum([0, *map(len, plain)])
    keys = letter_keys(np.frombuffer("".join(plain).encode("utf-32-le"), np.uint32), ends[:-1], ends[1:], _FIRST)
    for i, one, key in zip(others.tolist(), lower, keys.tolist(), strict=True):
        head = "".join(_WORD.findall(one[: 3 * _HEAD]))
        if len(head) < _HEAD:
            head = "".join(_WORD.findall(one))
        kinds[i] = key if head[:_HEAD].isascii() else (key, head[:_HEAD])
    return kinds


def _families(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]], keys: Mapping[int, str]) -> list[int]:
    """For each document the first that it is mostly the same as, by the characters of the sentences they share.

    A document is compared with the first that has its sentence, so that the time is linear in their number.
    """
    first: dict[str, int] = {}
    shared: Counter[tuple[int, int]] = Counter()
    for number, key in keys.items():
        owner = pieces[number][0]
        holder = first.setdefault(key, owner)
        if holder != owner:
            shared[holder, owner] += len(key)
    least: Counter[int] = Counter()  # of the characters, letters and figures of ASCII
    sharing = set(chain.from_iterable(shared))
    for owner, (start, end, _, _) in pieces:
        if owner in sharing:
            least[owner] += len(documents[owner].text[start:end].encode("ascii", "ignore").translate(None, _SIGNS))
    near = {pair: length for pair, length in shared.items() if 2 * length >= min(least[one] for one in pair)}
    sharing = set(chain.from_iterable(near))
    size: Counter[int] = Counter()
    for owner, (start, end, _, _) in pieces:
        if owner in sharing:
            size[owner] += len(normal(documents[owner].text[start:end]))
    family = list(range(len(documents)))
    for (holder, owner), length in sorted(near.items()):
        if 2 * length >= min(size[holder], size[owner]):
            family[owner] = family[holder]
    return family
