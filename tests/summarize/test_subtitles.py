"""Subtitles as documents: SubRip and WebVTT."""

from dpplearn.summarize import Cluster
from dpplearn.summarize.corpora.documents import parse_document
from dpplearn.summarize.text.subtitles import read_subtitles

SRT = """1
00:00:01,000 --> 00:00:03,000
{\\an8}<i>The mill stood empty</i>

2
00:00:03,100 --> 00:00:05,000
for eleven years.

3
00:00:05,500 --> 00:00:07,000
[door creaks]

4
00:00:08,000 --> 00:00:10,000
- Who bought it?
- A potter from <b>Lund</b> &amp; her son.

5
00:00:11,000 --> 00:00:12,000
♪ down by the mill ♪

6
00:00:12,500 --> 00:00:14,000
(water running)
She paid with plates

7
00:00:20,000 --> 00:00:22,000
Nobody asked why.

8
00:00:30,000 --> 00:00:33,000
Subtitles by Anon
"""
SAID = [
    "The mill stood empty for eleven years.", "Who bought it?", "A potter from Lund & her son.", "She paid with plates",
    "Nobody asked why.",
]  # fmt: skip
VTT = """WEBVTT - a film
Kind: captions

NOTE made by hand
00 is no time

STYLE
::cue { color: red }

intro
00:01.000 --> 00:03.000 align:start position:0%
<v Ada><c.loud>The mill stood</c> empty

00:03.000 --> 00:05.000
The mill stood empty
for <00:04.000>eleven years.

00:00:05.100 --> 00:00:07.000
>> Who bought it?
"""


def read(source, name="a.srt"):
    (document,) = parse_document(source.encode(), name, name)
    return document


def test_cues_are_joined_until_a_stop():
    document = read(SRT)
    assert document.text.split("\n\n") == SAID
    assert [s.text for s in Cluster([document]).sentences()] == SAID
    assert read(SRT.replace("\n", "\r\n")).text == document.text
    assert read(SRT, "film.txt").text == document.text  # told by how it begins


def test_webvtt():
    text = read(VTT, "a.vtt").text
    assert "NOTE" not in text
    assert text.endswith("eleven years.\n\nWho bought it?")
    rolling = "WEBVTT\n\n00:01.000 --> 00:02.000\nthe<00:01.500><c> mill</c>\n\n"
    rolling += "00:02.000 --> 00:03.000\nthe mill\nburned down.\n"
    assert read(rolling, "b.vtt").text == "the mill burned down."  # lines that roll up are shown twice


def test_files_that_are_cut_or_odd():
    assert read_subtitles("1\n00:00:01,000 --> 00:00:02,000") == []
    tight = "1\n00:00:01,0 --> 00:00:02,0\nIt rained.\n2\n00:00:02,0 --> 00:00:03,0\nIt poured."  # no blank lines
    assert [text for _, text in read_subtitles(tight)] == ["It rained.", "It poured."]
    assert read_subtitles("") == []
