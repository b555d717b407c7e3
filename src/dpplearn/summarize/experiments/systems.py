"""The systems that an experiment compares, by name: the learned DPP under its decoders, and those of section 7.3.

The latter are the beginning, chance, LexRank, logistic regression and SubMod. A system takes a cluster that was split,
a budget and its unit, and returns sentence numbers or a text. `make_summaries` has systems summarize a corpus, and
`read_peers` reads summaries of other systems, which are scored in the same table.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray, warn_user
from dpplearn._io.encoding import entries
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import Workers
from dpplearn.decoding import greedy_map
from dpplearn.decoding.limits import fits
from dpplearn.learning.conditional import ConditionalDPP
from dpplearn.rouge import Rouge
from dpplearn.rouge.candidates import add, read_candidates, read_text
from dpplearn.summarize.corpora.cluster import Cluster, first_few
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.choice import Decision
from dpplearn.summarize.model.features import lexrank
from dpplearn.summarize.model.oracle import fill
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import Unit, cut, limit
from dpplearn.summarize.text.words import ENGLISH

PASSED_OVER = 0.7  # LexRank passes over a sentence whose cosine to a chosen one is at least this
FOLDS = 5  # parts of the training clusters, held out in turn to choose lambda
TRADEOFFS = tuple(round(0.05 * k, 2) for k in range(1, 21))  # values of lambda tried in equation 21


def begin(split: SplitCluster, budget: float, unit: Unit) -> str:
    """The first bytes of the cluster, its sentences in order, the last one cut at a word's end.

    Examples
    --------
    >>> from dpplearn.summarize import Cluster, SentenceFeatures
    >>> storm = Cluster.from_texts(["A storm hit the coast. Boats sank.", "The storm sank ten boats."])
    >>> begin(SentenceFeatures().fit([storm]).read(storm), 6, "words")
    'A storm hit the coast.\\nBoats'
    """
    total, bound = split.costs(unit).cumsum(), limit(budget, unit)
    whole = int(fits(total, bound).sum())
    lines = split.texts[:whole]
    if whole < len(split) and unit != "sentences":
        room = bound - (total[whole - 1] if whole else 0.0) - (1.0 if unit == "bytes" else 0.0)
        lines = [*lines, cut(split.texts[whole], room, unit) if room > 0 else ""]
    return "\n".join(filter(None, lines))


def random_items(seed: int, split: SplitCluster, budget: float, unit: Unit) -> IntArray:
    """Sentences in random order until the budget is full; the same for a cluster of the same id and seed."""
    order = np.random.default_rng([seed, zlib.crc32((split.cluster.id or "").encode())]).permutation(len(split))
    return fill(split.costs(unit), limit(budget, unit), lambda _: -np.argsort(order).astype(np.float64))


def lexrank_items(split: SplitCluster, budget: float, unit: Unit) -> IntArray:
    """Sentences by LexRank, without those that nearly repeat a chosen one (cosine of 0.7 or more)."""
    cost, bound, rank = split.costs(unit), limit(budget, unit), np.round(lexrank(split.phi), 10)
    return fill(cost, bound, lambda Y: np.where((split.C[Y] >= PASSED_OVER).any(axis=0), -np.inf, rank))


def mmr_items(split: SplitCluster, q: FloatArray, tradeoff: float, budget: float, unit: Unit) -> IntArray:
    """Maximum marginal relevance: add argmax of lambda q_i - (1 - lambda) max_j S_ij until the budget is full (eq. 21).

    S are cosines of tf-idf vectors, without the constant feature.
    """
    C, cost, bound = split.C, split.costs(unit), limit(budget, unit)
    return fill(cost, bound, lambda Y: tradeoff * q - (1 - tradeoff) * C[Y].max(axis=0, initial=0.0))


def submod_items(split: SplitCluster, budget: float, unit: Unit, r: float = 0.3, lam: float = 4.0) -> IntArray:
    """Lin and Bilmes (2010): f(Y) = sum of S_ij over i not in Y, j in Y - lambda x sum of S_ij over i != j in Y.

    It is greedy by gain / cost^r and takes no item with a negative gain. At the end the best single sentence is
    returned if it has a higher value. The second sum is over ordered pairs; S are cosines of tf-idf vectors.
    """
    C = split.C - np.diag(split.C.diagonal())
    cost, bound, total = split.costs(unit), limit(budget, unit), C.sum(axis=1)

    def score(Y: list[int]) -> FloatArray:
        # adding i gains its similarity to the rest, loses that to Y, and costs 2 lambda times that to Y
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
    """Logistic regression on the same features: is a sentence in the oracle's extract?

    The log odds of a sentence are w . f_i; the features have a constant, so there is no intercept. `tradeoff` is lambda
    of equation 21, chosen on held-out training clusters by ROUGE-1 F.
    """

    w: FloatArray
    tradeoff: float

    @classmethod
    def fit(cls, splits: Sequence[SplitCluster], targets: Sequence[IntArray], tradeoff: float = 0.5) -> Logistic:
        """scikit-learn's regression with its default penalty (C = 1)."""
        from sklearn.linear_model import LogisticRegression

        F = np.vstack([split.F for split in splits])
        targets_of = zip(splits, targets, strict=True)
        in_extract = np.concatenate([np.isin(np.arange(len(split)), Y) for split, Y in targets_of])
        if in_extract.all() or not in_extract.any():  # of one class nothing can be learned
            return cls(np.zeros(F.shape[1]), tradeoff)
        model = LogisticRegression(fit_intercept=False, max_iter=10_000).fit(F, in_extract)
        return cls(np.asarray(model.coef_[0], np.float64), tradeoff)

    def probabilities(self, split: SplitCluster) -> FloatArray:
        """1 / (1 + exp(-w . f_i))."""
        return np.asarray(0.5 * (1.0 + np.tanh(split.F @ self.w / 2)), np.float64)

    def mmr(self, split: SplitCluster, budget: float, unit: Unit) -> IntArray:
        """LR+MMR, with q_i the probability over the largest in the cluster, so that q and S share a scale."""
        q = self.probabilities(split)
        return mmr_items(split, q / q.max(), self.tradeoff, budget, unit)

    def dpp(self, rho: float, split: SplitCluster, budget: float, unit: Unit) -> IntArray:
        """LR+DPP, by Algorithm 2. q_i^2 are the odds: if no sentences were alike, K_ii would be the probability."""
        dpp = ConditionalDPP.from_weights(self.w, rho=rho).dpp(split.items)
        return greedy_map(dpp, split.costs(unit), limit(budget, unit)).sorted_subset


