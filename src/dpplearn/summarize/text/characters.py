"""Characters: what is white space, what is printed, what makes a word, what punctuation does to a sentence."""

from __future__ import annotations

import re

WHITE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# Characters that say nothing on their own once a sentence stands alone: control characters other than white space,
# the byte order mark, soft hyphens, and the marks that open or close a change of writing direction.
INVISIBLE = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_INVISIBLE_RANGES = re.findall(r"(.)-(.)|(.)", INVISIBLE, re.DOTALL)
UNSEEN = "\u200e\u200f" + "".join(
    single or "".join(map(chr, range(ord(first), ord(last) + 1))) for first, last, single in _INVISIBLE_RANGES
)
BLANK = WHITE + UNSEEN  # of it a blank line is made
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


def one_line(text: str) -> str:
    """Collapse white space and leave out what cannot be seen.

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
