"""Systems by name: the learned DPP under its decoders, with shorter sentences, the oracle, and those of section 7.3.

These are the beginning, chance, LexRank, logistic regression and SubMod. Each takes a cluster made ready, a budget and
its unit, and returns item numbers; costs and the bound on their sum are those of `Summarizer`. `make_summaries` has
them summarize a corpus; `read_peers` reads summaries that other systems made, to be scored in the same table.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
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
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.model.features import lexrank
from dpplearn.summarize.model.oracle import fill
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.model.training import few
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.units import Unit, cut, limit
from dpplearn.summarize.text.words import ENGLISH

PASSED_OVER = 0.7  # LexRank passes over a sentence whose cosine to one chosen is at least this
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
    """Sentences by LexRank, those passed over that all but repeat one chosen (cosine of 0.7 or more)."""
    cost, bound, rank = split.costs(unit), limit(budget, unit), np.round(lexrank(split.phi), 10)
    return fill(cost, bound, lambda Y: np.where((split.C[Y] >= PASSED_OVER).any(axis=0), -np.inf, rank))


def mmr_items(split: SplitCluster, q: FloatArray, tradeoff: float, budget: float, unit: Unit) -> IntArray:
    """Maximum marginal relevance: add argmax of lambda q_i - (1 - lambda) max_j S_ij until the budget is full (eq. 21).

    S are cosines of tf-idf vectors, without the constant feature; sentences that no longer fit are left out.
    """
    C, cost, bound = split.C, split.costs(unit), limit(budget, unit)
    return fill(cost, bound, lambda Y: tradeoff * q - (1 - tradeoff) * C[Y].max(axis=0, initial=0.0))


def submod_items(split: SplitCluster, budget: float, unit: Unit, r: float = 0.3, lam: float = 4.0) -> IntArray:
    """Lin and Bilmes (2010): f(Y) = sum of S_ij over i not in Y, j in Y - lambda x sum of S_ij over i != j in Y.

    Greedy by gain / cost^r, an item taken only if its gain is not negative, and compared at the end with the best
    single sentence. The second sum is over ordered pairs; S are cosines of tf-idf vectors.
    """
    C = split.C - np.diag(split.C.diagonal())
    cost, bound, total = split.costs(unit), limit(budget, unit), C.sum(axis=1)

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
    def fit(cls, split: Sequence[SplitCluster], targets: Sequence[IntArray], tradeoff: float = 0.5) -> Logistic:
        """scikit-learn's regression with its default penalty (C = 1)."""
        from sklearn.linear_model import LogisticRegression

        F = np.vstack([one.F for one in split])
        inside = np.concatenate([np.isin(np.arange(len(one.F)), Y) for one, Y in zip(split, targets, strict=True)])
        if inside.all() or not inside.any():  # one class: nothing to tell apart
            return cls(np.zeros(F.shape[1]), tradeoff)
        model = LogisticRegression(fit_intercept=False, max_iter=10_000).fit(F, inside)
        return cls(np.asarray(model.coef_[0], np.float64), tradeoff)

    def probabilities(self, split: SplitCluster) -> FloatArray:
        """1 / (1 + exp(-w . f_i))."""
        return np.asarray(0.5 * (1.0 + np.tanh(split.F @ self.w / 2)), np.float64)

    def mmr(self, split: SplitCluster, budget: float, unit: Unit) -> IntArray:
        """LR+MMR. q_i is the probability over the largest in the cluster, so that q and S share a scale."""
        q = self.probabilities(split)
        return mmr_items(split, q / q.max(), self.tradeoff, budget, unit)

    def dpp(self, rho: float, split: SplitCluster, budget: float, unit: Unit) -> IntArray:
        """LR+DPP, by Algorithm 2. q_i^2 are the odds: if no sentences were alike, K_ii would be the probability."""
        dpp = ConditionalDPP.from_weights(self.w, rho=rho).dpp(split.items)
        return greedy_map(dpp, split.costs(unit), limit(budget, unit)).sorted_subset


