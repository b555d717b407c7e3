"""Whether a text clearly is not English: by its script, its small words, or its accented letters.

Short texts, lists and code have few small words of any language, so that what is asked for is evidence of another
language, never a lack of English.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache

from dpplearn.summarize.text.words import word_lists, words

_FEWEST_TOLD = 50  # words, below which nothing is said
_LOOKED_AT = 6_000  # characters that are looked at, as many of each document's beginning
_CODES = {
    "ar": "Arabic", "cs": "Czech", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "it": "Italian", "pt": "Portuguese",
}  # fmt: skip


def foreign(texts: Iterable[str]) -> str | None:
    """What the texts seem to be in if that clearly is not English, else None.

    Examples
    --------
    >>> foreign(["Der Fluss ist in der Nacht über die Ufer getreten, und die Stadt wurde nach dem Regen nicht "
    ...          "mehr mit dem Zug erreicht, wie es aus dem Rathaus hieß. "] * 3)
    'German'
    >>> foreign(["The river rose in the night, and the town was cut off. "] * 9)
    """
    texts = list(texts)[:30]
    part = _LOOKED_AT // max(len(texts), 1)
    found = words("\n".join(text[:part] for text in texts))
    said = "".join(found)
    if not said.isascii():
        letters = Counter({c: count for c, count in Counter(said).items() if c.isalpha()})
        total = letters.total()
        other = Counter({c: count for c, count in letters.items() if not _is_latin(c)})
        if total >= 4 * _FEWEST_TOLD and 2 * other.total() > total:
            script = unicodedata.name(other.most_common(1)[0][0], "another").split()[0]
            return "Chinese characters" if script == "CJK" else f"{script.title()} script"
    if len(found) < _FEWEST_TOLD:
        return None
    counts = Counter(found)
    lists = word_lists("small-words")
    common = small_words() & counts.keys()
    small = {name: [counts[word] for word in listed & common] for name, listed in lists.items()}
    english = sum(small.pop("English"))
    best = max(small, key=lambda name: sum(small[name]))
    seen = small[best]
    # a language's small words are a quarter of its text and more; names ("Los", "van der") are few different ones
    if len(seen) >= 6 and sum(seen) >= max(0.1 * len(found), 1.5 * english):
        return best
    if said.isascii():
        return None
    accented = sum(count for word, count in counts.items() if _is_accented(word))
    if accented >= 0.25 * len(found) and english < 0.02 * len(found):  # Vietnamese, Latvian, Icelandic, ...
        return "another language"
    return None


@cache
def small_words() -> frozenset[str]:
    """The small words of every language that has a list."""
    return frozenset().union(*word_lists("small-words").values())


def _is_accented(word: str) -> bool:
    """Whether it is a word in Latin letters, one of them accented; formulas have single ones."""
    return len(word) > 1 and not word.isascii() and word.isalpha() and all(map(_is_latin, word))


def _is_latin(c: str) -> bool:
    return c < "\u0250" or "\u1e00" <= c <= "\u1eff" or unicodedata.name(c, "").startswith("LATIN")


def listed_language(language: str | None, texts: Iterable[str] = ()) -> str | None:
    """The language whose lists are to be used: the one given, or what the texts seem to be in; None without a list.

    Examples
    --------
    >>> listed_language("fr"), listed_language(None, ["A short text."]), listed_language("basque")
    ('French', 'English', None)
    """
    if language is None:
        found = (foreign(texts) or "English").split()[0]
    else:
        code = language.lower().replace("_", "-").split("-")[0]
        found = _CODES.get(code, language.title().split()[0])
    name = "Hindi" if found == "Devanagari" else found
    return name if name in word_lists("leaning-words") else None
