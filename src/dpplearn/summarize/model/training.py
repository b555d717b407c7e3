"""Training a summarizer: read clusters, build oracles, fit the weights, tune on held-out ROUGE."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.jsonfile import read_record, write_record
from dpplearn._io.workfolder import WorkFolder
from dpplearn._numba import compiled_always
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import open_workers
from dpplearn.learning.itemset import ItemSet
from dpplearn.rouge import Rouge
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.reading import Corpus, listed
from dpplearn.summarize.model.modelfile import save_summarizer
from dpplearn.summarize.model.pipeline import TrainingExample, TrainingPipeline, example_of, flat
from dpplearn.summarize.model.settings import SummarizerSettings, Trained
from dpplearn.summarize.text.units import Unit, limit, measured
from dpplearn.summarize.text.words import ENGLISH, foreign

FOLDS = 5
VARIANCES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RHOS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7)
TUNED = 300  # clusters at most that rho and the variance are chosen on


def train(
    settings: SummarizerSettings,
    clusters: Corpus | Sequence[Cluster],
    *,
    tune: bool = False,
    n_jobs: int | None = 1,
    backend: Any = None,
    verbose: bool | Progress = False,
    work: str | os.PathLike[str] | None = None,
    anew: bool = False,
    out: str | os.PathLike[str] | None = None,
) -> Trained:
    """Learn features and weights from clusters with references; with `tune`, rho and the prior variance too.

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
    identity: dict[str, Any] = {"dpplearn": __version__, "tune": tune}
    identity |= {"corpus": [], "settings": {}} if work is None else {
        "corpus": clusters.identity, "settings": vars(settings)
    }  # fmt: skip
    with WorkFolder(work, identity, anew=anew) as folder:
        with open_workers(backend, n_jobs) as workers, blas_threads(0), compiled_always():
            pipeline = TrainingPipeline(folder, workers, clusters, settings, progress)
            pipeline.read()
            refuse_without(pipeline.without, pipeline.clusters)
            language = settle(settings.language, pipeline.languages, pipeline.texts(30), stacklevel=4)
            pipeline.settings = settings = replace(settings, language=language)
            pipeline.learn()
            prepared = pipeline.prepare()
            check_empty(prepared.empty, pipeline.clusters, settings)
            rho, variance = settings.rho, settings.prior_variance
            if tune:
                rho, variance = tuned(pipeline, settings, progress)
        features = pipeline.features()
        # targets that cannot be (sentences repeated word for word) are left out
        options: dict[str, Any] = {"on_impossible": "drop", "n_jobs": n_jobs, "backend": backend, "progress": progress}
        # the features have a constant of their own
        options |= {"rho": rho, "constant": False, "random_state": settings.random_state}
        # a fit that goes on is the same to the bit
        checkpoint = folder.path / "theta.json" if work is not None else None
        with blas_threads(0), compiled_always():
            model = ConditionalDPP(variance * features.priors, **options)
            model.fit(prepared.shards, checkpoint=checkpoint)
        # what is kept travels, and holds no client and no stream
        model.set_params(n_jobs=1, backend=None, progress=False)
        training = {
            "clusters": pipeline.clusters,
            "documents": pipeline.documents,
            "sentences": prepared.sentences,
            "prior_variance": variance,
            "log_likelihood": float(model.log_likelihood_),
            "converged": bool(model.converged_),
        }
        found = Trained(features, model, settings.language, training)
        if out is not None:
            save_summarizer(settings, found, out)
    return found


def refuse_without(without: Sequence[tuple[int, str | None]], total: int) -> None:
    """An error if clusters, by number and id, have no reference."""
    if without:
        names = [str(name or f"number {t}") for t, name in without[:5]]
        raise ValueError(
            f"Training needs a reference summary for every cluster, but {len(without)} of {total} have none: "
            f"{', '.join(names)}{', ...' if len(without) > 5 else ''}. "
            "Add references, or leave these out."
        )


