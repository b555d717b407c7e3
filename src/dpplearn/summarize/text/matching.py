"""By which words texts are compared: ROUGE's stems for English, plain words in any other script."""

from __future__ import annotations

from dpplearn.rouge.reading import Tokenizer, as_bytes
from dpplearn.summarize.text.words import words

ENGLISH = "english"
ANY = "any"  # of a model that takes each text for what it is in
_STEMS = Tokenizer()  # as ROUGE counts them
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


def normal_language(language: str | None) -> str | None:
    """A language's name in lower case; "en" is "english"."""
    if language is None:
        return None
    if not isinstance(language, str):
        raise TypeError(f"language must be a name such as 'english' or 'greek', found {language!r}.")
    return ENGLISH if language.lower() in ("en", ENGLISH) else language.lower()


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are ASCII, so that ROUGE's tokens say what the text says.

    Examples
    --------
    >>> is_latin("The café opened."), is_latin("Η γάτα κοιμάται.")
    (True, False)
    """
    if text.isascii():
        return True
    ascii_only = text.encode("ascii", "ignore")
    letters, others = len(ascii_only.translate(None, _NO_LETTERS)), len(text) - len(ascii_only)
    return letters >= others or letters >= sum(map(str.isalpha, text)) - letters


def match_words(text: str, language: str | None) -> list[str]:
    """Stems of an English text; words of one in another language, or in a script that ROUGE cannot read."""
    if language in (None, ENGLISH) and is_latin(text):
        return _STEMS(as_bytes(text))
    return list(words(text))
