"""The layout of the Document Understanding Conferences: SGML newswire in folders, model summaries beside them.

The conferences' data are licensed by NIST; this reads them where a user has them. A cluster is a folder such as
`docs/d30001t` of SGML files; the models are files such as `D30001.M.100.T.A` in any folder, one sentence per line.
Peers (`D30001.P.100.T.65`) and models of single documents are left alone. Files are UTF-8 or else Latin-1, the
encodings of these newswires.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.entities import html5
from pathlib import Path

from dpplearn._io.encoding import peek, read_bytes, to_text
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.text.markup import html_to_text, tokens
from dpplearn.summarize.text.newswire import dateline_end, is_byline, is_notice, is_signature
from dpplearn.summarize.text.word_lists import word_set

_FOLDER = re.compile(r"(d[0-9]{2,6})[a-z]{0,2}(-[a-z])?$", re.IGNORECASE)  # d30001t; D0801A-A in later years
_MODEL = re.compile(
    r"(?P<topic>d[0-9]{2,6}[a-z]{0,2}(?:-[a-z])?)\.m\.(?P<size>[0-9]{1,4})\.(?P<kind>[a-z])\.(?P<who>[a-z])(?:\.(?:html?|txt|gz))*$",
    re.IGNORECASE,
)
_OPENING = re.compile(rb"\s*(?:<\?xml[^<>]{0,200}>\s*)?(?:<!DOCTYPE[^<>]{0,400}>\s*)?<doc[\s>]", re.IGNORECASE)
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,9});?")
_TITLE_TAGS = ("headline", "hl", "head", "title", "ti", "h3")
_TEXTS = ("text", "leadpara", "lp")
_DATE_TAGS = ("date_time", "date", "datetime")
# Elements in or beside a text that are no part of it. Others, and those that are never closed, are looked through.
_ASIDE = word_set(
    "annotation slug trailer byline dateline keyword keywords subject graphic note caption docno docid doctype "
    "txttype headline hl head title ti h3 date_time date datetime source category"
)
_INDENT = re.compile(r"(?:\t| {2,})\S")
_NUMBER = re.compile(r"\[[0-9]{1,3}\] ?")
PREFERRED_SIZE = 100


def is_sgml(data: bytes) -> bool:
    """Whether a file is newswire SGML: it begins with <DOC>."""
    return _OPENING.match(data[:2000]) is not None


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
    [Document(id='X1', text='Tom & I left.', title='Rain', date=None, role=None)]
    """
    found: list[Document] = []
    parts: dict[str, list[str]] = {}
    inside: list[str] = []  # open elements that matter
    closed = {value for kind, value in tokens(source) if kind == "close"}
    for kind, value in [*tokens(source), ("open", "doc")]:
        if kind == "text":
            place = _place(inside)
            if place:
                parts.setdefault(place, []).append(value)
        elif value == "doc":
            if kind == "open" and parts:
                found.append(_document(parts, name, len(found)))
                parts, inside = {}, []
        elif value in ("p", "s", "br", "para"):  # with or without their closing tags
            parts.setdefault(_place(inside) or "other", []).append("\n\n" if value != "br" else "\n")
        elif kind == "open":
            if value in _TEXTS or (value in _ASIDE and value in closed):
                inside.append(value)
            if value in _TEXTS:
                parts.setdefault("text", []).append("\n\n")
        elif value in inside:
            while inside.pop() != value:
                pass
    return found


def _place(inside: list[str]) -> str | None:
    """The part that text inside these elements belongs to; None for what is no part of a document."""
    last = inside[-1] if inside else ""
    if last in _TITLE_TAGS:
        return "title"
    if last in _DATE_TAGS:
        return "date"
    return "text" if last in _TEXTS else last if last in ("docno", "docid") else None


def _document(parts: dict[str, list[str]], name: str, index: int) -> Document:
    docno, title, date = ("".join(parts.get(key, [])).split() for key in ("docno", "title", "date"))
    docno = docno or "".join(parts.get("docid", [])).split()
    given = " ".join(docno) or (name if index == 0 else f"{name}#{index + 1}")
    heading = resolve(" ".join(title)).strip() or None
    return Document(given, clean("".join(parts.get("text", []))), heading, " ".join(date) or None)


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


@dataclass(frozen=True)
class _Model:
    topic: str
    size: int
    who: str
    path: Path


