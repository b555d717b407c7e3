"""Says whether a sentence can stand alone in a summary, and if not, why.

A reader who sees nothing before a sentence must know who and what it is about. So a sentence is not chosen by itself if
it asks, answers, greets, instructs or mostly quotes, or if it leans on the sentence before it: that is, only the latter
explains its "but", "he" or "the move". The word lists are in data/sentence-words.txt and leaning-words.txt. Sentences
of languages without lists are judged by their length, marks and quotations.
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
    """The reasons why a sentence cannot stand alone, as readers see them."""

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
    PUBLISHED = "only tells that a text was or will be published"
    BARE = "is short and has no name and no number"  # only counts in a story
    LEANS = "leans on the sentence before it"  # only that may explain a connective, pronoun or reference


_QUOTE = re.compile(r"“([^”]*)”|\"([^\"]*)\"|``(.*?)''|«([^»]*)»|„([^“”]*)[“”]|”([^”]*)”")
_MARK = re.compile(r"(?<![0-9])(?:(?<!\w)\"|\"(?!\w))|[“”„«»]")
_UNEXPLAINED = re.compile(  # a quotation whose "we" or "it" may be anybody: "We were lucky", "It was dark and cold"
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
_FOLLOWS = {  # "it" stands for words that follow: "It is clear that ...", "It remains to be seen ..."
    "English": re.compile(
        r"it(?:'s| is| was| has been| had been| will be| would be| may be| seems| seemed| appears| appeared| remains"
        r"| took)(?! (?:an?|the|on|in|at|with|from|about)\b)"
        r"(?: [\w-]+){0,4}? (?:that|to|whether|how|why|who|if|when|clear|unclear)\b"
    ),
    "German": re.compile(r"es [^,]{2,60}, (?:dass|ob|wie|wer|wann|warum)\b"),
    "French": re.compile(r"il (?:est|était|a été|sera|serait) [\w' -]{2,40}? (?:que|qu'|de|d')"),
}
_POINTS_BACK = re.compile(  # "Similar effects", "The reason for this is"
    r"Similar (?!to )"
    r"|.{,50}?\b(?:of|for|behind|to|by|with) th(?:is|at|ese|ose) (?:is|was|are|were|has|have|had|will|would|can)\b"
)
_ENDS_BACK = re.compile(  # "..., two days before that."
    r"\b(?:before|after|of|for|about|against|like|than|with|to|by) th(?:is|at|ese|ose)(?: ones?)?[.!]?$"
)
_TIME_LATER = re.compile(  # "an hour later", which leans unless a word of _ANCHORS names an event before it
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
    rf"|[^,;:\"“]{{2,60}}? {_PUBLISHED} (?:an?|its|their|his|her|the)(?: [\w-]+){{0,3}}? {_PUBLICATION}\b"
    r"|(?:I|we)(?: will|['’]ll) (?:\w+ly )?(?:get back|be in touch|reply|(?:call|inform|let|keep|tell) you\b"
    rf"|(?:send|forward|share|publish|post)(?: [\w-]+){{0,4}}? (?:{_PUBLICATION}|results|minutes)\b)",
    re.IGNORECASE,
)
_CONTENT = re.compile(  # these introduce what a text says
    r"\b(?:that|which|where|who|saying|says?|said|stat(?:es?|ed|ing)|according|contain\w*|accus\w+|warn\w*|blam\w+|call\w*"
    r"|conclud\w+|f[io]und\w*|finds|reveal\w*|show\w*|estimat\w+|critici\w+|demand\w*|urg\w+|describ\w+|confirm\w*"
    r"|den(?:y\w*|ie[sd]|oun\w+)|condemn\w*|apologi\w+|explain\w*|percent)\b|[:%\"“]"
)
FEWEST_BARE = 10  # a sentence with fewer words is bare if it has no name and no number
_BEGINNING = 30  # characters: so much of its beginning must say who and what a sentence is about
_PHRASE = 4  # words of the longest phrase in the lists; a longer clause is not read as "..., he said"
_TERM = 4  # words: a quotation of no more only sets a term apart


def why_not_alone(
    text: str, language: str | None = "English", tokens: Sequence[str] | None = None, is_item: bool = False
) -> Lack | None:
    """Why a sentence cannot be chosen by itself; None if it can. `tokens` are its words, if it has been split.

    An item of a list that ends with a stop may be shorter than other sentences.

    Examples
    --------
    >>> text = "The council of Brenn voted on Monday to close the old bridge."
    >>> why_not_alone(text) is None, str(why_not_alone("But " + text))
    (True, 'leans on the sentence before it')
    """
    tokens = tokens if tokens is not None and len(text) <= CLIPPED else None
    text = clipped(text)
    if _quotes_too_much(text):
        return Lack.QUOTATION
    end, tokens = text.rstrip("\"”»’') ")[-1:], _parts(text, tokens)
    if language == "English" and greets(tokens):
        return Lack.ANSWER
    if (end in QUESTION_MARKS and is_closed(text)) or (end.isalnum() and _ASKS.match(text)):
        return Lack.QUESTION
    if counted_words(text) < (FEWEST_IN_ITEM if is_item and is_closed(text) else FEWEST_ALONE):
        return Lack.SHORT
    if end in ":：" or " as follows" in text[-60:]:
        return Lack.ANNOUNCES
    if not tokens:
        return Lack.NO_VERB
    is_agreement = tokens[0] in ("ok", "okay") and "we" in tokens  # "OK, we have decided: ..."
    if tokens[0] in WORD_SETS["interjections"] and text[len(tokens[0]) :][:1] == "," and not is_agreement:
        return Lack.ANSWER
    if language == "English":
        if _instructs(text, tokens):
            return Lack.INSTRUCTION
        if _OF_ITSELF.match(text) or is_furniture(text, tokens, "of itself"):
            return Lack.OF_ITSELF
        if WORD_SETS["verbs"].isdisjoint(tokens) and not _ASSIGNED.match(text):
            traits = PieceTraits(text)
            if traits.english and not (traits.verbs or traits.may_have_verb or traits.has_past):
                return Lack.NO_VERB
    return Lack.LEANS if leans(text, language, tokens) else None


def is_bare(text: str, tokens: Sequence[str]) -> bool:
    """Whether an English sentence is short and has no name and no number, so that it adds little to a story.

    Examples
    --------
    >>> [is_bare(text, words(text)) for text in ("Many children were hurt.", "Ten were hurt.", "Police met Ada Lee.")]
    [True, False, False]
    """
    return len(tokens) < FEWEST_BARE and WORD_SETS["numbers"].isdisjoint(tokens) and not _NAME_OR_FIGURE.search(text)


def only_published(text: str) -> bool:
    """Whether an English sentence says that a text was or will be published, but not what is in it.

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


