"""Tells sentences from the other pieces of a document: headings, slugs, captions, courtesies, and what a page says of
itself. A piece that is no sentence is not a candidate for a summary.

The rules use the word lists in data/sentence-words.txt. A language without a list is judged by what can be seen without
words: how a piece ends, its length, its letters, figures, signs and capitals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from dpplearn.summarize.text.blocks import is_closed
from dpplearn.summarize.text.units import UNSPACED, count_words
from dpplearn.summarize.text.words import NOTE, SINGLE, word_lists, words

WORD_SETS = word_lists("sentence-words")
_LONGEST_WORDS = {  # of each phrase the longest word: most sentences have none of these
    name: frozenset(max(words(phrase), key=len) for phrase in WORD_SETS[name]) for name in ("furniture", "of itself")
}
SMALL_ENGLISH = word_lists("small-words")["English"]
_NUMBERED = word_lists("abbreviations")["numbered"]
# after these words they are no verbs: "of broken parts", "things to do"
_NO_VERBS = dict.fromkeys(WORD_SETS["before nouns"], WORD_SETS["participles"]) | {"to": WORD_SETS["infinitives"]}
QUESTION_MARKS = "?؟？;\u037e"
_LONG_PIECE = 9  # words from which on a closed piece is a sentence, whatever its words
FEWEST_ALONE, FEWEST_IN_ITEM = 8, 5  # words of a sentence that is chosen by itself, and of an item of a list
_LONGEST_COURTESY = 10  # words of a greeting, of thanks or of a farewell
CLIPPED = 600  # characters that are looked at, half of them at either end
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
_EAST_VERB = re.compile(  # what Japanese, Korean and Chinese sentences end with, and verbs and particles in them
    r"(?:[たるだすんかよねうくい다요까죠네해])[。.！!？?…」』）)\"'”]*$"
    r"|[了是在有将被会说为吗呢不没把让就都也已能要可到来去因于]|表示|ได้|ถูก|จะ|ว่า|มี|ไม่|เป็น|แล้ว|ให้|ของเรา|ต้อง"
)


def is_furniture(text: str, said: Sequence[str] | None = None, kind: str = "furniture") -> bool:
    """Whether a page or program speaks of itself in a piece; for kind "of itself", a meeting or a paper does."""
    if _LONGEST_WORDS[kind].isdisjoint(words(text) if said is None else said):  # most sentences
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
    """What can be seen of a piece of text without the bullet or label before it."""

    def __init__(self, text: str) -> None:
        label = _LABEL.match(text)
        self.body = body = clipped(text[label.end() :] if label else text)
        self.closed, self.n = is_closed(body), counted_words(body)
        # without the danda as some type it, and without addresses
        plain = _WEB_ADDRESS.sub("", body.rstrip("| ") if self.closed else body)
        self.words = said = _ALL_LETTERS.findall(plain.lower().replace("’", "'"))
        self.first = said[0] if said and not plain[:1].isdigit() else ""
        unspaced = 0 if body.isascii() else len(UNSPACED.findall(body)) + 9 * len(_HANGUL.findall(body))
        self.east = unspaced > 0.3 * len("".join(body.split()))
        self.other = not self.east and said[:1] > ["\u0370"]  # in another script than Latin, with spaces
        # shares: of letters and figures in what is no space, of words with a figure, of capitals after the first word
        self.letters = sum(map(str.isalnum, plain)) / max(len("".join(plain.split())), 1)
        self.figures = len(_FIGURE.findall(plain)) / max(len(plain.split()), 1)
        cased = [word[0] for word in _ALL_LETTERS.findall(plain) if word[0].isupper() or word[0].islower()]
        self.capitals = 0.0 if plain.isupper() else sum(map(str.isupper, cased[1:])) / max(len(cased) - 1, 1)
        self.signs = len(_SIGNS.findall(plain))
        self.small = plain.lstrip("\"'“«(")[:1].islower()
        self.english, self.subject = (not known.isdisjoint(said) for known in (SMALL_ENGLISH, WORD_SETS["subjects"]))
        # how many words are surely verbs (none in "of broken parts" and "things to do"); whether one may be finite, or
        # has the ending of the past, as participles do
        pairs = [*pairwise(["", *said])]
        self.verbs = sum(b in WORD_SETS["verbs"] and b not in _NO_VERBS.get(a, ()) for a, b in pairs)
        self.maybe = any(b in WORD_SETS["weak verbs"] and a != "to" for a, b in pairs[1:])
        self.maybe |= "we" in said[:-1] and len(said) >= FEWEST_ALONE  # "we estimate", "then we paint"
        self.past = any(map(_PAST.match, said))


def is_sentence(text: str, among: bool = False) -> bool:
    """Whether a text on one line is a sentence; `among` says that its paragraph has other sentences.

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
        return True  # most sentences
    head, label = text.lower().replace("’", "'"), _LABEL.match(text)
    courtesy = n_words <= _LONGEST_COURTESY and any(
        greets(_ALL_LETTERS.findall(head[begin:])) for begin in {0, label.end() if label else 0}
    )
    if courtesy or (
        ":" in head and head.partition(":")[0] in WORD_SETS["page labels"]
    ):  # "Thanks a lot!", "Quiz: who won?"
        return False
    look = PieceTraits(text)
    n, verbs, closed = look.n, look.verbs, look.closed
    long = n >= _LONG_PIECE and (closed or look.body[-1] in "\"”»’'" or (look.other and n > _LONG_PIECE + 3))
    if (look.letters < 0.6 and not look.other) or (furniture and not (among and long)):
        return False
    if look.east:
        return closed or (n > 1 and _EAST_VERB.search(look.body) is not None)
    if long or (closed and ((among and n > 2) or (look.body[-1] in QUESTION_MARKS and n > 1))):
        return True
    # A piece of a few words, or a line without a stop: what people type, and headlines that say what happened.
    last = look.words[-1] if look.words else ""
    if n < (2 if closed else 3) or last in ("and", "or") or (n <= 4 and last in _NUMBERED):  # "Order no."
        return False
    if look.first in WORD_SETS["starters"] and verbs < 2 and not (closed and look.subject and "," in look.body):
        return False  # "What to expect."
    if closed and (verbs or look.first in WORD_SETS["imperatives"]):
        return True
    if look.capitals > 0.6 or look.figures > 0.3 or look.signs > (2 if closed or (verbs and n >= FEWEST_ALONE) else 0):
        return False
    if verbs or (look.subject and (look.maybe or (look.past and look.small))):  # "and nothing bad happened"
        return n > 3 or look.subject or look.small
    if closed and (look.maybe or look.past or look.other):
        return n > 2 or look.subject
    if n < (3 if closed and not look.english else 4) or (look.first in WORD_SETS["prepositions"] and n <= 5):
        return False
    return look.body.count(",") <= (n > 5) if closed else look.other or look.maybe


