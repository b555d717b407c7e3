"""The layout of the Document Understanding Conferences: SGML newswire in folders, model summaries beside them.

The conferences' data are licensed by NIST; this reads them where a user has them. A cluster is a folder such as
`docs/d30001t` of SGML files; the models are files such as `D30001.M.100.T.A` in any folder, one sentence per line.
Peers (`D30001.P.100.T.65`) and models of single documents are left alone. Files are UTF-8 or else Latin-1, the
encodings of these newswires.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dpplearn._io.encoding import peek, read_bytes, to_text, walk
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.documents import read_document
from dpplearn.summarize.corpora.sgml import is_sgml, resolve
from dpplearn.summarize.corpora.source import Source
from dpplearn.summarize.text.page import read_html

_FOLDER = re.compile(r"(d[0-9]{2,6})[a-z]{0,2}(-[a-z])?$", re.IGNORECASE)  # d30001t; D0801A-A in later years
_MODEL = re.compile(
    r"(?P<topic>d[0-9]{2,6}[a-z]{0,2}(?:-[a-z])?)\.m\.(?P<size>[0-9]{1,4})\.(?P<kind>[a-z])\.(?P<who>[a-z])(?:\.(?:html?|txt|gz))*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\[[0-9]{1,3}\] ?")
PREFERRED_SIZE = 100


class _Model(NamedTuple):
    topic: str
    size: int
    who: str
    path: Path


def is_duc_document(path: Path) -> bool:
    """Whether an SGML file stands in a folder named like a DUC cluster."""
    return bool(_FOLDER.match(path.parent.name)) and not _MODEL.match(path.name) and is_sgml(peek(path))


def find_clusters(paths: Iterable[Path]) -> dict[tuple[str, str], list[Path]]:
    """The files of each cluster, by its id (D30001 for d30001t) and the whole name of its folder.

    Copies of a folder (with and without headlines, say) count once; two different ones of a name are an error.
    """
    found, kept = defaultdict[Path, list[Path]](list), dict[tuple[str, str], list[Path]]()
    for path in filter(is_duc_document, paths):
        found[path.parent].append(path)
    for folder, files in found.items():
        match = _FOLDER.match(folder.name)
        assert match is not None  # else these are no DUC documents
        same = kept.setdefault(((match[1] + (match[2] or "")).upper(), folder.name.upper()), files)
        if {path.name for path in same} != {path.name for path in files}:
            raise ValueError(
                f"A cluster must have one folder, but {same[0].parent} and {folder} have the same name and hold "
                "different documents. Give the path of the one task you mean."
            )
    return dict(sorted(kept.items()))


def find_models(paths: Iterable[Path]) -> list[_Model]:
    """Model summaries of clusters, by their file names; copies in several folders count once."""
    found: dict[tuple[str, int, str], _Model] = {}
    for path in sorted(paths, key=lambda path: (path.suffix.lower() in (".html", ".htm"), str(path))):
        match = _MODEL.match(path.name)
        if match:
            model = _Model(match["topic"].upper(), int(match["size"]), match["who"].upper(), path)
            found.setdefault(model[:3], model)
    return sorted(found.values())


def read_model(path: Path, encoding: str | None = None) -> str:
    """A model summary: one sentence per line."""
    text = to_text(read_bytes(path), path, encoding, fallback="latin-1")
    if "<html" in text[:500].lower():
        text = read_html(text.replace("<a name", "<p><a name").replace("<A NAME", "<p><a name"))[0].text
    lines = [_NUMBER.sub("", " ".join(resolve(line).split()), count=1) for line in text.splitlines()]
    return "\n".join(line for line in lines if line)


def references_of(names: tuple[str, str], models: list[_Model], encoding: str | None) -> list[str]:
    """The models of a cluster, of 100 words if there are such, else of the shortest length."""
    mine = [model for model in models if model.topic in names]
    sizes = {model.size for model in mine}
    size = PREFERRED_SIZE if PREFERRED_SIZE in sizes else min(sizes, default=0)
    return [read_model(model.path, encoding) for model in mine if model.size == size]


def looks_like_duc(path: Path) -> bool:
    """Whether a folder holds, at any depth, one that is named like a DUC cluster with SGML files in it."""
    return path.is_dir() and any(map(is_duc_document, walk(path)))


def read_duc(source: Source) -> Iterator[Cluster]:
    """The clusters of a DUC layout."""
    paths = sorted(walk(source.path))
    models = find_models([*paths, *(walk(source.references) if source.references else ())])
    clusters = find_clusters(paths)
    short = [topic for topic, _ in clusters]
    for (topic, name), files in clusters.items():
        documents: list[Document] = []
        for path in files:
            with source.tolerate():
                found = read_document(path, source.encoding)
                if not found:
                    raise ValueError(f"{path} must hold <DOC> with <DOCNO> and <TEXT>, but holds neither.")
                documents += found
        if documents:
            with source.tolerate(f"{files[0].parent}: "):
                references = references_of((topic, name), models, source.encoding)
                yield Cluster(documents, references, topic if short.count(topic) == 1 else name)
