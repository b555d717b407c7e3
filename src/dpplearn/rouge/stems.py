"""The form under which ROUGE counts a token: irregular forms from a table, the others by Porter's stemmer."""

import gzip
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TypeVar

from dpplearn.rouge.porter import porter

T = TypeVar("T")
Stemmer = Callable[[str], str]

REMEMBERED = 1 << 17  # stems kept in memory, some 20 MB: more than the words of most corpora
LONGEST = 40  # letters of a word worth keeping


@cache
def irregular_forms() -> dict[str, str]:
    """Return irregular form -> lemma, as ROUGE-1.5.5 has them for every token of more than three letters.

    Made from WordNet 3.0 by scripts/build_exceptions.py; WordNet's licence lies beside the data.

    Examples
    --------
    >>> irregular_forms()["children"], len(irregular_forms())
    ('child', 5934)
    """
    packed = (files("dpplearn.rouge") / "data" / "exceptions.txt.gz").read_bytes()
    words = gzip.decompress(packed).decode("ascii").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def stem(token: str) -> str:
    """Return the form under which ROUGE-1.5.5 counts a token.

    Examples
    --------
    >>> [stem(token) for token in ("cats", "was", "carried", "carry", "21st")]
    ['cat', 'was', 'carry', 'carri', '21st']
    """
    if len(token) <= 3:
        return token
    lemma = irregular_forms().get(token)
    return porter(token) if lemma is None else lemma


class Memory(dict[str, T]):
    """Token -> stem, or what else is made of one, on first use; emptied when full, so that no server grows for ever."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, token: str) -> T:
        if len(self) >= REMEMBERED:
            self.clear()
        found = self.make(token)
        if len(token) <= LONGEST:
            self[token] = found
        return found


STEMS = Memory(stem)