def _instructs(text: str, tokens: Sequence[str]) -> bool:
    """Whether a sentence tells its reader to do something: "Open the settings", "Note that", "To install it, run"."""
    orders = WORD_SETS["imperatives"] | WORD_SETS["reader"]
    if tokens[0] == "please" or (tokens[0] in orders and not WORD_SETS["after imperatives"].isdisjoint(tokens[1:2])):
        return True
    return tokens[0] in ("to", "if", "for") and text.partition(", ")[2][:20].split(" ", 1)[0] in orders


def _quotes_too_much(text: str) -> bool:
    """Whether a sentence has half a quotation, is mostly one, or does not say who speaks or what is meant."""
    if not any(map(text.__contains__, ('"', "``", "“", "”", "„", "«", "»"))):  # true of most sentences
        return False
    if len(_MARK.findall(text)) % 2:
        return True
    quoted = [match[0] for match in _QUOTE.finditer(text)]
    if max(map(count_words, quoted), default=0) <= _TERM:
        return False
    if 5 * sum(map(len, quoted)) > 3 * len(text) or any(map(_UNEXPLAINED.search, quoted)):
        return True
    outside = _QUOTE.sub(" , ", text)
    small = SMALL_ENGLISH | WORD_SETS["prepositions"] | WORD_SETS["starters"]
    named = any(match[0].split()[0].lower() not in small for match in _FULL_NAME.finditer(outside))
    return any(map(str.isupper, outside)) and not named


def leans(text: str, language: str | None = "English", tokens: list[str] | None = None) -> bool:
    """Whether a reader needs the sentence before this one to know who or what it is about.

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
    if text[:1].islower():  # in speech or notes, where "so" and "and" mean little
        return text.split(" ", 1)[0] in WORD_SETS["halves"]
    parts, speech_words = _parts(text) if tokens is None else tokens, lists[f"{language} said"]
    if parts and parts[-1] in speech_words:  # "..., he said."
        clauses = [*filter(None, map(_parts, _CLAUSE.split(text)))]
        if len(clauses) > 1 and 1 < len(clauses[-1]) <= _PHRASE and speech_words.issuperset(clauses[-1]):
            return True
    quotation = _QUOTE.match(text)
    if quotation:
        return speech_words.issuperset(_parts(text[quotation.end() :])[:2])  # nobody or "he" said it
    if language in _FOLLOWS and parts[:1] < ["j"] and _FOLLOWS[language].match(text.lower()):  # it, es, il
        return False
    beginnings = [*accumulate(parts[:_PHRASE], "{} {}".format)]
    lengths = [k for k, phrase in enumerate(beginnings, 1) if phrase in lists[language]]
    if lengths and not any(word in lists[f"{language} own"] for k in lengths for word in parts[k : k + 1]):
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
    """Whether an English sentence begins with a reference such as "the move" or "two other men"."""
    if parts and parts[0] in WORD_SETS["counts"] and parts[1:2] in (["other"], ["others"], ["more"]):
        return True
    the, *rest = parts or [""]
    thing, *after = (rest[1:] if rest[:1] and rest[0] in WORD_SETS["counts"] else rest) or [""]
    return the == "the" and thing in WORD_SETS["told before"] and WORD_SETS["complements"].isdisjoint(after[:1])


def _has_loose_pronoun(text: str) -> bool:
    """Whether the first "he", "she" or "they" of a sentence comes before any name or noun that could explain it."""
    pronoun = _PRONOUN.search(text)
    if pronoun is None:
        return False
    before = text[: pronoun.start()]
    if any(name.lower() not in DATES for name in re.findall(r"\s([A-Z][a-z]+)", before)):
        return False
    tokens = _parts(before)
    if tokens and tokens[0] in WORD_SETS["openings"]:  # "After the match, he": words before the comma explain nothing
        tokens = _parts(before.partition(",")[2])
    return SMALL_ENGLISH.union(WORD_SETS["openings"], WORD_SETS["subjects"], WORD_SETS["verbs"]).issuperset(tokens)


def _parts(text: str, tokens: Sequence[str] | None = None) -> list[str]:
    """The words of a text, cut at apostrophes, so that "c'est" begins with c and "he'd" with he."""
    tokens = words(text) if tokens is None else tokens
    return [part for word in tokens for part in word.split("'")] if "'" in text or "’" in text else [*tokens]
