"""Says whether a sentence can stand alone in a summary, and if not, why.

A reader who sees nothing before a sentence must know who and what it is about. A sentence that leans on the one before
it, asks, answers, greets, instructs or mostly quotes is not chosen by itself. The word lists are in
data/sentence-words.txt and leaning-words.txt; for other languages only what can be seen without words counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate

from dpplearn.summarize.text.blocks import is_closed
from dpplearn.summarize.text.fragments import (
    CLIPPED,
    FEWEST_ALONE,
    FEWEST_IN_ITEM,
    QUESTION_MARKS,
    SMALL_ENGLISH,
    WORD_SETS,
    PieceTraits,
    clipped,
    counted_words,
    greets,
    is_furniture,
)  # fmt: skip
from dpplearn.summarize.text.states import looks_ahead
from dpplearn.summarize.text.units import count_words
from dpplearn.summarize.text.words import DATES, word_lists, words


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
    PASSING = "tells what was still to come or did not last"
    PUBLISHED = "only tells that a text was published"
    BARE = "is short and has no name and no number"  # of a sentence in a story
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
_NAME_OR_FIGURE = re.compile(r"[0-9]|(?<=[\w,;:] )[A-Z]")
_PUBLICATION = (
    r"(?:reports?|statements?|study|studies|surveys?|profiles?|details|transcripts?|lists?|findings|guidelines"
    r"|letters?|reviews?|memos?|documents?|brochures?)"
)
_PUBLISHED = r"(?:published|released|issued|posted|unveiled|made public)"
_ONLY_PUBLISHED = re.compile(
    rf"[^,;:\"“]{{0,40}}?\b{_PUBLICATION}\b(?:(?!\b(?:who|which|that)\b)(?:[^,;:\"“]|,(?= \d))){{0,120}}?"
    rf"\b(?:is|are|was|were|(?:has|have|had) (?:now |also )?been) (?:[a-z]+ly |now |also )?{_PUBLISHED}\b"
    rf"|[^,;:\"“]{{2,60}}? {_PUBLISHED} (?:an?|its|their|his|her|the)(?: [\w-]+){{0,3}}? {_PUBLICATION}\b",
    re.IGNORECASE,
)
_CONTENT = re.compile(  # what it says follows
    r"\b(?:that|which|where|who|saying|says?|said|stat(?:es?|ed|ing)|according|contain\w*|accus\w+|warn\w*|blam\w+|call\w*"
    r"|conclud\w+|f[io]und\w*|finds|reveal\w*|show\w*|estimat\w+|critici\w+|demand\w*|urg\w+|describ\w+|confirm\w*"
    r"|den(?:y\w*|ie[sd]|oun\w+)|condemn\w*|apologi\w+|explain\w*|percent)\b|[:%\"“]"
)
FEWEST_BARE = 10  # words of a sentence in a story that has no name and no number
_BEGINNING = 30  # characters of a sentence that must say who and what
_PHRASE = 4  # words of the longest phrase in the lists, and of "..., he said"
_SCARE = 4  # words of a quotation that only sets a term apart


def why_not_alone(
    text: str, language: str | None = "English", said: Sequence[str] | None = None, is_item: bool = False
) -> Lack | None:
    """Why a sentence cannot be chosen by itself; None if it can. `said` are its words, if they are known.

    An item of a list that ends with a stop may be shorter than other sentences.

    Examples
    --------
    >>> text = "The council of Brenn voted on Monday to close the old bridge."
    >>> why_not_alone(text) is None, str(why_not_alone("But " + text))
    (True, 'leans on the sentence before it')
    """
    said = said if said is not None and len(text) <= CLIPPED else None
    text = clipped(text)
    if _quotes(text):
        return Lack.QUOTATION
    if counted_words(text) < (FEWEST_IN_ITEM if is_item and is_closed(text) else FEWEST_ALONE):
        return Lack.SHORT
    last, said = text.rstrip("\"”»’') ")[-1:], _parts(text, said)
    if (last in QUESTION_MARKS and is_closed(text)) or (last.isalnum() and _ASKS.match(text)):
        return Lack.QUESTION
    if last in ":：" or " as follows" in text[-60:]:
        return Lack.ANNOUNCES
    if not said:
        return Lack.NO_VERB
    agrees = said[0] in ("ok", "okay") and "we" in said  # "OK, we have decided: ..."
    if said[0] in WORD_SETS["interjections"] and text[len(said[0]) :][:1] == "," and not agrees:
        return Lack.ANSWER
    if language == "English":
        if greets(said):
            return Lack.ANSWER
        if _instructs(text, said):
            return Lack.INSTRUCTION
        if _OF_ITSELF.match(text) or is_furniture(text, said, "of itself"):
            return Lack.OF_ITSELF
        if WORD_SETS["verbs"].isdisjoint(said) and not _ASSIGNED.match(text):
            look = PieceTraits(text)
            if look.english and not (look.verbs or look.maybe or look.past):
                return Lack.NO_VERB
    return Lack.LEANS if leans(text, language, said) else None


def is_bare(text: str, said: Sequence[str]) -> bool:
    """Whether an English sentence is short and has no name and no number, so that it adds little to a story.

    Examples
    --------
    >>> [is_bare(text, words(text)) for text in ("Many children were hurt.", "Ten were hurt.", "Police met Ada Lee.")]
    [True, False, False]
    """
    return len(said) < FEWEST_BARE and WORD_SETS["numbers"].isdisjoint(said) and not _NAME_OR_FIGURE.search(text)


def only_published(text: str) -> bool:
    """Whether an English sentence says that a text was published, and nothing of what is in it.

    Examples
    --------
    >>> only_published("A report on the flood was published by the council on Monday.")
    True
    >>> only_published("A report on the flood was published that blames the council.")
    False
    """
    return _ONLY_PUBLISHED.match(text) is not None and not _CONTENT.search(text)


def asks_all(text: str) -> bool:
    """Whether a question is put to everybody ("Where should we meet?"), not to one person.

    Examples
    --------
    >>> asks_all("Where should we hold the party, here or at home?"), asks_all("Ann, do you want to start with that?")
    (True, False)
    """
    asks = text.rstrip()[-1:] == "?" and counted_words(text) >= FEWEST_ALONE
    return asks and " you " not in text and _FOR_ALL.search(text) is not None


def _instructs(text: str, said: Sequence[str]) -> bool:
    """Whether a sentence tells its reader to do something: "Open the settings", "Note that", "To install it, run"."""
    orders = WORD_SETS["imperatives"] | WORD_SETS["reader"]
    if said[0] == "please" or (said[0] in orders and not WORD_SETS["after imperatives"].isdisjoint(said[1:2])):
        return True
    return said[0] in ("to", "if", "for") and text.partition(", ")[2][:20].split(" ", 1)[0] in orders


def _quotes(text: str) -> bool:
    """Whether a sentence has half a quotation, is mostly one, or quotes words that nothing outside them explains."""
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
    small = SMALL_ENGLISH | WORD_SETS["prepositions"] | WORD_SETS["starters"]
    named = any(found[0].split()[0].lower() not in small for found in _FULL_NAME.finditer(outside))
    return any(map(str.isupper, outside)) and not named


def leans(text: str, language: str | None = "English", said: list[str] | None = None) -> bool:
    """Whether a reader needs the sentence before to know who or what this one is about.

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
        return text.split(" ", 1)[0] in WORD_SETS["halves"]
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
    """Whether an English sentence may open a summary: it names who and what at once, and tells what happened.

    Examples
    --------
    >>> opens("The bridge fell on Monday."), opens("The navy insists that they left."), opens("The bridge will fall.")
    (True, False, False)
    """
    return not looks_ahead(text) and not _REFERS.search(text[:_BEGINNING]) and not _ANYONE.match(text)


