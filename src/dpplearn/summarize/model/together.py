"""Training on several corpora together, each with its own language and length, none drowned by another.

Every corpus has a constant of its own, because how many sentences an extract has is a matter of its length; all other
weights are shared. A cluster of a corpus counts weight / number of its clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._notebook import short_repr
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn.decoding.limits import fits
from dpplearn.learning.fitted import known_weights
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.model.features import Featurized, SentenceFeatures
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.targets import training_targets
from dpplearn.summarize.model.training import Example, Trained, check_references, check_targets, flat
from dpplearn.summarize.text.matching import ANY, normal_language
from dpplearn.summarize.text.units import Unit, limit

CONSTANT = "constant"


@dataclass(frozen=True)
class Corpus:
    """Clusters with references, the length of these, and how much they count.

    Parameters
    ----------
    name : str
    clusters : list of Cluster
        Those of a language that they name are read in it, others in English.
    budget, unit : float and str
        Length of the extracts to learn from.
    weight : float
        How many clusters they count as, all together.
    """

    __repr__ = short_repr

    name: str
    clusters: Sequence[Cluster]
    budget: float
    unit: Unit = "words"
    weight: float = 1.0


def train_together(
    settings: SummarizerSettings, corpora: Sequence[Corpus], *, verbose: bool | Progress = False
) -> Trained:
    """Learn one model for any language from corpora; its constant is that of the first corpus."""
    from dpplearn.learning.conditional import ConditionalDPP  # brings scikit-learn, which a summary does not need

    clusters = [cluster for corpus in corpora for cluster in corpus.clusters]
    check_references(clusters)
    features = SentenceFeatures(settings.features, splitter=settings.splitter, unit=settings.unit)
    names = features.names
    if CONSTANT not in names:
        raise ValueError(f"features must have a {CONSTANT!r} column, of which each corpus gets its own; found {names}.")
    progress, own = as_progress(verbose), names.index(CONSTANT)
    examples: list[Example] = []
    weights: list[float] = []
    with blas_threads(0):
        found = iter(features.fit_read(clusters))
        for k, corpus in enumerate(corpora):
            for cluster, read in zip(corpus.clusters, found, strict=False):
                language = normal_language(cluster.language)
                asked = replace(settings, budget=corpus.budget, unit=corpus.unit, language=language)
                examples.append(example_of(read, asked, own, k, len(corpora)))
                weights.append(corpus.weight / len(corpus.clusters))
                progress.stage("Reading clusters", len(examples), len(clusters))
    check_targets(examples, settings)
    X, y, each = flat(examples)
    counts = np.repeat(weights, [len(one.targets) for one in examples]) * each
    variance = np.concatenate(
        [settings.prior_variance * np.delete(features.priors, own), np.full(len(corpora), np.inf)]
    )
    # each corpus has a column of ones, so the model is to add none
    options: dict[str, Any] = {"rho": settings.rho, "on_impossible": "drop", "progress": progress, "constant": False}
    model = ConditionalDPP(variance, **options).fit(X, y, counts)
    # the columns as they are in `features`: the first corpus' constant in its place, those of the others left out
    place = np.insert(np.arange(len(names) - 1), own, len(names) - 1)
    covariance = None if model.covariance_ is None else model.covariance_[np.ix_(place, place)]
    fitted = known_weights(model.theta_[place], settings.rho, 0.0, model.theta_std_[place], names, covariance)
    training: dict[str, Any] = {
        "clusters": len(clusters),
        "documents": sum(len(cluster.documents) for cluster in clusters),
        "sentences": sum(len(example.read) for example in examples),
        "corpora": {
            corpus.name: {"clusters": len(corpus.clusters), "weight": corpus.weight, "constant": float(constant)}
            | {"budget": corpus.budget, "unit": corpus.unit}
            for corpus, constant in zip(corpora, model.theta_[len(names) - 1 :], strict=True)
        },
        "prior_variance": settings.prior_variance,
        "log_likelihood": float(model.log_likelihood_),
        "converged": bool(model.converged_),
    }
    return Trained(features, ConditionalPredictor()._keep(fitted), ANY, training)


def example_of(read: Featurized, settings: SummarizerSettings, own: int, corpus: int, n_corpora: int) -> Example:
    """A cluster with the constant of its corpus; sentences that no extract has room for are left out of it.

    Else long sentences would seem bad where summaries are short.
    """
    targets = training_targets(read, settings)
    cost = read.costs(settings.unit)
    kept = np.flatnonzero(fits(cost, limit(settings.budget, settings.unit)))
    if kept.size:
        read, cost, targets = read.only(kept), cost[kept], [np.searchsorted(kept, Y) for Y in targets]
    return Example(read, with_constants(read, own, corpus, n_corpora, cost), targets)


def with_constants(read: Featurized, own: int, corpus: int, n_corpora: int, cost: FloatArray) -> ItemSet:
    """Items whose column `own`, the constant, is replaced by a column for each corpus, after the others."""
    constants = np.zeros((len(read), n_corpora))
    constants[:, corpus] = 1.0
    return read.with_features(np.hstack([np.delete(read.F, own, axis=1), constants]), None, cost)