def settle(language: str | None, said: Collection[str], texts: Iterable[str], stacklevel: int = 3) -> str | None:
    """The language given, or the one that clusters say; a warning if the texts seem to be in another."""
    found = sorted(said)
    if language is not None:
        return language
    if len(found) > 1:
        raise ValueError(
            f"The clusters are in {len(found)} languages ({', '.join(found)}), and words of one say nothing "
            "of another. Train on one: pass language=, or --language."
        )
    if found:
        return found[0]
    seen = foreign(texts)
    if seen is not None:
        warnings.warn(
            f"The clusters seem to be in {seen}, but words will be compared as English ones. "
            "Say what they are in: pass language=, or --language.",
            stacklevel=stacklevel,
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
        warnings.warn(
            f"No sentence of {empty[0]} shares a word with its references and fits the budget"
            f"{f', nor of {len(empty) - 1} other clusters' if len(empty) > 1 else ''}: nothing can be learned there.",
            stacklevel=4,
        )


def tuned(pipeline: TrainingPipeline, settings: SummarizerSettings, progress: Progress) -> tuple[float, float]:
    """Rho and the prior variance by held-out ROUGE, on as many clusters, drawn by the seed, as are held in memory."""
    known, features = pipeline.folder.path / "tuned.json", pipeline.features()
    if not known.exists():
        examples = [example_of(features, split, settings) for split in pipeline.sample(TUNED)]
        rho, variance = best_by_rouge(examples, features.priors, settings, progress)
        write_record(known, {"rho": rho, "variance": variance})
    found = read_record(known)
    return found["rho"], found["variance"]


def best_by_rouge(
    examples: Sequence[TrainingExample], priors: FloatArray, settings: SummarizerSettings, progress: Progress
) -> tuple[float, float]:
    """The prior variance at the given rho, then rho at that variance, by held-out ROUGE-1 F of greedy summaries.

    The variance is times the prior of each feature.

    Weights are learned without the held-out clusters; idf and bins, which know no references, are those of all.
    """
    from dpplearn.learning.conditional import ConditionalDPP
    from dpplearn.learning.cv import ConditionalDPPCV

    n = len(examples)
    if n < 2:
        raise ValueError("tune=True holds clusters out and needs at least two of them; found one.")
    held_out = np.array_split(np.random.default_rng(settings.random_state).permutation(n), min(FOLDS, n))
    rouge = [rouge_of(example.read.cluster, settings) for example in examples]
    X, y, weight = flat(examples)
    owner = np.repeat(np.arange(n), [len(example.targets) for example in examples])  # the cluster of each target
    folds = [(np.flatnonzero(~np.isin(owner, fold)), np.flatnonzero(np.isin(owner, fold))) for fold in held_out]
    done = 0

    def score(model: Any, _: Sequence[ItemSet], clusters: Sequence[int]) -> float:
        nonlocal done
        total = 0.0
        for t in dict.fromkeys(clusters):
            texts = examples[t].read.texts
            chosen = model.decode(examples[t].items, limit(settings.budget, settings.unit)).sorted_subset
            total += rouge[t]([texts[i] for i in chosen])
        done += 1
        progress.stage("Tuning", done, len(folds) * (len(VARIANCES) + len(RHOS)))
        return total * len(folds) / n  # so that the mean over folds is that over clusters

    def search(variances: Sequence[float], rhos: Sequence[float]) -> int:
        model = ConditionalDPP(on_impossible="drop", constant=False)
        grid = {"prior_variance": [one * priors for one in variances], "rho": rhos}
        found = ConditionalDPPCV(model, grid, cv=folds, scoring=score, refit=False, progress=False)
        return int(found.fit(X, y, weight, references=owner.tolist()).best_index_)

    variance = VARIANCES[search(VARIANCES, [settings.rho])]
    return RHOS[search([variance], RHOS)], variance


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
