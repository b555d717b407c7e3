"""The systems that section 7.3 compares with: the beginning, chance, LexRank, logistic regression, SubMod.

Each takes a cluster made ready, a budget and its unit, and returns item numbers; costs and the bound on their sum
are those of `Summarizer`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn.decoding import greedy_map
from dpplearn.decoding.limits import fits
from dpplearn.learning.conditional import ConditionalDPP
from dpplearn.rouge import Rouge
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.model.oracle import fill
from dpplearn.summarize.model.quality_features import lexrank
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import Unit, cut, limit
from dpplearn.summarize.text.words import ENGLISH

PASSED_OVER = 0.7  # LexRank passes over a sentence whose cosine to one chosen is at least this
FOLDS = 5  # parts of the training clusters, held out in turn to choose lambda
TRADEOFFS = tuple(round(0.05 * k, 2) for k in range(1, 21))  # values of lambda tried in equation 21


def begin(read: SplitCluster, budget: float, unit: Unit) -> str:
    """The first bytes of the cluster, its sentences in order, the last one cut at a word's end.

    Examples
    --------
    >>> from dpplearn.summarize import Cluster, SentenceFeatures
    >>> storm = Cluster.from_texts(["A storm hit the coast. Boats sank.", "The storm sank ten boats."])
    >>> begin(SentenceFeatures().fit([storm]).read(storm), 6, "words")
    'A storm hit the coast.\\nBoats'
    """
    total, bound = read.costs(unit).cumsum(), limit(budget, unit)
    whole = int(fits(total, bound).sum())
    lines = read.texts[:whole]
    if whole < len(read) and unit != "sentences":
        room = bound - (total[whole - 1] if whole else 0.0) - (1.0 if unit == "bytes" else 0.0)
        lines = [*lines, cut(read.texts[whole], room, unit) if room > 0 else ""]
    return "\n".join(filter(None, lines))


def random_items(seed: int, read: SplitCluster, budget: float, unit: Unit) -> IntArray:
    """Sentences in random order until the budget is full; the same for a cluster of the same id and seed."""
    order = np.random.default_rng([seed, zlib.crc32((read.cluster.id or "").encode())]).permutation(len(read))
    return fill(read.costs(unit), limit(budget, unit), lambda _: -np.argsort(order).astype(np.float64))


def lexrank_items(read: SplitCluster, budget: float, unit: Unit) -> IntArray:
    """Sentences by LexRank, those passed over that all but repeat one chosen (cosine of 0.7 or more)."""
    cost, bound, rank = read.costs(unit), limit(budget, unit), np.round(lexrank(read.phi), 10)
    return fill(cost, bound, lambda Y: np.where((read.C[Y] >= PASSED_OVER).any(axis=0), -np.inf, rank))


def mmr_items(read: SplitCluster, q: FloatArray, tradeoff: float, budget: float, unit: Unit) -> IntArray:
    """Maximum marginal relevance: add argmax of lambda q_i - (1 - lambda) max_j S_ij until the budget is full (eq. 21).

    S are cosines of tf-idf vectors, without the constant feature; sentences that no longer fit are left out.
    """
    C, cost, bound = read.C, read.costs(unit), limit(budget, unit)
    return fill(cost, bound, lambda Y: tradeoff * q - (1 - tradeoff) * C[Y].max(axis=0, initial=0.0))


def submod_items(read: SplitCluster, budget: float, unit: Unit, r: float = 0.3, lam: float = 4.0) -> IntArray:
    """Lin and Bilmes (2010): f(Y) = sum of S_ij over i not in Y, j in Y - lambda x sum of S_ij over i != j in Y.

    Greedy by gain / cost^r, an item taken only if its gain is not negative, and compared at the end with the best
    single sentence. The second sum is over ordered pairs; S are cosines of tf-idf vectors.
    """
    C = read.C - np.diag(read.C.diagonal())
    cost, bound, total = read.costs(unit), limit(budget, unit), C.sum(axis=1)

    def score(Y: list[int]) -> FloatArray:
        # i joins Y: its similarity to the rest is gained, that to Y is no longer counted and paid for twice lambda
        gain = total - (2 + 2 * lam) * C[Y].sum(axis=0)
        return np.where(gain >= 0.0, gain / cost**r, -np.inf)

    chosen = fill(cost, bound, score)
    within = fits(cost, bound)
    if not within.any():
        return chosen
    single = int(np.where(within, total, -np.inf).argmax())
    value = total[chosen].sum() - (1 + lam) * C[np.ix_(chosen, chosen)].sum()
    return np.array([single]) if total[single] > value else chosen


@dataclass(frozen=True, eq=False)
class Logistic:
    """Sentence by sentence, is it in the oracle's extract: logistic regression on the same features.

    Attributes
    ----------
    w : array
        Weights: the log odds of a sentence are w . f_i. The features have a constant, so there is no intercept.
    tradeoff : float
        lambda of equation 21, chosen on held-out training clusters by ROUGE-1 F.
    """

    w: FloatArray
    tradeoff: float

    @classmethod
    def fit(cls, read: Sequence[SplitCluster], targets: Sequence[IntArray], tradeoff: float = 0.5) -> Logistic:
        """scikit-learn's regression with its default penalty (C = 1)."""
        from sklearn.linear_model import LogisticRegression

        F = np.vstack([one.F for one in read])
        inside = np.concatenate([np.isin(np.arange(len(one.F)), Y) for one, Y in zip(read, targets, strict=True)])
        if inside.all() or not inside.any():  # one class: nothing to tell apart
            return cls(np.zeros(F.shape[1]), tradeoff)
        model = LogisticRegression(fit_intercept=False, max_iter=10_000).fit(F, inside)
        return cls(np.asarray(model.coef_[0], np.float64), tradeoff)

    def probabilities(self, read: SplitCluster) -> FloatArray:
        """1 / (1 + exp(-w . f_i))."""
        return np.asarray(0.5 * (1.0 + np.tanh(read.F @ self.w / 2)), np.float64)

    def mmr(self, read: SplitCluster, budget: float, unit: Unit) -> IntArray:
        """LR+MMR. q_i is the probability over the largest in the cluster, so that q and S share a scale."""
        q = self.probabilities(read)
        return mmr_items(read, q / q.max(), self.tradeoff, budget, unit)

    def dpp(self, rho: float, read: SplitCluster, budget: float, unit: Unit) -> IntArray:
        """LR+DPP, by Algorithm 2. q_i^2 are the odds: if no sentences were alike, K_ii would be the probability."""
        dpp = ConditionalDPP.from_weights(self.w, rho=rho).dpp(read.items)
        return greedy_map(dpp, read.costs(unit), limit(budget, unit)).sorted_subset


