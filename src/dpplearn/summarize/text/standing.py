"""Whether a piece of text is a sentence, and whether a sentence can stand alone in a summary: rules, and word lists.

`is_sentence`: is it one at all, or a heading, a slug, a caption, a courtesy, what a page says of itself? What is none
is no candidate. `why_not_alone`: would somebody who reads nothing before it know who and what it is about? What leans
on the sentence before it, asks, answers, greets, instructs, or mostly quotes is not chosen by itself.

The lists are in data/sentence-words.txt and leaning-words.txt. A language without a list is judged by what can be seen
without words: how a piece ends, its length, its letters, figures, signs, capitals and quotations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate, pairwise

from dpplearn.summarize.text.blocks import is_closed
from dpplearn.summarize.text.states import looks_ahead
from dpplearn.summarize.text.units import UNSPACED, count_words
from dpplearn.summarize.text.words import DATES, NOTE, SINGLE, word_lists, words

_SETS = word_lists("sentence-words")
_LONGEST_WORDS = {  # of each phrase the longest word: most sentences have none of these
    name: frozenset(max(words(phrase), key=len) for phrase in _SETS[name]) for name in ("furniture", "of itself")
}
_SMALL_ENGLISH = word_lists("small-words")["English"]
_NUMBERED = word_lists("abbreviations")["numbered"]
# after these words they are no verbs: "of broken parts", "things to do"
_NO_VERBS = dict.fromkeys(_SETS["before nouns"], _SETS["participles"]) | {"to": _SETS["infinitives"]}
_QUESTION_MARKS = "?؟？;\u037e"
_LONG_PIECE = 9  # words from which on a closed piece is a sentence, whatever its words
FEWEST_ALONE, FEWEST_IN_ITEM = 8, 5  # words of a sentence that is chosen by itself, and of an item of a list
_LONGEST_COURTESY = 10  # words of a greeting, of thanks or of a farewell
_CLIPPED = 600  # characters that are looked at, half of them at either end
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
    """Whether a piece has words that pages and programs say of themselves; or "of itself", a meeting or a paper."""
    if _LONGEST_WORDS[kind].isdisjoint(words(text) if said is None else said):  # most sentences
        return False
    lower = text.lower()
    return any(re.search(rf"\b{phrase}\b", lower) for phrase in filter(lower.__contains__, _SETS[kind]))


def _clipped(text: str) -> str:
    """A text, or its ends where it is very long: so much is looked at, whatever its length."""
    return text if len(text) <= _CLIPPED else text[: _CLIPPED // 2] + " " + text[-_CLIPPED // 2 :]


def _count(text: str) -> int:
    """The words of a text, of Chinese and Japanese ones two characters each."""
    n = count_words(text)
    return (n + 1) // 2 if not text.isascii() and _IDEOGRAPH.search(text) else n


class _Look:
    """What can be seen of a piece of text, without the mark or label before it."""

    def __init__(self, text: str) -> None:
        label = _LABEL.match(text)
        self.body = body = _clipped(text[label.end() :] if label else text)
        self.closed, self.n = is_closed(body), _count(body)
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
        self.english, self.subject = (not known.isdisjoint(said) for known in (_SMALL_ENGLISH, _SETS["subjects"]))
        heads = _SETS["list heads"]  # it announces a list: "Nine ways to tie a knot"
        self.is_list_head = not heads.isdisjoint(said[:4]) and self.first in heads | _SETS["numbers"] | {""}
        # how many words are surely verbs (none in "of broken parts" and "things to do"); whether one may be finite, or
        # has the ending of the past, as participles do
        pairs = [*pairwise(["", *said])]
        self.verbs = sum(b in _SETS["verbs"] and b not in _NO_VERBS.get(a, ()) for a, b in pairs)
        self.maybe = any(b in _SETS["weak verbs"] and a != "to" for a, b in pairs[1:])
        self.maybe |= "we" in said[:-1] and len(said) >= FEWEST_ALONE  # "we estimate", "then we paint"
        self.past = any(map(_PAST.match, said))


def is_sentence(text: str, among: bool = False) -> bool:
    """Whether a text on one line is a sentence; `among`: it is not the only one in its paragraph.

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
        _greets(_ALL_LETTERS.findall(head[begin:])) for begin in {0, label.end() if label else 0}
    )
    if courtesy or (
        ":" in head and head.partition(":")[0] in _SETS["page labels"]
    ):  # "Thanks a lot!", "Quiz: who won?"
        return False
    look = _Look(text)
    n, verbs, closed = look.n, look.verbs, look.closed
    long = n >= _LONG_PIECE and (closed or look.body[-1] in "\"”»’'" or (look.other and n > _LONG_PIECE + 3))
    if (look.letters < 0.6 and not look.other) or (furniture and not (among and long)):
        return False
    if look.east:
        return closed or (n > 1 and _EAST_VERB.search(look.body) is not None)
    if long or (closed and ((among and n > 2) or (look.body[-1] in _QUESTION_MARKS and n > 1))):
        return True
    # A piece of a few words, or a line without a stop: what people type, and headlines that say what happened.
    last = look.words[-1] if look.words else ""
    if n < (2 if closed else 3) or last in ("and", "or") or (n <= 4 and last in _NUMBERED):  # "Order no."
        return False
    if look.first in _SETS["starters"] and verbs < 2 and not (closed and look.subject and "," in look.body):
        return False  # "What to expect."
    if look.is_list_head and not closed:
        return False
    if closed and (verbs or look.first in _SETS["imperatives"]):
        return True
    if look.capitals > 0.6 or look.figures > 0.3 or look.signs > (2 if closed or (verbs and n >= FEWEST_ALONE) else 0):
        return False
    if verbs or (look.subject and (look.maybe or (look.past and look.small))):  # "and nothing bad happened"
        return n > 3 or look.subject or look.small
    if closed and (look.maybe or look.past or look.other):
        return n > 2 or look.subject
    if n < (3 if closed and not look.english else 4) or (look.first in _SETS["prepositions"] and n <= 5):
        return False
    return look.body.count(",") <= (n > 5) if closed else look.other or look.maybe


