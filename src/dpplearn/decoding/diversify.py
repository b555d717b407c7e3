"""From scores and embeddings to a diverse selection: MMR's place, taken by a DPP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._loops.records import DEPENDENT, NO_GAIN
from dpplearn.decoding.candidates import Candidates, Directed, check_nugget
from dpplearn.decoding.diversity import check_diversity
from dpplearn.decoding.embeddings import WIDEST, read_candidates
from dpplearn.decoding.given import prior, read_given
from dpplearn.decoding.greedy import as_selection, greedy_auto
from dpplearn.decoding.groups import Bound, Groups, read_groups
from dpplearn.decoding.limits import Limits, check_limits, check_share
from dpplearn.decoding.registry import decoder, normal_name
from dpplearn.decoding.selection import Known, Selection
from dpplearn.decoding.skipped import DiverseSelection, Kept, Skipped

__all__ = ["DiverseSelection", "Kept", "Skipped", "diversify"]

HIGHEST = 300.0  # of |log q|, to which scores of too large a scale are brought down: q^2 is a float
NUGGET = 1e-6  # of its own, for each item, where fewer than k are independent: so little that the first are the same


def diversify(
    embeddings: ArrayLike | sparse.sparray | sparse.spmatrix,
    scores: ArrayLike,
    k: int | str | None = None,
    budget: float | None = None,
    cost: ArrayLike | None = None,
    diversity: float = 0.5,
    method: str = "greedy",
    *,
    strategy: str = "dpp",
    scale: float = 1.0,
    nugget: float | None = None,
    share: float = 0.01,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    given: Any = None,
    **options: Any,
) -> DiverseSelection:
    """Choose items that score high and differ from each other, by a DPP.

    The items have the kernel L_ij = q_i q_j S_ij, where S_ij is the cosine of their embeddings and

        q_i = sqrt(2) exp(min(1/2, 1 - diversity) z_i),    z_i = scale (score_i - mean) / sigma,

    sigma being the standard deviation of the scores (or 1/40 of their range, where that is more: few scores far from
    all others). So q grows with the score, and scores in any unit do: adding a constant or multiplying by a
    positive number changes nothing. Where all scores are the same, z is 0. Below diversity 1/2 the similarities S_ij of
    different items are multiplied by 2 diversity.

    Parameters
    ----------
    embeddings : array of shape (n, d), dense or scipy sparse
        Of any length: only directions count. A row of zeros is similar to none. float16, float32 and float64 are
        read in place, memory maps too; nothing of size n x n or n x k is made.
    scores : array of shape (n,)
        Relevance, in any unit: cosines, BM25, logits.
    k : int or "auto", optional
        How many items; all of them if there are fewer. It may exceed the number of dimensions: see `nugget`. "auto"
        takes items until a further one would add less than `share` of what the first did.
    budget : float, optional
        Largest total cost. Without `k` and `budget`, items are taken while they raise the probability: one of
        average score as long as more than half of its squared length is new.
    cost : array of shape (n,), optional
        Positive; 1 each by default.
    diversity : float
        0 ranks by score alone, 1 by similarity alone. From 1/2 up, and at 0, the weights are those of pyversity.
    method : {"greedy", "sampled", "consensus", "exact", "local"}
        The decoder of `dpplearn.decoding`. All but "greedy" are for a few thousand items at most.
    strategy : {"dpp"}
        So that calls written for pyversity work.
    scale : float
        Strength of the scores, as in pyversity; as much of it as leaves qualities between e^-300 and e^300.
    nugget : float, optional
        The part of each item that is its own, S = (1 - nugget) cosines + nugget I, so that no item is a linear
        combination of others. Once the items chosen, with unit rows U_Y, span all directions, an item adds
        q_i^2 nugget (1 + u_i^T (U_Y^T U_Y)^-1 u_i) for a small nugget: more, the less its direction was chosen.
        Items whose embedding repeats that of a chosen one wait until no other is left (for diversity 1/2 and above).
        Default 0, unless fewer than k items are independent: then 1e-6. So a budget without k is not spent on
        combinations of others. What was taken is in `parameters`.
    share : float
        Of what the first item adds, for k="auto".
    include, exclude : arrays of item numbers
        Items that must be in, which come first, and items that must not.
    groups : array of shape (n,), optional
        The source, class or language of each item, as texts or numbers.
    max_per_group, min_per_group : int or dict, optional
        How many items of each group may and must be chosen; a dict names the groups that are limited. What is owed to
        a group is kept free of `k` and of the budget.
    given : array, optional
        Items chosen earlier: rows like the embeddings, which need not be among them, or item numbers. What repeats
        them adds little; none is chosen again by number. Limits and `log_prob` do not count them.
    **options
        For the decoder: n_samples, rng, ...

    Returns
    -------
    DiverseSelection
        A `Selection` that also says, for each item that was skipped, which chosen one is most similar.

    Examples
    --------
    >>> embeddings = [[1.0, 0.0, 0.1], [1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> scores = [9.0, 8.5, 7.0, 3.0]
    >>> diversify(embeddings, scores, k=2).indices
    array([0, 2])
    >>> diversify(embeddings, scores, k=2, diversity=0).indices
    array([0, 1])
    >>> diversify(embeddings, scores, budget=100, cost=[90, 40, 60, 30]).indices
    array([1, 2])
    """
    d = check_diversity(diversity)
    auto = isinstance(k, str)
    if auto and k != "auto":
        raise ValueError(f'k must be a whole number or "auto", found {k!r}.')
    if strategy != "dpp":
        raise ValueError(f'strategy must be "dpp", found {strategy!r}. dpplearn has no other; leave it out.')
    method = normal_name(method, "method")
    if isinstance(budget, str):
        raise TypeError(f"budget must be a number, found {budget!r}. Pass strategy= by name.")
    strength = float(scale)
    if not (np.isfinite(strength) and strength >= 0.0):
        raise ValueError(f"scale must be a number that is not negative, found {scale!r}.")
    rows, lengths, z = read_candidates(embeddings, scores)
    own = 0.0 if nugget is None else check_nugget(nugget)
    parameters = {"scale": scale, "method": method, "nugget": own}
    if z.size == 0:
        limits = Limits(z, np.inf, 0, np.empty(0, np.int64), np.empty(0, np.int64), True, 0.0)
        nothing = Directed(np.empty((0, 1)), z, z)
        return DiverseSelection.nothing("no candidates", Known(0.0), d, parameters, limits, nothing)
    factor = strength * min(0.5, 1.0 - d)
    if factor * WIDEST > HIGHEST:
        factor = min(factor, HIGHEST / max(1.0, float(np.abs(z).max())))
    z *= factor
    q = np.exp(z, out=z)
    q *= np.sqrt(2.0)
    directed = Directed(rows, lengths, q)
    size = None if isinstance(k, str) else k
    knob = min(d, 0.5)  # above 1/2 it is in q, else in S
    candidates = Candidates(directed, knob, nugget=own, distinct=own > 0.0 and d >= 0.5)
    earlier = None
    if given is not None:
        *earlier, known = read_given(given, directed)
        exclude = np.union1d(exclude, known) if np.size(exclude) else known
        if nugget is None:
            candidates = with_nugget(candidates)
        candidates = replace(candidates, prior=prior(earlier[0], earlier[1], 2.0 * knob * (1.0 - candidates.nugget)))
    limits = check_limits(q.size, cost, budget, size, include, exclude)
    limited = groups is not None or max_per_group is not None or min_per_group is not None
    if limited:
        limits = replace(limits, groups=check_groups(groups, max_per_group, min_per_group, limits))
    if method == "greedy" and not options:
        fallible = nugget is None and earlier is None and size is not None and d >= 0.5  # below 1/2 S is regular
        if fallible and limits.k > rows.shape[1] + np.count_nonzero(lengths == 0.0):
            candidates, fallible = with_nugget(candidates), False
        found, candidates = greedy(candidates, limits, check_share(share) if auto else None, fallible)
        parameters["nugget"] = candidates.nugget
    elif auto or limited or earlier is not None:
        what = 'k="auto"' if auto else "groups" if limited else "given"
        raise ValueError(f'{what} is for method="greedy" without other options, found {method!r}, {sorted(options)}.')
    else:
        call = {"k": size, "include": include, "exclude": exclude, "diversity": knob}
        found = decoder(method)(candidates, cost, budget, **call, **options)
    return DiverseSelection.of(found, found.reason, d, parameters, limits, directed)


def check_groups(groups: Any, most: Bound | None, least: Bound | None, limits: Limits) -> Groups:
    """Groups with their limits, in a call that says how many items there are to be."""
    if groups is None:
        raise ValueError("max_per_group and min_per_group need groups, the group of each item.")
    if least is not None and not limits.bounded:
        raise ValueError("min_per_group needs k or a budget: without, items are taken only while they add something.")
    return read_groups(groups, most, least, limits)


def with_nugget(candidates: Candidates) -> Candidates:
    """The same items, each with a little of its own; those that repeat another come last."""
    return replace(candidates, nugget=NUGGET, distinct=candidates.diversity >= 0.5)


def greedy(candidates: Candidates, limits: Limits, share: float | None, fallible: bool) -> tuple[Selection, Candidates]:
    """greedy_map with its defaults, on inputs that were checked before: for few items that is most of the time.

    With `share`, until no gain is above that share of the largest. Where it is `fallible` and fewer items than asked
    for are independent, once more with a nugget.
    """
    reason = limits.empty_reason()
    if reason:
        return Selection.nothing(reason, candidates.log_prob), candidates
    floor = -np.inf if limits.bounded else 1.0
    if share is not None:
        floor = share * float(candidates.diag.max())
    run = greedy_auto(candidates, limits, None, floor)
    short = limits.groups.unmet(run.items) if limits.groups else []
    if fallible and (run.end == DEPENDENT or short):
        return greedy(with_nugget(candidates), limits, share, False)
    found = as_selection(candidates, limits, run)
    reason = found.reason
    if share is not None and run.end == NO_GAIN:
        reason = f"every other candidate would add less than {share:g} of what the first added"
    if short:
        reason += f"; min_per_group is not met for {short[0]!r}, whose items add nothing"
    return Selection.of(found, reason) if reason is not found.reason else found, candidates
