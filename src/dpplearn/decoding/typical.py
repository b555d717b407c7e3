"""The most probable of the samples that have as many items as is usual: what the most probable of all often has not."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dpplearn._checks import Seed
from dpplearn.decoding.candidates import Model, read_model
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.sampled import SampledSelection, best_sample, check_window

SHARES = (0.97, 0.85, 0.0)  # of the budget, from which a set counts: the first that one has


def typical_map(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    n_samples: int = 200_000,
    min_cost: float | None = None,
    max_cost: float | None = None,
    k: int | None = None,
    m: int = 1,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    exclusive: ArrayLike | None = None,
    diversity: float = 0.5,
    rng: Seed = None,
    n_jobs: int | None = None,
) -> SampledSelection:
    """Draw many sets of the right cost and return the most probable of those with the usual number of items.

    Where qualities are below 1, each further item lowers the probability of a set; so the most probable set of a given
    cost has few, costly items, though hardly a set that is drawn looks like it: there are many more sets of many items.
    Here the number of items is the median of the samples in the window, and the set the most probable of that size.

    Parameters
    ----------
    dpp, cost, budget, k, include, exclude, exclusive, diversity
        As in `greedy_map`.
    n_samples, m, rng, n_jobs
        As in `sampled_map`.
    min_cost, max_cost : float, optional
        The window; by default from 0.97 of the budget (or of k items' cost; 0.85 or nothing, where no sample is in it)
        to the budget. Samples are drawn from e^s L with s such that their mean cost is its middle.

    Returns
    -------
    SampledSelection
        As that of `sampled_map`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpplearn import DPP
    >>> from dpplearn.decoding import sampled_map
    >>> dpp, cost = DPP(0.1 * np.eye(13)), np.array([6] + [2] * 12)  # one costly item among many
    >>> typical_map(dpp, cost, 6, rng=0).cost, len(typical_map(dpp, cost, 6, rng=0))
    (6.0, 3)
    >>> sampled_map(dpp, cost, 6, min_cost=6, rng=0).subset
    array([0])
    """
    candidates = read_model(dpp, diversity)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, exclusive)
    if min_cost is not None or not limits.bounded:
        low, high = check_window(limits, min_cost, max_cost)
        return best_sample(candidates, limits, low, high, n_samples, m, limits.bounded, rng, n_jobs, typical=True)
    full = limits.worth if max_cost is None else min(limits.worth, max_cost)
    for share in SHARES:
        low, high = check_window(limits, share * full, max_cost)
        found = best_sample(candidates, limits, low, high, n_samples, m, True, rng, n_jobs, typical=True)
        if len(found):
            break
    return found
