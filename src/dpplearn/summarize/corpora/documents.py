"""Read files and folders as documents, and make a cluster of whatever a user passes: texts, paths or bytes."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from glob import glob, has_magic
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from dpplearn._io.encoding import (
    MAX_BYTES,
    BinaryError,
    check_charset,
    check_encoding,
    entries,
    peek,
    read_bytes,
    unpacked_name,
)
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.formats.apart import LIMITS, Apart, DocumentFile, Limits
from dpplearn.summarize.corpora.formats.hyphens import unwrapped
from dpplearn.summarize.corpora.newswire import OPENING, is_sgml, parse_sgml
from dpplearn.summarize.corpora.source import SkippedWarning, Source, is_readme
from dpplearn.summarize.text.blocks import is_title
from dpplearn.summarize.text.dates import date_line, head_date, source_date
from dpplearn.summarize.text.markdown import front_matter, is_markdown, read_markdown
from dpplearn.summarize.text.page import read_html
from dpplearn.summarize.text.subtitles import SUBTITLES, read_subtitles
from dpplearn.summarize.text.words import has_word

# one slash or two: pathlib.Path("https://a.org/b") becomes https:/a.org/b
_ADDRESS = re.compile(r"(?:(?:https?|ftps?)://?[^\s/]\S*|www\.[^\s.]\S*\.\S+)", re.IGNORECASE)
_SALUTED = re.compile(r"dear\b|.*[,:;]$", re.IGNORECASE)  # "Sir,", "Dear Editor": no title
MOST_DATES = 2  # lines at the head of a text: when it was published, and when it was updated
_CHARSET = re.compile(rb"<meta[^<>]{0,200}charset=[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
SingleInput: TypeAlias = str | PathLike[str] | bytes | Document
TextInput: TypeAlias = Cluster | SingleInput | Iterable[SingleInput]
INPUTS_IN_WORDS = "a text, a path, bytes, several of these in a list, or a Cluster"
LONGEST_PATH = 4_096  # characters
OTHER_SUFFIXES = (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".doc")
ADVICE = {"dict": " For texts by name, pass list(given.values()).", "set": " A set has no order: pass a list."}


def html_document(name: str, source: str) -> Document:
    """A page, with the date that it gives for itself."""
    parts, title = read_html(source)
    return Document.of_blocks(name, parts, title, source_date(source))


def markdown_document(name: str, source: str) -> Document:
    """A Markdown text, with the date in the settings at its head or in its first lines."""
    settings = front_matter(source)
    date = source_date(settings, head=True) or head_date(source[len(settings) :][:2_000].split("\n"))
    parts, title = read_markdown(unwrapped(source))
    return Document.of_blocks(name, parts, title, date)


def plain_document(name: str, source: str) -> Document:
    """Set apart the title and the date that head a plain text.

    Examples
    --------
    >>> plain_document("a", "Rain in Oslo\\n8 May 2004\\n\\nIt rained.")
    Document('a', 'It rained.', title='Rain in Oslo', date='8 May 2004')
    """
    title, dates, text = None, list[str](), unwrapped(source.lstrip("\r\n"))
    while True:
        line, _, rest = text.partition("\n")
        line, below = line.strip(), rest.split("\n", 1)[0].strip()
        if rest.strip() and len(dates) < MOST_DATES and date_line(line) and not below[:1].islower():
            dates.append(line)
        elif rest.strip() and not title and is_title(line, below) and not _SALUTED.match(line):
            title = line
        else:
            return Document(name, text.strip("\r\n"), title, head_date(dates))
        text = rest.lstrip("\r\n")


def parse_text(file: DocumentFile) -> list[Document]:
    """A text, which may be Markdown, or an error if it is called like a PDF or an office file, and is neither."""
    try:
        text = file.text()
        return [markdown_document(file.name, text) if is_markdown(text) else plain_document(file.name, text)]
    except ValueError as error:
        suffix = suffix_of(Path(file.name))
        kind_name = next((kind.name for kind in FILE_KINDS if kind.always and suffix in kind.suffixes), None)
        no_text = isinstance(error, BinaryError) or isinstance(error.__cause__, UnicodeDecodeError)
        if kind_name is None or not no_text:  # this error says already what the file is
            raise
        what = f"{file.place} ends in {suffix}, but is neither {kind_name} nor text: it is damaged, or of another kind."
        raise ValueError(f"{what} Export it anew, or save it as UTF-8 text.") from None


def parse_html(file: DocumentFile) -> list[Document]:
    """A page, in the encoding that it declares."""
    declared = _CHARSET.search(file.data[:2048])
    if declared and file.encoding is None:
        file = replace(file, encoding=check_charset(declared[1].decode("ascii"), file.place))
    return [html_document(file.name, file.text())]


def parse_newswire(file: DocumentFile) -> list[Document]:
    """Newswire, in UTF-8 or else Latin-1."""
    text = file.text(fallback="latin-1")
    return parse_sgml(text, file.name) if OPENING.match(text) else [plain_document(file.name, text)]


class FileKind(NamedTuple):
    """A kind of document files."""

    name: str
    suffixes: tuple[str, ...]  # how names of such files end
    parse: Callable[[DocumentFile], list[Document]]
    opening: re.Pattern[str] | None = None  # how its text begins: such a file is of this kind whatever it is called
    always: bool = False  # whether all its files begin so: one that is only called like them is read as text


_FORMATS = "dpplearn.summarize.corpora.formats"
# A mailbox, or headers of which one is a machine's: a note may begin with "From:" or "Subject:", too.
MAIL = re.compile(
    r"From \S{1,200}[ ][^\n]{0,100}[0-9]{4}[^\n]{0,40}\n[A-Za-z-]{1,60}:"
    r"|(?:[A-Za-z][A-Za-z0-9-]{0,60}:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?:Message-ID|MIME-Version|Received|Return-Path|"
    r"Delivered-To|X-Mailer):",
    re.IGNORECASE,
)
PAGE = re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE)
PACKAGES = (".docx", ".docm", ".odt", ".ott", ".epub")
TEXT = FileKind("text", (".txt", ".text"), parse_text)
MARKDOWN = FileKind("Markdown", (".md", ".markdown"), lambda file: [markdown_document(file.name, file.text())])
FILE_KINDS = [  # a new kind of files is one entry; a file's beginning is looked at first, in this order
    TEXT,
    MARKDOWN,
    FileKind("HTML", (".html", ".htm", ".xhtml"), parse_html, PAGE),
    FileKind(
        "subtitles",
        (".srt", ".vtt"),
        lambda file: [Document.of_blocks(file.name, read_subtitles(file.text()))],
        SUBTITLES,
    ),
    FileKind("newswire SGML", (".sgml", ".sgm"), parse_newswire, OPENING),
    FileKind("PDF", (".pdf",), Apart(f"{_FORMATS}.pdf:parse_pdf"), re.compile(r"\s*%PDF-"), True),
    FileKind(
        "Word, OpenDocument or EPUB",
        PACKAGES,
        Apart(f"{_FORMATS}.packages:parse_package"),
        re.compile("PK\x03\x04"),
        True,
    ),
    FileKind("rich text", (".rtf",), Apart(f"{_FORMATS}.office:parse_rtf"), re.compile(r"\{\\rtf"), True),
    FileKind("e-mail", (".eml", ".mbox"), Apart(f"{_FORMATS}.mail:parse_mail"), MAIL),
]


def suffixes() -> list[str]:
    """The endings of documents' names."""
    return [suffix for kind in FILE_KINDS for suffix in kind.suffixes]


