"""Read the head and foot of a document: dates, as times to sort by, datelines, bylines, and notes of a news desk."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import islice

from dpplearn.summarize.text.words import DATES, STOPS, word_lists, words

_MONTHS = {word: k for k, listed in enumerate(list(word_lists("months").values())[:12], 1) for word in listed}
_BESIDE = DATES | word_lists("months")["Beside"]  # words that stand in a date beside its month: days of the week, "at"
_LONGEST_DATE = 80  # characters of a text that is a date
LEAP_YEAR = 2000  # has all days
_DAY_MONTH_YEAR = 3  # words of a date
_MORE = 8  # words beside them: weekday, time, edition
_LONGEST_DATELINE = 100  # characters
_IN_NAME = re.compile(  # the numbers of news agencies, and days in the names of files
    r"^[A-Z]{2,4}([0-9]{2})([0-9]{2})([0-9]{2})-[0-9]"
    r"|(?<![0-9])((?:19|20)[0-9]{2})[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12][0-9]|3[01])(?![0-9])"
    r"|(?<![0-9])([0-9]{1,2})[-_.]([0-9]{1,2})[-_.]((?:19|20)[0-9]{2})(?![0-9])"
)
_NUMERIC = re.compile(r"(?<![0-9])([0-9]{1,4})([./-])([0-9]{1,2})\2([0-9]{2,4})(?![0-9])")
_TIME_OF_DAY = re.compile(r"(?<![0-9])([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?![0-9])(?:\s*([AaPp])\.?[Mm])?")

_HEAD_LINES = 3  # lines in which a document says when it was written
_DATE_MARKS = " \t\r\n#*_>|[]()·•—–-,"
_LATER = re.compile(r"(?:last |page )?(?:updated|modified|printed)|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2},", re.IGNORECASE)
_MEETING = re.compile(  # how a line begins that may end with the date of minutes
    r"(?i)\W*(?:(?:draft|town|city|board|council|team|annual|general|extraordinary) )*(?:minutes|meeting|session)\b"
)
_DATE_LABEL = re.compile(  # what may stand before a date on its line
    r"(?:(?:first |originally |last |page )?(?:published|posted|released|issued|written|created|dated?|updated|modified"
    r"|printed|datum|stand|veröffentlicht|publié|publicado|pubblicato|fecha|data)"
    r"(?: (?:on|at|am|le|el|il|em))?\s*(?::\s*|\s)"
    r"|by [^\d:.!?,|]{2,60}[,|·–—-]\s*|(?-i:[A-ZÀ-Þ]\w+(?:[ -][A-ZÀ-Þ]\w+)?), (?:den )?)",  # or a place, as in letters
    re.IGNORECASE,
)
_ON_PAGES = [  # how a page says when it was written, the surest first
    re.compile(
        r"<meta\s(?=[^<>]{0,600}\b(?:name|property|itemprop)\s*=\s*[\"']?(?:date|dc[.]date(?:[.]issued|[.]created)?"
        r"|pubdate|publish[-_]?date|publication[-_]date|citation_publication_date|article:published_time"
        r"|og:published_time|datePublished|sailthru[.]date|parsely-pub-date)[\"'\s/>])"
        r"[^<>]{0,600}?\bcontent\s*=\s*[\"']?([^\"'<>]{4,60})",
        re.IGNORECASE,
    ),
    re.compile(r"\"datePublished\"\s*:\s*\"([^\"\\\n]{4,60})\"", re.IGNORECASE),
    *(  # a <time> at the end of its element, soon after the heading, or else where the page or its story begins
        re.compile(
            rf"(?:{begin})(?:[^<>!?]{{0,60}}<(?!time\b)[^<>]{{0,200}}>){{0,8}}[^<>!?]{{0,60}}<time\b"
            r"(?:[^<>]{0,200}?\bdatetime\s*=\s*[\"']?|[^<>]{0,200}>\s*)([^\"'<>]{4,60})"
            r"[^<>]{0,100}>?[^<>]{0,60}</time>[^<>.!?]{0,40}</?",
            re.IGNORECASE,
        )
        for begin in (r"</h1\s*>|<article\b[^<>]{0,200}>", r"</h2\s*>|</nav\s*>|<(?:body|main)\b[^<>]{0,200}>")
    ),
]
_IN_HEAD = [
    re.compile(rf"^[\"']?(?:{names})[\"']?\s*[:=]\s*[\"']?([^\"'\n#]{{4,60}})", re.I | re.M)
    for names in ("date", "published|pubdate|publish_?date|date_?published|published_at|created(?:_at)?")
]

_CAPITAL = "[A-ZÀ-ÞΑ-ΩА-Я]"
_DATELINE_DAY = rf"(?:{_CAPITAL}[^\W\d_]{{2,8}}\.? [0-9]{{1,2}}|[0-9]{{1,2}}\.? {_CAPITAL}[^\W\d_]{{2,8}}\.?)"
_IN_DATELINE = re.compile(
    rf"{_DATELINE_DAY}(?:,? ?(?:19|20)[0-9]{{2}})?(?![0-9])"
    r"|(?<![0-9])[0-9]{1,4}([./-])[0-9]{1,2}\1[0-9]{2,4}(?![0-9])"
)
_DATELINE_WORD = (  # a name, an abbreviation, a day, a year or a date, and small words between them
    rf"(?>[(,]*(?:(?:{_CAPITAL}\.)+|{_CAPITAL}[^\W\d_]{{0,4}}\.|{_CAPITAL}(?:[^\W\d_]|[’'/-](?=\w))*"
    r"|[0-9]+(?:[./-][0-9]+){0,2}\.?"
    r"|(?:of|the|and|in|on|at|near|off|de|del|della|di|du|da|do|dos|des|las?|les?|el|al|bin|van|der)\b)[),]*)"
)
_DATELINE_DASH = r"(?:(?<=\s)(?:_|--?|–)(?=\s)|(?<=\))(?:_|--?+|–)|—)"
_OWN_DAY = re.compile(  # a date that begins a story: glued to it, with an agency, or before a dash
    rf"(?:(?P<day>[^\n()]{{4,50}}?(?:19|20)[0-9]{{2}}|{_DATELINE_DAY}(?=\s?\())"
    rf"(?:(?=[^\W\d_a-z][^\W\d_])|\s?\([^\W\d_]{{2,12}}\)\s*(?:{_DATELINE_DASH}\s*)?+|\s*{_DATELINE_DASH}\s*+)"
    r"|(?P<weekday>[A-Z][a-z]{2,5}day, [^\n.]{4,20}(?:19|20)[0-9]{2}) (?=[A-Z]))(?=\S)(?![\"'`“‘«( ]*[a-z])"
)
_AGENCY = r"\((?:AP|Reuters|REUTERS|AFP|UPI|Xinhua|XINHUA|DPA|dpa|Kyodo|Itar-Tass|Bloomberg)\)"
_DATELINE = re.compile(
    rf"\s*+(?:(?:(?!{_AGENCY}){_DATELINE_WORD}\s*){{0,12}}+{_AGENCY},?\s*+"
    rf"(?:{_DATELINE_DAY}(?:,? (?:19|20)[0-9]{{2}})?[.,]?\s+)?+(?:{_DATELINE_DASH}\s*)?+"
    rf"|(?={_CAPITAL}[.'’-]?{_CAPITAL})(?:{_DATELINE_WORD}\s*){{1,12}}+{_DATELINE_DASH}\s*+"
    # a place and its country: "Meadow Lake, Saskatchewan – "
    rf"|{_CAPITAL}[^\W\d_]+(?: {_CAPITAL}[^\W\d_]+){{0,2}}, {_CAPITAL}[^\W\d_]+(?: {_CAPITAL}[^\W\d_]+){{0,2}}"
    rf"\s*{_DATELINE_DASH}\s*+"
    # as in 新华社北京3月5日电(记者 王明) and 本报讯
    r"|(?:本报|本刊|本台|新华社|中新社|中新网|人民网|央视网|法新社|路透社|美联社|中央社)[^\s。，,！？]{0,20}?[讯訊电電]"
    r"\s{0,3}(?:[(（][^()（）]{1,30}[)）])?\s{0,3}+)(?=\S)(?![\"'`“‘«( ]*[a-z])"
)
_SIGNED = re.compile(
    r"\(?[A-Za-z]{1,4}[/-][A-Za-z]{1,4}(?:[/-][A-Za-z]{1,4})?\)?$|\([a-z]{2,4}\)$|[a-z]{2,3}$"
    r"|(?i:-+ ?30 ?-+|#+|\(?END(?:IT)?\)?|\(?MORE\)?)$"
)
_DESK_NOTICE = re.compile(
    r"\(?(?:STORY CAN END HERE|OPTIONAL (?:TRIM|MATERIAL|CUT|ADD)|(?:BEGIN|END) OPTIONAL)"
    r"|\(?(?:Eds?|EDS?|Editors?|EDITORS?):|c\. ?(?:19|20)[0-9]{2}\b|(?:©|\(c\)) ?(?:19|20)[0-9]{2}\b"
    r"|[A-Z]{2,4}-(?:[A-Z]{2,4}-)?[0-9]{2}-[0-9]{2}-[0-9]{2}\b|[_*=-]{2,}$"
)


@lru_cache(maxsize=4096)  # of the same documents, each time that their sentences are put in order
def parse_date(text: str | None) -> datetime | None:
    """The time that a date says, without a zone where it has none; None where it says none, or no day of a year.

    Numbers alone are read as year-month-day, day.month.year, and, as American agencies write it, month/day/year, where
    the first can be a month.

    Examples
    --------
    >>> for text in ("2004-10-30T09:15", "Saturday, January 8, 2005", "8. ledna 2005", "13/1/2005", "1/8/2005 9:15 PM"):
    ...     print(parse_date(text))
    2004-10-30 09:15:00
    2005-01-08 00:00:00
    2005-01-08 00:00:00
    2005-01-13 00:00:00
    2005-01-08 21:15:00
    >>> parse_date("in May"), parse_date("99/99/2005")
    (None, None)
    """
    text = (text or "").strip()
    if not text or len(text) > _LONGEST_DATE:
        return None
    text = "".join(str(int(c)) if c.isdecimal() else c for c in text)  # figures of any script
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, OverflowError, TypeError, IndexError):
            time = read(text)
            return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    day, clock = _day_in_figures(text) or _day_in_words(words(text)), _TIME_OF_DAY.search(text)
    if day is None or clock is None:
        return day
    hours = int(clock[1]) % 12 + 12 * (clock[4] in "Pp") if clock[4] else int(clock[1])
    return day + timedelta(hours=hours, minutes=int(clock[2]), seconds=int(clock[3] or 0))


def day_in(text: str | None, year: int) -> datetime | None:
    """The day that a date without a year, such as "May 2", says of a year."""
    parts = words(text or "")
    return _day_in_words(parts, year) if len(parts) <= _DAY_MONTH_YEAR else None


def agency_date(name: str) -> datetime | None:
    """The day in the number that a news agency gave a document, or in the name that people gave its file.

    Examples
    --------
    >>> agency_date("APW19981016.0240"), agency_date("AP890321-0012"), agency_date("report.txt")
    (datetime.datetime(1998, 10, 16, 0, 0), datetime.datetime(1989, 3, 21, 0, 0), None)
    >>> agency_date("storm_2031-05-03.txt") == agency_date("3.5.2031 storm") == agency_date("storm, May 3, 2031.pdf")
    True
    """
    match = _IN_NAME.search(name)
    if match is None:
        return _day_in_words(re.findall(r"[^\W_]+", name.lower()))
    first, month, last = map(int, filter(None, match.groups()))
    year, day = (last, first) if last > 99 else (first, last)
    return _day(year if year > 99 else 1900 + year, month, day)


def date_line(line: str) -> str | None:
    """The date in a line that says nothing else but its label, a byline or the time of day.

    Examples
    --------
    >>> date_line("Published: 12 March 2024"), date_line("By Tom Reiter, March 12, 2024"), date_line("2024-03-12")
    ('12 March 2024', 'March 12, 2024', '2024-03-12')
    >>> date_line("Storm of 8 May 2004"), date_line("It rained on May 7, 2007.")
    (None, None)
    """
    if len(line) > 2 * _LONGEST_DATE or not any(map(str.isdecimal, line)):
        return None
    line = line.strip(_DATE_MARKS)
    label = _DATE_LABEL.match(line)
    date = line[label.end() :].strip(_DATE_MARKS) if label and words(label[0])[0] not in _BESIDE else line
    if not date or date[-1] in "!?:;" or (parse_date(date) or day_in(date, LEAP_YEAR)) is None:
        return None
    parts = words(date)
    unknown = [part for part in parts if not (part[0].isdecimal() or part in _MONTHS or part in _BESIDE)]
    if unknown and (len(parts) > 2 * _DAY_MONTH_YEAR or any(map(str.isascii, unknown))):
        return None  # words of other scripts may be days of the week that the list has not, or has in another spelling
    return date


def head_date(lines: Iterable[str]) -> str | None:
    """The date that the first lines of a document say: a line that is one, or a dateline.

    When it was updated, or printed by a browser, counts only where nothing else is said.

    Examples
    --------
    >>> head_date(["Rain in Lindau", "Published 12 March 2024"]), head_date(["LINDAU, May 2 (NPA) - It rained."])
    ('12 March 2024', 'May 2')
    >>> head_date(["11/19/26, 6:42 AM", "Rain", "12 March 2024"]), head_date(["On May 7, 2007 it rained."])
    ('12 March 2024', None)
    """
    later = None
    head = [line.strip() for line in islice(filter(str.strip, lines), _HEAD_LINES + 1)]
    for line, below in zip(head[:_HEAD_LINES], [*head[1:], ""], strict=False):
        ends = line.split() if _MEETING.match(line) else [line]
        dates = (date_line(" ".join(ends[k:])) for k in range(len(ends)))
        date = None if below[:1].islower() else next(filter(None, dates), None)
        if date is not None and _LATER.match(line.strip(_DATE_MARKS)):
            later = later or date
        elif date := date or _dateline_date(line):
            return date
        elif line[-1] in STOPS and len(words(line[:200])) > 2 * _DAY_MONTH_YEAR:
            break  # the text has begun
    return later


def source_date(source: str, head: bool = False) -> str | None:
    """The date that a page of HTML, or with `head` the settings before a Markdown text, give for all of it.

    Examples
    --------
    >>> source_date('<meta property="article:published_time" content="2024-03-21T08:00:00Z">')
    '2024-03-21T08:00:00Z'
    >>> source_date("title: Rain\\ndate: 2024-03-15\\n", head=True)
    '2024-03-15'
    """
    dates = (match[1].strip() for pattern in (_IN_HEAD if head else _ON_PAGES) for match in pattern.finditer(source))
    return next((date for date in islice(dates, 200) if parse_date(date) is not None), None)


def _day_in_figures(text: str) -> datetime | None:
    match = _NUMERIC.search(text)
    if match is None:
        return None
    first, second, third = int(match[1]), int(match[3]), int(match[4])
    if len(match[1]) == 4:
        return _day(first, second, third)
    year = third if len(match[4]) == 4 else third + (1900 if third >= 70 else 2000)
    month_first = match[2] == "/" and first <= 12
    return _day(year, first, second) if month_first else _day(year, second, first)


def _day_in_words(parts: list[str], year: int | None = None) -> datetime | None:
    """A month by name and the figures of a day beside it, of a year given or of one of four figures."""
    k = next((k for k, part in enumerate(parts) if part in _MONTHS), None)
    if k is None or len(parts) > _DAY_MONTH_YEAR + _MORE:
        return None
    year = year or next((int(part) for part in parts if re.fullmatch("(?:19|20)[0-9]{2}", part)), None)
    beside = parts[k + 1 : k + 2] + parts[max(k - 2, 0) : k][::-1]
    day = next((int(match[0]) for part in beside if (match := re.match(r"[0-9]{1,2}(?![0-9])", part))), 0)
    return _day(year, _MONTHS[parts[k]], day) if year else None


def _day(year: int, month: int, day: int) -> datetime | None:
    with suppress(ValueError):
        return datetime(year, month, day)
    return None


def dateline_end(text: str) -> int:
    """Where the story begins after a dateline, or 0.

    A dateline is a place in capitals, perhaps with a country, a date and an agency, before a dash; or any place
    before an agency in parentheses; or a place and its country before a dash; or a date that is glued to the story, as
    where a page lost its line ends.

    Examples
    --------
    >>> [text[dateline_end(text):] for text in ("LONDON (AP) _ Oil fell.", "BONN, Jan. 3 -- Snow.", "NATO met. -- It")]
    ['Oil fell.', 'Snow.', 'NATO met. -- It']
    >>> dateline_end("Tuesday, January 18, 2005Through a telethon"), dateline_end("Since 2005It rains.")
    (25, 0)
    >>> dateline_end("London, England — The sun came out."), dateline_end("Saturday, March 26, 2005 Up to four")
    (18, 25)
    """
    head = text[:_LONGEST_DATELINE]
    match = _OWN_DAY.match(head)
    if match is None or not date_line(match[match.lastgroup or 0]):
        match = _DATELINE.match(head)
    return match.end() if match else 0


def _dateline_date(text: str) -> str | None:
    """The date in a dateline: after the place, before the agency or the dash."""
    match = _IN_DATELINE.search(text[: dateline_end(text)])
    date = " ".join(match[0].split()) if match else ""
    return date if parse_date(date) or day_in(date, LEAP_YEAR) else None


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
    return len(line) <= 20 and _SIGNED.match(line) is not None


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
