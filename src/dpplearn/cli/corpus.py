"""The corpus that a command works on: which clusters and references count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpplearn.cli import say, usage_errors

if TYPE_CHECKING:
    from dpplearn.cli.options import Run
    from dpplearn.summarize.corpora.cluster import Cluster


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
    ours = (None, normal_language(language))  # a cluster that names no language is in the one asked for
    for what, wanted, fits in (
        ("split", split, lambda c: c.split == split),
        ("language", language, lambda c: normal_language(c.language) in ours),
    ):
        if wanted is not None:
            there = sorted({str(getattr(c, what)) for c in clusters})
            clusters = list(filter(fits, clusters))
            if not clusters:
                raise ValueError(f"No cluster of {corpus} has the {what} {wanted!r}. Found {', '.join(there)}.")
    if only is not None:
        clusters = [
            replace(c, references=[c.references[k] for k in kept], reference_ids=[c.reference_ids[k] for k in kept])
            for c in clusters
            for kept in [[k for k, name in enumerate(c.reference_ids) if only in name]]
        ]
    return usable(clusters, corpus) if skip_bad else clusters


def read_for_scoring(corpus: Path, run: Run, split: str | None, language: str | None) -> list[Cluster]:
    """The clusters asked for, with ids that differ and with references."""
    from dpplearn.summarize.experiments.evaluation import check_clusters

    clusters = read_corpus(corpus, run.encoding, run.skip_bad, only=run.only, split=split, language=language)
    return check_clusters(clusters, str(corpus))


def usable(clusters: list[Cluster], corpus: Path) -> list[Cluster]:
    """Clusters that can be learned from and scored; the others are named on standard error, with what they lack."""
    from dpplearn.summarize.model.split_cluster import MAX_COMPARED

    kept = []
    for number, cluster in enumerate(clusters, 1):
        name = cluster.name if cluster.id is not None else f"cluster number {number}"
        try:
            lacks = [] if cluster.sentences(limit=MAX_COMPARED) else ["sentence"]
        except ValueError as error:  # more sentences than can be learned from
            say(f"Warning: left out {name} of {corpus}: {error}")
            continue
        if not any(reference.strip() for reference in cluster.references):
            lacks.append("reference summary")
        if lacks:
            say(f"Warning: left out {name} of {corpus}: it has no {' and no '.join(lacks)}.")
        else:
            kept.append(cluster)
    if not kept:
        raise ValueError(f"No cluster of {corpus} has both sentences and a reference summary: none is left.")
    return kept


def scored_language(clusters: list[Cluster], language: str | None) -> str | None:
    """The language that summaries are scored in: the model's, or the clusters' own if that may be any.

    A warning where a model for one language is given clusters in others.
    """
    from dpplearn.summarize.corpora.mismatch import language_of
    from dpplearn.summarize.text.matching import ANY, ENGLISH, normal_language

    if language == ANY:
        with usage_errors():
            found = {language_of(cluster) or ENGLISH for cluster in clusters}
            if len(found) > 1:
                raise ValueError(
                    f"The clusters must be in one language to be scored together, found {', '.join(sorted(found))}. "
                    "Choose with --language."
                )
        return found.pop() if found else None
    ours = language or ENGLISH
    others = {language_of(c) if ours == ENGLISH else normal_language(c.language) for c in clusters} - {None, ours}
    if others:
        say(
            f"Warning: the model is for {ours}, but there are clusters in {', '.join(sorted(map(str, others)))}. "
            "Choose clusters with --language, and a model for theirs with --model."
        )
    return language
