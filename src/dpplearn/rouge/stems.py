"""The stems that ROUGE counts: irregular forms from a table, all others by Porter's stemmer.

Porter's stemmer (1980), as ROUGE-1.5.5 has it, reads a word as [C](VC)^m[V], where C and V are runs of consonants and
of vowels, and m is the measure of the word. Each step finds the longest suffix in its table, and applies only that
rule, if its condition holds.
"""

import gzip
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TypeVar

LETTERS = str.maketrans("aeioubcdfghjklmnpqrstvwxz0123456789", "v" * 5 + "c" * 30)  # all but y

STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate",
    "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al",
    "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
STEP_4 = dict.fromkeys((
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ou", "ism", "ate", "iti", "ous", "ive",
    "ize",
), "")  # fmt: skip
# suffixes (longest first), their rules, and the least measure of the stem before them; unlike Porter's, step 4 has
# three passes (departmental becomes depart): its table, then -ment, then -ent or -ion
PASSES = [
    (tuple(sorted(rules, key=len, reverse=True)), rules, least)
    for rules, least in ((STEP_2, 1), (STEP_3, 1), (STEP_4, 2), ({"ment": ""}, 2))
]


def porter(word: str) -> str:
    """Return the Porter stem of a word in lower case.

    >>> [porter(word) for word in ("relational", "hopping", "carry", "departmental", "basement")]
    ['relat', 'hop', 'carri', 'depart', 'basem']
    """
    word = step_1(word)
    for suffixes, rules, least in PASSES:
        if word.endswith(suffixes):
            suffix = next(suffix for suffix in suffixes if word.endswith(suffix))
            stem = word[: -len(suffix)]
            word = stem + rules[suffix] if measure(stem) >= least else word
    if word.endswith(("ent", "sion", "tion")) and measure(word[:-3]) > 1:
        word = word[:-3]
    return step_5(word)


def shape(word: str) -> str:
    """Return c (consonant) or v (vowel) for each letter; y is a vowel after a consonant, and digits are consonants."""
    form = word.translate(LETTERS)
    if "y" not in form:
        return form
    letters: list[str] = []
    for letter in form:
        after_consonant = letters[-1:] == ["c"]
        letters.append(letter if letter != "y" else "v" if after_consonant else "c")
    return "".join(letters)


def measure(stem: str) -> int:
    """Return m, the number of times a vowel is followed by a consonant."""
    return shape(stem).count("vc")


def ends_short(word: str) -> bool:
    """Whether the word ends in consonant, vowel, consonant, but not in w, x or y (*o in Porter's paper)."""
    return shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def step_1(word: str) -> str:
    """Treat plurals, -ed and -ing, and a final y."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if measure(word[:-3]) > 0:
            word = word[:-1]
    elif word.endswith("ed") and "v" in shape(word[:-2]):
        word = repair(word[:-2])
    elif word.endswith("ing") and "v" in shape(word[:-3]):
        word = repair(word[:-3])
    if word.endswith("y") and "v" in shape(word[:-1]):
        word = word[:-1] + "i"
    return word


def repair(stem: str) -> str:
    """Restore the e, or remove the doubled letter, before -ed and -ing."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    doubled = len(stem) > 1 and stem[-1] == stem[-2] and shape(stem)[-1] == "c"
    if doubled and stem[-1] not in "lsz":
        return stem[:-1]
    if measure(stem) == 1 and ends_short(stem):
        return stem + "e"
    return stem


def step_5(word: str) -> str:
    """Remove a final e, and one of a final ll."""
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and measure(word) > 1:
        word = word[:-1]
    return word


T = TypeVar("T")
Stemmer = Callable[[str], str]

REMEMBERED = 1 << 17  # stems kept in memory, some 20 MB: more than the words of most corpora
LONGEST = 40  # letters; longer words are not kept


@cache
def irregular_forms() -> dict[str, str]:
    """Return irregular form -> lemma, as ROUGE-1.5.5 has them for every token of more than three letters.

    They are made from WordNet 3.0 by scripts/build_exceptions.py; WordNet's licence is beside the data.

    >>> irregular_forms()["children"], len(irregular_forms())
    ('child', 5934)
    """
    packed = (files("dpplearn.rouge") / "data" / "exceptions.txt.gz").read_bytes()
    words = gzip.decompress(packed).decode("ascii").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def stem(token: str) -> str:
    """Return the form under which ROUGE-1.5.5 counts a token.

    >>> [stem(token) for token in ("cats", "was", "carried", "carry", "21st")]
    ['cat', 'was', 'carry', 'carri', '21st']
    """
    if len(token) <= 3:
        return token
    lemma = irregular_forms().get(token)
    return porter(token) if lemma is None else lemma


class Memory(dict[str, T]):
    """Token -> stem, computed on first use; it is emptied when full, so that the memory of a server does not grow."""

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, token: str) -> T:
        if len(self) >= REMEMBERED:
            self.clear()
        value = self.make(token)
        if len(token) <= LONGEST:
            self[token] = value
        return value


STEMS = Memory(stem)
