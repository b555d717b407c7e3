"""How good a model is on baskets it has not seen: ranks of held-out items, and real baskets against random sets."""

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
    """What `completion` found.

    Attributes
    ----------
    mpr : float
        Mean percentile rank: of the items that are not in the rest of the basket, the percentage that the held-out
        item is scored at least as high as (itself included, other ties by half), averaged over baskets. 100: always
        first; 50: by chance.
    mpr_error : float
        Its standard error.
    recall : dict
        For k = 1, 5 and 10: how often the held-out item is among the first k.
    auc : float
        For each basket that is not empty a random set of its size is drawn. The AUC is the probability that a basket
        has a larger log-probability than a random set, pooled over all pairs of the two. Pairs may differ in size, so
        it is far from 1 where sizes vary. nan for models without probabilities.
    log_likelihood : float
        Mean log-probability of all baskets, empty ones included, without the items that the model does not know. nan
        for models without probabilities.
    n_baskets, n_small, n_unseen : int
        Baskets used; those left out because fewer than two of their items are known; items left out as unknown.
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
    """Hold one item of each basket out, and see where the model ranks it given the others.

    Parameters
    ----------
    model : KernelDPP, or any object with `items_` and `next_scores`
    baskets : as for `KernelDPP.fit`
        Those of fewer than two items are left out.
    hold : {"random", "last"}
        Which item: any, or the last in the order given (of Subsets and sparse arrays, which have none, the one with the
        largest number).
    rng : seed
        For the item held out and the random baskets.

    Examples
    --------
    >>> from dpplearn import KernelDPP
    >>> baskets = 30 * [["bib", "bottle"], ["cot", "pram"]]
    >>> found = completion(KernelDPP(nonsymmetric=True, alpha=1.0).fit(baskets), baskets)
    >>> found.mpr, found.recall[1], found.n_baskets
    (100.0, 1.0, 60)
    """
    check_choice(hold, "hold", ("random", "last"))
    generator = check_rng(rng)
    known = Baskets.read(baskets, model.items_, unseen="drop")
    used = known.take(np.flatnonzero(known.sizes >= 2))
    if len(used) == 0:
        raise ValueError("No basket has two items that the model knows: there is none to hold out and none to go by.")
    position = used.sizes - 1 if hold == "last" else generator.integers(0, used.sizes)
    ranks, places = np.empty(len(used)), np.empty(len(used))
    for t, (a, b) in enumerate(pairwise(used.indptr.tolist())):
        basket = used.indices[a:b]
        item, rest = basket[position[t]], np.delete(basket, position[t])
        scores = np.asarray(model.next_scores(rest))
        others = np.delete(scores, basket)
        ahead = (others > scores[item]).sum() + (others == scores[item]).sum() / 2
        places[t], ranks[t] = 1 + ahead, 100 * (1 - ahead / (others.size + 1))
    dpp, nan = getattr(model, "dpp_", None), float("nan")
    return Completion(
        mpr=float(ranks.mean()),
        mpr_error=float(ranks.std(ddof=1) / np.sqrt(ranks.size)) if ranks.size > 1 else nan,
        recall={k: float((places <= k).mean()) for k in (1, 5, 10)},
        auc=pooled_auc(dpp, known.take(np.flatnonzero(known.sizes)), generator) if dpp is not None else nan,
        log_likelihood=float(np.mean(dpp.log_prob(known.subsets))) if dpp is not None else nan,
        n_baskets=len(used),
        n_small=len(known) - len(used),
        n_unseen=known.n_unseen,
    )


def pooled_auc(dpp: Any, baskets: Baskets, rng: np.random.Generator) -> float:
    """P(log-probability of a basket > that of a random set), over all pairs of the two, ties by half."""
    random = Subsets.from_lists([rng.choice(baskets.n, size, replace=False) for size in baskets.sizes], baskets.n)
    real, made = np.asarray(dpp.log_prob(baskets.subsets)), np.sort(dpp.log_prob(random))
    below, upto = np.searchsorted(made, real, "left"), np.searchsorted(made, real, "right")
    return float((below + upto).mean() / 2 / made.size)
