"""What a text is, and how much of it is read: lines of bytes under a byte or a word limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral

from dpplearn._checks import describe

Text = str | bytes | Sequence[str] | Sequence[bytes]


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
        if self.n_bytes is not None and self.n_words is not None:
            raise ValueError(
                f"Give one limit, bytes or words, but found bytes={self.n_bytes} and words={self.n_words}."
            )
        check_limit("bytes", self.n_bytes)
        check_limit("words", self.n_words)

    def cut(self, text: bytes) -> list[bytes]:
        """Return the lines that are read, the last one possibly cut short."""
        lines = text_lines(text)
        if self.n_words is not None:
            return cut_words(lines, self.n_words)
        if self.n_bytes is not None:
            return cut_bytes(lines, self.n_bytes)
        return lines

    def head(self, text: bytes) -> bytes:
        """Return what is read in one piece, with something between any two lines."""
        if self.n_words is None and (self.n_bytes is None or len(text) < self.n_bytes):
            return text  # nothing to cut
        return b" ".join(self.cut(text))

    def cut_for_lcs(self, text: bytes) -> list[bytes]:
        """Return the lines that ROUGE-L and ROUGE-W align.

        Under a byte limit ROUGE-1.5.5 compares each line with the whole limit, as if it were the first.
        """
        if self.n_bytes is None:
            return self.cut(text)
        kept = []
        for line in text_lines(text):
            kept.append(line[: self.n_bytes])
            if len(line) >= self.n_bytes:
                break
        return kept


def check_limit(name: str, n: object) -> None:
    if n is None:
        return
    if isinstance(n, bool) or not isinstance(n, Integral):
        raise TypeError(f"{name} must be a whole number or None, but is {describe(n)}.")
    if int(n) < 1:
        raise ValueError(f"{name} must be at least 1, but is {n}. For no limit, pass {name}=None.")


def text_lines(text: bytes) -> list[bytes]:
    """Split at line feeds alone and drop lines of length zero; a carriage return stays, and is counted."""
    return [line for line in text.split(b"\n") if line]


def cut_bytes(lines: list[bytes], n: int) -> list[bytes]:
    """Keep n bytes; the spaces that join the lines are not counted.

    >>> cut_bytes([b"one two", b"three"], 9)
    [b'one two', b'th']
    """
    return cut(lines, n, measure=len, head=lambda line, n: line[:n])


def cut_words(lines: list[bytes], n: int) -> list[bytes]:
    """Keep n words.

    >>> cut_words([b"one two", b"three four"], 3)
    [b'one two', b'three']
    """
    return cut(lines, n, measure=lambda line: len(chunks(line)), head=lambda line, n: b" ".join(chunks(line)[:n]))


def chunks(line: bytes) -> list[bytes]:
    """Split at ASCII whitespace as Perl does: a line that starts with it has an empty chunk first."""
    words = line.split()
    return [b"", *words] if words and line[:1].isspace() else words


def cut(
    lines: list[bytes], n: int, measure: Callable[[bytes], int], head: Callable[[bytes, int], bytes]
) -> list[bytes]:
    """Keep lines whole while their sum is below n, then the head of one more."""
    kept: list[bytes] = []
    for line in lines:
        size = measure(line)
        if size >= n:
            return [*kept, head(line, n)]
        kept.append(line)
        n -= size
    return kept
