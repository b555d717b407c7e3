"""What a text is, and how much of it is read: lines of bytes under a byte or a word limit."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

from dpplearn._checks import describe

Text = str | bytes | Sequence[str] | Sequence[bytes]


class Reading(NamedTuple):
    """The tokens of a text, and those of each line where ROUGE-L or ROUGE-W asks for them.

    Under a byte limit the two are not cut alike (see Limit.cut).
    """

    tokens: list[str]
    lines: list[list[str]] | None


class EmptyTextWarning(UserWarning):
    """A candidate or a reference has no token, so that there is nothing to compare."""


def as_bytes(text: object) -> bytes:
    """Return the text as UTF-8, one sentence per line."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, bytes):
        return text
    if isinstance(text, Sequence) and all(isinstance(line, str | bytes) for line in text):
        return b"\n".join(map(as_bytes, text))
    raise TypeError(f"A text must be a string (one sentence per line) or a list of sentences, but is {describe(text)}.")


def as_references(references: object) -> list[bytes]:
    """Return each reference as UTF-8; a single string is one reference."""
    if isinstance(references, str | bytes):
        return [as_bytes(references)]
    if not isinstance(references, Sequence):
        raise TypeError(f"references must be a list of texts, but are {describe(references)}.")
    if not references:
        raise ValueError("There must be at least one reference to score against, but the list is empty.")
    return [as_bytes(reference) for reference in references]


@dataclass(frozen=True)
class Limit:
    """How much of every text is read: at most so many bytes, so many words, or (neither given) all of it."""

    n_bytes: int | None = None
    n_words: int | None = None

    def __post_init__(self) -> None:
        given: dict[str, Any] = {"bytes": self.n_bytes, "words": self.n_words}
        if None not in given.values():
            raise ValueError(
                f"Give one limit, bytes or words, but found bytes={self.n_bytes} and words={self.n_words}."
            )
        for name, n in given.items():
            if n is None:
                continue
            if isinstance(n, bool) or not isinstance(n, Integral):
                raise TypeError(f"{name} must be a whole number or None, but is {describe(n)}.")
            if int(n) < 1:
                raise ValueError(f"{name} must be at least 1, but is {n}. For no limit, pass {name}=None.")

    def cut(self, text: bytes, *, aligned: bool = False) -> list[bytes]:
        r"""Return the lines that are read: whole while their sum is below the limit, then the head of one more.

        Lines end at line feeds alone, and those of length zero are dropped; a carriage return stays, and is counted.
        The spaces that join the lines are not counted. For the lines that ROUGE-L and ROUGE-W have aligned,
        ROUGE-1.5.5 compares each with the whole byte limit, as if it were the first.

        >>> Limit(n_bytes=9).cut(b"one two\nthree"), Limit(n_words=3).cut(b"one two\nthree four")
        ([b'one two', b'th'], [b'one two', b'three'])
        >>> Limit(n_bytes=9).cut(b"one two\nthree\nthree or four", aligned=True)
        [b'one two', b'three', b'three or ']
        """
        kept: list[bytes] = []
        lines = [line for line in text.split(b"\n") if line]
        left = self.n_bytes or self.n_words
        if left is None:
            return lines
        for line in lines:
            size = len(line) if self.n_bytes else len(chunks(line))
            if size >= left:
                return [*kept, line[:left] if self.n_bytes else b" ".join(chunks(line)[:left])]
            kept.append(line)
            left -= 0 if aligned and self.n_bytes else size
        return kept

    def head(self, text: bytes) -> bytes:
        """Return what is read in one piece, with something between any two lines."""
        if self.n_words is None and (self.n_bytes is None or len(text) < self.n_bytes):
            return text  # nothing to cut
        return b" ".join(self.cut(text))


def chunks(line: bytes) -> list[bytes]:
    """Split at ASCII whitespace as Perl does: a line that starts with it has an empty chunk first."""
    words = line.split()
    return [b"", *words] if words and line[:1].isspace() else words