def fit_logistic(
    split: Sequence[SplitCluster], targets: Sequence[IntArray], scorers: Sequence[Callable[[list[str]], float]],
    budget: float, unit: Unit, *, seed: int = 0,
) -> Logistic:  # fmt: skip
    """Weights from all clusters; lambda by ROUGE-1 F on clusters held out in turn (0.5 where there is only one)."""
    n = len(split)
    tradeoff = 0.5
    if n >= 2:
        scores = np.zeros(len(TRADEOFFS))
        for fold in np.array_split(np.random.default_rng(seed).permutation(n), min(FOLDS, n)):
            rest = np.setdiff1d(np.arange(n), fold)
            model = Logistic.fit([split[t] for t in rest], [targets[t] for t in rest])
            for t in fold:
                texts = split[t].texts
                for a, value in enumerate(TRADEOFFS):
                    items = Logistic(model.w, value).mmr(split[t], budget, unit)
                    scores[a] += scorers[t]([texts[i] for i in items])
        tradeoff = TRADEOFFS[int(scores.argmax())]
    return Logistic.fit(split, targets, tradeoff)


def train_logistic(summarizer: Summarizer, clusters: Iterable[Cluster]) -> Logistic:
    """The regression with a summarizer's own features, oracle and length, from the clusters that it learned from."""
    settings = replace(summarizer.settings, language=summarizer.language_)
    with blas_threads(0):
        split = [summarizer.features_.read(cluster) for cluster in clusters]
        labels = [summarizer.oracle_items(one) for one in split]
        scorers = [rouge_of(one.cluster, settings) for one in split]
        return fit_logistic(split, labels, scorers, settings.budget, settings.unit, seed=settings.random_state)


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


OVERRUN = 15.0  # bytes that sampled and consensus summaries may run over, trimmed by the scorer (section 7.3)


class SystemModels(NamedTuple):
    """What the systems have learned: a summarizer and, where it is asked for, the regression of lr-mmr and lr-dpp."""

    summarizer: Summarizer
    logistic: Logistic | None = None


def filled(decoder: str, compress: bool = False) -> Callable[..., str]:
    """Our summary under a decoder that fills the budget, as the paper defines it, so that tables compare equal lengths.

    Sampled and consensus summaries may be 15 bytes over a budget of bytes.
    """

    def system(models: SystemModels, split: SplitCluster, budget: float, unit: Unit) -> str:
        overrun = OVERRUN if unit == "bytes" else 0.0
        asked: Any = models.summarizer._decision(
            split, budget, unit, decoder, overrun=overrun, fill=True, compress=compress
        )
        return Summary.of(asked).text

    return system


# In the order of Table 2: what each is called there, and what it makes of models, a cluster, a budget and its unit: a
# text or item numbers.
SYSTEMS: dict[str, tuple[str, Callable[..., str | IntArray]]] = {
    "begin": ("Begin", lambda _, *asked: begin(*asked)),
    "random": ("Random", lambda models, *asked: random_items(models.summarizer.random_state, *asked)),
    "lexrank": ("LexRank", lambda _, *asked: lexrank_items(*asked)),
    "lr-mmr": ("LR+MMR", lambda models, *asked: models.logistic.mmr(*asked)),
    "lr-dpp": ("LR+DPP", lambda models, *asked: models.logistic.dpp(models.summarizer.rho_, *asked)),
    "submod": ("SubMod", lambda _, *asked: submod_items(*asked)),
    "dpp-sample": ("DPP", filled("sampled")),
    "dpp-greedy": ("DPP (greedy)", filled("greedy")),
    "dpp-consensus": ("DPP (consensus)", filled("consensus")),
    "dpp-compressed": ("DPP (compressed)", filled("consensus", compress=True)),
    "dpp-summarize": ("DPP (as summarize)", lambda models, *asked: models.summarizer.summarize(*asked).text),
    "oracle": ("Oracle", lambda models, *asked: models.summarizer.oracle_items(*asked)),  # it sees the references
}
PAPER_SYSTEMS = ("dpp-sample", "dpp-greedy")  # which learn from one extract for all references
LEARNED = ("lr-mmr", "lr-dpp")


def check_systems(names: Iterable[str]) -> list[str]:
    """Known names, each once, in the order given; with none given, all of them.

    Examples
    --------
    >>> check_systems(["DPP-greedy", "begin", "begin"])
    ['dpp-greedy', 'begin']
    """
    found = list(dict.fromkeys(name.strip().lower() for name in names if name.strip()))
    unknown = [name for name in found if name not in SYSTEMS]
    if unknown:
        raise ValueError(f"No system is called {unknown[0]!r}. There are {', '.join(SYSTEMS)}.")
    return found or list(SYSTEMS)


