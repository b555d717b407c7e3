"""The rules that say which parts of an English sentence may be dropped, for summaries with shorter sentences.

A rule is a pattern and a test of each match. The part that matches the group `cut` is dropped, if the rest reads well
without a change of words. Light rules drop parts that say little: sources, connectives, asides in parentheses,
weekdays. Heavy rules drop details: relative clauses, appositions, second clauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeAlias

from dpplearn.summarize.text.words import word_lists

Match: TypeAlias = re.Match[str]
CUT_WORDS = word_lists("cut-words")
_ENGLISH_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_VERB = re.compile(  # words that look like a finite verb: attended, we use, they also say, realizes
    r"\b[a-z]{2,}[^\Weu]ed\b|\b(?:[Ww]e|[Tt]hey|I|[Yy]ou) (?:also )?[a-z]{2,}|\b[a-z]{3,}(?:izes|ifies)\b"
)


class Rule(NamedTuple):
    """A pattern to look for, and the test that a match must pass; a `heavy` rule drops details."""

    name: str
    pattern: re.Pattern[str]
    holds: Callable[[Match], bool]
    heavy: bool


_FORMULA = re.compile(r"[=<>|\\∑λΣ∈≤≥^_{}~]|\b[a-z]\d\b|\d\s?[*/×]\s?\d")
_PLACES = frozenset(["left", "right", "top", "bottom", "middle", "respectively", "see", "above", "below"])
_UNITS = frozenset(["us", "eu", "un", "uk", "km", "mi", "ft", "kg", "cm"])
_BREAK = re.compile(r"[,;:–—]")


def any_of(name: str) -> str:
    """A pattern that matches any word of a list, the longest first."""
    return f"(?:{'|'.join(sorted(map(re.escape, CUT_WORDS[name]), key=lambda word: (-len(word), word)))})"


def words_in(text: str) -> list[str]:
    """The words of a text in lower case, with straight apostrophes.

    Examples
    --------
    >>> words_in("The U.S. mayor’s well-known plan.")
    ['the', 'u.s', "mayor's", 'well-known', 'plan']
    """
    return [word.lower().replace("’", "'") for word in _ENGLISH_WORD.findall(text)]


def has_any(text: str, *names: str) -> bool:
    """Whether a text has a word of one of these lists."""
    return any(word in CUT_WORDS[name] for word in words_in(text) for name in names)


def is_clause(text: str) -> bool:
    """Whether a text seems to have a finite verb: a listed one, a form like "attended", or a word after "they" or "we".

    Examples
    --------
    >>> [is_clause(text) for text in ("She attended school", "We use trees", "the mayor of Oslo")]
    [True, True, False]
    """
    return has_any(text, "finite") or _VERB.search(text) is not None


def is_source(who: str, *, named: bool = False) -> bool:
    """Whether a source reports facts: officials, agencies, papers, and if `named`, also anybody with a name.

    Examples
    --------
    >>> [is_source(who) for who in ("the fire department", "critics of the plan", "Ann Lee")]
    [True, False, False]
    """
    if has_any(who, "partial", "standards", "unnamed", "persons", "finite"):
        return False
    return has_any(who, "sources") or (named and re.search(r"\b[A-Z]", who) is not None)


def is_report(statement: str) -> bool:
    """Whether a statement means the same whoever makes it: it has no quotation, no judgement, no "I" or "you"."""
    return not has_any(statement, "persons", "judging") and re.search(r"[\"“”‘«]|(?<!\w)'", statement) is None


def _before(match: Match) -> str:
    return match.string[: match.start("cut")]


def _after(match: Match) -> str:
    return match.string[match.end("cut") :]


def _next_word(match: Match) -> str:
    """The first word after the cut."""
    return next(iter(words_in(_after(match)[:40])), "")


def is_aside(match: Match) -> bool:
    """Whether parentheses only explain the noun before them, not (a), f(x), "as in (Lee, 2001)" or a used acronym."""
    before, inside = _before(match), match["inside"].strip()
    noun, tokens = next(iter(reversed(words_in(before[-60:]))), ""), words_in(inside)
    if not noun or not tokens or _FORMULA.search(match.string) or not (before[-1].isalnum() or before[-1] in "%’”"):
        return False
    if noun in CUT_WORDS["governing"] or (noun.isalpha() and len(noun) < 3 and noun not in _UNITS):
        return False
    if tokens[0] in ("or", "and", "but", "plus", "so", "e", "both") or not _PLACES.isdisjoint(tokens):
        return False
    if inside.isupper() and len(inside) > 1:
        return not re.search(rf"\b{re.escape(inside)}", _after(match))
    return "." in inside or any(len(word) > 2 for word in tokens)


def opens_clause(match: Match) -> bool:
    """Whether the rest is a sentence: it begins like a clause and has a verb before its first comma."""
    first, word = _BREAK.split(_after(match), maxsplit=1)[0], _next_word(match)
    if not is_clause(first) or re.match(rf"{DAY}|{MONTH}", first):
        return False
    return not any(word in CUT_WORDS[name] for name in ("subordinators", "finite", "no heads"))


def says_who(match: Match) -> bool:
    """Whether the cut names the source of a plain report, and no "they" in the rest can mean that source."""
    in_front, named = match.start("cut") == 0, "ccording to" in match["cut"]
    statement = _after(match) if in_front else _before(match)
    if in_front and not named and re.search(r"\b(?:they|their|them|he|she|his|her|its|it|but|and that)\b", statement):
        return False
    whole = opens_clause(match) if in_front else is_clause(statement)
    return whole and is_report(statement) and is_source(match["who"], named=named)


def leads_in(match: Match) -> bool:
    """Whether the cut is a clause or phrase in front of a main clause with its own subject."""
    first = _next_word(match)
    return opens_clause(match) and first not in CUT_WORDS["pointing"] and not first.endswith(("ed", "ing"))


def closes_before_verb(match: Match) -> bool:
    """Whether the cut stands between the subject and the verb of the sentence, and no verb follows a later comma.

    After a name at the beginning of a sentence, the cut must have no verb: "Ann Lee, the mayor of Oslo, said".
    """
    others = re.findall(r", (?:and |or )?([\w’']+)", _after(match))
    if "name" in match.groupdict() and (has_any(match["cut"], "finite") or " and " in _before(match)):
        return False
    return is_clause(_next_word(match)) and is_subject(_before(match)) and not has_any(" ".join(others), "finite")


def is_subject(before: str) -> bool:
    """Whether a text ends with a subject that waits for its verb, perhaps after "In May," or "he said that"."""
    opening, *rest = before.split(",")
    leads = opening.lower() in CUT_WORDS["connectives"] or has_any(opening.split(" ")[0], "subordinators")
    if len(rest) > 1 or (rest and not leads):
        return False
    part = re.split(r"\b(?:that|said|says)\b", (rest or [opening])[-1])[-1]
    return bool(part.strip()) and not has_any(part, "finite")


def ends_plainly(match: Match) -> bool:
    """Whether the cut ends the sentence after a whole clause, and has no verb after a comma."""
    before, (_, *others) = _before(match), match["cut"].lstrip(" ,").split(",")
    *leading, last = _BREAK.split(before)
    hanging = re.split(r"\b(?:that|until|when|if|because|whether|although|while|unless|how|why)\b", last)[-1]
    if not is_clause(last) or not is_clause(hanging) or _FORMULA.search(match.string):
        return False
    if not leading and words_in(before)[0] in CUT_WORDS["subordinators"] | {"according"}:
        return False
    if re.search(r"\b(?:between|both|either|not only|such|so|too|from|and|or|that|more|less|than)$", before.rstrip()):
        return False
    goes_on = r" (?:that|who|which|but|so|or|to|where|when|as|while)\b"
    return not any(has_any(part, "finite") or re.match(goes_on, part) for part in others)


def is_second_clause(match: Match) -> bool:
    """Whether the cut is a second clause with its own subject, but not one of a pair or the last of several."""
    before, cut = _before(match), match["cut"]
    if ("," in before and words_in(before)[0] not in CUT_WORDS["subordinators"]) or re.search(r"[;:]", before):
        return False
    of_several = re.search(r"\b(?:others?|latter|second|and so)\b|^; and\b", cut)
    if of_several or re.search(r"\b(?:between|both|one)\b", before):
        return False
    return ends_plainly(match) and has_any(cut, "finite")


def is_passing_day(match: Match) -> bool:
    """Whether the day only says when something happened: it is neither the news itself nor the first of two days."""
    before = _before(match)
    if not before[-1:].isalnum() or re.search(r", \w+$", before) or has_any(match.string, "kept", "coming"):
        return False
    return words_in(before)[-1] not in CUT_WORDS["dated"] and (is_clause(before) or is_clause(_after(match)[:40]))


def is_also(match: Match) -> bool:
    """Whether no "not only" needs the "also"."""
    return "not only" not in match.string.lower()


DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: (?:morning|afternoon|evening|night))?"
MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Aug|Sept|Oct|Nov|Dec)\.)"
)
YEAR = r"(?:19|20)[0-9]{2}"
DATE = rf"(?:{MONTH} [0-3]?[0-9](?:, {YEAR})?|[0-3]?[0-9](?:st|nd|rd|th)? {MONTH}(?: {YEAR})?)"
NAME = r"[A-Z][\w’'-]*\.?"
NAME_IN_FRONT = rf"^(?P<name>(?:{NAME} ){{0,4}}{NAME})"
WHO = r"(?P<who>(?:[^\s,;:()\"“”]+ ){0,5}[^\s,;:()\"“”]+)"
WHEN = rf"(?:(?: on| late| early| late on| earlier)? (?:{DAY}|today|yesterday)| on {DATE})"
STATED = r"(?: in a (?:\w+ )?(?:statement|report|release)| in (?:its|their) (?:\w+ )?report)"
TIME = (  # in front of a sentence
    rf"(?:(?:Late |Early |Earlier )?[Oo]n {DAY}(?:, {DATE})?|On {DATE}|In (?:early |late |mid-)?(?:{MONTH} {YEAR}"
    rf"|{MONTH}|{YEAR})|(?:Last|This|Earlier this|Later this) (?:week|month|year|morning|afternoon|evening|night))"
)
SIGNPOST = r"(?:(?:Note|Notice|Recall|Observe|We (?:also )?note) that|In this (?:paper|article|section|study|report),)"
END = r"(?=\s?[.!]$)"  # the end of the sentence, whose stop stays
# follows a day that may go, but not the first of two days or a part of "on Friday night", "on Friday the 13th"
FREE = (
    r"(?=\s?[.!]$|\s[a-z]|, [a-z])(?! (?:early|late|morning|afternoon|evening|night|and|or|to|through|until|of|at)\b)"
    r"(?!, (?:and|or) (?:on )?[A-Z])(?! the [0-9])"
)
INCLUDING = r"including|such as(?! they\b)|especially|particularly"
KNOWN_AS = r"(?:also )?known as|located|based"
CLAUSE_REST = r"\s[^;:()]{3,200}?"
A_THING = r"(?:an?|the|his|her|its|one of)"
SUBJECT = r"(?:the|an?|he|she|it|they|there|we|this|these|his|her|its|their|[A-Z][\w’'-]*)"


def front(part: str) -> str:
    """A pattern that cuts the beginning of a sentence."""
    return rf"^(?P<cut>{part} )"


def middle(part: str) -> str:
    """A pattern that cuts a part between two commas."""
    return rf"(?P<cut>,\s{part},)(?=\s[a-z])"


def final(part: str) -> str:
    """A pattern that cuts everything from a comma to the end of a sentence."""
    return rf"(?P<cut>\s?,\s{part}){END}"


@cache
def english_rules() -> tuple[Rule, ...]:
    """The rules, light ones first."""
    reports = any_of("reporting")
    told_whom = rf"told (?:reporters|journalists|(?:the )?{NAME}(?: {NAME}){{0,2}})"
    light: list[tuple[str, str, Callable[[Match], bool]]] = [
        ("parentheses", r"(?P<cut>\s\((?P<inside>[^()]{2,160})\))(?=[\s,.;:!?]|$)", is_aside),
        ("attribution", final(rf"{WHO}(?:, {NAME}(?: {NAME}){{1,3}},)? {reports}{WHEN}?{STATED}?{WHEN}?"), says_who),
        ("attribution", middle(rf"{WHO} {reports}{WHEN}?{STATED}?"), says_who),
        ("attribution", final(rf"{reports} {WHO}{WHEN}?"), says_who),
        ("according to", final(r"according to (?P<who>[^;:()]{2,160})"), says_who),
        ("according to", front(r"According to (?P<who>[^,;:()]{2,80}),"), says_who),
        ("said that", front(rf"{WHO} (?:{reports}|{told_whom}){WHEN}? that"), says_who),
        ("connective", front(rf"(?i:{any_of('connectives')}),"), opens_clause),
        ("connective", front(r"(?:But|And|So)") + rf"(?={any_of('openers')}\b|[A-Z][a-z])", opens_clause),
        ("signpost", front(SIGNPOST), opens_clause),
        ("time in front", front(rf"{TIME},"), opens_clause),
        ("day", rf"(?P<cut> (?:late |early )?on (?:(?:late |early )?{DAY}|{DATE})){FREE}", is_passing_day),
        ("day", rf"(?<= (?:said|told|died|left))(?P<cut> (?:late |early )?{DAY}){FREE}", is_passing_day),
        ("also", rf"\b{any_of('auxiliaries')}(?P<cut> also)(?= [a-z]+\b)", is_also),
    ]
    heavy: list[tuple[str, str, Callable[[Match], bool]]] = [
        ("relative", middle(r"(?:who|which|whose)\s[^;:()]{3,160}?"), closes_before_verb),
        ("relative", final(rf"(?:(?:\w+ of )?(?:who|which|whom)|whose|where){CLAUSE_REST}"), ends_plainly),
        ("apposition", NAME_IN_FRONT + middle(rf"{A_THING} [^,;:()]{{3,90}}"), closes_before_verb),
        ("included", middle(rf"(?:{INCLUDING}|{KNOWN_AS})\s[^,;:()]{{2,90}}"), closes_before_verb),
        ("included", final(rf"(?:{INCLUDING}|as well as|along with|among them){CLAUSE_REST}"), ends_plainly),
        ("participle", final(rf"(?:thus |thereby |also |then )?{any_of('participles')}{CLAUSE_REST}"), ends_plainly),
        ("second clause", rf"(?P<cut>(?:\s?,\sand\s{SUBJECT}\s|;\s)[^;:()]{{3,200}}?){END}", is_second_clause),
        ("in front", front(rf"{any_of('in front')}\s[^,;:()]{{3,120}},"), leads_in),
        ("clause", final(rf"{any_of('clauses')}{CLAUSE_REST}"), ends_plainly),
    ]
    rules = [(*rule, False) for rule in light] + [(*rule, True) for rule in heavy]
    return tuple(Rule(name, re.compile(pattern), holds, is_heavy) for name, pattern, holds, is_heavy in rules)
