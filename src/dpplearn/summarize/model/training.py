"""Training a summarizer: read clusters, build oracles, fit the weights, tune on held-out ROUGE."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn.decoding import greedy_map
from dpplearn.dpp import DPP
from dpplearn.rouge import Rouge
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.baselines import fit_logistic
from dpplearn.summarize.model.features import Featurized
from dpplearn.summarize.text.language import foreign
from dpplearn.summarize.text.matching import ENGLISH, normal_language
from dpplearn.summarize.text.units import costs, limit

if TYPE_CHECKING:
    from dpplearn.learning.conditional import ConditionalDPP
    from dpplearn.learning.itemset import ItemSet
    from dpplearn.summarize.summarizer import Summarizer

FOLDS = 5
VARIANCES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RHOS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7)


def train(
    summarizer: Summarizer,
    clusters: Sequence[Cluster],
    *,
    tune: bool,
    n_jobs: int | None,
    backend: Any,
    verbose: bool | Progress,
) -> None:
    """Fill in what `Summarizer.fit` promises."""
    if not clusters:
        raise ValueError("Training needs clusters of documents with reference summaries; found none.")
    without = [
        cluster.id or f"number {t}"
        for t, cluster in enumerate(clusters)
        if not any(reference.strip() for reference in cluster.references)
    ]
    if without:
        raise ValueError(
            f"Training needs a reference summary for every cluster, but {len(without)} of {len(clusters)} have none: "
            f"{', '.join(map(str, without[:5]))}{', ...' if len(without) > 5 else ''}. "
            "Add references, or leave these out."
        )
    settle_language(summarizer, clusters)
    progress = as_progress(verbose)
    with blas_threads(0):
        features = summarizer.features_.fit(clusters)
        read, targets = [], []
        for done, cluster in enumerate(clusters, 1):
            read.append(features.read(cluster))
            targets.append(summarizer.training_targets(read[-1]))
            progress.stage("Reading clusters", done, len(clusters))
    empty = [one.cluster.name for one, target in zip(read, targets, strict=True) if not any(Y.size for Y in target)]
    if len(empty) == len(read):
        raise ValueError(
            "There is nothing to learn: no sentence of any cluster shares a word with its references and fits the "
            f"budget of {summarizer.budget:g} {summarizer.unit}. Raise the budget, or look at the references."
        )
    if empty:
        warnings.warn(
            f"No sentence of {empty[0]} shares a word with its references and fits the budget"
            f"{f', nor of {len(empty) - 1} other clusters' if len(empty) > 1 else ''}: nothing can be learned there.",
            stacklevel=3,
        )
    items = [one.item_set(summarizer.unit, features.names) for one in read]
    rho, variance = summarizer.rho, summarizer.prior_variance
    if tune:
        rho, variance = choose(summarizer, read, items, targets, progress)
    model = make_model(rho, variance, n_jobs=n_jobs, backend=backend, verbose=progress)
    X, y, weight = examples(items, targets, range(len(items)))
    model.fit(X, y, sample_weight=weight)
    summarizer.theta_, summarizer.theta_std_, summarizer.rho_ = model.theta_, model.theta_std_, float(model.rho_)
    with blas_threads(0):
        rouge = [rouge_of(summarizer, cluster) for cluster in clusters]
        labels = [summarizer.oracle_items(one) for one in read]
        seed = summarizer.random_state
        summarizer.logistic_ = fit_logistic(read, labels, rouge, summarizer.budget, summarizer.unit, seed=seed)
    summarizer.training_ = {
        "clusters": len(clusters),
        "documents": features.idf.documents,
        "sentences": sum(len(one.sentences) for one in read),
        "prior_variance": variance,
        "log_likelihood": float(model.log_likelihood_),
        "converged": bool(model.converged_),
    }


def examples(
    items: Sequence[ItemSet], targets: Sequence[Sequence[IntArray]], chosen: Iterable[int]
) -> tuple[list[ItemSet], list[IntArray], list[float]]:
    """The chosen clusters with each of their targets, and weights that make every cluster count once."""
    flat = [(items[t], Y, 1.0 / len(targets[t])) for t in chosen for Y in targets[t]]
    return [x for x, _, _ in flat], [Y for _, Y, _ in flat], [weight for _, _, weight in flat]


def settle_language(summarizer: Summarizer, clusters: Sequence[Cluster]) -> None:
    """Take the language from the clusters, which must agree, unless the summarizer was told one."""
    found = sorted({str(normal_language(cluster.language)) for cluster in clusters if cluster.language})
    if summarizer.language is None and len(found) > 1:
        raise ValueError(
            f"The clusters are in {len(found)} languages ({', '.join(found)}), and words of one say nothing "
            "of another. Train on one: pass language=, or --language."
        )
    if summarizer.language is None and found:
        summarizer.language = found[0]
    seen = None if summarizer.language else foreign(d.text for cluster in clusters for d in cluster.documents)
    if seen is not None:
        warnings.warn(
            f"The clusters seem to be in {seen}, but words will be compared as English ones. "
            "Say what they are in: pass language=, or --language.",
            stacklevel=4,
        )


def make_model(rho: float, variance: float, **options: Any) -> ConditionalDPP:
    """Targets that cannot be (sentences repeated word for word) are left out."""
    from dpplearn.learning.conditional import ConditionalDPP

    return ConditionalDPP(prior_variance=variance, rho=rho, on_impossible="drop", **options)


def choose(
    summarizer: Summarizer,
    read: Sequence[Featurized],
    items: Sequence[ItemSet],
    targets: Sequence[Sequence[IntArray]],
    progress: Progress,
) -> tuple[float, float]:
    """The prior variance at the given rho, then rho at that variance, by held-out ROUGE-1 F of greedy summaries.

    Weights are learned without the held-out clusters; idf and bins, which know no references, are those of all.
    """
    n = len(read)
    if n < 2:
        raise ValueError("tune=True holds clusters out and needs at least two of them; found one.")
    folds = np.array_split(np.random.default_rng(summarizer.random_state).permutation(n), min(FOLDS, n))
    rouge = [rouge_of(summarizer, one.cluster) for one in read]
    done = 0

    def held_out(rho: float, variance: float) -> float:
        nonlocal done
        scores = []
        for fold in folds:
            rest = np.setdiff1d(np.arange(n), fold)
            X, y, weight = examples(items, targets, rest)
            model = make_model(rho, variance).fit(X, y, sample_weight=weight)
            scores += [rouge[t](greedy_text(summarizer, read[t], model.theta_, rho)) for t in fold]
            done += 1
            progress.stage("Tuning", done, len(folds) * (len(VARIANCES) + len(RHOS)))
        return float(np.mean(scores))

    variance = max(VARIANCES, key=lambda v: held_out(summarizer.rho, v))
    return max(RHOS, key=lambda r: held_out(r, variance)), variance


def rouge_of(summarizer: Summarizer, cluster: Cluster) -> Callable[[list[str]], float]:
    """ROUGE-1 F of a summary against a cluster's references, at the summarizer's budget."""
    limits: dict[str, Any] = {}
    if summarizer.unit in ("bytes", "words"):
        limits[str(summarizer.unit)] = int(summarizer.budget)
    english = summarizer.language in (None, ENGLISH)
    rouge = Rouge(
        list(cluster.references),
        ["rouge-1"],
        stem=english,
        tokenizer="official" if english else "unicode",
        **limits,
    )
    return lambda lines: rouge.score(lines)["rouge-1"].f


def greedy_text(summarizer: Summarizer, read: Featurized, theta: FloatArray, rho: float) -> list[str]:
    dpp = DPP.from_quality(np.exp(read.F @ theta / 2), read.similarity(rho))
    cost = costs(read.texts, summarizer.unit)
    subset = greedy_map(dpp, cost, limit(summarizer.budget, summarizer.unit)).sorted_subset
    return [read.texts[i] for i in subset]
