"""Read the data of the Document Understanding Conferences: SGML newswire in folders, model summaries beside them.

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

from dpplearn._io.encoding import peek, read_bytes, to_text, walk
from dpplearn.summarize.corpora.cluster import Cluster, Document
from dpplearn.summarize.corpora.documents import read_document
from dpplearn.summarize.corpora.sgml import is_sgml, resolve
from dpplearn.summarize.corpora.source import Source
from dpplearn.summarize.text.blocks import join_blocks
from dpplearn.summarize.text.page import read_html

_FOLDER = re.compile(r"(d[0-9]{2,6})[a-z]{0,2}(-[a-z])?$", re.IGNORECASE)  # d30001t; D0801A-A in later years
_MODEL = re.compile(
    r"(?P<topic>d[0-9]{2,6}[a-z]{0,2}(?:-[a-z])?)\.m\.(?P<size>[0-9]{1,4})\.[a-z]\.(?P<who>[a-z])(?:\.(?:html?|txt|gz))*$",
    re.IGNORECASE,
)
_SENTENCE_NUMBER = re.compile(r"\[[0-9]{1,3}\] ?")
PREFERRED_SIZE = 100  # words of a model


def looks_like_duc(path: Path) -> bool:
    """Whether a folder holds, at any depth, one that is named like a DUC cluster with SGML files in it."""
    return path.is_dir() and any(map(is_duc_document, walk(path)))


def is_duc_document(path: Path) -> bool:
    """Whether an SGML file stands in a folder named like a DUC cluster."""
    return bool(_FOLDER.match(path.parent.name)) and not _MODEL.match(path.name) and is_sgml(peek(path))


def read_duc(source: Source) -> Iterator[Cluster]:
    """The clusters of a DUC layout."""
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
                own = sorted(key for key in models if key[0] in (topic, name))
                sizes = {size for _, size, _ in own}
                size = PREFERRED_SIZE if PREFERRED_SIZE in sizes else min(sizes, default=0)
                references = [read_model(models[key], source.encoding) for key in own if key[1] == size]
                yield Cluster(documents, references, topic if topics.count(topic) == 1 else name)


def find_clusters(paths: Iterable[Path]) -> dict[tuple[str, str], list[Path]]:
    """The files of each cluster, by its id (D30001 for d30001t) and the whole name of its folder.

    Copies of a folder (with and without headlines, say) count once; two different ones of a name are an error.
    """
    folders, kept = defaultdict[Path, list[Path]](list), dict[tuple[str, str], list[Path]]()
    for path in filter(is_duc_document, paths):
        folders[path.parent].append(path)
    for folder, files in folders.items():
        match = _FOLDER.match(folder.name)
        assert match is not None  # else these are no DUC documents
        same = kept.setdefault(((match[1] + (match[2] or "")).upper(), folder.name.upper()), files)
        if {path.name for path in same} != {path.name for path in files}:
            raise ValueError(
                f"A cluster must have one folder, but {same[0].parent} and {folder} have the same name and hold "
                "different documents. Give the path of the one task you mean."
            )
    return dict(sorted(kept.items()))


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