def suffix_of(path: Path) -> str:
    """The ending of a name, before the .gz of a packed file."""
    return Path(unpacked_name(path)).suffix


def is_document(path: Path) -> bool:
    """Whether a file is a document by its name."""
    return suffix_of(path) in suffixes() and path.is_file()


def reads_as_document(path: Path) -> bool:
    """Whether a file is a document by its name, or, where that has no ending but perhaps a number, by its content."""
    if is_document(path) or not path.is_file():
        return path.is_file()
    begins, suffix = peek(path), suffix_of(path)
    if is_readme(path) or (suffix and not suffix[1:].isdigit()):
        return is_sgml(begins)
    text = begins[:-4].decode("utf-8", "replace")  # the last character may be cut
    is_text = bool(text.strip() and not text.startswith("#!") and not {"\0", "\ufffd"} & {*text})
    return is_text or kind_of_file(DocumentFile(begins, path.name, path)) is not TEXT


def kind_of_file(file: DocumentFile) -> FileKind:
    """The kind of a file by its beginning, or else by its name's ending, or else text."""
    if file.encoding is not None:
        check_encoding(file.encoding)
    opening, suffix = file.opening, suffix_of(Path(file.name))
    by_opening = (kind for kind in FILE_KINDS if kind.opening and kind.opening.match(opening))
    by_name = (kind for kind in FILE_KINDS if suffix in kind.suffixes and not kind.always)
    return next(chain(by_opening, by_name), TEXT)


