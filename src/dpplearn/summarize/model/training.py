"""Training a summarizer: read clusters, build oracles, fit the weights, tune on held-out ROUGE."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.learning.quality import LogLinear
from dpplearn.learning.similarity import Fixed, Mixture
from dpplearn.rouge import Rouge
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.mismatch import read_as
from dpplearn.summarize.model.features import Featurized, SentenceFeatures
from dpplearn.summarize.model.oracle import ORACLES
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import SplitCluster, check_cluster
from dpplearn.summarize.text.language import foreign
from dpplearn.summarize.text.matching import ENGLISH, match_words, normal_language
from dpplearn.summarize.text.units import Unit, cut, limit, measured

FOLDS = 5
VARIANCES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RHOS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7)
COMPONENTS = 16  # of a projection, beside what is particular to a sentence: summaries have fewer sentences


class Trained(NamedTuple):
    """What training found, or what a model file keeps of it."""

    features: SentenceFeatures
    model: ConditionalPredictor
    language: str | None
    training: dict[str, Any]


class Example(NamedTuple):
    """A cluster, its items with their costs, and the extracts that it is an example of, together counting once."""

    read: Featurized
    items: ItemSet
    targets: list[IntArray]

    def scaled(self, priors: FloatArray) -> Example:
        """With features times the roots of these: one prior for all their weights is then theirs for each."""
        return self._replace(
            items=self.read.with_features(self.items.features * np.sqrt(priors), None, self.items.cost)
        )


def train(
    settings: SummarizerSettings,
    clusters: Sequence[Cluster],
    *,
    tune: bool = False,
    n_jobs: int | None = 1,
    backend: Any = None,
    evaluator: Any = "numpy",
    verbose: bool | Progress = False,
) -> Trained:
    """Learn features and weights from clusters with references; with `tune`, rho and the prior variance too."""
    from dpplearn.learning.conditional import ConditionalDPP  # brings scikit-learn, which a summary does not need

    fixed = settings.similarity == Fixed.kind
    if tune and settings.quality != LogLinear.kind:
        raise ValueError(f"tune=True chooses the variance of weights, which quality={settings.quality!r} has not.")
    if tune and not fixed:
        raise ValueError(f"tune=True chooses rho, which similarity={settings.similarity!r} has not. Leave it out.")
    check_references(clusters)
    settings = replace(settings, language=settled_language(settings.language, clusters, stacklevel=4))
    progress = as_progress(verbose)
    features = settings.sentence_features()
    with blas_threads(0):
        examples = []
        for whole in features.fit_read(clusters):
            read = features.with_forms(whole, settings.language) if settings.compress else whole
            examples.append(Example(read, read.item_set(settings.unit), training_targets(read, settings)))
            progress.stage("Reading clusters", len(examples), len(clusters))
    check_targets(examples, settings)
    rho, variance = settings.rho, settings.prior_variance
    if tune:
        rho, variance = choose([one.scaled(features.priors) for one in examples], settings, progress)
    # targets that cannot be (sentences repeated word for word) are left out
    options: dict[str, Any] = {"on_impossible": "drop", "n_jobs": n_jobs, "backend": backend, "verbose": progress}
    options |= {"rho": rho} if fixed else learned_options(settings.similarity)
    options |= {"quality": settings.quality, "random_state": settings.random_state}
    prior = variance * features.priors if features.binned else variance  # trees have one for all leaves
    model = ConditionalDPP(prior, evaluator=evaluator, **options).fit(*flat(examples))
    model.set_params(
        n_jobs=1, backend=None, evaluator="numpy", verbose=False
    )  # what is kept travels, and holds no client and no stream
    training = {
        "clusters": len(clusters),
        "documents": sum(len(cluster.documents) for cluster in clusters),
        "sentences": sum(len(example.read.whole) for example in examples),
        "prior_variance": variance,
        "log_likelihood": float(model.log_likelihood_),
        "converged": bool(model.converged_),
    }
    return Trained(features, model, settings.language, training)


def learned_options(kind: str) -> dict[str, Any]:
    """For `ConditionalDPP`, of a similarity that is learned: exactly and from several starts where that is cheap.

    Of hundreds of columns, L-BFGS takes long over digits that no summary shows.
    """
    exact = {} if kind == Mixture.kind else {"n_starts": 1, "tol": 1e-2}
    return {"similarity": kind, "n_components": COMPONENTS, **exact}


def check_references(clusters: Sequence[Cluster]) -> None:
    """At least one cluster, and a reference of each."""
    if not clusters:
        raise ValueError("Training needs clusters of documents with reference summaries; found none.")
    for cluster in clusters:
        check_cluster(cluster)
    without = [c.id or f"number {t}" for t, c in enumerate(clusters) if not any(map(str.strip, c.references))]
    if without:
        raise ValueError(
            f"Training needs a reference summary for every cluster, but {len(without)} of {len(clusters)} have none: "
            f"{', '.join(map(str, without[:5]))}{', ...' if len(without) > 5 else ''}. "
            "Add references, or leave these out."
        )


def settled_language(language: str | None, clusters: Sequence[Cluster], stacklevel: int = 3) -> str | None:
    """The language given, or that of the clusters, which must agree; a warning if they seem to be in another."""
    if language is not None:
        return language
    found = sorted({str(normal_language(cluster.language)) for cluster in clusters if cluster.language})
    if len(found) > 1:
        raise ValueError(
            f"The clusters are in {len(found)} languages ({', '.join(found)}), and words of one say nothing "
            "of another. Train on one: pass language=, or --language."
        )
    if found:
        return found[0]
    seen = foreign(document.text for cluster in clusters for document in cluster.documents)
    if seen is not None:
        warnings.warn(
            f"The clusters seem to be in {seen}, but words will be compared as English ones. "
            "Say what they are in: pass language=, or --language.",
            stacklevel=stacklevel,
        )
    return None


def training_targets(found: SplitCluster, settings: SummarizerSettings) -> list[IntArray]:
    """The extracts that a cluster is an example of (section 7.1): one for each reference, or one for all."""
    together: list[Sequence[str]] = [found.cluster.references]
    if settings.targets == "each":
        together = [[reference] for reference in found.cluster.references if reference.strip()]
    return [extract(found, settings, references) for references in together]


def extract(found: SplitCluster, settings: SummarizerSettings, references: Sequence[str]) -> IntArray:
    """The sentences of a cluster that come nearest to the references within the budget, by the oracle's rule."""
    budget, unit, language = settings.budget, settings.unit, read_as(found.cluster, settings.language)
    # of sentences with the same words only the first: a set with two of them has probability 0
    first = [*found.considered(range(len(found))).values()]
    cost = np.full(len(found), np.inf)
    cost[first] = found.costs(unit)[first]
    wanted = [match_words(cut(reference, budget, unit), language) for reference in references]
    return ORACLES[settings.oracle](found.matched(language), wanted, cost, limit(budget, unit), found.forms)


