"""Documents from files and folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from glob import glob, has_magic
from importlib.resources import as_file, files
from os import PathLike, fspath
from pathlib import Path

from dpplearn._io.encoding import check_charset, peek, read_bytes, to_text
from dpplearn._io.folders import entries
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.duc import is_sgml, parse_sgml
from dpplearn.summarize.corpora.passed_over import LeftOut
from dpplearn.summarize.text.blocks import is_date, is_title
from dpplearn.summarize.text.markup import html_to_text, markdown_to_text

TEXT = (".txt", ".text")
MARKDOWN = (".md", ".markdown")
HTML = (".html", ".htm", ".xhtml")
SUFFIXES = (*TEXT, *MARKDOWN, *HTML, ".sgml", ".sgm")
REFERENCES = "references"
_CHARSET = re.compile(rb"<meta[^<>]{0,200}charset=[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_HTML_OPENING = re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE)


def suffix_of(path: Path) -> str:
    """How the name ends, that of gzip aside."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_document(path: Path) -> bool:
    return suffix_of(path) in SUFFIXES and path.is_file()


def read_document(path: Path, encoding: str | None = None) -> list[Document]:
    """Read one file; an SGML file may hold several documents.

    A text file's first line is its title if it reads like one and stands apart, and the line under it its date.
    """
    return parse_document(read_bytes(path), path.name.removesuffix(".gz"), path, encoding)


def parse_document(data: bytes, name: str, place: Path | str, encoding: str | None = None) -> list[Document]:
    """The documents in the bytes of a file, told apart by its name and content; errors call it by its place.

    Examples
    --------
    >>> parse_document(b"<title>Rain</title><p>It rained.", "a.html", "a.html")
    [Document(id='a.html', text='It rained.', title='Rain', date=None, role=None)]
    """
    if is_sgml(data):
        return parse_sgml(to_text(data, place, encoding, fallback="latin-1"), name)
    kind = suffix_of(Path(name))
    if kind in HTML and encoding is None:
        declared = _CHARSET.search(data[:2048])
        encoding = declared[1].decode("ascii") if declared else None
        if encoding is not None:
            check_charset(encoding, place)
    source = to_text(data, place, encoding)
    if kind in HTML or _HTML_OPENING.match(source):
        text, title = html_to_text(source)
        return [Document(name, text, title)]
    if kind in MARKDOWN:
        text, title = markdown_to_text(source)
        return [Document(name, text, title)]
    return [plain_document(name, source)]


def plain_document(name: str, source: str) -> Document:
    """Set apart the title and the date that head a plain text.

    Examples
    --------
    >>> plain_document("a", "Rain in Oslo\\n8 May 2004\\n\\nIt rained.")
    Document(id='a', text='It rained.', title='Rain in Oslo', date='8 May 2004', role=None)
    """
    title = date = None
    text = source.lstrip("\r\n")
    first, _, rest = text.partition("\n")
    second, _, later = rest.lstrip("\r\n").partition("\n")
    dated = is_date(second.strip())
    if is_title(first.strip()) and rest.strip() and (dated or not rest.split("\n", 1)[0].strip()):
        title, text = first.strip(), rest
        if dated and later.strip():
            date, text = second.strip(), later
    return Document(name, text.strip("\r\n"), title, date)


def read_files(paths: str | PathLike[str] | Iterable[str | PathLike[str]], encoding: str | None) -> list[Document]:
    """The documents of files, patterns and folders; ids are file names, or paths where names are the same."""
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    left_out = LeftOut()
    found = list(dict.fromkeys(path for one in given for path in _expand(fspath(one), left_out)))
    if not found:
        raise FileNotFoundError("There must be at least one file to read, but none was given.")
    documents = [(path, document) for path in found for document in read_document(path, encoding)]
    left_out.add_empty(documents)
    left_out.warn(SUFFIXES, stacklevel=3)  # where Cluster.from_files was called
    return unique_ids(documents)


def unique_ids(documents: list[tuple[Path, Document]]) -> list[Document]:
    """Where two documents have the same id, put the path of their files before it."""
    counts: dict[str, int] = {}
    for _, document in documents:
        counts[document.id] = counts.get(document.id, 0) + 1
    kept = []
    for path, document in documents:
        if counts[document.id] > 1:
            given = str(path) if document.id == path.name.removesuffix(".gz") else f"{path}:{document.id}"
            document = Document(given, document.text, document.title, document.date, document.role)
        kept.append(document)
    return kept


def _expand(given: str, left_out: LeftOut) -> list[Path]:
    path = Path(given)
    if path.is_dir():
        inside = entries(path)
        found = [entry for entry in inside if is_document(entry) or (entry.is_file() and is_sgml(peek(entry)))]
        if not found:
            raise ValueError(f"{path} must hold documents ({', '.join(SUFFIXES)}), but holds none.")
        left_out.add_others(inside, found)
        return found
    if suffix_of(path) in (".jsonl", ".ndjson"):
        raise ValueError(f"{path} is a corpus of clusters, not a document. Read it with read_clusters.")
    if path.exists() or not has_magic(given):
        return [path]
    matches = sorted(Path(match) for match in glob(given, recursive=True))
    found = [match for match in matches if match.is_file()]
    if not found:
        raise FileNotFoundError(f"No file matches {given}.")
    return found


def read_references(folder: Path, encoding: str | None, left_out: LeftOut) -> list[str]:
    """The texts in the folder references/, by name."""
    place = folder / REFERENCES
    if not place.is_dir():
        return []
    texts = []
    inside = entries(place)
    paths = [path for path in inside if path.is_file() and suffix_of(path) in (*SUFFIXES, "")]
    left_out.add_others(inside, paths)
    for path in paths:
        data = read_bytes(path)
        text = to_text(data, path, encoding)
        texts.append(html_to_text(text)[0] if suffix_of(path) in HTML else text.strip())
    return texts


def read_folder(
    folder: Path, encoding: str | None, left_out: LeftOut, on_bad: Callable[[str], None] | None = None
) -> Cluster | None:
    """Read a folder of documents as a cluster; None if it holds none.

    `on_bad` is told of files that cannot be read, and `left_out` of those from which no sentence comes.
    """
    documents: list[tuple[Path, Document]] = []
    inside = entries(folder)
    for inner in ("docs", "documents"):
        if (folder / inner).is_dir():
            inside += entries(folder / inner)
    sources = [entry for entry in inside if is_document(entry)]
    for path in sources:
        try:
            documents += [(path, document) for document in read_document(path, encoding)]
        except (ValueError, OSError) as error:
            if on_bad is None:
                raise
            on_bad(str(error))
    if not documents:
        return None
    left_out.add_others(inside, sources)
    left_out.add_empty(documents)
    return Cluster(unique_ids(documents), read_references(folder, encoding, left_out), folder.resolve().name)


def read_example() -> Cluster:
    """The example cluster of the package."""
    with as_file(files("dpplearn.summarize").joinpath("data", "example")) as folder:
        cluster = read_folder(folder, "utf-8", LeftOut())
    assert cluster is not None
    return Cluster(cluster.documents, cluster.references, "example", "english")