def parse_document(
    data: bytes, name: str, place: Path | str, encoding: str | None = None, limits: Limits = LIMITS
) -> list[Document]:
    """The documents in the bytes of a file, whose kind is seen by its name and content; errors call it by its place.

    Examples
    --------
    >>> parse_document(b"<title>Rain</title><p>It rained.", "a.html", "a.html")
    [Document('a.html', 'It rained.', title='Rain')]
    """
    file = DocumentFile(data, name, place, encoding, limits)
    documents = kind_of_file(file).parse(file)
    for remark in file.remarks:
        warnings.warn(remark, SkippedWarning, stacklevel=2)
    return documents


def read_document(path: Path, source: Source) -> list[Document]:
    """Read one file; an SGML file may hold several documents. What readers remark is noted."""
    file = DocumentFile(peek(path), path.name.removesuffix(".gz"), path, source.encoding)
    limit = file.limits.size if isinstance(kind_of_file(file).parse, Apart) else MAX_BYTES
    file = replace(file, data=read_bytes(path, limit))
    documents = kind_of_file(file).parse(file)
    source.note("said", file.remarks)
    return documents


def read_paths(paths: Iterable[Path], source: Source) -> list[Document]:
    """The documents of some files; a file without a word is noted, unless all are so.

    Their ids are file names, or paths where names are the same.
    """
    documents: list[tuple[Path, Document]] = []
    for path in paths:
        with source.tolerate():
            documents += [(path, document) for document in read_document(path, source)]
    worded = {path for path, document in documents if has_word(document.text, 0, len(document.text))}
    if worded:
        source.note("empty", dict.fromkeys(path for path, _ in documents if path not in worded))
        documents = [(path, document) for path, document in documents if path in worded]
    counts, renamed = Counter(document.id for _, document in documents), list[Document]()
    for path, document in documents:
        name = str(path) if document.id == path.name.removesuffix(".gz") else f"{path}:{document.id}"
        renamed.append(document if counts[document.id] == 1 else replace(document, id=name))
    return renamed


def read_files(paths: str | PathLike[str] | Iterable[str | PathLike[str]], encoding: str | None) -> list[Document]:
    """The documents of files, patterns and folders."""
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    source = Source(Path(), encoding, skip_bad=True)
    files = list(dict.fromkeys(path for place in several for path in files_at(fspath(place), source)))
    if not files:
        raise FileNotFoundError("There must be at least one file to read, but none was given.")
    documents, bad = read_paths(files, source), source.noted("bad")
    if bad and not documents:
        raise ValueError(bad[0] if len(bad) == 1 else "\n".join(["None of the files can be read.", *bad]))
    source.warn(suffixes(), stacklevel=3)  # where Cluster.from_files was called
    return documents


def files_at(pattern: str, source: Source) -> list[Path]:
    """The files that a user means by a path, a folder or a pattern."""
    path = Path(pattern)
    if path.is_dir():
        content = entries(path)
        paths = list(filter(reads_as_document, content))
        if not paths:
            folders = [entry for entry in content if entry.is_dir()]
            advice = f" It holds folders: give one, such as {folders[0]}, or several by their names." if folders else ""
            raise ValueError(f"{path} must hold documents ({', '.join(suffixes())}), but holds none.{advice}")
        source.note_others(content, paths)
        return paths
    if suffix_of(path) in (".jsonl", ".ndjson"):
        raise ValueError(f"{path} is a corpus of clusters, not a document. Use dpplearn batch, or read_clusters.")
    if suffix_of(path) in (".csv", ".tsv"):
        raise ValueError(f"{path} is a table, not a document. Save each text in it as a .txt file, and give these.")
    paths = [match for match in paths_matching(pattern) if match == path or match.is_file()]
    if paths == [path] and not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    return paths


def paths_matching(pattern: str) -> list[Path]:
    """The paths that match a pattern; a path without a pattern is returned even if nothing is there."""
    path = Path(pattern)
    if not path.exists():
        refuse_address(pattern)
    if path.exists() or not has_magic(pattern):
        return [path]
    paths = sorted(map(Path, glob(pattern, recursive=True)))
    if not paths:
        raise FileNotFoundError(f"No file matches {pattern}.")
    return paths


def refuse_address(text: str | PathLike[str]) -> None:
    """An error that says what to do with an address on the web, if this is one and nothing else."""
    if _ADDRESS.fullmatch(fspath(text).strip()):
        raise ValueError(
            f"{fspath(text).strip()} is an address on the web, and dpplearn downloads nothing. Open it in a browser, "
            "save the page as an HTML file, and give that file."
        )


