"""Whether a piece of text could stand in a summary as a sentence, or is a fragment: a small logistic model.

Its features are what can be seen without knowing the language (how the piece ends, its length, letters, figures, signs,
capitals) and words that are verbs, subjects or what pages say of themselves in some languages. The weights are in
data/standing.json, learned by scripts/standing_model.py from the lines of tests/summarize/lines (dev.tsv and more.tsv).
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib import resources
from itertools import pairwise

from dpplearn.summarize.text.abbreviations import NUMBERED
from dpplearn.summarize.text.characters import NOTE
from dpplearn.summarize.text.lines import is_closed
from dpplearn.summarize.text.units import UNSPACED, count_words
from dpplearn.summarize.text.word_lists import word_lists
from dpplearn.summarize.text.words import SINGLE

AMONG = 0.05  # the same of a piece in a paragraph with others: the neighbours of a sentence are sentences
LEAST = 0.4  # of the probability that a piece is a sentence: a lost sentence is worse than a fragment kept
SHORT, LONG = 4, 9  # words
LONGEST = 600  # characters that are looked at, half of them at either end
_LABEL = re.compile(
    r"[•‣◦▪●·*+\-–—>]\s+|\(?[0-9]{1,3}[.)]\s+|[0-9]{1,2}(?:\.[0-9]{1,2}){1,3}\.?\s+(?=[A-Z])"
    r"|\(?[a-z]\)\s+|\[[0-9:., /-]{4,24}\]\s*"
    r"|[A-Z][\w .]{0,24}+:\s+(?=\S+\s+\S+\s)"
)
_CAPTION = re.compile(
    r"(?:fig(?:ure)?|tab(?:le)?|box|chart|plate|map|algorithm|listing)\b\.? ?[0-9A-Z]{1,4}(?:\.[0-9]+)?\s*[:.|–—-]"
    r"|(?:photo(?:graph)?|image|picture|credit|source|foto|image|bild|abb(?:ildung)?|obr|εικόνα)\b[^:]{0,20}:",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_APART = bytes(ord(chr(code).lower()) if chr(code).isalpha() else 32 for code in range(128)) + 128 * b" "
_SIGNS = re.compile(r"[|{}\[\]<>=_\\~^•·»©★☆♪→@#$%/+]|\.{4,}|--+>?|;\s*$")
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+")
_SIMPLE = re.compile(r"[A-Z][A-Za-z ,'-]*[.!?][\"']?")
_DIGIT = re.compile(r"[0-9]")
_FIGURE = re.compile(r"\S*[0-9]\S*")
_QUOTES = "\"”»’'"
_IDEOGRAPH = re.compile(f"[{SINGLE}]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_PAST = re.compile(r"[a-z]+[^\We]ed$")
_NO_LETTER, _NO_WORD = re.compile(r"[\W\d_]+"), re.compile(r"[^\w'’]+|_+")
_FINITE = re.compile(  # endings of finite verbs that few other words have
    r"(?:[a-z]{2,}(?:izes|ifies|ates|aient|èrent|erons|erez|eront|aron|ieron|aban|ía|ían|rá|rán|ió|ó|ava|avano|eva|evano|ou|ram)"
    r"|[a-zäöüß]{3,}(?:te|ten|tet)|[а-яё]{3,}(?:ал|ала|али|ило|ил|ила|или|ется|ются|ёт|ут|ают|ает)"
    r"|[α-ωά-ώ]{3,}(?:ηκε|ηκαν|ουν|ονται|εται|ήσει|ώσει|σε|σαν|άζει|εις|ίζει|ήσω)"
    r"|[a-zěščřžýáíéúůť]{3,}(?:al|ala|ali|il|ila|ili|ěl|ěla|uje|ují|ily|aly)|[a-zçğıöşü]{2,}(?:dı|di|du|dü|tı|ti|tu|tü|yor|acak|ecek))$"
)
_TERMS = re.compile(  # what a paper is filed under
    r"(?=[kimspк])(?:key\s?words?(?: and phrases)?|index terms|mots[- ]clés|schl(?:üssel|ag)wörter|palabras clave|"
    r"palavras-chave|parole chiave|klíčová slova|ключевые слова)\s?[:.—–-]",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"(?=[ynjos])(?:yes|no|yeah|nope|ja|nein|oui|non|sí|sì|sim)[,.!]\s", re.IGNORECASE)
_EAST_END = re.compile(  # how Japanese, Korean and Chinese sentences end
    r"(?:[たるだすんかよねうくい]|です|ます|ました|[다요까죠네해])[。.！!？?…」』）)\"'”]*$|[了吗呢吧的到过着][。.！!？?…]*$"
)
_EAST_VERB = re.compile(
    r"[了是在有将被会说为吗呢不没把让就都也已能要可到来去因于]|表示|ได้|ถูก|จะ|ว่า|มี|ไม่|เป็น|แล้ว|ให้|ของเรา|ต้อง"
)


def is_standing(text: str, among: bool = False) -> bool:
    """Whether a text on one line could stand in a summary; `among`: it is not the only one in its paragraph.

    Examples
    --------
    >>> [is_standing(text) for text in ("It rained.", "Patents.", "| Opening | 2031 |", "没有人受伤。", "第二章")]
    [True, False, False, True, False]
    >>> is_standing("Keywords: rain, snow, the sea"), is_standing("Yes, after eleven."), is_standing("No warranty.")
    (False, False, False)
    """
    if "[" in text:
        text = NOTE.sub("", text)
    if _TERMS.match(text):
        return False
    if _is_plain(text) or (among and _is_simple(text)):
        return True
    return standing(text) >= (AMONG if among and not _ANSWER.match(text) else _least(text))


def _least(text: str) -> float:
    """LEAST; more of an answer, which says little without its question, and of two words."""
    return 0.6 if _ANSWER.match(text) else 0.5 if len(text.split(maxsplit=2)) == 2 else LEAST


def _is_plain(text: str) -> bool:
    """Whether a text is long and closed, and says nothing of a page: most sentences, of which the model says yes.

    Without furniture and an answer's higher threshold, all else that speaks against a long one does not weigh enough
    (a test adds the weights up).
    """
    if len(text) > LONGEST or not is_closed(text):
        return False
    label = _LABEL.match(text)
    body = text[label.end() :] if label else text
    spaced = len(body.split(None, LONG - 1)) >= LONG and (body.isascii() or UNSPACED.search(body) is None)
    closed = spaced and (label is None or is_closed(body))
    return closed and _ANSWER.match(text) is None and not _is_furniture(text)


def _is_simple(text: str) -> bool:
    """Whether a text is words and commas, four or more, one of them a verb and at most half of them names: among others
    a sentence, whatever else speaks against it (a test adds the weights up).
    """
    if _SIMPLE.fullmatch(text) is None or "--" in text or not SHORT <= len(text.split()) < LONG:
        return False
    named = _WORD.findall(text)
    if 2 * sum(word[0].isupper() for word in named[1:]) > len(named) - 1:
        return False
    verbs, words = listed("verbs"), " ".join(named).lower().split()
    verb = any(word in verbs and not _is_noun_phrase(before, word) for before, word in pairwise(["", *words]))
    return verb and _ANSWER.match(text) is None and not _is_furniture(text)


def standing(text: str) -> float:
    """How likely a text on one line is a sentence that could stand in a summary, from 0 to 1.

    Examples
    --------
    >>> standing("What to expect.") < 0.5 < standing("Nobody was hurt.")
    True
    """
    weights = _weights()
    total = weights["constant"] + sum(weights.get(name, 0.0) * value for name, value in features(text).items())
    return 1.0 / (1.0 + math.exp(-max(min(total, 50.0), -50.0)))


@cache
def _weights() -> dict[str, float]:
    data = resources.files("dpplearn.summarize").joinpath("data", "standing.json").read_text(encoding="utf-8")
    return json.loads(data)["weights"]


@cache
def listed(name: str) -> frozenset[str]:
    """The words and phrases of a list of data/sentence-words.txt."""
    return frozenset(word.replace("_", " ") for word in word_lists("sentence-words")[name])


@cache
def _phrases(name: str) -> re.Pattern[str]:
    """Any of a list's words, or words in a row."""
    return re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(listed(name)))) + r")\b")