def may_state(text: str) -> bool:
    """Whether a line of four words or more may state something, as far as can be told without knowing its verb.

    Examples
    --------
    >>> [may_state(line) for line in ("Storm batters coast", "Storm batters western coast", "How the storm began")]
    [False, True, False]
    """
    if len(text.split()) < 4 or text[0].islower() or text.isupper() or text[-1] in _QUESTION_MARKS or ":" in text:
        return False
    look = _Look(text)
    if look.is_list_head or look.first in _SETS["starters"] | _SETS["list heads"] | _SETS["prepositions"]:
        return False
    return look.letters >= 0.8 and look.capitals <= 0.7 and look.figures <= 0.4 and not is_furniture(text)


def _greets(said: Sequence[str]) -> bool:
    """Whether words begin with a courtesy, perhaps after an interjection."""
    for at in range(2 if said and said[0] in _SETS["interjections"] else 1):
        if any(" ".join(said[at : at + k]) in _SETS["courtesies"] for k in (1, 2, 3, 4)):
            return said[at : at + 2] != ["thanks", "to"]
    return False


class Lack(StrEnum):
    """Why a sentence does not stand alone, in words."""

    SHORT = f"has fewer than {FEWEST_ALONE} words"
    QUESTION = "is a question"
    ANSWER = "is an answer, or polite"
    INSTRUCTION = "tells its reader what to do"
    ANNOUNCES = "only announces what follows"
    QUOTATION = "is mostly a quotation, half of one, or of somebody without a full name"
    OF_ITSELF = "says something of the text or the meeting itself"
    NO_VERB = "has no verb"
    OVERTAKEN = "tells what a later document corrects"  # see `dpplearn.summarize.text.states`
    PASSING = "tells what was going on or still to come when it was written"
    LEANS = "leans on the sentence before it"  # by a connective, pronoun or reference that only that may explain