def fit_logistic(
    read: Sequence[SplitCluster], targets: Sequence[IntArray], scorers: Sequence[Callable[[list[str]], float]],
    budget: float, unit: Unit, *, seed: int = 0,
) -> Logistic:  # fmt: skip
    """Weights from all clusters; lambda by ROUGE-1 F on clusters held out in turn (0.5 where there is only one)."""
    n = len(read)
    tradeoff = 0.5
    if n >= 2:
        scores = np.zeros(len(TRADEOFFS))
        for fold in np.array_split(np.random.default_rng(seed).permutation(n), min(FOLDS, n)):
            rest = np.setdiff1d(np.arange(n), fold)
            model = Logistic.fit([read[t] for t in rest], [targets[t] for t in rest])
            for t in fold:
                texts = read[t].texts
                for a, value in enumerate(TRADEOFFS):
                    items = Logistic(model.w, value).mmr(read[t], budget, unit)
                    scores[a] += scorers[t]([texts[i] for i in items])
        tradeoff = TRADEOFFS[int(scores.argmax())]
    return Logistic.fit(read, targets, tradeoff)


def train_logistic(summarizer: Summarizer, clusters: Iterable[Cluster]) -> Logistic:
    """The regression with a summarizer's own features, oracle and length, from the clusters that it learned from."""
    settings = replace(summarizer.settings, language=summarizer.language_)
    with blas_threads(0):
        read = [summarizer.features_.read(cluster) for cluster in clusters]
        labels = [summarizer.oracle_items(one) for one in read]
        scorers = [rouge_of(one.cluster, settings) for one in read]
        return fit_logistic(read, labels, scorers, settings.budget, settings.unit, seed=settings.random_state)


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
