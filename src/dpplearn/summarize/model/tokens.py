"""Words and stems of texts as numbers, found in their bytes; what each is called is known when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import SystemRandom

import numpy as np

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn.rouge.reading import OFFICIAL, as_bytes
from dpplearn.rouge.stems import STEMS
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
    """How some words are spelled, with a space after each, and how many characters each has."""

    def __init__(self, text: bytes, letters: FloatArray) -> None:
        self._text, self.letters = text, letters

    def __len__(self) -> int:
        return self.letters.size

    @cached_property
    def words(self) -> list[str]:
        return self._text.decode("utf-8", "surrogatepass").split(" ")[:-1]


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
    from dpplearn.summarize.model._token_loops import number_tokens

    codes = np.frombuffer(data, np.uint8)
    numbers, ends, spelled, letters = number_tokens(codes, ends_of(lengths), rule, _KINDS, _KEPT, SEED)
    return Numbered(numbers, ends, letters.size), Spelling(spelled.tobytes(), letters)


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
