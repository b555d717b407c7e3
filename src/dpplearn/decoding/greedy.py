"""Algorithm 2 of the paper: add the item with the largest gain for its cost, until nothing fits."""

from __future__ import annotations

import math
from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, check_choice, count_of, is_tensor, view
from dpplearn._loops.records import (
    DEPENDENT,
    IMPOSSIBLE,
    LOG,
    NO_GAIN,
    NO_QUOTA,
    NO_ROOM,
    PROBABILITY,
    QUOTA,
    SIGNED,
    SIZE,
    Quota,
    Run,
    Wanted,
)
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import Candidates, Model, read_model
from dpplearn.decoding.lazy import greedy_rows
from dpplearn.decoding.limits import Limits, check_limits, check_number
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.two_sided import greedy_two_sided
from dpplearn.operand import Dense, Operand, Rows, TwoSided

ON_DEVICE = "dpplearn.torch.selecting:greedy_map"  # for tensors; imported with the first of them
EVERY = "every candidate is chosen"


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
    exclusive: ArrayLike | None = None,
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
    upper bounds, and only the front of a queue is brought up to date: O(n d) for a pass over all, and few passes. With
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
    exclusive : array of integers, optional
        One for each item: at most one item of each number is chosen (other forms of the same sentence, say).
    diversity : float
        0 is quality alone, 0.5 the model, 1 similarity alone; the formula is in `dpplearn.decoding.diversity`.
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
    if is_tensor(dpp) or (isinstance(dpp, tuple) and len(dpp) == 2 and is_tensor(dpp[1])):
        if nugget != 0.0:
            raise ValueError(f"nugget must be 0 for tensors, found {nugget!r}. Pass arrays.")
        asked = {"k": k, "gain": gain, "cost_power": cost_power, "stop": stop, "include": include, "exclude": exclude}
        asked |= {"exclusive": exclusive}
        found: Selection = resolve_name(ON_DEVICE)(dpp, cost, budget, diversity, **asked)
        return found
    candidates = read_model(dpp, diversity, nonsymmetric=True, nugget=nugget)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, exclusive)
    check_choice(gain, "gain", ("auto", "probability", "log"))
    if stop is not None:
        check_choice(stop, "stop", ("no-gain", "full"))
    power = check_power(cost_power)
    reason = limits.empty_reason()
    if reason:
        return Selection.nothing(reason, candidates.log_prob)
    only_gains = stop == "no-gain" or (stop is None and not limits.bounded)
    floor = 1.0 if only_gains else -np.inf
    if gain == "auto":
        run = greedy_auto(candidates, limits, power, floor)
    else:
        rule = PROBABILITY if gain == "probability" else LOG
        run = greedy_run(candidates, limits, rule, 1.0 if power is None else power, floor)
    return as_selection(candidates, limits, run)


def check_power(cost_power: Any) -> float | None:
    """A finite number that is not negative, or None."""
    if cost_power is None:
        return None
    power = check_number(cost_power, "cost_power")
    if not (np.isfinite(power) and power >= 0.0):
        raise ValueError(f"cost_power must be a number that is not negative, found {cost_power!r}.")
    return power


def greedy_auto(candidates: Candidates, limits: Limits, power: float | None, floor: float) -> Run:
    """The most probable of three runs, which differ in how much costs count; see greedy_map."""
    powers = (0.0,) if limits.equal else (0.0, 0.5, 1.0) if power is None else (power,)
    runs = [greedy_run(candidates, limits, SIGNED, r, floor) for r in powers]
    # rounded, so that of runs that reach the same set the first counts
    return runs[0] if len(runs) == 1 else max(runs, key=lambda run: round(sum(map(math.log, run.gains.tolist())), 9))


def greedy_run(candidates: Candidates, limits: Limits, rule: int, power: float, floor: float) -> Run:
    """One greedy pass with gains divided by cost^power."""
    check_stop()
    if not candidates.here:
        return possible(candidates, limits, candidates.greedy_run(limits, rule, power, floor))
    wanted = as_wanted(limits, rule, power, floor)
    operand, alive = candidates.operand, limits.alive.copy()
    if isinstance(operand, Rows):
        run = greedy_rows(operand, wanted, alive, quota_of(limits), candidates.prior, candidates.distinct, limits.equal)
    else:
        run = run_loop(operand, wanted, alive)
    return possible(candidates, limits, run)