def summary_of(system: str, models: SystemModels, split: SplitCluster, budget: float, unit: Unit) -> str:
    """One system's summary of a cluster, one sentence per line; empty where it can choose no sentence."""
    found = SYSTEMS[system][1](models, split, budget, unit)
    if isinstance(found, str):
        return found
    if not found.size and system != "oracle":  # no sentence fits: the first one cut, as `Summarizer` cuts its best
        return cut(split.texts[0], budget, unit)
    return "\n".join(split.texts[i] for i in found)


class Task(NamedTuple):
    """Clusters to be summarized under some systems by models, or by those that a function trains."""

    models: SystemModels | Callable[[], SystemModels]
    clusters: list[Cluster]
    systems: Sequence[str]


def summarize_some(piece: Task, length: tuple[float, Unit]) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster; models are trained here if need be."""
    models = piece.models() if callable(piece.models) else piece.models
    made = {system: dict[str, str]() for system in piece.systems}
    for cluster in piece.clusters:
        split = models.summarizer.features_.read(cluster)
        for system in piece.systems:
            made[system][str(cluster.id)] = summary_of(system, models, split, *length)
    return made


def make_summaries(
    tasks: Sequence[Task], budget: float, unit: Unit, workers: Workers, *, progress: bool | Progress = False
) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster."""
    show, done, pieces = as_progress(progress), 0, list[Task]()
    for task in tasks:  # the clusters of a model that is still to be trained stay together: it is trained once
        pieces += [task] if callable(task.models) else [task._replace(clusters=[one]) for one in task.clusters]
    total = sum(len(piece.clusters) for piece in pieces)
    made = {system: dict[str, str]() for system in SYSTEMS if any(system in task.systems for task in tasks)}
    for piece, own in workers.each(summarize_some, pieces, (budget, unit)):
        for system, summaries in own.items():
            made[system] |= summaries
        done += len(piece.clusters)
        show.stage("Summarizing", done, total)
    return made


# A peer's summary as DUC names it: D30001.M.100.T.65 is that of peer 65.
_DUC = re.compile(r"(?P<topic>.+)\.M\.\d+\.[A-Z]\.(?P<peer>[A-Za-z0-9]+)", re.IGNORECASE)


def read_peers(path: Path, ids: Collection[str], *, required: bool = True) -> dict[str, dict[str, str]]:
    """Summaries by system and cluster, of the clusters asked for.

    Parameters
    ----------
    path : Path
        A JSON Lines file of `{"id", "system", "summary"}`; or a folder SYSTEM/ID.txt for each system; or a folder with
        DUC's files `D30001.M.100.T.65`.
    ids : collection of str
        Ids of the clusters, matched in any case. Others are left out; a peer that lacks some is scored on what it has,
        with a warning.
    required : bool
        Whether a cluster without a summary is worth a word, and none at all an error.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist. Give a folder of summaries or a JSON Lines file.")
    files = [entry for entry in entries(path) if entry.is_file()] if path.is_dir() else []
    named = [(file, match) for file in files if (match := _DUC.fullmatch(file.name))]
    given = {} if named else read_candidates(path)
    for file, match in named:
        add(given.setdefault(match["peer"], {}), match["topic"], read_text(file), file)
    ours, found = {name.lower(): name for name in ids}, dict[str, dict[str, str]]()
    for system, texts in given.items():
        for topic, text in texts.items():
            if topic.lower() in ours:
                whole = text if isinstance(text, str) else "\n".join(map(str, text))
                found.setdefault(system, {})[ours[topic.lower()]] = whole
    if required and not found:
        example = next(iter(next(iter(given.values()))))
        raise ValueError(
            f"No id in {path} is that of a cluster: found, for example, {example!r} there and {min(ids)!r} here."
        )
    for system, summaries in found.items() if required else ():
        if lacking := sorted(set(ids) - set(summaries)):
            warn_user(f"Peer {system} has no summary of {len(lacking)} clusters: {few(lacking)}.")
    return found
