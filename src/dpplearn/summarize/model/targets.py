"""The extracts that training aims at (section 7.1), by a summarizer's settings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.summarize.corpora.mismatch import read_as
from dpplearn.summarize.model.grams import Texts
from dpplearn.summarize.model.oracle import ORACLES
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import SplitCluster
from dpplearn.summarize.text.matching import match_words
from dpplearn.summarize.text.units import cut, limit


def training_targets(found: SplitCluster, settings: SummarizerSettings) -> list[IntArray]:
    """The extracts that a cluster is an example of (section 7.1): one for each reference, or one for all."""
    together: list[Sequence[str]] = [found.cluster.references]
    if settings.targets == "each":
        together = [[reference] for reference in found.cluster.references if reference.strip()]
    return extracts(found, settings, together)


def extracts(found: SplitCluster, settings: SummarizerSettings, each: Sequence[Sequence[str]]) -> list[IntArray]:
    """For each of some lists of references the sentences that come nearest to them within the budget."""
    budget, unit, language = settings.budget, settings.unit, read_as(found.cluster, settings.language)
    # of sentences with the same words only the first: a set with two of them has probability 0
    first = [*found.considered(range(len(found))).values()]
    cost = np.full(len(found), np.inf)
    cost[first] = found.costs(unit)[first]
    texts, oracle = Texts.of(found.matched(language)), ORACLES[settings.oracle]
    wanted = [[match_words(cut(reference, budget, unit), language) for reference in some] for some in each]
    return [oracle(texts, some, cost, limit(budget, unit)) for some in wanted]
