"""Read subtitles, SubRip and WebVTT: spoken sentences, without numbers, times, sounds, songs and credits."""

from __future__ import annotations

import html
import re

from dpplearn.summarize.text.blocks import Part, is_closed

PAUSE = 2.0  # seconds without words after which an open sentence is taken to have ended
_CUE_TIME = r"(?:[0-9]{1,3}:)?[0-9]{1,2}:[0-9]{2}[,.][0-9]{1,3}"
# Its times and its lines, to a blank line or the next cue, whose number may stand above its times.
_CUE = re.compile(
    rf"^[ \t]*({_CUE_TIME})[ \t]*-->[ \t]*({_CUE_TIME})[^\n]*(?:\n|\Z)"
    rf"((?:(?!(?:[0-9]+[ \t]*\n)?[ \t]*{_CUE_TIME}[ \t]*-->)[^\S\n]*[^\s][^\n]*(?:\n|\Z))*+)",
    re.MULTILINE,
)
# Files of subtitles begin so: a head of WebVTT, or the number and times of a cue.
SUBTITLES = re.compile(rf"\s*(?:WEBVTT\b|[0-9]{{1,6}}[ \t]*\r?\n{_CUE_TIME}[ \t]*-->)")
_STYLE_TAG = re.compile(r"</?[A-Za-z0-9][^<>\n]{0,200}>|\{\\?[A-Za-z][^{}\n]{0,60}\}")
_SOUND = re.compile(r"\[[^\[\]]{0,200}\]|（[^（）]{0,200}）|【[^【】]{0,200}】")
_WHOLE = re.compile(r"[-–—‐>»\s]*\([^()]{0,200}\)\s*:?$")  # (sounds) on a line of their own
_SPEAKER = re.compile(r"[-–—‐]\s?(?=\S)|>>+\s*")  # who speaks changes
_SONG = re.compile(r"[♪♫♬♩]")
_CREDITED = re.compile(
    r"www\.|https?://|\b(?:sub(?:title)?s?|caption(?:s|ing|ed)?|sync(?:ed|hroni[sz]ed)?|transcri(?:pt|bed)|untertitel|"
    r"sous-titr\w+|subtítulos|sottotitoli|ondertiteling|titulky)\b.{0,30}\b(?:by|von|par|por|di|door|od|:)",
    re.IGNORECASE,
)


def read_subtitles(source: str) -> list[Part]:
    """The paragraphs of a file of subtitles: cues are joined until a stop, a new speaker or a pause.

    Examples
    --------
    >>> read_subtitles("1\\n00:00:01,000 --> 00:00:02,000\\nIt rained\\n\\n2\\n00:00:02,100 --> 00:00:04,000\\n"
    ...                "all day.\\n\\n3\\n00:00:05,000 --> 00:00:06,000\\n- [thunder] <i>Again?</i>")
    [('paragraph', 'It rained all day.'), ('paragraph', 'Again?')]
    """
    open_text, before, shown, paragraphs = "", 0.0, list[str](), list[str]()
    for cue in _CUE.finditer(source.replace("\r\n", "\n").replace("\r", "\n")):
        if _seconds(cue[1]) - before > PAUSE:
            paragraphs.append(open_text)
            open_text = ""
        if _CREDITED.search(cue[3]):
            continue
        spoken = [_spoken_words(line.strip()) for line in cue[3].splitlines()]
        for line in spoken:
            if line in shown:  # lines that roll up are shown again above the next one
                continue
            speaker = _SPEAKER.match(line)
            if open_text and (speaker or is_closed(open_text)):
                paragraphs.append(open_text)
                open_text = ""
            open_text += " " + (line[speaker.end() :] if speaker else line)
        shown, before = spoken, _seconds(cue[2])
    return [("paragraph", text.strip()) for text in [*paragraphs, open_text] if text.strip()]


def _seconds(clock: str) -> float:
    parts = reversed(clock.replace(",", ".").split(":"))
    return sum(60.0**i * float(part) for i, part in enumerate(parts))


def _spoken_words(line: str) -> str:
    """The words of a line."""
    line = html.unescape(_STYLE_TAG.sub("", line)).strip()
    if _SONG.search(line) or _WHOLE.match(line):
        return ""
    speaker = _SPEAKER.match(line)
    mark = speaker[0] if speaker else ""
    line = _SOUND.sub("", line[len(mark) :]).strip()
    return mark + line if line else ""
