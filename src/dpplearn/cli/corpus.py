"""The corpus that a command works on: which clusters and references count, and where results go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster

PATH = click.Path(exists=True, path_type=Path)
SKIP_BAD = click.option(
    "--skip-bad",
    is_flag=True,
    help="Go on past what cannot be read, and past clusters without a sentence or a reference.",
)
ENCODING = click.option("--encoding", help="Of the files.  [default: utf-8]")


@dataclass(frozen=True)
class Run:
    """What `evaluate` and `experiment` are both told: how corpora are read and where results go."""

    only: str | None
    jobs: int
    out: Path | None
    as_json: bool
    encoding: str | None
    skip_bad: bool


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Run` to a command, which gets them as `run`."""

    @wraps(command)
    def bundled(**given: Any) -> None:
        command(run=Run(**{one.name: given.pop(one.name) for one in fields(Run)}), **given)

    decorated: Callable[..., None] = bundled
    for option in (
        SKIP_BAD,
        ENCODING,
        click.option("--references", "only", metavar="PART", help="Only references with this in their reference_ids."),
        click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for all cores."),
        click.option("--out", type=click.Path(path_type=Path), help="Folder for results.json and all summaries."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    ):
        decorated = option(decorated)
    return decorated


def read_corpus(
    corpus: Path,
    encoding: str | None,
    skip_bad: bool,
    *,
    language: str | None = None,
    split: str | None = None,
    only: str | None = None,
) -> list[Cluster]:
    """The clusters asked for; with `skip_bad`, without those that have no sentence or no reference, which are named."""
    from dpplearn.summarize.corpora.reading import read_clusters
    from dpplearn.summarize.text.matching import normal_language

    clusters = read_clusters(corpus, encoding=encoding, skip_bad=skip_bad)
    for what, wanted in (("split", split), ("language", language)):
        if wanted is not None:
            there = sorted({str(getattr(c, what)) for c in clusters})
            if what == "split":
                clusters = [c for c in clusters if c.split == wanted]
            else:  # a cluster that names no language is in the one asked for
                ours = (None, normal_language(wanted))
                clusters = [c for c in clusters if normal_language(c.language) in ours]
            if not clusters:
                raise ValueError(f"No cluster of {corpus} has the {what} {wanted!r}. Found {', '.join(there)}.")
    if only is not None:
        clusters = [
            replace(c, references=[c.references[k] for k in kept], reference_ids=[c.reference_ids[k] for k in kept])
            for c in clusters
            for kept in [[k for k, name in enumerate(c.reference_ids) if only in name]]
        ]
    return usable(clusters, corpus) if skip_bad else clusters


def usable(clusters: list[Cluster], corpus: Path) -> list[Cluster]:
    """Clusters that can be learned from and scored; the others are named on standard error, with what they lack."""
    kept = []
    for number, cluster in enumerate(clusters, 1):
        name = cluster.name if cluster.id is not None else f"cluster number {number}"
        try:
            lacks = [] if cluster.sentences() else ["sentence"]
        except ValueError as error:  # more sentences than are read
            click.echo(f"Warning: left out {name} of {corpus}: {error}", err=True)
            continue
        if not any(reference.strip() for reference in cluster.references):
            lacks.append("reference summary")
        if lacks:
            click.echo(f"Warning: left out {name} of {corpus}: it has no {' and no '.join(lacks)}.", err=True)
        else:
            kept.append(cluster)
    if not kept:
        raise ValueError(f"No cluster of {corpus} has both sentences and a reference summary: none is left.")
    return kept


def warn_of_other_languages(clusters: list[Cluster], language: str | None) -> None:
    """A model reads all text in one language."""
    from dpplearn.summarize.corpora.mismatch import language_of
    from dpplearn.summarize.text.matching import ENGLISH, normal_language

    ours = language or ENGLISH
    found = [language_of(c) if ours == ENGLISH else normal_language(c.language) for c in clusters]
    others = sorted({one for one in found if one not in (None, ours)})
    if others:
        click.echo(
            f"Warning: the model is for {ours}, but there are clusters in {', '.join(others)}. "
            "Choose clusters with --language, and a model for theirs with --model.",
            err=True,
        )
