"""Summaries of a whole corpus: a line of JSON for each cluster, in its order, or what went wrong with it."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
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
    """How many summaries were written, and the names of the clusters that failed, each with the reason."""

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

    Options are those of `Summarizer.summarize`. Finished pieces are kept in the folder `work`, so that a run that was
    stopped goes on; `out` is written as a whole at the end.
    """
    from dpplearn import __version__

    model_state = [] if model is None else [str(model.resolve()), model.stat().st_size, model.stat().st_mtime_ns]
    identity: dict[str, Any] = {"dpplearn": __version__, "corpus": [] if work is None else corpus.identity}
    identity |= {"model": model_state, "options": options, "explain": explain}
    census, failed = Census(), list[tuple[str, str]]()
    with WorkFolder(work, identity, anew=anew) as folder, open_workers(backend, n_jobs) as workers:
        files, notes = corpus.work_through(
            "Summarizing", "summaries", summarize_piece, (Summarizer.load(model), options, explain),
            folder=folder, workers=workers, progress=as_progress(progress),
            size=lambda path: path.read_bytes().count(b"\n"), ending=".jsonl",
        )  # fmt: skip
        lines = (json.loads(line) for path in files for line in path.read_bytes().splitlines())
        # errors of a reader that does not read in pieces come last
        bad = ({"id": name, "error": why} for kind, why, name in notes.omissions if kind == "bad")
        with replace_file(out, "w") as file:
            for record in chain((with_checked_id(line, census) for line in lines), bad):
                if "error" in record:
                    failed.append((str(record["id"] or ""), record["error"]))
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        if not census.kept and not failed:
            corpus.check(census, notes)
    return BatchOutcome(census.kept, failed)


def with_checked_id(record: dict[str, Any], census: Census) -> dict[str, Any]:
    """A record as it is written; it is an error if its id came before, as in `read_clusters`."""
    path, line = record.pop("path"), record.pop("line")
    if "error" not in record:
        try:
            census.see(Path(path), line, record["id"])
            census.kept += 1
        except ValueError as error:
            record = {"id": record["id"], "error": str(error)}
    return record


def summarize_piece(
    piece: CorpusPiece, out: Path, summarizer: Summarizer, options: Mapping[str, Any], explain: bool
) -> int:
    """Write a line for each cluster of a piece, in order, also for those that cannot be read; returns how many."""
    notes, records = replace(piece.source.fresh(), skip_bad=True), list[dict[str, Any]]()
    source = {"path": str(notes.path)}
    for entry in chain(piece.entries(notes), [None]):
        errors = ((why, name) for kind, why, name in notes.omissions if kind in ("left", "bad"))  # before this entry
        records += [source | {"line": None, "id": name, "error": why} for why, name in errors]
        notes.omissions.clear()
        if entry is not None and entry.cluster is not None:
            record = record_of(summarizer, entry.cluster, options, explain)
            records.append(source | {"line": entry.line, "id": entry.cluster.id} | record)
    write_whole(out, "".join(json.dumps(record) + "\n" for record in records).encode())
    return len(records)


def record_of(summarizer: Summarizer, cluster: Cluster, options: Mapping[str, Any], explain: bool) -> dict[str, Any]:
    """A summary, or an error in its place, with the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            summary = summarizer.summarize(cluster, **options)
            record = {name: getattr(summary, name) for name in ("text", "length", "budget")} | {
                "unit": str(summary.unit)
            }
            record |= {"note": summary.note} if summary.note else {}
            record = summary.to_dict() if explain else record
        except (ValueError, RecursionError, MemoryError) as error:
            record = {"error": str(error) or type(error).__name__}
    return record | ({"warnings": [str(warning.message) for warning in caught]} if caught else {})
