"""The corpus that summaries are scored on: which clusters and references count, and in which language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpplearn.cli import say, usage_errors

if TYPE_CHECKING:
    from dpplearn._run.workers import Workers
    from dpplearn.cli.options import Run
    from dpplearn.summarize.corpora.reading import Corpus
    from dpplearn.summarize.experiments.tested import Known, Tested


def corpus_for(run: Run, corpus: Path, split: str | None, language: str | None) -> Corpus:
    """The clusters asked for, which are read when they are needed."""
    from dpplearn.summarize.corpora.reading import open_corpus

    wanted = {"split": split, "language": language, "only": run.only}
    return open_corpus(corpus, run.encoding, run.skip_bad, **wanted, usable=run.skip_bad)


def read_for_scoring(corpus: Path, run: Run, split: str | None, language: str | None, workers: Workers) -> Tested:
    """The clusters asked for, with ids that differ and with references."""
    from dpplearn.summarize.experiments.tested import look_over

    return look_over(corpus_for(run, corpus, split, language), str(corpus), workers)


def scored_language(clusters: list[Known], language: str | None) -> str | None:
    """The language that summaries are scored in: the model's, or the clusters' own if that may be any.

    A warning where a model for one language is given clusters in others.
    """
    from dpplearn.summarize.text.words import ANY, ENGLISH, normal_language

    if language == ANY:
        with usage_errors():
            found = {cluster.seems or ENGLISH for cluster in clusters}
            if len(found) > 1:
                raise ValueError(
                    f"The clusters must be in one language to be scored together, found {', '.join(sorted(found))}. "
                    "Choose with --language."
                )
        return found.pop() if found else None
    ours = language or ENGLISH
    others = {c.seems if ours == ENGLISH else normal_language(c.language) for c in clusters} - {None, ours}
    if others:
        say(
            f"Warning: the model is for {ours}, but there are clusters in {', '.join(sorted(map(str, others)))}. "
            "Choose clusters with --language, and a model for theirs with --model."
        )
    return language
