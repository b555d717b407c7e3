"""Algorithm 2 of the paper: add the item with the largest gain for its cost, until nothing fits."""

from __future__ import annotations

import math
from dataclasses import replace
from pkgutil import resolve_name

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import IntArray, check_choice, count_of, is_tensor
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.engine import GreedyRun, Rule, Run
from dpplearn.decoding.limits import Bound, End, Limits, check_limits, check_number
from dpplearn.decoding.nonsymmetric import greedy_nonsymmetric
from dpplearn.decoding.selection import Selection, Unknown
from dpplearn.operand import TwoSided

# imported with the first tensor
READ, HOST, ON_DEVICE = (f"dpplearn.torch.selecting:{name}" for name in ("read_tensor_model", "host", "on_device"))
EVERY = "every candidate is chosen"
APPROXIMATE = Unknown("log_prob under a kernel of near items is not computed: its gains are approximate.")


def greedy_map(
    dpp: Model,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    *,
    k: int | None = None,
    gain: str = "auto",
    cost_power: float | None = None,
    stop: str | None = None,
    include: ArrayLike = (),
    exclude: ArrayLike = (),
    groups: ArrayLike | None = None,
    max_per_group: Bound | None = None,
    min_per_group: Bound | None = None,
    diversity: float = 0.5,
    nugget: float = 0.0,
) -> Selection:
    """Add the item with the largest gain for its cost, until nothing fits the budget (Algorithm 2).

    Given the items Y chosen so far, adding i multiplies the probability by its gain, the Schur complement
    g_i = L_ii - L_iY L_Y^-1 L_Yi. The rules compare

        "probability":  (g_i - 1) / cost_i^r        the paper's rule, equation for line 3 of Algorithm 2
        "log":          log g_i / cost_i^r          the gain in log-probability

    An item that no longer fits leaves the candidates, and so does one that is a linear combination of those
    chosen (a duplicate): its gain is 0. O(n k^2) for a kernel with k items chosen. For features, old gains are
    upper bounds, and only a block of items is kept up to date: O(n d) for a pass over all, and few passes. With
    a nugget and k > d, one d x d matrix stands for all items chosen, so that memory does not grow with k.

    Parameters
    ----------
    dpp : DPP, LowRankDPP, NonsymmetricDPP or tuple (q, phi); or torch tensors: a kernel (n, n), or (q, phi)
        With qualities q (n,) and features phi (n, d), a dense or scipy sparse array, L_ij = q_i q_j cos(phi_i, phi_j);
        no n x n array is formed, and float16, float32 and float64 features are read in place.
    cost : array of shape (n,), optional
        Positive; 1 each by default.
    budget : float, optional
        Largest total cost.
    k : int, optional
        Largest number of items.
    gain : {"auto", "probability", "log"}
        See Notes.
    cost_power : float, optional
        r above. Default 1, the paper's, for "probability" and "log"; 0 ignores cost. With "auto", by default
        0, 1/2 and 1 are tried.
    stop : {"full", "no-gain"}, optional
        "full" goes on until nothing fits, like the paper, though the probability may fall; "no-gain" takes only
        items that raise it. Default: "full" where there is a budget or a size limit, else "no-gain".
    include, exclude : arrays of item numbers
        Items that must be in, which come first, and items that must not.
    groups : array of shape (n,), optional
        The source, class or sentence of each item, as texts or numbers.
    max_per_group, min_per_group : int or dict, optional
        How many items of each group may and must be chosen; a dict names the groups that are limited.
    diversity : float
        0 is quality alone, 0.5 the model, 1 similarity alone; the formula is in `dpplearn.decoding.candidates`.
    nugget : float
        The part of each item that is its own: similarities are multiplied by 1 - nugget, S -> (1 - nugget) S +
        nugget I. With one, no item is a linear combination of others, and `k` may exceed the rank of the features.

    Returns
    -------
    Selection
        With the items in the order they were chosen, and the reason why the run ended.

    Notes
    -----
    Where every gain is below 1 (items with q < 1: usual after learning on large ground sets), g - 1 and log g are
    negative, and dividing by cost prefers *costly* items. So `gain="auto"` divides only a gain by cost^r, compares
    losses as they are, does so for r = 0, 1/2 and 1, and returns the most probable of the three sets.

    Where the model's own gains fill the budget, taking the better of the rules with and without costs is what gives
    greedy its guarantee (Leskovec et al., 2007). Where every item is a loss, it is the rule without costs, which a
    common factor on all qualities does not change, and which takes about as many items as the model expects.
    docs/evaluation.md compares it with others on texts, benchmarks/results/decoding.json on random problems. Of
    items with the same score the cheaper comes first. With equal costs all three runs are the same, and one is made.

    Examples
    --------
    >>> from dpplearn import DPP
    >>> dpp = DPP([[0.09, 0.085, 0.0], [0.085, 0.09, 0.0], [0.0, 0.0, 0.04]])  # all q < 1; two nearly the same
    >>> greedy_map(dpp, cost=[4, 5, 4], budget=8).subset
    array([0, 2])
    >>> greedy_map(dpp, cost=[4, 5, 4], budget=8, gain="probability").subset  # the costly one; nothing else fits
    array([1])
    >>> greedy_map(dpp, cost=[4, 5, 4], budget=3).reason
    'the budget of 3 is below the cheapest candidate, which costs 4'
    """
    parts = dpp if isinstance(dpp, tuple) else (dpp,)
    tensors = any(map(is_tensor, parts))
    if tensors:
        candidates = resolve_name(READ)(dpp, diversity, nugget)
        cost, include, exclude, groups = map(resolve_name(HOST), (cost, include, exclude, groups))
    else:
        candidates = read_model(dpp, diversity, nonsymmetric=True, nugget=nugget)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    rule, power, stop = check_rule(gain, cost_power, stop)
    reason = limits.empty_reason()
    if reason:
        return Selection.nothing(reason, candidates.log_prob)
    only_gains = stop == "no-gain" or (stop is None and not limits.bounded)
    run = greedy_run(candidates, limits, 1.0 if only_gains else -np.inf, rule, power)
    selection = as_selection(candidates, limits, run, describe(limits, run))
    return resolve_name(ON_DEVICE)(selection, *parts) if tensors else selection