_QUOTE = re.compile(r"“([^”]*)”|\"([^\"]*)\"|``(.*?)''|«([^»]*)»|„([^“”]*)[“”]|”([^”]*)”")
_MARK = re.compile(r"(?<![0-9])(?:(?<!\w)\"|\"(?!\w))|[“”„«»]")
_UNEXPLAINED = re.compile(  # "We were lucky", "It was dark and cold" in quotation marks
    r"^(?:it|this|that|these|those|they|he|she)\b|\b(?:I|we|us|our|my|me|you|your)\b(?![-.])", re.IGNORECASE
)
_ASSIGNED = re.compile(
    r"(?:[^\W\d_][\w ]{1,20}: )?[A-Z][\w.]*(?: [A-Z][\w.]*){0,2} to [a-z]+ \w"
)  # "Ann to ask the bank"
_ASKS = re.compile(  # "is there a stove or do we have to carry gas"
    r"(?:is|are|do|does|did|can|could|should|shall|will|would|has|have) (?:there|we|you|i|it|they|any|some)",
    re.IGNORECASE,
)
_FOR_ALL = re.compile(r"\b(?:we|should|anyone|anybody|which|where)\b", re.IGNORECASE)
_OF_ITSELF = re.compile(  # "Held on 9 November in the hall", "In section 4, we show", "“Photo” means any image"
    r"(?:Held|Posted|Dated|Signed|Reviewed|Published|Done)\b.{0,20}[0-9]"
    r"|(?:\w\w*, )?[Ii]n [Ss]ections? [0-9.]+,? we\b"
    r"|Section [0-9.]+ (?:describe|present|discuss|review|explain|introduce|conclude|report|provide|show|cover|give)s"
    r"|(?:(?:In|For the purposes? of) this [\w-]+, )?[\"“][^\"“”]{1,40}[\"”] means\b"
)
_FULL_NAME = re.compile(
    r"\b[^\W\d_a-zà-ÿ][\w’'.-]*\s(?:[A-Z]\.\s)?(?:(?:van|von|de|da|bin|al|el)[ -])?[^\W\d_a-zà-ÿ][\w’'-]+"
)
_CLAUSE = re.compile(r"""[,،，"“”«»]""")
_FOLLOWS = {  # "It is clear that ...", "It remains to be seen ...": what it stands for follows
    "English": re.compile(
        r"it(?:'s| is| was| has been| had been| will be| would be| may be| seems| seemed| appears| appeared| remains"
        r"| took)(?! (?:an?|the|on|in|at|with|from|about)\b)"
        r"(?: [\w-]+){0,4}? (?:that|to|whether|how|why|who|if|when|clear|unclear)\b"
    ),
    "German": re.compile(r"es [^,]{2,60}, (?:dass|ob|wie|wer|wann|warum)\b"),
    "French": re.compile(r"il (?:est|était|a été|sera|serait) [\w' -]{2,40}? (?:que|qu'|de|d')"),
}
# "Similar effects", "The reason for this is", at its end "..., two days before that."; "an hour later" without an event
_POINTS_BACK = re.compile(
    r"Similar (?!to )"
    r"|.{,50}?\b(?:of|for|behind|to|by|with) th(?:is|at|ese|ose) (?:is|was|are|were|has|have|had|will|would|can)\b"
)
_ENDS_BACK = re.compile(
    r"\b(?:before|after|of|for|about|against|like|than|with|to|by) th(?:is|at|ese|ose)(?: ones?)?[.!]?$"
)
_TIME_LATER = re.compile(
    r"((?:[^\W\d]+|[0-9]+) (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)) (?:later|earlier)\b"
    r"(?! (?:than|when|if)\b)"
)
_ANCHORS = frozenset(["who", "which", "that", "when", "after", "since", "from", "until", "and", "but", "then"])
_PRONOUNS = frozenset(["he", "she", "they", "him", "them"])
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_PRONOUNS)})\b")
_REFERS = re.compile(r"\b(?:he|she|it|they|him|her|them|his|its|their)\b", re.IGNORECASE)
_ANYONE = re.compile(r"(?:any|every|no|some) ?(?:one|body)\b|(?:while|although|though|if)\b", re.IGNORECASE)
_BEGINNING = 30  # characters of a sentence that must say who and what
_PHRASE = 4  # words of the longest phrase in the lists, and of "..., he said"
_SCARE = 4  # words of a quotation that only sets a term apart


