"""Whether a sentence leans on the one before it: "But ...", "He ...", "The man ...", "..., she said."

By how it begins, and who is said to have said it; from short lists in each language that has one. In any other language
no sentence is known to lean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate

from dpplearn.summarize.text.language import foreign
from dpplearn.summarize.text.word_lists import word_lists
from dpplearn.summarize.text.words import words

LONGEST = 4  # words of the longest phrase in the lists, and of "..., he said"
_OPENING = ('"', "“", "„", "«", "»", "”")
_QUOTED = re.compile(r"""^\W*?["“„«»”]([^"“”„«»]*)["”“«»](.*)$""", re.DOTALL)
_CLAUSE = re.compile(r"""[,،，"“”«»]""")
_MARK = re.compile(r"""(?<![0-9])(?:(?<!\w)"|"(?!\w))|[“”„]""")
# "It is clear that ...", "It remains to be seen ...": what it stands for follows
_FOLLOWS = re.compile(
    r"it(?:'s| is| was| has been| had been| will be| would be| may be| seems| seemed| appears| appeared| remains| took)"
    r"(?! (?:an?|the)\b)(?: [\w-]+){0,4}? (?:that|to|whether|how|why|who|if|when|clear|unclear)\b"
)
_SCRIPTS = {"Devanagari": "Hindi"}
_CODES = {
    "ar": "Arabic", "cs": "Czech", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "it": "Italian", "pt": "Portuguese",
}  # fmt: skip


def leaning_language(language: str | None, texts: Iterable[str]) -> str | None:
    """The language whose lists are to be used: the one given, or what the texts seem to be in; None without a list.

    Examples
    --------
    >>> leaning_language("fr", []), leaning_language(None, ["A short text."]), leaning_language("basque", [])
    ('French', 'English', None)
    """
    if language is None:
        found = (foreign(texts) or "English").split()[0]
    else:
        code = language.lower().replace("_", "-").split("-")[0]
        found = _CODES.get(code, language.title().split()[0])
    name = _SCRIPTS.get(found, found)
    return name if name in word_lists("leaning-words") else None


def leans(text: str, language: str | None = "English") -> bool:
    """Whether a reader needs the sentence before to know who or what this one is about, or what it answers.

    Examples
    --------
    >>> leans("But Ada stayed."), leans("The man fled."), leans("This week it rained."), leans("It is clear that it is")
    (True, True, False, False)
    >>> leans('"We were lucky," he said.'), leans('"We were lucky," said Ada.'), leans("Il pleuvait.", "French")
    (True, False, True)
    """
    lists = word_lists("leaning-words")
    if language is None or language not in lists or text[:1].islower():
        return False  # what begins in lower case is spoken or a note, where "so" and "and" say little
    if _half_quoted(text):
        return True
    said, outside = lists[f"{language} said"], _outside(text)
    clauses = [parts for clause in _CLAUSE.split(text) if (parts := _parts(clause))]
    if len(clauses) > 1 and len(clauses[-1]) <= LONGEST and said.issuperset(clauses[-1]):
        return True  # "..., he said."
    if outside is not None:
        parts = _parts(outside)
        return not parts or said.issuperset(parts[:2])  # a quotation of nobody, or of "he"
    parts = _parts(text)[: LONGEST + 1]
    if language == "English" and _FOLLOWS.match(text.lower().lstrip()):
        return False
    begins = [*accumulate(parts[:LONGEST], "{}_{}".format)]
    known = [k for k, phrase in enumerate(begins, 1) if phrase in lists[language]]
    return bool(known) and not any(word in lists[f"{language} own"] for k in known for word in parts[k : k + 1])


def _parts(text: str) -> list[str]:
    """Words, cut at apostrophes: "c'est" begins with c, "he'd" with he."""
    return [part for word in words(text) for part in word.split("'")]


def _outside(text: str) -> str | None:
    """What stands after the quotation that a sentence begins with; None where it begins with none that ends."""
    found = _QUOTED.match(text) if text.lstrip().startswith(_OPENING) else None
    return None if found is None else found[2]


def _half_quoted(text: str) -> bool:
    """Whether a quotation ends here that began before, or begins and goes on; in 14" and ארה"ב is no mark of one."""
    return len(_MARK.findall(text)) % 2 == 1
