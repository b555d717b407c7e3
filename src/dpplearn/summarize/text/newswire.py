"""Habits of news agencies: datelines, bylines, and what editors leave at the end."""

from __future__ import annotations

import re

from dpplearn.summarize.text.words import word_set

_DASH = re.compile(r"\s*(?:(?<=\s)(?:_|--?|–)(?=\s)|(?<=\))(?:_|--?|–)|—)\s*")
_AGENCY = re.compile(
    r"\((?:AP|Reuters|REUTERS|AFP|UPI|Xinhua|XINHUA|DPA|dpa|Kyodo|Itar-Tass|Bloomberg)\)\s*"
    r"|(?<=[0-9] )\([A-Z]{2,6}\)\s*(?=[-–—_])"  # of any name after a day
)
_EASTERN = re.compile(  # as in 新华社北京3月5日电(记者 王明) and 本报讯
    r"(?:本报|本刊|本台|新华社|中新社|中新网|人民网|央视网|法新社|路透社|美联社|中央社)[^\s。，,！？]{0,20}?(?:讯|訊|电|電)"
    r"\s{0,3}(?:[(（][^()（）]{1,30}[)）])?\s{0,3}"
)
_FIGURES = re.compile(r"[0-9]+(?:[./-][0-9]+){0,2}")  # a day, a year, or a date
_IN_PLACES = word_set("of the and in on at near off de del della di du da do dos des la las le les el al bin van der")
_LONGEST_DATELINE = 100  # characters of a dateline


def dateline_end(text: str) -> int:
    """Where the story begins after a dateline, or 0.

    A dateline is a place in capitals, perhaps with a country, a date and an agency, before a dash; or any place
    before an agency in parentheses.

    Examples
    --------
    >>> [text[dateline_end(text):] for text in ("LONDON (AP) _ Oil fell.", "BONN, Jan. 3 -- Snow.", "NATO met. -- It")]
    ['Oil fell.', 'Snow.', 'NATO met. -- It']
    """
    start = len(text) - len(text[:1000].lstrip()) - len(text[1000:])
    head = text[start : start + _LONGEST_DATELINE]
    if head.isascii() and not ("(" in head or "-" in head or "_" in head):
        return 0  # neither an agency nor a dash
    eastern = _EASTERN.match(head)
    if eastern and eastern.end() < len(head):
        return start + eastern.end()
    agency, dash = _AGENCY.search(head), _DASH.search(head)
    if agency:
        after = _DASH.match(head, agency.end()) or _DASH.match(head, len(head[: agency.end()].rstrip()))
        end = after.end() if after else agency.end()
    elif dash:
        end = dash.end()
    else:
        return 0
    place = head[: agency.start() if agency else dash.start() if dash else 0]
    rest = text[start + end : start + end + 40]
    if not _is_place(place, bool(agency)) or not _opens_story(rest):
        return 0
    return start + end


def _is_place(place: str, agency: bool) -> bool:
    """Whether every word is a name, a number or an abbreviation, the first in capitals unless an agency is named."""
    if "." in place.strip() and not agency and place.rstrip()[-1:] == "." and len(place.split()) == 1:
        return False
    words = place.split()
    if not words:
        return agency
    capital = words[0].strip(".,'’()")
    if len(words) > 12 or not (agency or (capital.isupper() and sum(map(str.isalpha, capital)) > 1)):
        return False
    for word in words:
        bare = word.strip("(),.")
        if not bare or _FIGURES.fullmatch(bare) or bare.lower() in _IN_PLACES:
            continue
        if not bare[0].isupper() or not all(char.isalpha() or char in ".,'’/-" for char in bare):
            return False
        if word[-1] in "!?" or (word[-1] == "." and len(bare) > 5 and not bare.isupper()):
            return False  # the end of a sentence, not an abbreviation
    return True


def _opens_story(rest: str) -> bool:
    words = rest.lstrip("\"'`“‘«( ").split()[:3]
    if not words or words[0][0].islower():
        return False
    return not (len(words) == 3 and all(word.isupper() and len(word) > 1 for word in words))  # a headline in capitals


_INITIALS = re.compile(r"\(?[A-Za-z]{1,4}[/-][A-Za-z]{1,4}(?:[/-][A-Za-z]{1,4})?\)?$|\([a-z]{2,4}\)$|[a-z]{2,3}$")
_END = re.compile(r"(?:-+ ?30 ?-+|#+|\(?END(?:IT)?\)?|\(?MORE\)?)$", re.IGNORECASE)
_DESK_NOTICE = re.compile(
    r"\(?(?:STORY CAN END HERE|OPTIONAL (?:TRIM|MATERIAL|CUT|ADD)|(?:BEGIN|END) OPTIONAL)"
    r"|\(?(?:Eds?|EDS?|Editors?|EDITORS?):|c\. ?(?:19|20)[0-9]{2}\b|(?:©|\(c\)) ?(?:19|20)[0-9]{2}\b"
    r"|[A-Z]{2,4}-(?:[A-Z]{2,4}-)?[0-9]{2}-[0-9]{2}-[0-9]{2}\b|[_*=-]{2,}$"
)


def is_notice(line: str) -> bool:
    """Whether a line was added by the desk: a place to cut, a time stamp, a copyright line, a rule.

    Examples
    --------
    >>> [is_notice(line) for line in ("AP-NY-10-16-98 0240EDT", "(STORY CAN END HERE)", "It rained.")]
    [True, True, False]
    """
    return len(line) <= 160 and _DESK_NOTICE.match(line) is not None


def is_signature(line: str) -> bool:
    """Whether the last line of a story only says who sent it, or that it is the last.

    Examples
    --------
    >>> [is_signature(line) for line in ("(kt/jn)", "cc-jk", "-30-", "ENDIT", "It rained.")]
    [True, True, True, True, False]
    """
    return len(line) <= 20 and (_INITIALS.match(line) is not None or _END.match(line) is not None)


def is_byline(paragraph: str) -> bool:
    """Whether a paragraph, or the first line of a story, names its writer or what the writer is.

    Examples
    --------
    >>> is_byline("By JOHN Q. SMITH"), is_byline("Associated Press Writer"), is_byline("By Monday it was over.")
    (True, True, False)
    """
    words = paragraph.split()
    if 1 < len(words) <= 5 and words[-1] in ("Writer", "Writers", "Correspondent"):
        return True
    if not 2 <= len(words) <= 12 or words[0] not in ("By", "BY") or paragraph[-1] in ".!?":
        return False
    return all(word[0].isupper() or word in ("and", "of") for word in words)