def why_not_alone(
    text: str, language: str | None = "English", said: Sequence[str] | None = None, is_item: bool = False
) -> Lack | None:
    """What a sentence lacks to be chosen by itself; None where it stands alone. `said` are its words, if known.

    An item of a list that ends with a stop may be shorter than other sentences.

    Examples
    --------
    >>> text = "The council of Brenn voted on Monday to close the old bridge."
    >>> why_not_alone(text) is None, str(why_not_alone("But " + text))
    (True, 'leans on the sentence before it')
    """
    said = said if said is not None and len(text) <= _CLIPPED else None
    text = _clipped(text)
    if _quotes(text):
        return Lack.QUOTATION
    if _count(text) < (FEWEST_IN_ITEM if is_item and is_closed(text) else FEWEST_ALONE):
        return Lack.SHORT
    last, said = text.rstrip("\"”»’') ")[-1:], _parts(text, said)
    if (last in _QUESTION_MARKS and is_closed(text)) or (last.isalnum() and _ASKS.match(text)):
        return Lack.QUESTION
    if last in ":：" or " as follows" in text[-60:]:
        return Lack.ANNOUNCES
    if not said:
        return Lack.NO_VERB
    agrees = said[0] in ("ok", "okay") and "we" in said  # "OK, we have decided: ..."
    if said[0] in _SETS["interjections"] and text[len(said[0]) :][:1] == "," and not agrees:
        return Lack.ANSWER
    if language == "English":
        if _greets(said):
            return Lack.ANSWER
        if _instructs(text, said):
            return Lack.INSTRUCTION
        if _OF_ITSELF.match(text) or is_furniture(text, said, "of itself"):
            return Lack.OF_ITSELF
        if _SETS["verbs"].isdisjoint(said) and not _ASSIGNED.match(text):
            look = _Look(text)
            if look.english and not (look.verbs or look.maybe or look.past):
                return Lack.NO_VERB
    return Lack.LEANS if leans(text, language, said) else None


def asks_all(text: str) -> bool:
    """Whether a sentence asks those who are there what to do, and not one of them to go on.

    Examples
    --------
    >>> asks_all("Where should we hold the party, here or at home?"), asks_all("Ann, do you want to start with that?")
    (True, False)
    """
    asks = text.rstrip()[-1:] == "?" and _count(text) >= FEWEST_ALONE
    return asks and " you " not in text and _FOR_ALL.search(text) is not None


def _instructs(text: str, said: Sequence[str]) -> bool:
    """Whether a sentence tells its reader to do something: "Open the settings", "Note that", "To install it, run"."""
    orders = _SETS["imperatives"] | _SETS["reader"]
    if said[0] == "please" or (said[0] in orders and not _SETS["after imperatives"].isdisjoint(said[1:2])):
        return True
    return said[0] in ("to", "if", "for") and text.partition(", ")[2][:20].split(" ", 1)[0] in orders


def _quotes(text: str) -> bool:
    """Whether it has half a quotation, one that is most of the sentence, or one of somebody without a full name."""
    if not any(map(text.__contains__, ('"', "``", "“", "”", "„", "«", "»"))):  # most sentences
        return False
    if len(_MARK.findall(text)) % 2:
        return True
    quoted = [found[0] for found in _QUOTE.finditer(text)]
    if max(map(count_words, quoted), default=0) <= _SCARE:
        return False
    if 5 * sum(map(len, quoted)) > 3 * len(text) or any(map(_UNEXPLAINED.search, quoted)):
        return True
    outside = _QUOTE.sub(" , ", text)
    small = _SMALL_ENGLISH | _SETS["prepositions"] | _SETS["starters"]
    named = any(found[0].split()[0].lower() not in small for found in _FULL_NAME.finditer(outside))
    return any(map(str.isupper, outside)) and not named


