"""Summaries of a whole corpus, a line for each cluster in its order, what failed among them; a stopped run goes on."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._io.atomic import replace_file, write_whole
from dpplearn._io.workfolder import WorkFolder
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import open_workers
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.reading import Census, Corpus
from dpplearn.summarize.corpora.source import CorpusPiece
from dpplearn.summarize.summarizer import Summarizer


class BatchOutcome(NamedTuple):
    """How many summaries were written, and what went wrong with the other clusters: their names, and why."""

    done: int
    failed: list[tuple[str, str]]


def summarize_corpus(
    corpus: Corpus,
    out: str | os.PathLike[str],
    *,
    model: Path | None = None,
    explain: bool = False,
    work: str | os.PathLike[str] | None = None,
    anew: bool = False,
    n_jobs: int | None = 1,
    backend: Any = None,
    progress: bool | Progress = False,
    **options: Any,
) -> BatchOutcome:
    """Write a line of JSON for each cluster of a corpus: its summary, or an error.

    Options are those of `Summarizer.summarize`. What is done is kept in the folder `work` until all is, and only then
    is `out` written, as a whole.
    """
    from dpplearn import __version__

    known = [] if model is None else [str(model.resolve()), model.stat().st_size, model.stat().st_mtime_ns]
    identity: dict[str, Any] = {"dpplearn": __version__, "corpus": [] if work is None else corpus.identity}
    identity |= {"model": known, "options": options, "explain": explain}
    census, failed = Census(), list[tuple[str, str]]()
    with WorkFolder(work, identity, anew=anew) as folder, open_workers(backend, n_jobs) as workers:
        files, notes = corpus.work_through(
            "Summarizing",
            "summaries",
            summarize_piece,
            (model, options, explain),
            folder=folder,
            workers=workers,
            progress=as_progress(progress),
            size=lambda path: path.read_bytes().count(b"\n"),
            ending=".jsonl",
        )
        with replace_file(out, "w") as file:
            told = (json.loads(line) for path in files for line in path.read_bytes().splitlines())
            # what a reader without pieces could not read comes last
            bad = ({"id": name, "error": said} for kind, said, name in notes.omissions if kind == "bad")
            for record in chain((counted(one, census) for one in told), bad):
                if "error" in record:
                    failed.append((str(record["id"] or ""), record["error"]))
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        if not census.kept and not failed:
            corpus.check(census, notes)
    return BatchOutcome(census.kept, failed)


def counted(record: dict[str, Any], census: Census) -> dict[str, Any]:
    """A record as it is written: an id that came before is an error, as it is in `read_clusters`."""
    path, line = record.pop("path"), record.pop("line")
    if "error" not in record:
        try:
            census.see(Path(path), line, record["id"])
            census.kept += 1
        except ValueError as error:
            record = {"id": record["id"], "error": str(error)}
    return record


@lru_cache(maxsize=1)
def summarizer_of(model: Path | None, _: int) -> Summarizer:
    """The model, kept in a worker for the next piece."""
    return Summarizer.load(model)


def summarize_piece(
    piece: CorpusPiece, out: Path, model: Path | None, options: Mapping[str, Any], explain: bool
) -> int:
    """Write a line for each cluster of a piece, in their order, also for those that cannot be read; how many."""
    summarizer = summarizer_of(model, 0 if model is None else model.stat().st_mtime_ns)
    notes, records = replace(piece.source.fresh(), skip_bad=True), list[dict[str, Any]]()
    where = {"path": str(notes.path)}
    for entry in chain(piece.entries(notes), [None]):
        unread = ((why, name) for kind, why, name in notes.omissions if kind in ("left", "bad"))  # before this entry
        records += [where | {"line": None, "id": name, "error": why} for why, name in unread]
        notes.omissions.clear()
        if entry is not None and entry.cluster is not None:
            found = record_of(summarizer, entry.cluster, options, explain)
            records.append(where | {"line": entry.line, "id": entry.cluster.id} | found)
    write_whole(out, "".join(json.dumps(record) + "\n" for record in records).encode())
    return len(records)


def record_of(summarizer: Summarizer, cluster: Cluster, options: Mapping[str, Any], explain: bool) -> dict[str, Any]:
    """A summary, an error in its place, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            summary = summarizer.summarize(cluster, **options)
            told = {"text": summary.text, "length": summary.length, "budget": summary.budget, "unit": str(summary.unit)}
            told |= {"note": summary.note} if summary.note else {}
            found = summary.to_dict() if explain else told
        except (ValueError, RecursionError, MemoryError) as error:
            found = {"error": str(error) or type(error).__name__}
    return found | ({"warnings": [str(one.message) for one in caught]} if caught else {})
