"""What the rules of `cut_rules` ask about the words of an English sentence; the lists are in data/cut-words.txt."""

from __future__ import annotations

import re
from functools import cache

from dpplearn.summarize.text.word_lists import word_lists

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_VERB = re.compile(  # what may well be a finite verb: attended, occurs to nobody else; we use, they also say
    r"\b[a-z]{2,}[^\Weu]ed\b|\b(?:[Ww]e|[Tt]hey|I|[Yy]ou) (?:also )?[a-z]{2,}|\b[a-z]{3,}(?:izes|ifies)\b"
)


@cache
def listed(name: str) -> frozenset[str]:
    """A list of words, or of several words each."""
    return frozenset(one.replace("_", " ") for one in word_lists("cut-words")[name])


def any_of(name: str) -> str:
    """A pattern for one of a list, the longest first."""
    return f"(?:{'|'.join(sorted(map(re.escape, listed(name)), key=lambda one: (-len(one), one)))})"


def words_in(text: str) -> list[str]:
    """The words of a text in lower case, with straight apostrophes.

    Examples
    --------
    >>> words_in("The U.S. mayor’s well-known plan.")
    ['the', 'u.s', "mayor's", 'well-known', 'plan']
    """
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def has_any(text: str, *names: str) -> bool:
    """Whether a text has a word of the lists."""
    return any(word in listed(name) for word in words_in(text) for name in names)


def has_finite(text: str) -> bool:
    """Whether a text has a verb that is surely finite, such as "is" or "said"."""
    return has_any(text, "finite")


def is_clause(text: str) -> bool:
    """Whether a text has a verb that may well be finite: such a one, "attended", or what "they" or "we" do.

    Examples
    --------
    >>> [is_clause(text) for text in ("She attended school", "We use trees", "the mayor of Oslo")]
    [True, True, False]
    """
    return has_finite(text) or _VERB.search(text) is not None


def is_source(who: str, *, named: bool = False) -> bool:
    """Whether this is somebody whose word is no opinion: officials, agencies, papers; where `named`, anybody by name.

    Examples
    --------
    >>> [is_source(who) for who in ("the fire department", "critics of the plan", "Ann Lee")]
    [True, False, False]
    """
    if has_any(who, "partial", "standards", "unnamed", "persons", "finite"):
        return False
    return has_any(who, "sources") or (named and re.search(r"\b[A-Z]", who) is not None)