def check_targets(examples: Sequence[Example], settings: SummarizerSettings) -> None:
    """Something can be learned: an error if from no cluster, a warning of those from which not."""
    empty = [example.read.cluster.name for example in examples if not any(Y.size for Y in example.targets)]
    if len(empty) == len(examples):
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


def flat(examples: Sequence[Example]) -> tuple[list[ItemSet], list[IntArray], list[float]]:
    """Each cluster's items with each of its targets, and weights that make every cluster count once."""
    pairs = [(example, Y) for example in examples for Y in example.targets]
    return [one.items for one, _ in pairs], [Y for _, Y in pairs], [1.0 / len(one.targets) for one, _ in pairs]


def choose(examples: Sequence[Example], settings: SummarizerSettings, progress: Progress) -> tuple[float, float]:
    """The prior variance at the given rho, then rho at that variance, by held-out ROUGE-1 F of greedy summaries.

    Weights are learned without the held-out clusters; idf and bins, which know no references, are those of all.
    """
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

    def search(variances: Sequence[float], rhos: Sequence[float]) -> Any:
        found = ConditionalDPPCV(variances, rhos, cv=folds, scoring=score, on_impossible="drop")
        return found.fit(X, y, weight, references=owner.tolist())

    variance = search(VARIANCES, [settings.rho]).prior_variance_
    return search([variance], RHOS).rho_, variance


def rouge_of(cluster: Cluster, settings: SummarizerSettings) -> Callable[[list[str]], float]:
    """ROUGE-1 F of a summary against a cluster's references, at the budget that is trained for."""
    options = rouge_options(settings.budget, settings.unit, read_as(cluster, settings.language))
    rouge = Rouge(list(cluster.references), ["rouge-1"], **options)
    return lambda lines: rouge.score(lines)["rouge-1"].f


def rouge_options(budget: float, unit: Unit, language: str | None) -> dict[str, Any]:
    """ROUGE-1.5.5 with stemming at the limit of length; plain words in languages other than English."""
    english = language in (None, ENGLISH)
    limits = {str(unit): int(budget)} if unit in ("bytes", "words") else {}
    return {"stem": english, "tokenizer": "official" if english else "unicode", **limits}
