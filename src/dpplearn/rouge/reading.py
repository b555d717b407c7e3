"""Reads texts for ROUGE: cuts them to a number of bytes or words, and splits them into tokens."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from dpplearn._checks import check_choice, check_int, describe
from dpplearn.rouge.stems import STEMS, Memory, Stemmer

Text = str | bytes | Sequence[str] | Sequence[bytes]


class TokenizedText(NamedTuple):
    """The tokens of a text, and of each of its lines if ROUGE-L or ROUGE-W needs them.

    A limit in bytes cuts the two in different ways (see Limit.cut).
    """

    tokens: list[str]
    lines: list[list[str]] | None


class EmptyTextWarning(UserWarning):
    """Warns that a candidate or a reference has no token, so that there is nothing to compare."""


def as_bytes(text: object) -> bytes:
    """Return the text as UTF-8, one sentence per line."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, bytes):
        return text
    if isinstance(text, Sequence) and all(isinstance(line, str | bytes) for line in text):
        return b"\n".join(map(as_bytes, text))
    raise TypeError(f"A text must be a string (one sentence per line) or a list of sentences, but is {describe(text)}.")


@dataclass(frozen=True)
class Limit:
    """How much of every text is read: at most so many bytes or words, or all of it."""

    n_bytes: int | None = None
    n_words: int | None = None

    def __post_init__(self) -> None:
        if self.n_bytes is not None and self.n_words is not None:
            raise ValueError(f"Give one limit, bytes or words, not both: {self.n_bytes} and {self.n_words}.")
        for name, n in (("bytes", self.n_bytes), ("words", self.n_words)):
            if n is not None:
                check_int(n, name, low=1)

    def cut(self, text: bytes, *, aligned: bool = False) -> list[bytes]:
        r"""Return the lines that are read: whole lines up to the limit, then the beginning of one more.

        Lines end only at line feeds, and empty ones are dropped; a carriage return stays and counts, but spaces between
        lines do not. If lines are `aligned` (ROUGE-L and ROUGE-W), ROUGE-1.5.5 allows each the whole limit in bytes.

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
        """Return what is read as one piece, with a space or line feed between lines."""
        if self.n_words is None and (self.n_bytes is None or len(text) < self.n_bytes):
            return text  # nothing to cut
        return b" ".join(self.cut(text))


def chunks(line: bytes) -> list[bytes]:
    """Split at ASCII whitespace as Perl does: a line that begins with it has an empty chunk first."""
    words = line.split()
    return [b"", *words] if words and line[:1].isspace() else words


# a byte for each byte: lower case for A-Z, a-z and 0-9 unchanged, a space for everything else
OFFICIAL = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else 32 for byte in bytes(range(256)).lower()
)


class Tokenizer:
    """Splits texts into tokens: those of ROUGE-1.5.5 ("official"), or Unicode words in folded case.

    `stem` says whether official tokens are stemmed. For Unicode words it is the stemmer to use, and True means none.
    """

    def __init__(self, kind: str = "official", stem: bool | Stemmer = True) -> None:
        check_choice(kind, "tokenizer", ("official", "unicode"))
        if not isinstance(stem, bool) and not callable(stem):
            raise TypeError(f"stem must be True, False or a function of a word, but is {describe(stem)}.")
        self.official = kind == "official"
        if self.official and not isinstance(stem, bool):
            raise ValueError('ROUGE-1.5.5 has one stemmer: for one of your own, pass tokenizer="unicode".')
        self.stems = STEMS if stem and self.official else None if isinstance(stem, bool) else Memory(stem)

    def __call__(self, text: bytes) -> list[str]:
        """Return the tokens of the text in order."""
        if self.official:
            tokens = text.translate(OFFICIAL).decode("ascii").split()
        else:
            tokens = unicode_words(text.decode("utf-8", "ignore"))
        return tokens if self.stems is None else list(map(self.stems.__getitem__, tokens))


def tokenize(
    text: Text,
    *,
    stem: bool | Stemmer = True,
    bytes: int | None = None,
    words: int | None = None,
    tokenizer: str = "official",
) -> list[str]:
    """Return the tokens that ROUGE counts in a text.

    The parameters are those of :func:`dpplearn.rouge.score`.

    Examples
    --------
    >>> tokenize("The children's naïve cats")
    ['the', 'child', 's', 'na', 've', 'cat']
    >>> tokenize("The children's naïve cats", tokenizer="unicode")
    ['the', 'children', 's', 'naïve', 'cats']
    """
    return Tokenizer(tokenizer, stem)(Limit(bytes, words).head(as_bytes(text)))


def unicode_words(text: str) -> list[str]:
    """Return runs of letters, digits and their marks, in folded case and composed form (NFC).

    Each Han or Hiragana character is a word of its own, as in Unicode's default word boundaries (UAX 29).
    """
    return word_pattern().findall(unicodedata.normalize("NFC", text.casefold()))


@cache
def word_pattern() -> re.Pattern[str]:
    # \w has no combining marks and joiners, which words of Hindi or Tamil need
    marks = "".join(chr(c) for c in range(0x300, 0x1F000) if unicodedata.category(chr(c)).startswith("M"))
    alone = "\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    letter = rf"[^\W_{alone}]"
    return re.compile(rf"[{alone}]|{letter}(?:{letter}|[{marks}\u200c\u200d])*")
