"""Documents, and the sentences in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpplearn.summarize.text.blocks import Block, check_blocks
from dpplearn.summarize.text.words import without_surrogates


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
        What each stretch of the text is, as whoever read it knows (see `BlockText`); None to find that out from its
        lines. No part of what is printed.

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
        given = {name: getattr(self, name) for name in ("title", "date", "role")}
        named = "".join(f", {name}={short(value)!r}" for name, value in given.items() if value is not None)
        return f"Document({short(self.id)!r}, {short(self.text)!r}{named})"

    def __post_init__(self) -> None:
        for name in ("id", "text", "title", "date", "role"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("id", "text")):
                raise TypeError(f"{name} of a Document must be a string, found {type(value).__name__}.")
            if value is not None:
                object.__setattr__(self, name, without_surrogates(value))
        if self.blocks is not None:
            object.__setattr__(self, "blocks", check_blocks(self.blocks, self.text))


@dataclass(frozen=True, repr=False)
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
    kind : str
        What its block is, one of `dpplearn.summarize.text.blocks.BLOCK_KINDS`.
    section : str, optional
        The heading above it.
    full : str
        The sentence whole, on one line, where `text` is a shorter form of it; else the same.
    dropped : tuple of (start, end)
        The spans of `full` that `text` does without.
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

    def __repr__(self) -> str:
        where = ", ".join(f"{name}={getattr(self, name)}" for name in ("document", "position", "start", "end"))
        return f"Sentence({short(self.text)!r}, {where})"

    def __post_init__(self) -> None:
        if not self.full:
            object.__setattr__(self, "full", self.text)


def short(text: str, width: int = 50) -> str:
    """A text, or how it begins."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


class TooManySentencesError(ValueError):
    """A cluster has more sentences than are allowed."""


class NoSentencesError(ValueError):
    """No sentence of a cluster has a word in it."""
