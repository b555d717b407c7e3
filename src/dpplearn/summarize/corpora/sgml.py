"""Read newswire in SGML: documents between <DOC> tags, without what the desk added to their texts."""

from __future__ import annotations

import re
from collections import defaultdict
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
    documents, parts = list[Document](), defaultdict[str, list[str]](list)
    inside = list[str]()  # open elements that matter
    pieces = _TAG.split(f"{source}<doc>")  # a text, "/" or nothing, the name of a tag, a text, ...
    closed = {name.lower() for slash, name in zip(pieces[1::3], pieces[2::3], strict=True) if slash}
    for text, slash, name_of_tag in zip(pieces[:-1:3], pieces[1::3], pieces[2::3], strict=True):
        tag, part = (name_of_tag or "").lower(), _PARTS.get(inside[-1]) if inside else None  # no part of a document
        if part:
            parts[part].append(text)
        if tag == "doc" and parts and not slash:
            fields = (" ".join("".join(parts[key]).split()) for key in ("docno", "docid", "title", "date"))
            docno, docid, title, date = fields
            number = len(documents) + 1
            called = docno or docid or (name if number == 1 else f"{name}#{number}")
            body = clean("".join(parts["text"]))
            documents.append(Document(called, body, resolve(title).strip() or None, date or None))
            parts.clear()
            inside.clear()
        elif tag in ("p", "s", "br", "para"):  # with or without their closing tags
            parts[part or "other"].append("\n\n" if tag != "br" else "\n")
        elif slash and tag in inside:
            while inside.pop() != tag:
                pass
        elif not slash and (tag in _TEXTS or (tag in _ASIDE and tag in closed)):
            inside += [tag] * (len(inside) < _MOST_OPEN)
            parts["text"] += ["\n\n"] * (tag in _TEXTS)
    return documents


def resolve(text: str) -> str:
    """Resolve entities in any case, drop typesetting codes, and write quotation marks as such."""
    text = _ENTITY.sub(_character, text)
    return text.replace("``", '"').replace("''", '"').replace(" _ ", " - ")


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if name[0] == "#":
        code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
        return chr(code) if 31 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
    if match[0][-1] != ";":
        return "--" if name == "MD" else match[0]  # AT&T
    small = f"{name.lower()};"
    shouted = html5.get(small) if (name.isupper() and len(name) > 2) or small in ("lt;", "gt;") else None
    return "--" if name == "MD" else shouted or html5.get(f"{name};", " ")


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
        notice = not resolved or is_notice(resolved)
        if notice or (by_indent and _INDENT.match(line)) or begun:
            paragraphs.append([])
        if not notice:
            paragraphs[-1].append(resolved)
    paragraphs = [*filter(None, paragraphs)]
    while paragraphs and is_signature(paragraphs[-1][-1]):
        paragraphs[-1].pop()
        paragraphs = [*filter(None, paragraphs)]
    for _ in range(2):  # "By A WRITER", "Associated Press Writer"
        first = paragraphs[0] if paragraphs else [""]
        # A wrapped line may begin with "By Monday": with text under it, the name must be in capitals.
        if is_byline(first[0]) and (len(first) == 1 or first[0][3:].isupper() or not first[0].startswith("By ")):
            first.pop(0)
            paragraphs = [*filter(None, paragraphs)]
    texts = [" ".join(lines) for lines in paragraphs]
    return "\n\n".join([text[dateline_end(text) :] for text in texts[:1]] + texts[1:])