def fit_logistic(
    splits: Sequence[SplitCluster], targets: Sequence[IntArray], scorers: Sequence[Callable[[list[str]], float]],
    budget: float, unit: Unit, *, seed: int = 0,
) -> Logistic:  # fmt: skip
    """Weights from all clusters; lambda by ROUGE-1 F on clusters held out in turn (0.5 where there is only one)."""
    n, tradeoff = len(splits), 0.5
    if n >= 2:
        scores = np.zeros(len(TRADEOFFS))
        for fold in np.array_split(np.random.default_rng(seed).permutation(n), min(FOLDS, n)):
            rest = np.setdiff1d(np.arange(n), fold)
            w = Logistic.fit([splits[t] for t in rest], [targets[t] for t in rest]).w
            for t in fold:
                for a, value in enumerate(TRADEOFFS):
                    items = Logistic(w, value).mmr(splits[t], budget, unit)
                    scores[a] += scorers[t]([splits[t].texts[i] for i in items])
        tradeoff = TRADEOFFS[int(scores.argmax())]
    return Logistic.fit(splits, targets, tradeoff)


def train_logistic(summarizer: Summarizer, clusters: Iterable[Cluster]) -> Logistic:
    """The regression with a summarizer's own features, oracle and length, from the clusters that it learned from."""
    settings = replace(summarizer.settings, language=summarizer.language_)
    with blas_threads(0):
        splits = [summarizer.features_.read(cluster) for cluster in clusters]
        targets = [summarizer.oracle_items(split) for split in splits]
        scorers = []
        for cluster in (split.cluster for split in splits):
            options = rouge_options(settings.budget, settings.unit, cluster.read_as(settings.language))
            rouge = Rouge(list(cluster.references), ["rouge-1"], **options)
            scorers.append(lambda lines, rouge=rouge: rouge.score(lines)["rouge-1"].f)
        return fit_logistic(splits, targets, scorers, settings.budget, settings.unit, seed=settings.random_state)