def as_wanted(limits: Limits, rule: int, power: float, floor: float) -> Wanted:
    """What a run is to choose, with gains divided by cost^power."""
    cost = limits.cost
    plain = power == 1.0 or (limits.equal and limits.cheapest == 1.0)
    weight = cost if plain else np.ones(cost.size) if power == 0.0 else cost**power
    return Wanted(cost, weight, rule, floor, limits.room, limits.k, view(limits.include), limits.group)


def quota_of(limits: Limits) -> Quota:
    """The limits of groups, where there are some."""
    return NO_QUOTA if limits.groups is None else limits.groups.quota


def run_loop(operand: Operand | TwoSided, wanted: Wanted, alive: Any) -> Run:
    """A greedy run over a kernel, or over rows of which it is never formed."""
    from dpplearn._loops.greedy import greedy_kernel

    if isinstance(operand, TwoSided):
        return greedy_two_sided(operand, wanted, alive)
    if isinstance(operand, Dense):
        run: Run = greedy_kernel(view(operand.L), wanted, alive)
        return run
    return greedy_rows(operand, wanted, alive)


def possible(candidates: Candidates, limits: Limits, run: Run) -> Run:
    """The run, unless an item to include has no quality or was a linear combination of others."""
    if run.end == IMPOSSIBLE:
        none = limits.include[candidates.diag[limits.include] <= 0.0]
        if none.size and not isinstance(candidates.operand, TwoSided):  # there, it may have a gain with another
            raise ValueError(f"include={limits.include.tolist()} has probability 0: item {none[0]} has quality 0.")
        raise ValueError(
            f"include={limits.include.tolist()} has probability 0: some of its items are linear combinations of the "
            "others. Include fewer of them."
        )
    return run


def as_selection(candidates: Candidates, limits: Limits, run: Run) -> Selection:
    """What a run chose, and why it ended."""
    gains, reason = np.log(run.gains), describe(limits, run)
    if run.end == DEPENDENT and isinstance(candidates.operand, TwoSided):
        reason = "every other candidate has gain 0, though it may have one together with another"
    if run.repeats:
        reason += f"; the last {run.repeats} repeat embeddings of others, because no other candidate was left"
    return Selection(run.items.copy(), limits.total(run.items), gains, reason, candidates.log_prob)


def as_found(candidates: Candidates, limits: Limits, Y: IntArray, reason: str) -> Selection:
    """A set that was found as a whole, put in order: items to include first, then by gain."""
    run = possible(candidates, limits, order(candidates, Y, np.searchsorted(Y, limits.include)))
    places, gains = run.items, np.log(run.gains)
    if places.size < Y.size:  # a set of probability 0 has items without a gain to order them by
        rest = np.setdiff1d(np.arange(Y.size), places)
        places, gains = np.append(places, rest), np.append(gains, np.full(rest.size, -np.inf))
    return Selection(Y[places], limits.total(Y), gains, reason, candidates.log_prob)


def gains_in_order(candidates: Candidates, items: IntArray) -> FloatArray:
    """log of what each item multiplies the probability by, when added in this order; -inf from where it is 0."""
    run = order(candidates, items, np.arange(items.size))
    gains = np.full(items.size, -np.inf)
    known = run.gains.size - (run.end == IMPOSSIBLE)
    gains[:known] = np.log(run.gains[:known])
    return gains


def order(candidates: Candidates, items: IntArray, forced: IntArray) -> Run:
    """A greedy run among a few items, numbered as they are here: those forced in their order, then the others."""
    k, alive = items.size, np.ones(items.size, np.uint8)
    alive[forced] = 0
    wanted = Wanted(np.ones(k), np.ones(k), LOG, -np.inf, np.inf, k, view(forced), np.empty(0, np.int64))
    return run_loop(candidates.part(items), wanted, alive)


def describe(limits: Limits, run: Run) -> str:
    """Why the run ended, in words."""
    if run.end == SIZE:
        return f"the size limit of {count_of(limits.k, 'item', 'items')} is reached"
    if run.end == NO_ROOM:
        left = limits.budget - limits.total(run.items)
        return f"no other candidate fits what is left of the budget ({left:g} of {limits.budget:g})"
    if run.end == QUOTA:
        if limits.groups is not None:
            return "no other candidate is within the limits of its group"
        return "every other candidate is excluded by one that is chosen"
    if run.end == NO_GAIN:
        return "no other candidate has a gain"
    if run.end == DEPENDENT and run.items.size == 0:
        return "every candidate has quality 0"
    if run.end == DEPENDENT:
        return (
            f"every other candidate has gain 0, being a linear combination of the {run.items.size} chosen: "
            "the kernel's rank is reached"
        )
    return EVERY