def _points_back(parts: list[str]) -> bool:
    """Whether an English sentence begins with a thing mentioned before, such as "the move" or "two other men"."""
    if parts and parts[0] in WORD_SETS["counts"] and parts[1:2] in (["other"], ["others"], ["more"]):
        return True
    the, *rest = parts or [""]
    thing, *after = (rest[1:] if rest[:1] and rest[0] in WORD_SETS["counts"] else rest) or [""]
    return the == "the" and thing in WORD_SETS["told before"] and WORD_SETS["complements"].isdisjoint(after[:1])


def _has_loose_pronoun(text: str) -> bool:
    """Whether the first "he", "she" or "they" of a sentence comes before any name or noun that could explain it."""
    found = _PRONOUN.search(text)
    if found is None:
        return False
    before = text[: found.start()]
    if any(name.lower() not in DATES for name in re.findall(r"\s([A-Z][a-z]+)", before)):
        return False
    said = _parts(before)
    if said and said[0] in WORD_SETS["openings"]:  # "After the match, he": what stands in front explains nothing
        said = _parts(before.partition(",")[2])
    return SMALL_ENGLISH.union(WORD_SETS["openings"], WORD_SETS["subjects"], WORD_SETS["verbs"]).issuperset(said)


def _parts(text: str, said: Sequence[str] | None = None) -> list[str]:
    """Words, cut at apostrophes: "c'est" begins with c, "he'd" with he."""
    said = words(text) if said is None else said
    return [part for word in said for part in word.split("'")] if "'" in text or "’" in text else [*said]