def rouge_options(budget: float, unit: Unit, language: str | None) -> dict[str, Any]:
    """ROUGE-1.5.5 with stemming at the limit of length; plain words in languages other than English."""
    english = language in (None, ENGLISH)
    limits = {str(unit): int(budget)} if unit in ("bytes", "words") else {}
    return {"stem": english, "tokenizer": "official" if english else "unicode", **limits}


OVERRUN = 15.0  # bytes that sampled and consensus summaries may run over, trimmed by the scorer (section 7.3)


class SystemModels(NamedTuple):
    """A trained summarizer and, for the systems lr-mmr and lr-dpp, the regression."""

    summarizer: Summarizer
    logistic: Logistic | None = None


def filling_decision(
    summarizer: Summarizer, split: SplitCluster, budget: float, unit: Unit, decoder: str, compress: bool = False
) -> Decision:
    """Fill the budget, as the paper does, so that tables compare summaries of equal length.

    Sampled and consensus summaries may be 15 bytes over a budget of bytes.
    """
    prepared, none = summarizer.prepare(split, compress=compress), np.empty(0, np.int64)
    allowed, overrun = prepared.allowed(none, none), OVERRUN if unit == "bytes" else 0.0
    how: dict[str, Any] = {"fill": True, "overrun": overrun, "rng": summarizer.random_state}
    return Decision(prepared, decoder, float(budget), unit, none, none, allowed, **how)


def filled(*how: Any) -> Callable[..., str]:
    """The system of our summarizer under a decoder that fills the budget, perhaps with shorter sentences."""
    return lambda models, *problem: Summary.of(filling_decision(models.summarizer, *problem, *how)).text


# In the order of Table 2: the name of each system there, and its function of models and a problem (a cluster, a budget
# and its unit), which returns a text or sentence numbers.
SYSTEMS: dict[str, tuple[str, Callable[..., str | IntArray]]] = {
    "begin": ("Begin", lambda _, *problem: begin(*problem)),
    "random": ("Random", lambda models, *problem: random_items(models.summarizer.random_state, *problem)),
    "lexrank": ("LexRank", lambda _, *problem: lexrank_items(*problem)),
    "lr-mmr": ("LR+MMR", lambda models, *problem: models.logistic.mmr(*problem)),
    "lr-dpp": ("LR+DPP", lambda models, *problem: models.logistic.dpp(models.summarizer.rho_, *problem)),
    "submod": ("SubMod", lambda _, *problem: submod_items(*problem)),
    "dpp-sample": ("DPP", filled("sampled")),
    "dpp-greedy": ("DPP (greedy)", filled("greedy")),
    "dpp-consensus": ("DPP (consensus)", filled("consensus")),
    "dpp-compressed": ("DPP (compressed)", filled("consensus", True)),
    "dpp-summarize": ("DPP (as summarize)", lambda models, *problem: models.summarizer.summarize(*problem).text),
    "oracle": ("Oracle", lambda models, *problem: models.summarizer.oracle_items(*problem)),  # it sees the references
}
PAPER_SYSTEMS = ("dpp-sample", "dpp-greedy")  # these learn from one extract for all references
LEARNED = ("lr-mmr", "lr-dpp")  # these need the regression


def check_systems(names: Iterable[str]) -> list[str]:
    """Names of systems, each once, in the order given; all of them if none is given.

    Examples
    --------
    >>> check_systems(["DPP-greedy", "begin", "begin"])
    ['dpp-greedy', 'begin']
    """
    chosen = list(dict.fromkeys(name.strip().lower() for name in names if name.strip()))
    if unknown := [name for name in chosen if name not in SYSTEMS]:
        meant = f" Did you mean 'dpp-{unknown[0]}'?" if f"dpp-{unknown[0]}" in SYSTEMS else ""
        raise ValueError(f"No system is called {unknown[0]!r}.{meant} There are {', '.join(SYSTEMS)}.")
    return chosen or list(SYSTEMS)


