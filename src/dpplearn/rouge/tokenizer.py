"""From bytes to tokens: the official rule (ASCII, stemmed) and, for other scripts, Unicode words."""

import re
import unicodedata
from functools import cache

from dpplearn._checks import describe
from dpplearn.rouge.reading import Limit, Text, as_bytes
from dpplearn.rouge.stems import STEMS, Memory, Stemmer

# Byte -> byte: A-Z in lower case, a-z and 0-9 as they are, a space for everything else.
OFFICIAL = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else 32 for byte in bytes(range(256)).lower()
)


class Tokenizer:
    """The rule that makes tokens of a text.

    Parameters
    ----------
    kind : {"official", "unicode"}
        The rule of ROUGE-1.5.5, or Unicode words in folded case.
    stem : bool or callable
        Whether official tokens are stemmed; for Unicode words, the stemmer to use (True means none).
    """

    def __init__(self, kind: str = "official", stem: bool | Stemmer = True) -> None:
        if kind not in ("official", "unicode"):
            raise ValueError(f'tokenizer must be "official" or "unicode", but is {describe(kind)}.')
        if not isinstance(stem, bool) and not callable(stem):
            raise TypeError(f"stem must be True, False or a function of a word, but is {describe(stem)}.")
        self.official = kind == "official"
        if self.official and not isinstance(stem, bool):
            raise ValueError(
                "ROUGE-1.5.5 has one stemmer, so stem must be True or False with the official tokenizer. "
                'To use a stemmer of your own, pass tokenizer="unicode".'
            )
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

    As in Unicode's default word boundaries (UAX 29), each Han or Hiragana character is a word of its own.
    """
    return word_pattern().findall(unicodedata.normalize("NFC", text.casefold()))


@cache
def word_pattern() -> re.Pattern[str]:
    # \w has no combining marks, without which words of Hindi or Tamil fall apart; no joiners either.
    marks = "".join(chr(c) for c in range(0x300, 0x1F000) if unicodedata.category(chr(c)).startswith("M"))
    alone = "\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    letter = rf"[^\W_{alone}]"
    return re.compile(rf"[{alone}]|{letter}(?:{letter}|[{marks}\u200c\u200d])*")
