"""What the documents of a cluster have word for word in common: agency copy, and what every page of a site says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.text.sentences import Piece

Reason = tuple[str, int | None]  # the code of why a piece is set aside, and the number of the document that it repeats

_ALPHANUMERIC = re.compile(r"[^\W_]+")
_LEAST = 30  # letters and spaces of a paragraph, below which two writers may well have written the same
_WHOSE = 80  # characters before a quotation that may say whose it is: "Ann wrote: ..."
_HEAD = 40  # characters by which a quotation is compared with the sentences of its document
_FAMILIES = 4  # the fewest different documents of which "most" says anything


def find_repeats(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]]) -> dict[int, Reason]:
    """Find the pieces that repeat others. A piece comes with the number of its document, and documents are in order.

    A paragraph of an earlier document, but for case, punctuation and white space, is "repeated"; so is a quotation
    that begins like another sentence of its document. A sentence that stands in more than half of at least
    `_FAMILIES` documents is "boilerplate", with the first that has it. There, documents that are mostly the same count
    as one: a story that most papers took from an agency is no boilerplate.
    """
    texts = [documents[i].text[piece.start : piece.end] for i, piece in pieces]
    reasons, said, first = dict[int, Reason](), [*map(normal, texts)], dict[str, int]()
    own = {(i, text[:_HEAD]) for (i, piece), text in zip(pieces, said, strict=True) if piece.kind != "quotation"}
    paragraph, key = None, ""
    for number, (i, piece) in enumerate(pieces):
        if piece.kind == "quotation":
            head = normal(texts[number][texts[number].find(":", 0, _WHOSE) + 1 :])[:_HEAD]
            if len(head) >= _LEAST and (i, head) in own:
                reasons[number] = "repeated", i
        start, end = min(piece.start, piece.block.start), max(piece.end, piece.block.end)
        if paragraph != (i, start, end):
            paragraph = i, start, end
            key = said[number] if piece.is_whole else normal(documents[i].text[start:end])
        if first.setdefault(key, i) != i and len(key) >= _LEAST:
            reasons[number] = "repeated", first[key]
    owners = [i for i, _ in pieces]
    families, holders = find_families(owners, said), defaultdict[str, dict[int, int]](dict)
    for i, text in zip(owners, said, strict=True):
        holders[text].setdefault(families[i], i)  # of each sentence the families, and the first document of each
    n = len(set(families.values()))
    common = {text: min(where.values()) for text, where in holders.items() if 2 * len(where) > n >= _FAMILIES}
    if len(common) < len(holders):  # else nothing would be left
        reasons |= {number: ("boilerplate", common[text]) for number, text in enumerate(said) if text in common}
    return reasons


def normal(text: str) -> str:
    """The words of a text, in lower case.

    Examples
    --------
    >>> normal("Rain --  in OSLO!") == normal("rain in Oslo")
    True
    """
    return " ".join(_ALPHANUMERIC.findall(text.lower()))


def find_families(owners: Sequence[int], said: Sequence[str]) -> dict[int, int]:
    """For each document the first that shares half of the characters of either's sentences with it, or itself.

    A document is compared with the first that has its sentence, so that the time is linear in their number.
    """
    first, shared, size = dict[str, int](), Counter[tuple[int, int]](), Counter[int]()
    for owner, text in zip(owners, said, strict=True):
        size[owner] += len(text)
        holder = first.setdefault(text, owner)
        if holder != owner:
            shared[holder, owner] += len(text)
    families = {owner: owner for owner in owners}
    for (holder, owner), length in sorted(shared.items()):
        if 2 * length >= min(size[holder], size[owner]):
            families[owner] = families[holder]
    return families
