"""Read newswire in SGML, and the data of the Document Understanding Conferences (DUC), which are such files.

The conferences' data are licensed by NIST; this reads them where a user has them. A cluster is a folder such as
`docs/d30001t` of SGML files; the models are files such as `D30001.M.100.T.A` in any folder, one sentence per line.
Peers (`D30001.P.100.T.65`) and models of single documents are left alone. Files are UTF-8 or else Latin-1, the
encodings of these newswires.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from html.entities import html5
from pathlib import Path

from dpplearn._io.encoding import peek, read_bytes, to_text, walk
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.source import Source
from dpplearn.summarize.text.blocks import join_blocks
from dpplearn.summarize.text.dates import dateline_end, is_byline, is_notice, is_signature
from dpplearn.summarize.text.page import read_html
from dpplearn.summarize.text.words import word_set

OPENING = re.compile(r"\s*(?:<\?xml[^<>]{0,200}>\s*)?(?:<!DOCTYPE[^<>]{0,400}>\s*)?<doc[\s>]", re.IGNORECASE)
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,9});?")
_TEXTS = ("text", "leadpara", "lp")
_PARTS = dict.fromkeys(_TEXTS, "text") | dict.fromkeys(("headline", "hl", "head", "title", "ti", "h3"), "title")
_PARTS |= dict.fromkeys(("date_time", "date", "datetime"), "date") | {"docno": "docno", "docid": "docid"}
# Elements in or beside a text that do not belong to it. The text in other elements, or unclosed ones, does.
_ASIDE = word_set(
    "annotation slug trailer byline dateline keyword keywords subject graphic note caption docno docid doctype "
    "txttype headline hl head title ti h3 date_time date datetime source category"
)
_TAG = re.compile(r"<(?:!--.*?(?:-->|\Z)|(/?)([A-Za-z][\w:.-]{0,40})[^<>]*+>)", re.DOTALL)
_MOST_OPEN = 50  # elements in elements that matter
_INDENT = re.compile(r"(?:\t| {2,})\S")
_FOLDER = re.compile(r"(d[0-9]{2,6})[a-z]{0,2}(-[a-z])?$", re.IGNORECASE)  # d30001t; D0801A-A in later years
_MODEL = re.compile(
    r"(?P<topic>d[0-9]{2,6}[a-z]{0,2}(?:-[a-z])?)\.m\.(?P<size>[0-9]{1,4})\.[a-z]\.(?P<who>[a-z])(?:\.(?:html?|txt|gz))*$",
    re.IGNORECASE,
)
_SENTENCE_NUMBER = re.compile(r"\[[0-9]{1,3}\] ?")
PREFERRED_SIZE = 100  # words of a model


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
    """A text with entities resolved, in any case, without typesetting codes, and with real quotation marks."""
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
    """Paragraphs on one line each, with blank lines between them, without lines that the desk added."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    worded = [line for line in lines if line.strip()]
    indented = sum(_INDENT.match(line) is not None for line in worded)
    by_indent = 0 < indented < 0.8 * len(worded)
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


def looks_like_duc(path: Path) -> bool:
    """Whether a folder holds, at any depth, one that is named like a DUC cluster with SGML files in it."""
    return path.is_dir() and any(map(is_duc_document, walk(path)))


def is_duc_document(path: Path) -> bool:
    """Whether an SGML file stands in a folder named like a DUC cluster."""
    return bool(_FOLDER.match(path.parent.name)) and not _MODEL.match(path.name) and is_sgml(peek(path))


def read_duc(source: Source) -> Iterator[Cluster]:
    """The clusters of a DUC layout."""
    from dpplearn.summarize.corpora.documents import read_document  # which reads single files of newswire by this file

    paths = sorted(walk(source.path))
    models = find_models([*paths, *(walk(source.references) if source.references else ())])
    clusters = find_clusters(paths)
    topics = [topic for topic, _ in clusters]
    for (topic, name), files in clusters.items():
        documents: list[Document] = []
        for path in files:
            with source.tolerate():
                documents += (added := read_document(path, source))
                if not added:
                    raise ValueError(f"{path} must hold <DOC> with <DOCNO> and <TEXT>, but holds neither.")
        if documents:
            with source.tolerate(f"{files[0].parent}: "):
                keys = sorted(key for key in models if key[0] in (topic, name))
                sizes = {size for _, size, _ in keys}
                size = PREFERRED_SIZE if PREFERRED_SIZE in sizes else min(sizes, default=0)
                references = [read_model(models[key], source.encoding) for key in keys if key[1] == size]
                yield Cluster(documents, references, topic if topics.count(topic) == 1 else name)


def find_clusters(paths: Iterable[Path]) -> dict[tuple[str, str], list[Path]]:
    """The files of each cluster, by its id (D30001 for d30001t) and the whole name of its folder.

    Copies of a folder (with and without headlines, say) count once; two different ones of a name are an error.
    """
    folders, clusters = defaultdict[Path, list[Path]](list), dict[tuple[str, str], list[Path]]()
    for path in filter(is_duc_document, paths):
        folders[path.parent].append(path)
    for folder, files in folders.items():
        match = _FOLDER.match(folder.name)
        assert match is not None  # else these are no DUC documents
        known_files = clusters.setdefault(((match[1] + (match[2] or "")).upper(), folder.name.upper()), files)
        if {path.name for path in known_files} != {path.name for path in files}:
            raise ValueError(
                f"A cluster must have one folder, but {known_files[0].parent} and {folder} have the same name and hold "
                "different documents. Give the path of the one task you mean."
            )
    return dict(sorted(clusters.items()))


def find_models(paths: Iterable[Path]) -> dict[tuple[str, int, str], Path]:
    """Model summaries by topic, size and writer, told by their file names; copies in several folders count once."""
    models: dict[tuple[str, int, str], Path] = {}
    for path in sorted(paths, key=lambda path: (path.suffix.lower() in (".html", ".htm"), str(path))):
        if match := _MODEL.match(path.name):
            models.setdefault((match["topic"].upper(), int(match["size"]), match["who"].upper()), path)
    return models


def read_model(path: Path, encoding: str | None = None) -> str:
    """A model summary: one sentence per line."""
    text = to_text(read_bytes(path), path, encoding, fallback="latin-1")
    if "<html" in text[:500].lower():
        parts, _ = read_html(text.replace("<a name", "<p><a name").replace("<A NAME", "<p><a name"))
        text, _ = join_blocks(parts)
    lines = [_SENTENCE_NUMBER.sub("", " ".join(resolve(line).split()), count=1) for line in text.splitlines()]
    return "\n".join(line for line in lines if line)
