"""Newswire in SGML: documents between <DOC> tags, and what the desk added to their texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from html.entities import html5

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.text.dates import dateline_end, is_byline, is_notice, is_signature
from dpplearn.summarize.text.words import word_set

OPENING = re.compile(r"\s*(?:<\?xml[^<>]{0,200}>\s*)?(?:<!DOCTYPE[^<>]{0,400}>\s*)?<doc[\s>]", re.IGNORECASE)
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,9});?")
_TEXTS = ("text", "leadpara", "lp")
_PARTS = dict.fromkeys(_TEXTS, "text") | dict.fromkeys(("headline", "hl", "head", "title", "ti", "h3"), "title")
_PARTS |= dict.fromkeys(("date_time", "date", "datetime"), "date") | {"docno": "docno", "docid": "docid"}
# Elements in or beside a text that are no part of it. Others, and those that are never closed, are looked through.
_ASIDE = word_set(
    "annotation slug trailer byline dateline keyword keywords subject graphic note caption docno docid doctype "
    "txttype headline hl head title ti h3 date_time date datetime source category"
)
_TAG = re.compile(r"<(?:!--.*?(?:-->|\Z)|(/?)([A-Za-z][\w:.-]{0,40})[^<>]*+>)", re.DOTALL)
_MOST_OPEN = 50  # elements in elements that matter
_INDENT = re.compile(r"(?:\t| {2,})\S")


def is_sgml(data: bytes) -> bool:
    """Whether a file is newswire SGML: it begins with <DOC>."""
    return OPENING.match(data[:2000].decode("latin-1")) is not None


def parse_sgml(source: str, name: str) -> list[Document]:
    """Return the documents of an SGML file.

    The text is that of the <TEXT> elements, cleaned: paragraphs, from <P>, blank lines or indented lines, stand on
    one line each with blank lines between; entities are resolved and typesetting codes (&LR;) dropped; `` and ''
    become quotation marks; the dateline, bylines, and editors' initials are left out. Offsets of sentences refer to
    this text.

    Examples
    --------
    >>> source = "<DOC><DOCNO> X1 </DOCNO><HEADLINE>Rain</HEADLINE><TEXT>OSLO (AP) _ Tom &AMP; I left.\\n(kt/jn)</TEXT>"
    >>> parse_sgml(source, "file")
    [Document('X1', 'Tom & I left.', title='Rain')]
    """
    documents = list[Document]()
    parts = defaultdict[str, list[str]](list)
    inside = list[str]()  # open elements that matter
    given = list(tokens(source))
    closed = {value for kind, value in given if kind == "close"}
    for kind, value in [*given, ("open", "doc")]:
        part = _PARTS.get(inside[-1]) if inside else None  # None for what is no part of a document
        if kind == "text":
            if part:
                parts[part].append(value)
        elif value == "doc":
            if kind == "open" and parts:
                docno, docid, title, date = (
                    " ".join("".join(parts[key]).split()) for key in ("docno", "docid", "title", "date")
                )
                number = len(documents) + 1
                called = docno or docid or (name if number == 1 else f"{name}#{number}")
                documents.append(
                    Document(called, clean("".join(parts["text"])), resolve(title).strip() or None, date or None)
                )
                parts.clear()
                inside.clear()
        elif value in ("p", "s", "br", "para"):  # with or without their closing tags
            parts[part or "other"].append("\n\n" if value != "br" else "\n")
        elif kind == "open":
            if len(inside) < _MOST_OPEN and (value in _TEXTS or (value in _ASIDE and value in closed)):
                inside.append(value)
            if value in _TEXTS:
                parts["text"].append("\n\n")
        elif value in inside:
            while inside.pop() != value:
                pass
    return documents


def tokens(source: str) -> Iterator[tuple[str, str]]:
    """Yield ("text", text), ("open", tag) and ("close", tag), tags in lower case, without comments."""
    here = 0
    for tag in _TAG.finditer(source):
        if tag.start() > here:
            yield "text", source[here : tag.start()]
        here = tag.end()
        if tag[2]:
            yield "close" if tag[1] else "open", tag[2].lower()
    if here < len(source):
        yield "text", source[here:]


def resolve(text: str) -> str:
    """Resolve entities in any case, drop typesetting codes, and write quotation marks as such."""
    text = _ENTITY.sub(_character, text)
    return text.replace("``", '"').replace("''", '"').replace(" _ ", " - ")


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if name == "MD":
        return "--"
    if name[0] == "#":
        code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
        return chr(code) if 31 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
    if match[0][-1] != ";":
        return match[0]  # AT&T
    found = html5.get(f"{name.lower()};") if name.isupper() and len(name) > 2 else None
    known = found or html5.get(f"{name.lower()};" if name.lower() in ("lt", "gt") else f"{name};")
    return known if known is not None else " "


def clean(text: str) -> str:
    """Paragraphs on one line each, blank lines between, without what the desk added."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    seen = [line for line in lines if line.strip()]
    indented = sum(_INDENT.match(line) is not None for line in seen)
    by_indent = 0 < indented < 0.8 * len(seen)
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        resolved = " ".join(resolve(f" {line} ").split())
        above = paragraphs[-1][-1] if paragraphs[-1] else ""
        begun = line[:1] == " " and above.endswith((".", '."', "?", "!", '?"', '!"'))  # indented by one space
        if not resolved or is_notice(resolved) or (by_indent and _INDENT.match(line)) or begun:
            paragraphs.append([])
        if resolved and not is_notice(resolved):
            paragraphs[-1].append(resolved)
    paragraphs = [lines for lines in paragraphs if lines]
    while paragraphs and is_signature(paragraphs[-1][-1]):
        paragraphs[-1].pop()
        if not paragraphs[-1]:
            paragraphs.pop()
    for _ in range(2):  # "By A WRITER", "Associated Press Writer"
        first = paragraphs[0] if paragraphs else [""]
        # A wrapped line may begin with "By Monday": with text under it, the name must be in capitals.
        if is_byline(first[0]) and (len(first) == 1 or first[0][3:].isupper() or not first[0].startswith("By ")):
            first.pop(0)
            paragraphs = [lines for lines in paragraphs if lines]
    kept = [" ".join(lines) for lines in paragraphs]
    if kept:
        kept[0] = kept[0][dateline_end(kept[0]) :]
    return "\n\n".join(kept)
