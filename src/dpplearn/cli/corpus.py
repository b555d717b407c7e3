"""The corpus that summaries are scored on: which clusters and references count, and in which language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpplearn.cli import say, usage_errors

if TYPE_CHECKING:
    from dpplearn.cli.options import Run
    from dpplearn.summarize.corpora.cluster import Cluster


def read_for_scoring(corpus: Path, run: Run, split: str | None, language: str | None) -> list[Cluster]:
    """The clusters asked for, with ids that differ and with references."""
    from dpplearn.summarize.corpora.reading import open_corpus
    from dpplearn.summarize.experiments.evaluation import clusters_to_score

    wanted = {"split": split, "language": language, "only": run.only}
    whole = open_corpus(corpus, run.encoding, run.skip_bad, **wanted, usable=run.skip_bad)
    return clusters_to_score(whole, str(corpus))


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