def find_folders(paths: Iterable[Path]) -> dict[Path, list[Path]]:
    """The folders named like DUC clusters that hold SGML files, with those files."""
    found: dict[Path, list[Path]] = {}
    for path in paths:
        if _FOLDER.match(path.parent.name) and not _MODEL.match(path.name) and is_sgml(peek(path)):
            found.setdefault(path.parent, []).append(path)
    return found


def find_models(paths: Iterable[Path]) -> list[_Model]:
    """Model summaries of clusters, by their file names; copies in several folders count once."""
    found: dict[tuple[str, int, str], _Model] = {}
    for path in sorted(paths, key=lambda path: (path.suffix.lower() in (".html", ".htm"), str(path))):
        match = _MODEL.match(path.name)
        if match:
            topic, size, who = match["topic"].upper(), int(match["size"]), match["who"].upper()
            found.setdefault((topic, size, who), _Model(topic, size, who, path))
    return sorted(found.values(), key=lambda model: (model.topic, model.size, model.who))


def read_model(path: Path, encoding: str | None = None) -> str:
    """A model summary: one sentence per line."""
    text = to_text(read_bytes(path), path, encoding, fallback="latin-1")
    if "<html" in text[:500].lower():
        text = html_to_text(text.replace("<a name", "<p><a name").replace("<A NAME", "<p><a name"))[0]
    lines = [_NUMBER.sub("", " ".join(resolve(line).split()), count=1) for line in text.splitlines()]
    return "\n".join(line for line in lines if line)


def read_duc_documents(path: Path, encoding: str | None = None) -> list[Document]:
    """The documents of one SGML file."""
    found = parse_sgml(to_text(read_bytes(path), path, encoding, fallback="latin-1"), path.name.removesuffix(".gz"))
    if not found:
        raise ValueError(f"{path} must hold <DOC> with <DOCNO> and <TEXT>, but holds neither.")
    return found


def topic_of(folder: Path) -> tuple[str, str]:
    """The cluster's id, D30001 for d30001t, and the folder's whole name in capitals."""
    match = _FOLDER.match(folder.name)
    assert match is not None  # find_folders chose it
    return (match[1] + (match[2] or "")).upper(), folder.name.upper()


def references_of(names: tuple[str, str], models: list[_Model], encoding: str | None) -> list[str]:
    """The models of a cluster, of 100 words if there are such, else of the shortest length."""
    mine = [model for model in models if model.topic in names]
    sizes = {model.size for model in mine}
    size = PREFERRED_SIZE if PREFERRED_SIZE in sizes else min(sizes, default=0)
    return [read_model(model.path, encoding) for model in mine if model.size == size]


def unique_folders(folders: dict[Path, list[Path]]) -> dict[Path, list[Path]]:
    """Copies of a folder (with and without headlines, say) count once; two different ones of a name are an error."""
    kept: dict[str, Path] = {}
    for folder in sorted(folders):
        key = folder.name.lower()
        if key not in kept:
            kept[key] = folder
        elif {path.name for path in folders[kept[key]]} != {path.name for path in folders[folder]}:
            raise ValueError(
                f"A cluster must have one folder, but {kept[key]} and {folder} have the same name and hold different "
                "documents. Give the path of the one task you mean."
            )
    return {folder: sorted(folders[folder]) for folder in kept.values()}


def read_duc(
    folders: dict[Path, list[Path]],
    models: list[_Model],
    encoding: str | None = None,
    skip: Callable[[str], None] | None = None,
) -> Iterator[Cluster]:
    """The clusters of a DUC layout; `skip` is told of files that cannot be read."""
    folders = dict(sorted(unique_folders(folders).items(), key=lambda item: topic_of(item[0])))
    short = [topic_of(folder)[0] for folder in folders]
    for folder, paths in folders.items():
        topic, name = topic_of(folder)
        documents: list[Document] = []
        for path in paths:
            try:
                documents += read_duc_documents(path, encoding)
            except (ValueError, OSError) as error:
                if skip is None:
                    raise
                skip(str(error))
        if not documents:
            continue
        try:
            references = references_of((topic, name), models, encoding)
            yield Cluster(documents, references, topic if short.count(topic) == 1 else name)
        except (ValueError, OSError) as error:
            if skip is None:
                raise
            skip(f"{folder}: {error}")