class Task(NamedTuple):
    """Clusters to be summarized by some systems, whose models are given or trained by a function."""

    models: SystemModels | Callable[[], SystemModels]
    clusters: list[Cluster]
    systems: Sequence[str]


def summarize_task(task: Task, budget: float, unit: Unit) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster, a sentence a line, after training the models if need be."""
    models = task.models() if callable(task.models) else task.models
    summaries = {system: dict[str, str]() for system in task.systems}
    with blas_threads(0):
        for cluster in task.clusters:
            split = models.summarizer.features_.read(cluster)
            for system, texts in summaries.items():
                summary = SYSTEMS[system][1](models, split, budget, unit)
                if not isinstance(summary, str):
                    # if no sentence fits, the first is cut, as `Summarizer` cuts its best; an oracle's may be empty
                    first = cut(split.texts[0], budget, unit) if system != "oracle" else ""
                    summary = "\n".join(split.texts[i] for i in summary) or first
                texts[str(cluster.id)] = summary
    return summaries


def make_summaries(
    tasks: Sequence[Task], budget: float, unit: Unit, workers: Workers, *, progress: bool | Progress = False
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster."""
    show, done, pieces = as_progress(progress), 0, list[Task]()
    for task in tasks:  # where a model is still to be trained, its clusters stay together, so that it is trained once
        pieces += [task] if callable(task.models) else [task._replace(clusters=[cluster]) for cluster in task.clusters]
    total = sum(len(piece.clusters) for piece in pieces)
    summaries = {system: dict[str, str]() for system in SYSTEMS if any(system in task.systems for task in tasks)}
    for piece, summaries_of_piece in workers.each(partial(summarize_task, budget=budget, unit=unit), pieces):
        for system, texts in summaries_of_piece.items():
            summaries[system] |= texts
        done += len(piece.clusters)
        show.stage("Summarizing", done, total)
    return summaries


# A peer's summary as DUC names it: D30001.M.100.T.65 is that of peer 65.
_DUC = re.compile(r"(?P<topic>.+)\.M\.\d+\.[A-Z]\.(?P<peer>[A-Za-z0-9]+)", re.IGNORECASE)


def read_peers(path: Path, ids: Collection[str], *, required: bool = True) -> dict[str, dict[str, str]]:
    """Other systems' summaries of clusters with these ids, in any case, by system and cluster.

    `path` is a JSON Lines file of `{"id", "system", "summary"}`, a folder with a file SYSTEM/ID.txt for each summary,
    or a folder with DUC's files `D30001.M.100.T.65`. A peer without a summary of some cluster is scored on the others.
    If summaries are `required`, a warning says so, and it is an error if there are none at all.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Give a folder of summaries or a JSON Lines file.")
    files = [entry for entry in entries(path) if entry.is_file()] if path.is_dir() else []
    named = [(file, match) for file in files if (match := _DUC.fullmatch(file.name))]
    texts_by_system = {} if named else read_candidates(path)
    for file, match in named:
        add(texts_by_system.setdefault(match["peer"], {}), match["topic"], read_text(file), file)
    id_of, peers = {name.lower(): name for name in ids}, dict[str, dict[str, str]]()
    for system, texts in texts_by_system.items():
        for topic, text in texts.items():
            if topic.lower() in id_of:
                whole = text if isinstance(text, str) else "\n".join(map(str, text))
                peers.setdefault(system, {})[id_of[topic.lower()]] = whole
    if required and not peers:
        example = next(iter(next(iter(texts_by_system.values()))))
        raise ValueError(
            f"{path} must have summaries of the clusters, but no id there is a cluster's: for example, {example!r} is "
            f"there and {min(ids)!r} here."
        )
    for system, summaries in peers.items() if required else ():
        if lacking := sorted(set(ids) - set(summaries)):
            warn_user(f"Peer {system} has no summary of {len(lacking)} clusters: {first_few(lacking)}.")
    return peers