def check_rule(
    gain: str = "auto", cost_power: float | None = None, stop: str | None = None
) -> tuple[str, float | None, str | None]:
    """What items are compared by, and when to stop."""
    check_choice(gain, "gain", ("auto", "probability", "log"))
    if stop is not None:
        check_choice(stop, "stop", ("no-gain", "full"))
    power = None if cost_power is None else check_number(cost_power, "cost_power")
    if power is not None and not (np.isfinite(power) and power >= 0.0):
        raise ValueError(f"cost_power must be a number that is not negative, found {cost_power!r}.")
    return gain, power, stop


def greedy_run(
    candidates: Candidates, limits: Limits, floor: float, rule: str = "auto", power: float | None = None
) -> Run:
    """A greedy run that has all it must have of each group; else an error that says which group it lacks."""
    run = best_run(candidates, limits, floor, rule, power)
    if limits.quota is None or limits.quota.owed(run.items) == 0:
        return run
    run = owed_first(candidates, limits, floor, rule, power)
    short = limits.quota.unmet(run.items)
    if short:
        raise ValueError(
            f"greedy choice cannot meet min_per_group for group {short[0]!r}: its items are linear combinations of "
            "others that are chosen. Pass nugget=1e-6, which leaves every item a little of its own."
        )
    return run


