"""Read corpora: many clusters from one path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from dpplearn.summarize.corpora.address import refuse_address
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.cluster_folders import read_folders
from dpplearn.summarize.corpora.documents import suffixes
from dpplearn.summarize.corpora.duc import looks_like_duc, read_duc
from dpplearn.summarize.corpora.jsonl import looks_like_jsonl, read_jsonl
from dpplearn.summarize.corpora.source import Source


@dataclass(frozen=True)
class Reader:
    """A format of corpora."""

    name: str  # what to give, for messages
    looks_like: Callable[[Path], bool]
    read: Callable[[Source], Iterable[Cluster]]  # what may be skipped if it is bad stands in `with source.tolerate()`


READERS = [  # a new format is one entry; the first that a path looks like reads it
    Reader("a JSON Lines file with one cluster per line", looks_like_jsonl, read_jsonl),
    Reader("a folder with DUC data", looks_like_duc, read_duc),
    Reader("a folder with a sub-folder of documents (.txt, .md, .html) per cluster", Path.is_dir, read_folders),
]


def read_clusters(
    path: str | PathLike[str],
    encoding: str | None = None,
    skip_bad: bool = False,
    *,
    references: str | PathLike[str] | None = None,
) -> list[Cluster]:
    """Read the clusters of a corpus, in order of the file or of the folders' names.

    Parameters
    ----------
    path : path
        A JSON Lines file with one cluster per line (gzip too); or a folder with one sub-folder per cluster, holding
        .txt, .md or .html documents and perhaps a folder references/; or a folder with DUC data at any depth,
        `docs/d30001t/APW19981016.0240` and models `D30001.M.100.T.A`; or a folder of documents, which is one cluster.
    encoding : str, optional
        UTF-8 by default; other bytes are an error, never guessed at. DUC files that are not UTF-8 are Latin-1.
    skip_bad : bool
        Leave out what cannot be read, a line of a JSON Lines file, a document or a cluster, and say so in one
        `SkippedWarning`. Otherwise the first such thing is an error.
    references : path, optional
        Where the models of DUC data are, if not under `path`.

    Returns
    -------
    list of Cluster
        At least one.

    Warns
    -----
    SkippedWarning
        Once, if folders of clusters hold files of other kinds than documents, or documents without a word; hidden
        files and those called README are no matter.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> line = json.dumps({"id": "rain", "documents": [{"id": "a", "text": "It rained."}], "references": ["Rain."]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "corpus.jsonl")
    ...     _ = file.write_text(line)
    ...     read_clusters(file)[0].id
    'rain'
    """
    given = Path(fspath(path))
    if not given.exists():
        refuse_address(path)
        raise FileNotFoundError(f"{given} does not exist. Give a JSON Lines file or a folder of clusters.")
    source = Source(given, encoding, None if references is None else Path(fspath(references)), skip_bad)
    kinds = f"{', '.join(reader.name for reader in READERS[:-1])}, or {READERS[-1].name}"
    reader = next((reader for reader in READERS if reader.looks_like(given)), None)
    if reader is None:
        raise ValueError(f"{given} must be {kinds}, but is none. For documents of one cluster, use Cluster.from_files.")
    found = list(reader.read(source))
    source.warn(suffixes(), len(found))
    if not found:
        readable = " that can be read" if source.bad else ""
        raise ValueError(f"{given} holds no cluster{readable}. Give {kinds}.")
    return found
