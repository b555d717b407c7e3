"""Words and stems of texts as numbers, found in their bytes; what each is called is known when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import SystemRandom

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.rouge.reading import as_bytes
from dpplearn.rouge.stems import STEMS
from dpplearn.rouge.tokenizer import OFFICIAL
from dpplearn.summarize.model.numbered import Numbered, ends_of
from dpplearn.summarize.text.matching import ENGLISH, is_latin, match_words
from dpplearn.summarize.text.words import words

WORDS, PLAIN, READY = range(3)  # rules of the loop, which says what they are
SEED = SystemRandom().getrandbits(32)
_KEPT = np.frombuffer(OFFICIAL + OFFICIAL + bytes(range(256)), np.uint8).reshape(3, 256).copy()
_KINDS = np.where(ord(" ") == _KEPT, 0, 2).astype(np.uint8)
_KINDS[WORDS, ord("0") : ord("9") + 1] = 1
_KEPT[WORDS, list(b".,'")] = list(b".,'")


class Spelling:
    """How some words are spelled: word k is text[start:stop], of where[k]."""

    def __init__(self, text: bytes, where: IntArray) -> None:
        self._text, self._where = text, where

    def __len__(self) -> int:
        return len(self._where)

    @cached_property
    def words(self) -> list[str]:
        text = self._text.decode("latin-1")  # a character for each byte
        found = [text[start:stop] for start, stop in self._where.tolist()]
        if not text.isascii():
            found = [x if x.isascii() else x.encode("latin-1").decode("utf-8", "surrogatepass") for x in found]
        return found

    def letters(self) -> FloatArray:
        """How many characters each has: bytes, but for those that go on with one."""
        if self._text.isascii():
            return (self._where[:, 1] - self._where[:, 0]).astype(np.float64)
        first = (np.frombuffer(self._text, np.uint8) & 0xC0) != 0x80
        start, stop = self._where.T
        return np.diff(ends_of(first)[[start, stop]], axis=0)[0].astype(np.float64)


class ByWord(Mapping[str, int]):
    """A number for each of some words, which are spelled when first asked for."""

    def __init__(self, spelling: Spelling, values: IntArray) -> None:
        self.spelling, self.numbers = spelling, values

    @cached_property
    def _known(self) -> dict[str, int]:
        return dict(zip(self.spelling.words, self.numbers.tolist(), strict=True))

    def __getitem__(self, word: str) -> int:
        return self._known[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self.spelling)


def _number(data: bytes, lengths: Iterable[int], rule: IntArray) -> tuple[Numbered, Spelling]:
    """Tokens of texts, one after the other, as numbers, and how each is spelled."""
    from dpplearn._loops.tokens import number_tokens

    codes = np.frombuffer(data, np.uint8)
    numbers, ends, where, text = number_tokens(codes, ends_of(lengths), rule, _KINDS, _KEPT, SEED)
    return Numbered(numbers, ends, len(where)), Spelling(text.tobytes(), where)


def _read(text: str) -> bytes:
    return as_bytes(" ".join(words(text)))


def numbered_words(texts: Sequence[str]) -> tuple[Numbered, ByWord]:
    """The words of texts as numbers, and the number of each.

    Examples
    --------
    >>> found, columns = numbered_words(["The U.S. mayor's plan.", "The plan!"])
    >>> found.numbers, dict(columns)
    (array([0, 1, 2, 3, 0, 3]), {'the': 0, 'u.s': 1, 'mayor': 2, 'plan': 3})
    """
    joined = "".join(texts)
    if joined.isascii() and joined.isprintable():
        found, spelling = _number(joined.encode(), map(len, texts), np.full(len(texts), WORDS))
    else:
        plain = [text.isascii() and text.isprintable() for text in texts]
        said = [text.encode() if one else _read(text) for text, one in zip(texts, plain, strict=True)]
        found, spelling = _number(b"".join(said), map(len, said), np.where(plain, WORDS, READY))
    return found, ByWord(spelling, np.arange(found.size))


def numbered_matches(texts: Sequence[str], language: str | None) -> Numbered:
    """As `match_words` of each text, as numbers.

    Examples
    --------
    >>> numbered_matches(["The cats sat.", "Cat!"], "english").numbers
    array([0, 1, 2, 1])
    """
    if language not in (None, ENGLISH):
        return numbered_words(texts)[0]
    if not all(map(is_latin, texts)):  # some by stems, some by words
        return Numbered.of([match_words(text, language) for text in texts])[0]
    data = as_bytes("".join(texts))
    lengths = map(len, texts if data.isascii() else map(as_bytes, texts))
    found, spelling = _number(data, lengths, np.full(len(texts), PLAIN))
    stems, _ = Numbered.of([[*map(STEMS.__getitem__, spelling.words)]])
    return Numbered(stems.numbers[found.numbers], found.ends, stems.size)
