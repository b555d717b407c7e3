"""Tells sentences from other pieces of a document: headings, slugs, captions, courtesies, and page furniture.

Only a sentence is a candidate for a summary. The rules use the word lists in data/sentence-words.txt. Pieces in a
language without lists are judged by their length, their end, and their letters, figures, signs and capitals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from dpplearn.summarize.text.blocks import is_closed
from dpplearn.summarize.text.units import UNSPACED, count_words
from dpplearn.summarize.text.words import NOTE, SINGLE, word_lists, words

WORD_SETS = word_lists("sentence-words")
_LONGEST_WORDS = {  # the longest word of each phrase; most sentences have none of these
    name: frozenset(max(words(phrase), key=len) for phrase in WORD_SETS[name]) for name in ("furniture", "of itself")
}
SMALL_ENGLISH = word_lists("small-words")["English"]
_NUMBERED = word_lists("abbreviations")["numbered"]
# forms that are not verbs after certain words: "of broken parts", "things to do"
_NO_VERBS = dict.fromkeys(WORD_SETS["before nouns"], WORD_SETS["participles"]) | {"to": WORD_SETS["infinitives"]}
QUESTION_MARKS = "?؟？;\u037e"
_LONG_PIECE = 9  # a piece of at least so many words that ends with a stop is a sentence
FEWEST_ALONE, FEWEST_IN_ITEM = 8, 5  # a sentence, or an item of a list, with fewer words is not chosen by itself
_LONGEST_COURTESY = 10  # words; a longer piece is not a greeting, thanks or a farewell
CLIPPED = 600  # characters: of a longer text, only the first and the last 300 count
_LABEL = re.compile(
    r"[•‣◦▪●·*+\-–—>]\s+|\(?[0-9]{1,3}[.)]\s+|[0-9]{1,2}(?:\.[0-9]{1,2}){1,3}\.?\s+(?=[A-Z])"
    r"|\(?[a-z]\)\s+|\[[0-9:., /-]{4,24}\]\s*"
    r"|[A-Z][\w .]{0,24}+:\s+(?=\S+\s+\S+\s)"
)
_CAPTIONED = re.compile(
    r"(?:fig(?:ure)?|tab(?:le)?|box|chart|plate|map|algorithm|listing)\b\.? ?[0-9A-Z]{1,4}(?:\.[0-9]+)?\s*[:.|–—-]"
    r"|(?:photo(?:graph)?|image|picture|credit|source|foto|image|bild|abb(?:ildung)?|obr|εικόνα)\b[^:]{0,20}:",
    re.IGNORECASE,
)
_FILED_UNDER = re.compile(
    r"(?=[kimspк])(?:key\s?words?(?: and phrases)?|index terms|mots[- ]clés|schl(?:üssel|ag)wörter|palabras clave|"
    r"palavras-chave|parole chiave|klíčová slova|ключевые слова)\s?[:.—–-]",
    re.IGNORECASE,
)
_ALL_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SIGNS = re.compile(r"[|{}\[\]<>=_\\~^•·»©★☆♪→@#$%/+]|\.{4,}|--+>?|;\s*$")
_WEB_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+")
_FIGURE = re.compile(r"\S*[0-9]\S*")
_IDEOGRAPH = re.compile(f"[{SINGLE}]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_PAST = re.compile(r"[a-z]+[^\We]ed$")
_EAST_VERB = re.compile(  # endings of Japanese, Korean and Chinese sentences, and verbs and particles, also Thai ones
    r"(?:[たるだすんかよねうくい다요까죠네해])[。.！!？?…」』）)\"'”]*$"
    r"|[了是在有将被会说为吗呢不没把让就都也已能要可到来去因于]|表示|ได้|ถูก|จะ|ว่า|มี|ไม่|เป็น|แล้ว|ให้|ของเรา|ต้อง"
)


def is_furniture(text: str, tokens: Sequence[str] | None = None, kind: str = "furniture") -> bool:
    """Whether a page or program speaks of itself in a piece; with kind "of itself", a meeting or a paper does."""
    if _LONGEST_WORDS[kind].isdisjoint(words(text) if tokens is None else tokens):  # most sentences
        return False
    lower = text.lower()
    return any(re.search(rf"\b{phrase}\b", lower) for phrase in filter(lower.__contains__, WORD_SETS[kind]))


def clipped(text: str) -> str:
    """A text, or the two ends of a very long one, so that the work does not grow with its length."""
    return text if len(text) <= CLIPPED else text[: CLIPPED // 2] + " " + text[-CLIPPED // 2 :]


def counted_words(text: str) -> int:
    """The number of words; two Chinese or Japanese characters count as a word."""
    n = count_words(text)
    return (n + 1) // 2 if not text.isascii() and _IDEOGRAPH.search(text) else n


class PieceTraits:
    """What a piece of text looks like without the bullet or label before it."""

    def __init__(self, text: str) -> None:
        label = _LABEL.match(text)
        self.body = body = clipped(text[label.end() :] if label else text)
        self.closed, self.n = is_closed(body), counted_words(body)
        # without web addresses, and without a danda that was typed as |
        plain = _WEB_ADDRESS.sub("", body.rstrip("| ") if self.closed else body)
        self.words = tokens = _ALL_LETTERS.findall(plain.lower().replace("’", "'"))
        self.first = tokens[0] if tokens and not plain[:1].isdigit() else ""
        unspaced = 0 if body.isascii() else len(UNSPACED.findall(body)) + 9 * len(_HANGUL.findall(body))
        self.east = unspaced > 0.3 * len("".join(body.split()))
        self.other_script = not self.east and tokens[:1] > ["\u0370"]  # a script with spaces that is not Latin
        # shares: letters and figures among characters, words with a figure, capitalized words after the first word
        self.letters = sum(map(str.isalnum, plain)) / max(len("".join(plain.split())), 1)
        self.figures = len(_FIGURE.findall(plain)) / max(len(plain.split()), 1)
        cased = [word[0] for word in _ALL_LETTERS.findall(plain) if word[0].isupper() or word[0].islower()]
        self.capitals = 0.0 if plain.isupper() else sum(map(str.isupper, cased[1:])) / max(len(cased) - 1, 1)
        self.signs = len(_SIGNS.findall(plain))
        self.starts_small = plain.lstrip("\"'“«(")[:1].islower()
        self.english, self.subject = (not known.isdisjoint(tokens) for known in (SMALL_ENGLISH, WORD_SETS["subjects"]))
        # the number of words that are surely verbs; whether a word may be a finite verb; whether a word ends in "ed"
        pairs = [*pairwise(["", *tokens])]
        self.verbs = sum(b in WORD_SETS["verbs"] and b not in _NO_VERBS.get(a, ()) for a, b in pairs)
        self.may_have_verb = any(b in WORD_SETS["weak verbs"] and a != "to" for a, b in pairs[1:])
        self.may_have_verb |= "we" in tokens[:-1] and len(tokens) >= FEWEST_ALONE  # "we estimate", "then we paint"
        self.has_past = any(map(_PAST.match, tokens))


def is_sentence(text: str, in_paragraph: bool = False) -> bool:
    """Whether a text on one line is a sentence; `in_paragraph` says that its paragraph has other sentences.

    Examples
    --------
    >>> [is_sentence(text) for text in ("It rained.", "Patents.", "| Opening | 2031 |", "没有人受伤。", "第二章")]
    [True, False, False, True, False]
    >>> is_sentence("Keywords: rain, snow, the sea"), is_sentence("Thanks for the photos!"), is_sentence("No warranty.")
    (False, False, False)
    """
    text = NOTE.sub("", text) if "[" in text else text
    if _FILED_UNDER.match(text) or _CAPTIONED.match(text):
        return False
    furniture, n_words = is_furniture(text), count_words(text)
    if not furniture and n_words > _LONG_PIECE + 3 and is_closed(text):
        return True  # this is so for most sentences
    head, label = text.lower().replace("’", "'"), _LABEL.match(text)
    courtesy = n_words <= _LONGEST_COURTESY and any(
        greets(_ALL_LETTERS.findall(head[begin:])) for begin in {0, label.end() if label else 0}
    )
    if courtesy or (":" in head and head.partition(":")[0] in WORD_SETS["page labels"]):  # "Thanks!", "Quiz: who won?"
        return False
    piece = PieceTraits(text)
    n, verbs, closed = piece.n, piece.verbs, piece.closed
    long = n >= _LONG_PIECE and (closed or piece.body[-1] in "\"”»’'" or (piece.other_script and n > _LONG_PIECE + 3))
    if (piece.letters < 0.6 and not piece.other_script) or (furniture and not (in_paragraph and long)):
        return False
    if piece.east:
        return closed or (n > 1 and _EAST_VERB.search(piece.body) is not None)
    if long or (closed and ((in_paragraph and n > 2) or (piece.body[-1] in QUESTION_MARKS and n > 1))):
        return True
    # Short pieces and lines without a stop: people type such sentences, and headlines say what happened.
    last = piece.words[-1] if piece.words else ""
    if n < (2 if closed else 3) or last in ("and", "or") or (n <= 4 and last in _NUMBERED):  # "Order no."
        return False
    if piece.first in WORD_SETS["starters"] and verbs < 2 and not (closed and piece.subject and "," in piece.body):
        return False  # "What to expect."
    if closed and (verbs or piece.first in WORD_SETS["imperatives"]):
        return True
    most_signs = 2 if closed or (verbs and n >= FEWEST_ALONE) else 0
    if piece.capitals > 0.6 or piece.figures > 0.3 or piece.signs > most_signs:
        return False
    # "and nothing bad happened"
    if verbs or (piece.subject and (piece.may_have_verb or (piece.has_past and piece.starts_small))):
        return n > 3 or piece.subject or piece.starts_small
    if closed and (piece.may_have_verb or piece.has_past or piece.other_script):
        return n > 2 or piece.subject
    if n < (3 if closed and not piece.english else 4) or (piece.first in WORD_SETS["prepositions"] and n <= 5):
        return False
    return piece.body.count(",") <= (n > 5) if closed else piece.other_script or piece.may_have_verb


def may_state(text: str) -> bool:
    """Whether a line of four words or more may be a statement, such as a headline, whose verb is in no list.

    Examples
    --------
    >>> [may_state(line) for line in ("Storm batters coast", "Storm batters western coast", "How the storm began")]
    [False, True, False]
    """
    if len(text.split()) < 4 or text[0].islower() or text.isupper() or text[-1] in QUESTION_MARKS or ":" in text:
        return False
    piece, heads = PieceTraits(text), WORD_SETS["list heads"]
    if not heads.isdisjoint(piece.words[:4]) and piece.first in {
        "",
        *WORD_SETS["numbers"],
    }:  # "Nine ways to tie a knot"
        return False
    if piece.first in heads | WORD_SETS["starters"] | WORD_SETS["prepositions"]:
        return False
    return piece.letters >= 0.8 and piece.capitals <= 0.7 and piece.figures <= 0.4 and not is_furniture(text)


def greets(tokens: Sequence[str]) -> bool:
    """Whether words begin with a courtesy, perhaps after an interjection."""
    for at in range(2 if tokens and tokens[0] in WORD_SETS["interjections"] else 1):
        if any(" ".join(tokens[at : at + k]) in WORD_SETS["courtesies"] for k in (1, 2, 3, 4)):
            return tokens[at : at + 2] != ["thanks", "to"]
    return False