@cache
def _heads(name: str) -> frozenset[str]:
    """The first words of a list's phrases."""
    return frozenset(phrase.split()[0] for phrase in listed(name))


@cache
def _by_part(name: str) -> dict[bytes, list[str]]:
    """A list's phrases by their longest part in ASCII letters, which few texts have; under b"" those without."""
    found: dict[bytes, list[str]] = {b"": []}
    for phrase in listed(name):
        found.setdefault(max(_ascii_parts(phrase), key=len, default=b""), []).append(phrase)
    return found


def _ascii_parts(text: str) -> list[bytes]:
    """Its runs of ASCII letters, in lower case."""
    return text.encode("utf-8", "replace").translate(_APART).split()


def _count_without(signs: re.Pattern[str], text: str) -> int:
    """How many characters are left without these; of ASCII told at once."""
    return len(text.encode().translate(None, _ascii_of(signs))) if text.isascii() else len(signs.sub("", text))


@cache
def _ascii_of(signs: re.Pattern[str]) -> bytes:
    return bytes(code for code in range(128) if signs.match(chr(code)))


def features(text: str) -> dict[str, float]:
    """What the model looks at, by name; what is not there is 0."""
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + " " + text[-LONGEST // 2 :]
    label = _LABEL.match(text)
    body = text[label.end() :] if label else text
    plain = _ADDRESS.sub("", body) if "@" in body or "http" in body or "www." in body else body
    lower = plain.lower().replace("’", "'")
    named = _WORD.findall(plain)
    words = " ".join(named).lower().split() if plain.isascii() else _WORD.findall(lower)
    n, closed = count_words(body), is_closed(body)
    seen = len("".join(plain.split())) or 1
    east = not body.isascii() and len(UNSPACED.findall(body)) > 0.3 * seen
    if east and _IDEOGRAPH.search(body):
        n = (n + 1) // 2  # a word has about two characters
    if closed:
        plain = plain.rstrip("| ")  # a danda, as some type it
    verbs = listed("verbs")
    verb = sum(word in verbs and not _is_noun_phrase(before, word) for before, word in pairwise(["", *words]))
    if "n't" in lower:
        verb += sum("n't" in word for word in words)
    subject = not listed("subjects").isdisjoint(words)
    past = any(word.endswith("ed") and _PAST.match(word) for word in words)
    cased = [head for word in named if (head := word[0]).isupper() or head.islower()]
    capitals = sum(map(str.isupper, cased[1:])) / max(len(cased) - 1, 1)
    shouted = bool(cased) and plain.isupper()
    figures = len(_FIGURE.findall(plain)) / max(len(plain.split()), 1) if _DIGIT.search(plain) else 0.0
    first = words[0] if words and not plain[:1].isdigit() else ""
    last = body.rstrip()[-1:]
    asked = last in "?؟？;\u037e" and closed
    east = east or (not body.isascii() and _HANGUL.search(body) is not None)
    other = bool(words) and words[0][0] > "\u0370" and not east
    english = word_lists("small-words")["English"]
    weak = not verb and any(word in listed("weak verbs") for before, word in pairwise(words) if before != "to")
    finite = not verb and any(map(_FINITE.search, words[1:] or words))
    done = bool(verb or past or finite or weak)  # something that may be a verb
    begins_small = plain.lstrip("\"'“«(")[:1].islower()
    signs = len(_SIGNS.findall(plain))
    if n >= LONG and (closed or last in _QUOTES or (other and n > LONG + 3)):  # nearly always one, whatever its words
        out: dict[str, float] = {
            "long": 1.0,
            "long, begins small": begins_small,
            "long, no verb": not done,
        }
        out |= {"long, figures": max(figures - 0.4, 0.0), "long, capitals": max(capitals - 0.6, 0.0)}
    else:
        out = {
            f"words {_size(n)}, {'closed' if closed else 'open'}" if not east else "east": 1.0,
            "east, closed": east and closed,
            "east, words": min(n, LONG) / LONG if east else 0.0,
            "question": asked,
            "ends with a colon": last in ":：",
            "ends with a comma": last in ",;，、" and not closed,
            "verb": verb > 0,
            "verbs, more": min(verb, 3) - 1 if verb > 1 else 0,
            "no verb, closed": closed and not east and not done,
            "no verb, closed, English": closed and not done and not english.isdisjoint(words),
            "verb, open": verb > 0 and not closed,
            "past, closed": past and not verb and closed,
            "past, open": past and not verb and not closed,
            "weak verb": weak,
            "finite ending": finite,
            "subject": subject,
            "subject and verb": subject and (verb > 0 or weak),
            "imperative, closed": first in listed("imperatives") and closed,
            "imperative, open": first in listed("imperatives") and not closed,
            "begins as a clause, not asked": first in listed("starters") and not asked,
            "begins as a clause, short": first in listed("starters") and not asked and n < 7,
            "what to": first in listed("starters") and words[1:2] == ["to"] and not asked,
            "begins with a preposition, no verb": first in listed("prepositions") and not done,
            "signs": min(signs, 4) / 2,
            "figures": figures,
            "figures, most": figures > 0.4,
            "capitals": 0.0 if shouted else capitals,
            "capitals, most": not shouted and capitals > 0.7 and len(cased) > 2,
            "all capitals": shouted,
            "begins small, open": not closed and begins_small,
            "begins small, open, no verb": not closed and begins_small and not done and not english.isdisjoint(words),
            "begins small, closed": closed and begins_small,
            "commas, no verb": 0.0 if done else min(body.count(","), 4) / 2,
            "colon inside": ":" in plain[:-1] and not verb,
            "eastern end": east and _EAST_END.search(body) is not None,
            "eastern verb": east and _EAST_VERB.search(body) is not None,
            "other script": other,
            "other script, long": other and n >= LONG,
        }
    out |= {
        "caption": _CAPTION.match(body) is not None,
        "number of a list": (not first or first in listed("numbers"))
        and not listed("list heads").isdisjoint(words[:4]),
        "ends with an abbreviation": n <= 4 and last == "." and bool(words) and words[-1] in NUMBERED,
        "furniture": _is_furniture(text),
        "signs, many": signs / seen > 0.1,
        "few letters": _count_without(_NO_WORD, plain) / seen < 0.8,
        "hardly a letter": _count_without(_NO_LETTER, plain) / seen < 0.6,
        "brackets around": body[:1] in "([<" and last in ")]>",
    }
    return {name: float(value) for name, value in out.items() if value}


def _is_furniture(text: str) -> bool:
    """Whether it has words that pages and programs say of themselves, be it in the label before it."""
    phrases = _by_part("furniture")
    if text.isascii() and phrases.keys().isdisjoint(_ascii_parts(text)):
        return False  # of most, told by one look
    lower = text.lower()
    parts = phrases.keys() & _ascii_parts(lower)
    if not any(phrase in lower for part in (b"", *parts) for phrase in phrases[part]):
        return False
    return not _heads("furniture").isdisjoint(_WORD.findall(lower)) and bool(_phrases("furniture").search(lower))


def may_state(text: str) -> bool:
    """Whether a line of four words or more may state something, as far as can be told without knowing its verb.

    Examples
    --------
    >>> [may_state(line) for line in ("Storm batters coast", "Storm batters western coast", "How the storm began")]
    [False, True, False]
    """
    found = features(text)
    words = text.split()
    label = {"number of a list", "colon inside", "caption", "furniture", "few letters", "all capitals", "figures, most"}
    label |= {"begins as a clause, not asked", "begins with a preposition, no verb", "capitals, most", "question"}
    return (
        len(words) >= 4
        and not text[0].islower()
        and label.isdisjoint(found)
        and words[0].lower() not in listed("list heads")
    )


def _is_noun_phrase(before: str, word: str) -> bool:
    """Whether what could be a finite verb is none after this word: "of broken parts", "things to do"."""
    if before == "to":
        return word in listed("infinitives")
    return word in listed("participles") and before in listed("before nouns")


def _size(n: int) -> str:
    return str(n) if n <= 3 else "4-5" if n <= 5 else "6-8" if n <= 8 else "9-14" if n <= 14 else "15+"