def leans(text: str, language: str | None = "English", said: list[str] | None = None) -> bool:
    """Whether a reader needs the sentence before to know who or what this one is about, or what it answers.

    Examples
    --------
    >>> leans("But Ada stayed."), leans("The man fled."), leans("This week it rained."), leans("It is clear that it is")
    (True, True, False, False)
    >>> leans('"We were lucky," he said.'), leans('"We were lucky," said Ada.'), leans("Il pleuvait.", "French")
    (True, False, True)
    """
    lists, text = word_lists("leaning-words"), text.lstrip()
    if language is None or language not in lists:
        return False
    if text[:1].islower():  # spoken or a note, where "so" and "and" say little
        return text.split(" ", 1)[0] in _SETS["halves"]
    parts, saying = _parts(text) if said is None else said, lists[f"{language} said"]
    if parts and parts[-1] in saying:  # "..., he said."
        clauses = [*filter(None, map(_parts, _CLAUSE.split(text)))]
        if len(clauses) > 1 and 1 < len(clauses[-1]) <= _PHRASE and saying.issuperset(clauses[-1]):
            return True
    quoted = _QUOTE.match(text)
    if quoted:
        return saying.issuperset(_parts(text[quoted.end() :])[:2])  # a quotation of nobody, or of "he"
    if language in _FOLLOWS and parts[:1] < ["j"] and _FOLLOWS[language].match(text.lower()):  # it, es, il
        return False
    begins = [*accumulate(parts[:_PHRASE], "{} {}".format)]
    known = [k for k, phrase in enumerate(begins, 1) if phrase in lists[language]]
    if known and not any(word in lists[f"{language} own"] for k in known for word in parts[k : k + 1]):
        return True
    if language != "English":
        return False
    if _POINTS_BACK.match(text) or _ENDS_BACK.search(text[-_BEGINNING:]) or _points_back(parts):
        return True
    later = _TIME_LATER.search(text) if " later" in text or " earlier" in text else None
    if later is not None and _ANCHORS.isdisjoint(_parts(text[: later.start()])):
        return True
    return not _PRONOUNS.isdisjoint(parts) and _has_loose_pronoun(text)


def opens(text: str) -> bool:
    """Whether an English sentence may open a summary: its beginning names who and what, and it tells what happened.

    Examples
    --------
    >>> opens("The bridge fell on Monday."), opens("The navy insists that they left."), opens("The bridge will fall.")
    (True, False, False)
    """
    return not looks_ahead(text) and not _REFERS.search(text[:_BEGINNING]) and not _ANYONE.match(text)


def _points_back(parts: list[str]) -> bool:
    """Whether an English sentence begins with "the move", "two other men": a thing that was told before."""
    if parts and parts[0] in _SETS["counts"] and parts[1:2] in (["other"], ["others"], ["more"]):
        return True
    the, *rest = parts or [""]
    thing, *after = (rest[1:] if rest[:1] and rest[0] in _SETS["counts"] else rest) or [""]
    return the == "the" and thing in _SETS["told before"] and _SETS["complements"].isdisjoint(after[:1])


def _has_loose_pronoun(text: str) -> bool:
    """Whether the first "he", "she", "they" of a sentence stands before any name or noun that could explain it."""
    found = _PRONOUN.search(text)
    if found is None:
        return False
    before = text[: found.start()]
    if any(name.lower() not in DATES for name in re.findall(r"\s([A-Z][a-z]+)", before)):
        return False
    said = _parts(before)
    if said and said[0] in _SETS["openings"]:  # "After the match, he": what stands in front explains nothing
        said = _parts(before.partition(",")[2])
    return _SMALL_ENGLISH.union(_SETS["openings"], _SETS["subjects"], _SETS["verbs"]).issuperset(said)


def _parts(text: str, said: Sequence[str] | None = None) -> list[str]:
    """Words, cut at apostrophes: "c'est" begins with c, "he'd" with he."""
    said = words(text) if said is None else said
    return [part for word in said for part in word.split("'")] if "'" in text or "’" in text else [*said]
