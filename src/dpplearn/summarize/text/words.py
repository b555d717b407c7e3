"""Characters and words of a text, lists of words kept as data, and how to see that a text is not English."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib import resources
from itertools import chain

from dpplearn.rouge.reading import Tokenizer, as_bytes
from dpplearn.rouge.stems import Memory

WHITE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# Characters without a meaning once a sentence stands alone: control characters other than white space,
# the byte order mark, soft hyphens, and the marks that open or close a change of writing direction.
INVISIBLE = "\u00ad\u200b\u2060\ufeff" + "".join(
    chr(code)
    for first, last in ((0, 8), (0x0E, 0x1B), (0x7F, 0x84), (0x86, 0x9F), (0x202A, 0x202E), (0x2066, 0x2069))
    for code in range(first, last + 1)
)
UNSEEN = INVISIBLE + "\u200e\u200f"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
BLANK = WHITE + UNSEEN  # a line of these is blank
_SURROGATE = re.compile("[\ud800-\udfff]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

# End a sentence before white space, if what follows can begin one.
SPACED = ".!?…‥‼⁇⁈⁉‽"
# End it whatever follows: Arabic, Urdu, Devanagari, Armenian, Ethiopic, Khmer, Burmese, CJK; U+037E is Greek.
ALWAYS = "؟۔।॥։።፧។៕။。！？｡\u037e"
STOPS = SPACED + ALWAYS

CLOSERS = ")]}”’›」』）】〕》〉］｝＂"  # end with the sentence they follow
EITHER = "\"'“‘«»„‚"  # open or close: what stands next to them tells
OPENERS = "([{‹「『（【〔《〈［｛¿¡`"
DASHES = "-–—―_"
# The mark of a note, right after a word or a stop: [12], [a], [note 3], [citation needed].
NOTE = re.compile(r"(?<=\S)\[(?:[0-9]{1,3}|[a-z]{1,2}|[^\W\d_]{1,12}\.? [\w .]{1,16})\]")

# Letters, digits and the marks that belong to letters (vowel signs, points), which Python's \w leaves out.
_MARKS = "".join(chr(code) for code in range(0x300, 0x3100) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
# Scripts written without spaces: every character is a word.
SINGLE = "\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"

ENGLISH = "english"
ANY = "any"  # language of a model that reads each text in its own language
_STEMS = Tokenizer()  # as ROUGE counts them


def _pattern(letter: str, part: str) -> str:
    """Words that begin with a letter, U.S. and don't, or with a digit, 3.5, 1,200 and 20th."""
    return (
        rf"{letter}(?:(?:\.{letter}(?!\w))+(?:\.'s)?|{part}*+(?:'{part}++)*+)"
        rf"|[0-9]++(?:[.,][0-9]++)*+{part}*+"
    )


_ASCII_WORD = re.compile(_pattern("[a-z]", "[a-z0-9]"), re.ASCII)
_LETTER, _WORD_PART = rf"[^\W\d{SINGLE}]", rf"(?:[^\W{SINGLE}]++|[{_MARKS}]++)"
_ANY_WORD = re.compile(
    rf"(?=[\w{_MARKS}{SINGLE}])"  # most characters between words are told by one look
    rf"(?:{_pattern(_LETTER, _WORD_PART)}|[{SINGLE}]|{_WORD_PART}++(?:'{_WORD_PART}++)*+)"
)
_THOUSANDS = re.compile(r",(?<=[0-9],)(?=[0-9]{3}(?![0-9]))")
_DROPPED = re.compile(f"[{INVISIBLE}\u200c\u200d]")


def one_line(text: str) -> str:
    """Collapse white space and leave out characters that cannot be seen.

    Examples
    --------
    >>> one_line("  The river\\n rose\\x07. ")
    'The river rose.'
    """
    if not text.isprintable():  # what cannot be seen cannot be printed, nor can any white space but the space
        text = _INVISIBLE.sub("", text)
    elif "  " not in text:
        return text.strip(" ")
    return " ".join(text.split())