def owed_first(candidates: Candidates, limits: Limits, floor: float, rule: str, power: float | None) -> Run:
    """A run that first takes what groups must have, while there are independent items, and then goes on."""
    quota = limits.quota
    assert quota is not None
    owing = quota.counts(limits.include) < quota.need
    others = np.union1d(limits.exclude, np.flatnonzero(limits.alive & ~owing[quota.group]))
    size = limits.include.size + quota.owed(limits.include)
    first = best_run(candidates, replace(limits, exclude=others, k=size), -np.inf, rule, power)
    return best_run(candidates, replace(limits, include=first.items), floor, rule, power)


def best_run(candidates: Candidates, limits: Limits, floor: float, rule: str, power: float | None) -> Run:
    """The most probable of the runs that are to be tried: for "auto" three, which differ in how much costs count."""
    if rule != "auto":
        powers: tuple[float, ...] = (1.0 if power is None else power,)
    else:
        powers = (0.0,) if limits.equal else (0.0, 0.5, 1.0) if power is None else (power,)
    runs = [one_run(candidates, limits, floor, rule, r) for r in powers]

    def worth(run: Run) -> tuple[int, float]:
        """Quotas first; rounded, so that of runs that reach the same set the first counts."""
        owed = 0 if limits.quota is None else limits.quota.owed(run.items)
        return -owed, round(sum(map(math.log, run.gains.tolist())), 9)

    best = max(runs, key=worth) if len(runs) > 1 else runs[0]
    return best._replace(items=candidates.to_middles(best.items, limits)) if candidates.near else best


def one_run(candidates: Candidates, limits: Limits, floor: float, rule: str, power: float) -> Run:
    """One greedy pass with gains divided by cost^power; an error where the items to include are dependent."""
    gains = candidates.gains(limits.k)
    if gains is None:
        assert isinstance(candidates.operand, TwoSided)
        run = greedy_nonsymmetric(candidates.operand, limits, Rule(rule, limits, power), floor)
    else:
        run = GreedyRun(gains, limits, Rule(rule, limits, power, gains.xp, gains.bound), floor).run()
    if run.end == End.IMPOSSIBLE:
        raise candidates.impossible(limits.include)
    return run


def as_selection(candidates: Candidates, limits: Limits, run: Run, reason: str) -> Selection:
    """What a run chose, and why it ended."""
    log_prob = APPROXIMATE if candidates.near else candidates.log_prob
    return Selection(run.items, limits.total(run.items), np.log(run.gains), reason, log_prob)


def in_order(candidates: Candidates, limits: Limits, Y: IntArray, reason: str) -> Selection:
    """A set that was found as a whole, put in order: items to include first, then by gain."""
    forced = np.searchsorted(Y, limits.include)
    run = one_run(candidates.part(Y), check_limits(Y.size, k=Y.size, include=forced), -np.inf, "log", 0.0)
    places, gains = run.items, np.log(run.gains)
    if places.size < Y.size:  # a set of probability 0 has items without a gain to order them by
        rest = np.setdiff1d(np.arange(Y.size), places)
        places, gains = np.append(places, rest), np.append(gains, np.full(rest.size, -np.inf))
    return Selection(Y[places], limits.total(Y), gains, reason, candidates.log_prob)


def describe(limits: Limits, run: Run) -> str:
    """Why the run ended, in words."""
    if run.end == End.SIZE:
        return f"the size limit of {count_of(limits.k, 'item', 'items')} is reached"
    if run.end == End.ROOM:
        left = limits.budget - limits.total(run.items)
        return f"no other candidate fits what is left of the budget ({left:g} of {limits.budget:g})"
    if run.end == End.QUOTA:
        return "no other candidate is within the limits of its group"
    if run.end == End.GAIN:
        return "no other candidate has a gain"
    if run.end == End.ALONE:
        return "every other candidate has gain 0, though it may have one together with another"
    if run.end == End.RANK and run.items.size == 0:
        return "every candidate has quality 0"
    if run.end == End.RANK:
        return (
            f"every other candidate has gain 0, being a linear combination of the {run.items.size} chosen: "
            "the kernel's rank is reached"
        )
    return EVERY
