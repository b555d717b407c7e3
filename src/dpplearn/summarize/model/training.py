"""Training a summarizer: read clusters, build oracles, fit the weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from dpplearn._checks import warn_user
from dpplearn._io.workfolder import WorkFolder
from dpplearn._numba import compiled_always
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import open_workers
from dpplearn.rouge import Rouge
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.reading import Corpus, listed
from dpplearn.summarize.model.modelfile import save_summarizer
from dpplearn.summarize.model.pipeline import TrainingPipeline
from dpplearn.summarize.model.settings import SummarizerSettings, Trained
from dpplearn.summarize.text.units import Unit, measured
from dpplearn.summarize.text.words import ENGLISH, foreign


def train(
    settings: SummarizerSettings,
    clusters: Corpus | Sequence[Cluster],
    *,
    n_jobs: int | None = 1,
    backend: Any = None,
    verbose: bool | Progress = False,
    work: str | os.PathLike[str] | None = None,
    anew: bool = False,
    out: str | os.PathLike[str] | None = None,
) -> Trained:
    """Learn features and weights from clusters with references.

    It is saved to `out` before the work folder goes: where that fails, little is to be done again.
    """
    from dpplearn import __version__
    from dpplearn.learning.conditional import ConditionalDPP  # brings scikit-learn, which a summary does not need

    if not isinstance(clusters, Corpus):
        if not clusters:
            raise ValueError("Training needs clusters of documents with reference summaries; found none.")
        for one in clusters:
            if not isinstance(one, Cluster):
                raise TypeError(f"Training needs a list of clusters, found {type(one).__name__}.")
        clusters = listed(clusters)
    progress = as_progress(verbose)
    identity: dict[str, Any] = {"dpplearn": __version__}
    if work is not None:
        identity |= {"corpus": clusters.identity, "settings": vars(settings)}
    with WorkFolder(work, identity, anew=anew) as folder:
        with open_workers(backend, n_jobs) as workers, blas_threads(0), compiled_always():
            pipeline = TrainingPipeline(folder, workers, clusters, settings, progress)
            pipeline.read()
            if pipeline.without:
                raise ValueError(
                    f"Training needs a reference summary for every cluster, but {len(pipeline.without)} of "
                    f"{pipeline.clusters} have none: {few(pipeline.without)}. Add references, or leave these out."
                )
            language = settle(settings.language, pipeline.languages, pipeline.texts(30))
            pipeline.settings = settings = replace(settings, language=language)
            pipeline.learn()
            shards, sentences, empty = pipeline.prepare()
            check_empty(empty, pipeline.clusters, settings)
        features = pipeline.features()
        # targets that cannot be (sentences repeated word for word) are left out
        options: dict[str, Any] = {"on_impossible": "drop", "n_jobs": n_jobs, "backend": backend, "progress": progress}
        # the features have a constant of their own
        options |= {"rho": settings.rho, "constant": False, "random_state": settings.random_state}
        # a fit that goes on is the same to the bit
        checkpoint = folder.path / "theta.json" if work is not None else None
        with blas_threads(0), compiled_always():
            model = ConditionalDPP(settings.prior_variance * features.priors, **options)
            model.fit(shards, checkpoint=checkpoint)
        # what is kept travels, and holds no client and no stream
        model.set_params(n_jobs=1, backend=None, progress=False)
        training: dict[str, Any] = {
            "clusters": pipeline.clusters,
            "documents": pipeline.documents,
            "sentences": sentences,
        }
        how = {"log_likelihood": float(model.log_likelihood_), "converged": bool(model.converged_)}
        training |= {"prior_variance": settings.prior_variance} | how
        found = Trained(features, model, settings.language, training)
        if out is not None:
            save_summarizer(settings, found, out)
    return found


def settle(language: str | None, said: Collection[str], texts: Iterable[str]) -> str | None:
    """The language given, or the one that clusters say; a warning if the texts seem to be in another."""
    if language is not None:
        return language
    found = sorted(said)
    if len(found) > 1:
        raise ValueError(
            f"The clusters are in {len(found)} languages ({', '.join(found)}), and words of one say nothing "
            "of another. Train on one: pass language=, or --language."
        )
    if found:
        return found[0]
    if (seen := foreign(texts)) is not None:
        warn_user(
            f"The clusters seem to be in {seen}, but words will be compared as English ones. "
            "Say what they are in: pass language=, or --language."
        )
    return None


def check_empty(empty: Sequence[str], total: int, settings: SummarizerSettings) -> None:
    """Something can be learned from clusters, of which those named have no target."""
    if len(empty) == total:
        raise ValueError(
            "There is nothing to learn: no sentence of any cluster shares a word with its references and fits the "
            f"budget of {measured(settings.budget, settings.unit)}. Raise the budget, or look at the references."
        )
    if empty:
        what = "No sentence of these clusters shares a word with its references and fits the budget"
        warn_user(f"{what}, so that nothing can be learned there: {few(empty)}.")


def few(names: Sequence[str]) -> str:
    """The first five of many names."""
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def rouge_of(cluster: Cluster, settings: SummarizerSettings) -> Callable[[list[str]], float]:
    """ROUGE-1 F of a summary against a cluster's references, at the budget that is trained for."""
    options = rouge_options(settings.budget, settings.unit, cluster.read_as(settings.language))
    rouge = Rouge(list(cluster.references), ["rouge-1"], **options)
    return lambda lines: rouge.score(lines)["rouge-1"].f


def rouge_options(budget: float, unit: Unit, language: str | None) -> dict[str, Any]:
    """ROUGE-1.5.5 with stemming at the limit of length; plain words in languages other than English."""
    english = language in (None, ENGLISH)
    limits = {str(unit): int(budget)} if unit in ("bytes", "words") else {}
    return {"stem": english, "tokenizer": "official" if english else "unicode", **limits}