def may_state(text: str) -> bool:
    """Whether a line of four words or more may be a statement whose verb no list has, as headlines are.

    Examples
    --------
    >>> [may_state(line) for line in ("Storm batters coast", "Storm batters western coast", "How the storm began")]
    [False, True, False]
    """
    if len(text.split()) < 4 or text[0].islower() or text.isupper() or text[-1] in QUESTION_MARKS or ":" in text:
        return False
    look, heads = PieceTraits(text), WORD_SETS["list heads"]
    if not heads.isdisjoint(look.words[:4]) and look.first in WORD_SETS["numbers"] | {""}:  # "Nine ways to tie a knot"
        return False
    if look.first in WORD_SETS["starters"] | WORD_SETS["list heads"] | WORD_SETS["prepositions"]:
        return False
    return look.letters >= 0.8 and look.capitals <= 0.7 and look.figures <= 0.4 and not is_furniture(text)


def greets(said: Sequence[str]) -> bool:
    """Whether words begin with a courtesy, perhaps after an interjection."""
    for at in range(2 if said and said[0] in WORD_SETS["interjections"] else 1):
        if any(" ".join(said[at : at + k]) in WORD_SETS["courtesies"] for k in (1, 2, 3, 4)):
            return said[at : at + 2] != ["thanks", "to"]
    return False
