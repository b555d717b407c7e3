"""Read corpora: many clusters from one path."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path

from dpplearn._io.folders import entries, walk
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.documents import REFERENCES, SUFFIXES, is_document, read_folder
from dpplearn.summarize.corpora.duc import find_folders, find_models, read_duc
from dpplearn.summarize.corpora.jsonl import Skip, looks_like_jsonl, read_jsonl
from dpplearn.summarize.corpora.passed_over import LeftOut, SkippedWarning

_SHOWN = 5  # problems named in a warning


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
        raise FileNotFoundError(f"{given} does not exist. Give a JSON Lines file or a folder of clusters.")
    problems: list[str] = []
    skip = problems.append if skip_bad else None
    if given.is_dir():
        left_out = LeftOut()
        found = list(_read_folders(given, encoding, skip, references, left_out))
        left_out.warn(SUFFIXES)
    elif looks_like_jsonl(given):
        found = list(read_jsonl(given, encoding, skip))
    else:
        raise ValueError(
            f"{given} must be a JSON Lines file with one cluster per line, or a folder, but is neither. "
            "For documents of one cluster, use Cluster.from_files."
        )
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        warnings.warn(
            f"{given}: skipped {len(problems)} that could not be read, kept {len(found)} clusters. "
            + "; ".join(problems[:_SHOWN])
            + more,
            SkippedWarning,
            stacklevel=2,
        )
    if not found:
        raise ValueError(
            f"{given} holds no cluster{' that can be read' if problems else ''}. "
            "Give a JSON Lines file with one cluster per line, "
            "a folder with a sub-folder of documents (.txt, .md, .html) per cluster, or DUC data."
        )
    return found


def _read_folders(
    path: Path,
    encoding: str | None,
    skip: Skip | None,
    references: str | PathLike[str] | None,
    left_out: LeftOut,
) -> Iterator[Cluster]:
    paths = sorted(walk(path))
    newswire = find_folders(paths)
    if newswire:
        elsewhere = [] if references is None else list(walk(Path(fspath(references))))
        yield from read_duc(newswire, find_models([*paths, *elsewhere]), encoding, skip)
        return
    folders = [entry for entry in entries(path) if entry.is_dir() and entry.name != REFERENCES]
    loose = [entry for entry in entries(path) if is_document(entry) and not entry.name.upper().startswith("README")]
    inner = [folder for folder in folders if folder.name not in ("docs", "documents")]
    if loose and any(_has_documents(folder) for folder in inner):
        raise ValueError(
            f"{path} must hold a sub-folder for each cluster or the documents of one, but holds both: the folder "
            f"{inner[0].name} and the file {loose[0].name}. Move one of the two elsewhere."
        )
    for folder in [path] if loose or not inner else inner:
        try:
            cluster = read_folder(folder, encoding, left_out, skip)
        except (ValueError, OSError) as error:
            if skip is None:
                raise
            skip(str(error))
            continue
        if cluster is not None:
            yield cluster


def _has_documents(folder: Path) -> bool:
    places = [folder, *(folder / inner for inner in ("docs", "documents") if (folder / inner).is_dir())]
    return any(is_document(entry) for place in places for entry in entries(place))