def without_surrogates(text: str) -> str:
    """Replace halves of surrogate pairs, which cannot be written to a file, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def has_word(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] holds a letter or a digit."""
    return (start < end and text[start].isalnum()) or _LETTER_OR_DIGIT.search(text, start, end) is not None


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case, for tf-idf.

    No word is removed and none is stemmed (section 7.2). Text is brought to Unicode's form NFKC and control
    characters are ignored. A hyphen separates words; an apostrophe inside a word belongs to it, but a final 's is
    left out; a number keeps its decimals and loses its thousands commas; letters with periods between them are one
    word; Chinese and Japanese characters are one word each.

    Examples
    --------
    >>> words("The U.S. mayor's well-known plan didn't cost $1,200.50.")
    ['the', 'u.s', 'mayor', 'well', 'known', 'plan', "didn't", 'cost', '1200.50']
    >>> words("大桥关闭。 पुल बंद।")
    ['大', '桥', '关', '闭', 'पुल', 'बंद']
    """
    return list(chain.from_iterable(map(_WORDS.__getitem__, text.split())))


def _find_words(text: str) -> tuple[str, ...]:
    """The words of a text, or of a part of one between white space: no word has any inside."""
    pattern = _ASCII_WORD
    if not text.isascii():
        text, pattern = unicodedata.normalize("NFKC", text).replace("’", "'").replace("ʼ", "'"), _ANY_WORD
    if not text.isprintable():
        text = _DROPPED.sub("", text)
    text = text.lower()
    if "," in text:
        text = _THOUSANDS.sub("", text)
    matches: list[str] = pattern.findall(text.replace("_", " "))
    return tuple(word[:-2].removesuffix(".") if word.endswith("'s") else word for word in matches)


_WORDS = Memory(_find_words)  # the same stretches between white space come again and again


_CODES = {
    "en": ENGLISH, "ar": "arabic", "cs": "czech", "de": "german", "el": "greek", "es": "spanish", "fr": "french",
    "he": "hebrew", "hi": "hindi", "it": "italian", "pt": "portuguese",
}  # fmt: skip


def normal_language(language: str | None) -> str | None:
    """A language's name in lower case, also of a code such as "en" or "pt-BR"."""
    if language is None:
        return None
    if not isinstance(language, str):
        raise TypeError(f"language must be a name such as 'english' or 'greek', found {language!r}.")
    return _CODES.get(re.split("[-_]", language.lower())[0], language.lower())


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are ASCII, so that ROUGE, which reads these alone, sees the text.

    Examples
    --------
    >>> is_latin("The café opened."), is_latin("Η γάτα κοιμάται.")
    (True, False)
    """
    letters = "" if text.isascii() else "".join(filter(str.isalpha, text))
    return 2 * len(letters.encode("ascii", "ignore")) >= len(letters)


def match_words(text: str, language: str | None) -> list[str]:
    """Stems of an English text; words of one in another language, or in a script that ROUGE cannot read."""
    if language in (None, ENGLISH) and is_latin(text):
        return _STEMS(as_bytes(text))
    return list(words(text))


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set to look words up in."""
    return frozenset(text.split())


@cache
def word_lists(file: str) -> dict[str, frozenset[str]]:
    """The lists in a file of the package, by name: lines such as "days: mon tue", others begin with a space or #.

    An underscore stands for a space in a phrase.

    Examples
    --------
    >>> "jan" in word_lists("abbreviations")["months"]
    True
    """
    data = resources.files("dpplearn.summarize").joinpath("data", f"{file}.txt").read_text(encoding="utf-8")
    lists = re.findall(r"^(\w[\w ]*):((?:.*\n )*.*)", data, re.MULTILINE)
    return {name: frozenset(word.replace("_", " ") for word in listed.split()) for name, listed in lists}


DATES = frozenset().union(*(word_lists("abbreviations")[name] for name in ("months", "days", "calendar")))

_ENOUGH_WORDS = 50  # of texts whose language is looked for
_LOOKED_AT = 6_000  # characters that are looked at, as many of each document's beginning


def foreign_language(texts: Iterable[str]) -> str | None:
    """The language or script of texts if that clearly is not English, else None.

    Examples
    --------
    >>> foreign_language(["Der Fluss ist in der Nacht über die Ufer getreten, und die Stadt wurde nach dem Regen nicht "
    ...          "mehr mit dem Zug erreicht, wie es aus dem Rathaus hieß. "] * 3)
    'German'
    >>> foreign_language(["The river rose in the night, and the town was cut off. "] * 9)
    """
    texts = list(texts)[:30]
    tokens = words("\n".join(text[: _LOOKED_AT // len(texts)] for text in texts))
    letters = Counter(filter(str.isalpha, "".join(tokens)))
    other = Counter({c: count for c, count in letters.items() if not _is_latin(c)})
    if letters.total() >= 4 * _ENOUGH_WORDS and 2 * other.total() > letters.total():
        script = unicodedata.name(other.most_common(1)[0][0], "another").split()[0]
        return "Chinese characters" if script == "CJK" else f"{script.title()} script"
    if len(tokens) < _ENOUGH_WORDS:
        return None
    counts = Counter(tokens)
    small = {
        name: [counts[word] for word in listed & counts.keys()] for name, listed in word_lists("small-words").items()
    }
    english = sum(small.pop("English"))
    best = max(small, key=lambda name: sum(small[name]))
    # a language's small words are a quarter of its text and more; names ("Los", "van der") are few different ones
    if len(small[best]) >= 6 and sum(small[best]) >= max(0.1 * len(tokens), 1.5 * english):
        return best
    accented = sum(
        k for word, k in counts.items() if len(word) > 1 and not word.isascii() and all(map(_is_latin, word))
    )
    if accented >= 0.25 * len(tokens) and english < 0.02 * len(tokens):  # Vietnamese, Latvian, Icelandic, ...
        return "another language"
    return None


@cache
def small_words() -> frozenset[str]:
    """The small words of every language that has a list."""
    return frozenset().union(*word_lists("small-words").values())


def _is_latin(c: str) -> bool:
    return c < "\u0250" or "\u1e00" <= c <= "\u1eff" or unicodedata.name(c, "").startswith("LATIN")


def listed_language(language: str | None, texts: Iterable[str] = ()) -> str | None:
    """The language whose lists are to be used, given or seen in the texts; None for one without lists.

    Examples
    --------
    >>> listed_language("fr"), listed_language(None, ["A short text."]), listed_language("basque")
    ('French', 'English', None)
    """
    spoken = normal_language(language) or foreign_language(texts) or ENGLISH
    name = "Hindi" if spoken == "Devanagari script" else spoken.title()
    return name if name in word_lists("leaning-words") else None
