"""A folder of documents for each cluster, or one that is a cluster, with references beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpplearn._io.encoding import entries, read_bytes, to_text
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.documents import MARKDOWN, TEXT, is_document, read_paths, reads_as_document, suffix_of
from dpplearn.summarize.corpora.source import Item, Source, is_readme

REFERENCES = "references"
INNER = ("docs", "documents")  # where the documents of a cluster may be


def folder_items(source: Source) -> Iterator[Item]:
    """The folders of clusters in a folder, or the one folder of documents that it is."""
    path, there = source.path, entries(source.path)
    clusters = [entry for entry in there if entry.is_dir() and entry.name not in (REFERENCES, *INNER)]
    loose = [entry for entry in there if is_document(entry) and not is_readme(entry)]
    if loose and any(is_document(entry) for folder in clusters for entry in inside(folder)):
        raise ValueError(
            f"{path} must hold a sub-folder for each cluster or the documents of one, but holds both: the folder "
            f"{clusters[0].name} and the file {loose[0].name}. Move one of the two elsewhere."
        )
    folders = [path] if loose or not clusters else clusters
    return (Item(folder, share=number / len(folders)) for number, folder in enumerate(folders, 1))


def inside(folder: Path) -> list[Path]:
    """What is in a folder and in those for documents in it."""
    places = [folder, *(folder / inner for inner in INNER if (folder / inner).is_dir())]
    return [entry for place in places for entry in entries(place)]


def read_folder(source: Source, folder: Path) -> Iterator[tuple[Cluster, None]]:
    """The cluster of a folder of documents, if it holds any."""
    with source.tolerate():
        there = inside(folder)
        paths = list(filter(reads_as_document, there))
        documents = read_paths(paths, source)
        if documents:
            source.note_others(there, paths)
            yield Cluster(documents, read_references(folder, source), folder.resolve().name), None


def read_references(folder: Path, source: Source) -> list[str]:
    """The texts in the folder references/, by name, with their lines; files that are no plain text are noted."""
    there = entries(folder / REFERENCES) if (folder / REFERENCES).is_dir() else []
    paths = [path for path in there if path.is_file() and suffix_of(path) in (*TEXT.suffixes, *MARKDOWN.suffixes, "")]
    source.note_others(there, paths)
    return [to_text(read_bytes(path), path, source.encoding, None).strip() for path in paths]