def as_cluster(texts: TextInput, *, encoding: str | None = None, language: str | None = None) -> Cluster:
    """Make one cluster of texts, paths or bytes.

    Parameters
    ----------
    texts : Cluster, str, path, bytes, Document, or an iterable of these
        A string is a path where a file or folder of that name exists, and a text otherwise. One line that reads like
        a path (it ends like a document's name or with /, or begins with / or ./) where there is no such file is an
        error, and so is an address on the web: nothing is downloaded. Bytes are the content of a file.
    encoding, language : str, optional
        Of files and bytes; of the texts.

    Examples
    --------
    >>> as_cluster(["It rained. The river rose.", b"<html><p>It poured."]).documents[1].text
    'It poured.'
    >>> as_cluster("storm.txt")
    Traceback (most recent call last):
    ...
    FileNotFoundError: storm.txt does not exist. If it is a text and no path, pass Cluster.from_texts([text]).
    """
    if isinstance(texts, Cluster):
        return texts if language is None else replace(texts, language=language)
    is_single = isinstance(texts, str | PathLike | bytes | bytearray | memoryview | Document)
    if not is_single and (
        isinstance(texts, Mapping | Set) or hasattr(texts, "read") or not isinstance(texts, Iterable)
    ):
        kind = "None" if texts is None else type(texts).__name__
        advice = " Pass what its read() returns." if hasattr(texts, "read") else ADVICE.get(kind, "")
        raise TypeError(f"What is to be summarized must be {INPUTS_IN_WORDS}; found {kind}.{advice}")
    members: list[Any] = [texts] if is_single else list(texts)  # type: ignore[arg-type]  # a single one is no list
    if not members:
        raise ValueError(f"There is nothing to summarize: the list is empty. Expected {INPUTS_IN_WORDS}.")
    if all(map(is_path, members)):
        return Cluster(read_files(members, encoding), (), None, language)
    documents = [x for number, member in enumerate(members, 1) for x in documents_of(member, number, encoding)]
    if not any(document.text.strip() for document in documents):
        raise ValueError("There is nothing to summarize: the text is empty.")
    return Cluster(with_unique_ids(documents), (), None, language)


def is_path(member: Any) -> bool:
    """Whether this is a path to something; an error where it only looks like one."""
    if isinstance(member, PathLike):
        return True
    if not isinstance(member, str) or not 0 < len(member) <= LONGEST_PATH or "\n" in member.strip() or "\0" in member:
        return False
    if os.path.exists(member):  # also False for a name that no file can have
        return True
    refuse_address(member)
    bare = member.strip()
    spaced, named = any(map(str.isspace, bare)), bare.lower().endswith((*suffixes(), *OTHER_SUFFIXES))
    if has_magic(bare) and named and not spaced:
        return True  # a pattern, such as storm/*.txt
    rooted = (bare.startswith(("/", "./", "../", "~/", ".\\", "..\\")) or bare.endswith(("/", "\\"))) and not spaced
    word = bare.isascii() and not spaced and bare[-1:].isalnum()  # one word is no text
    if rooted or word or (named and len(bare.split()) <= 8):
        raise FileNotFoundError(f"{bare} does not exist. If it is a text and no path, pass Cluster.from_texts([text]).")
    return False


def documents_of(member: Any, number: int, encoding: str | None) -> list[Document]:
    """The documents of one member of a list; texts are called by their number."""
    if isinstance(member, Document):
        return [member]
    if isinstance(member, bytes | bytearray | memoryview):
        return parse_document(bytes(member), f"{number}.txt", f"item {number}", encoding)
    if isinstance(member, Cluster):
        raise TypeError("Found a list with a Cluster in it: summarize each by itself.")
    if is_path(member):
        return read_files([member], encoding)
    if not isinstance(member, str):
        kind = "None" if member is None else type(member).__name__
        raise TypeError(f"What is to be summarized must be {INPUTS_IN_WORDS}; item {number} of the list is {kind}.")
    if PAGE.match(member):
        return [html_document(str(number), member)]
    return [markdown_document(str(number), member) if is_markdown(member) else Document(str(number), unwrapped(member))]


def with_unique_ids(documents: list[Document]) -> list[Document]:
    """The documents with ids that differ: a second document of the same id gets a number."""
    counts: dict[str, int] = {}  # each name, and the number of the latest that was called after it
    renamed = []
    for document in documents:
        name, count = document.id, counts.get(document.id, 1)
        while name in counts:
            count += 1
            name = f"{document.id} ({count})"
        counts |= {document.id: count, name: 1}
        renamed.append(replace(document, id=name))
    return renamed
