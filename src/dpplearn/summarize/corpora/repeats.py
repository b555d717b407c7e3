"""What the documents of a cluster have word for word in common: agency copy, and what every page of a site says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from dpplearn.summarize.corpora.document import Document
from dpplearn.summarize.text.sentences import Piece

_NO_WORD = re.compile(r"[\W_]+")
_LEAST = 30  # letters and spaces of a paragraph, below which two writers may well have written the same
_FAMILIES = 4  # the fewest different documents of which "most" says anything


def find_repeats(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]]) -> dict[int, tuple[str, int]]:
    """Tell which pieces, of the documents so numbered and in their order, repeat others.

    A paragraph of an earlier document, but for case, punctuation and white space, is "repeated". A sentence that stands
    in more than half of at least `_FAMILIES` documents is "boilerplate", with the first that has it. There, documents
    that are mostly the same as an earlier one (half of the words of either) count as one: a story that most papers took
    from an agency is no boilerplate.

    Returns
    -------
    dict from piece number to (code, number of the first document)
    """
    if len(documents) < 2:
        return {}
    found: dict[int, tuple[str, int]] = {}
    first_block: dict[str, int] = {}
    keys: list[str] = []
    block_key, block_of = "", (-1, -1)
    for number, (document, piece) in enumerate(pieces):
        text = documents[document].text
        if (document, piece.block.start) != block_of:
            block_of = document, piece.block.start
            block_key = normal(text[piece.block.start : piece.block.end])
        first = first_block.setdefault(block_key, document)
        if first != document and len(block_key) >= _LEAST:
            found[number] = "repeated", first
        keys.append(normal(text[piece.start : piece.end]))
    family = _families(keys, [document for document, _ in pieces], len(documents))
    holders: dict[str, set[int]] = {}
    for key, (document, _) in zip(keys, pieces, strict=True):
        holders.setdefault(key, set()).add(family[document])
    n = len({family[document] for document, _ in pieces})
    if n >= _FAMILIES:
        common = {key for key, where in holders.items() if 2 * len(where) > n}
        if len(common) < len(holders):  # else nothing would be left
            first_of: dict[str, int] = {}
            for number, (key, (document, _)) in enumerate(zip(keys, pieces, strict=True)):
                if key in common:
                    found[number] = "boilerplate", first_of.setdefault(key, document)
    return found


def normal(text: str) -> str:
    """The words of a text, in lower case.

    Examples
    --------
    >>> normal("Rain --  in OSLO!") == normal("rain in Oslo")
    True
    """
    return _NO_WORD.sub(" ", text.lower()).strip()


def _families(keys: Sequence[str], owners: Sequence[int], n: int) -> list[int]:
    """For each document the first that it is mostly the same as, by the characters of the sentences they share.

    A document is compared with the first that has its sentence, so that the time is linear in their number.
    """
    first: dict[str, int] = {}
    size: Counter[int] = Counter()
    shared: Counter[tuple[int, int]] = Counter()
    for key, owner in zip(keys, owners, strict=True):
        size[owner] += len(key)
        holder = first.setdefault(key, owner)
        if holder != owner:
            shared[holder, owner] += len(key)
    family = list(range(n))
    for (holder, owner), length in sorted(shared.items()):
        if 2 * length >= min(size[holder], size[owner]):
            family[owner] = family[holder]
    return family
