"""Measures of a model on new baskets: ranks of held-out items, and real baskets against random sets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpplearn._checks import Seed, check_choice, check_rng
from dpplearn.baskets.baskets import Baskets
from dpplearn.subsets import Subsets


@dataclass(frozen=True)
class Completion:
    """What `completion` measures.

    Attributes
    ----------
    mpr, mpr_error : float
        Mean percentile rank and its standard error. The percentile rank is the percentage of the items outside the rest
        of the basket that score no higher than the held-out item, which counts itself; other ties count half. 100 is
        always first, 50 is chance.
    recall : dict
        For k = 1, 5 and 10: how often the held-out item is among the first k.
    auc : float
        The probability that a basket has a larger log-probability than a random set, over all pairs of the two; there
        is a random set of its size for each basket that is not empty. Pairs may differ in size, so the AUC is far from
        1 if sizes vary.
    log_likelihood : float
        Mean log-probability of all baskets, empty ones included, without unknown items. It and the AUC are nan for
        models without probabilities.
    n_baskets, n_small, n_unseen : int
        Baskets used; baskets left out because fewer than two of their items are known; unknown items left out.
    """

    mpr: float
    mpr_error: float
    recall: dict[int, float]
    auc: float
    log_likelihood: float
    n_baskets: int
    n_small: int
    n_unseen: int


def completion(model: Any, baskets: Any, hold: str = "random", *, rng: Seed = 0) -> Completion:
    """Hold one item out of each basket, and see where the model ranks it given the others.

    Parameters
    ----------
    model : KernelDPP, or any object with `items_` and `next_scores`
    baskets : as for `KernelDPP.fit`
        Baskets of fewer than two items are left out.
    hold : {"random", "last"}
        Which item: any, or the last in the order given (of Subsets and sparse arrays, the one with the largest number).
    rng : seed
        For the item held out and the random baskets.

    Examples
    --------
    >>> from dpplearn import KernelDPP
    >>> baskets = 30 * [["bib", "bottle"], ["cot", "pram"]]
    >>> result = completion(KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets), baskets)
    >>> result.mpr, result.recall[1], result.n_baskets
    (100.0, 1.0, 60)
    """
    check_choice(hold, "hold", ("random", "last"))
    generator = check_rng(rng)
    filtered = Baskets.read(baskets, model.items_, unseen="drop")
    used = filtered.take(np.flatnonzero(filtered.sizes >= 2))
    if len(used) == 0:
        raise ValueError("No basket has two items that the model knows: one to hold out, and one to start from.")
    position = used.sizes - 1 if hold == "last" else generator.integers(0, used.sizes)
    ranks, places = np.empty(len(used)), np.empty(len(used))
    for t, (a, b) in enumerate(pairwise(used.indptr.tolist())):
        basket = used.indices[a:b]
        item, rest = basket[position[t]], np.delete(basket, position[t])
        scores = np.asarray(model.next_scores(rest))
        others = np.delete(scores, basket)
        ahead = (others > scores[item]).sum() + (others == scores[item]).sum() / 2
        places[t], ranks[t] = 1 + ahead, 100 * (1 - ahead / (others.size + 1))
    dpp, auc, log_likelihood = getattr(model, "dpp_", None), float("nan"), float("nan")
    if dpp is not None:
        filled = filtered.take(np.flatnonzero(filtered.sizes))
        random = Subsets.from_lists([generator.choice(filtered.n, k, replace=False) for k in filled.sizes], filtered.n)
        real, drawn = np.asarray(dpp.log_prob(filled.subsets)), np.sort(dpp.log_prob(random))
        wins = np.searchsorted(drawn, real, "left") + np.searchsorted(drawn, real, "right")  # twice, ties once
        auc, log_likelihood = float(wins.mean() / 2 / drawn.size), float(np.mean(dpp.log_prob(filtered.subsets)))
    return Completion(
        mpr=float(ranks.mean()),
        mpr_error=float(ranks.std(ddof=1) / np.sqrt(ranks.size)) if ranks.size > 1 else float("nan"),
        recall={k: float((places <= k).mean()) for k in (1, 5, 10)},
        auc=auc,
        log_likelihood=log_likelihood,
        n_baskets=len(used),
        n_small=len(filtered) - len(used),
        n_unseen=filtered.n_unseen,
    )
