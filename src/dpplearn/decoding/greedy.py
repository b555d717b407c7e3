"""Greedy choice, Algorithm 2 of the paper: add the item with the largest gain for its cost, until nothing fits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isqrt
from pkgutil import resolve_name

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import IntArray, check_choice, is_tensor
from dpplearn._precision import TIE, rounding
from dpplearn._run.stop import check_stop
from dpplearn.decoding.candidates import Candidates, Embedded, Model, read_model
from dpplearn.decoding.engine import TINY, GreedyRun, Rule, Run
from dpplearn.decoding.limits import Bound, End, Limits, Remaining, check_limits, check_number, why_ended
from dpplearn.decoding.near import NearGains
from dpplearn.decoding.selection import HOST, ON_DEVICE, Selection
from dpplearn.minors import TwoSided

READ_TENSORS = "dpplearn.torch.selecting:read_tensor_model"  # imported with the first tensor


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

    Items that no longer fit leave the candidates, and so do linear combinations of the items chosen, such as
    duplicates: their gain is 0. Time is O(n k^2) for a kernel, and a few passes of O(n d) for features; with a nugget
    and k > d, memory does not grow with k.

    Parameters
    ----------
    dpp : DPP, LowRankDPP, NonsymmetricDPP or tuple (q, phi); or torch tensors: a kernel (n, n), or (q, phi)
        With qualities q (n,) and features phi (n, d), a dense or scipy sparse array, L_ij = q_i q_j cos(phi_i, phi_j);
        no n x n array is formed, and float16, float32 and float64 features are read in place.
    cost, budget, include, exclude, groups, max_per_group, min_per_group
        As in `diversify`.
    k : int, optional
        Largest number of items.
    gain : {"auto", "probability", "log"}
        See Notes.
    cost_power : float, optional
        r above. Default 1, as in the paper, for "probability" and "log"; 0 ignores cost. By default, "auto" tries 0,
        1/2 and 1.
    stop : {"full", "no-gain"}, optional
        "full" goes on until nothing fits, as in the paper, even if the probability falls; "no-gain" takes only items
        that raise it. Default: "full" with a budget or a size limit, else "no-gain".
    diversity : float
        0 is quality alone, 0.5 the model, 1 similarity alone; the formula is in `dpplearn.decoding.candidates`.
    nugget : float
        Similarities are multiplied by 1 - nugget, S -> (1 - nugget) S + nugget I. With a nugget, no item is a linear
        combination of others, and `k` may exceed the rank of the features.

    Returns
    -------
    Selection
        With the items in the order they were chosen, and the reason why the run ended.

    Notes
    -----
    If every gain is below 1 (items with q < 1: usual after learning on large ground sets), g - 1 and log g are
    negative, and dividing by cost prefers *costly* items. So `gain="auto"` divides log g by cost^r only if it is
    positive, does so for r = 0, 1/2 and 1, and returns the most probable of the three sets. Among items with the same
    score, the cheaper comes first. With equal costs, one run is enough.

    If gains above 1 fill the budget, the better of the rules with and without costs has the known guarantee of greedy
    choice (Leskovec et al., 2007). docs/evaluation.md compares the rules on texts, benchmarks/results/decoding.json on
    random problems.

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
        candidates = resolve_name(READ_TENSORS)(dpp, diversity, nugget)
        cost, include, exclude, groups = map(resolve_name(HOST), (cost, include, exclude, groups))
    else:
        candidates = read_model(dpp, diversity, nonsymmetric=True, nugget=nugget)
    limits = check_limits(candidates.n, cost, budget, k, include, exclude, groups, max_per_group, min_per_group)
    selection = greedy_choice(candidates, limits, gain, cost_power, stop)
    return resolve_name(ON_DEVICE)(selection, *parts) if tensors else selection


def greedy_choice(
    candidates: Candidates, limits: Limits, gain: str = "auto", cost_power: float | None = None, stop: str | None = None
) -> Selection:
    """`greedy_map` for candidates and limits that are already checked."""
    check_rule(gain, cost_power, stop)
    if reason := limits.empty_reason():
        return Selection.nothing(reason, candidates.log_prob)
    return as_selection(candidates, limits, greedy_run(candidates, limits, least_gain(limits, stop), gain, cost_power))


def greedy_run(
    candidates: Candidates, limits: Limits, floor: float, gain: str = "auto", power: float | None = None, *,
    strict: bool = True,
) -> Run:  # fmt: skip
    """A greedy run that meets min_per_group; if it cannot, an error, or unless `strict` a run that nearly does."""
    greedy = partial(best_run, candidates, gain=gain, power=power)
    run = greedy(limits, floor)
    if limits.owed(run.items):  # begin again with what groups must have, as long as there are independent items
        owing = limits.counts(limits.include) < limits.need
        others = np.union1d(limits.exclude, np.flatnonzero(limits.alive & ~owing[limits.group]))
        size = limits.include.size + limits.owed(limits.include)
        first = greedy(replace(limits, exclude=others, k=size), -np.inf)
        run = greedy(replace(limits, include=first.items), floor)
    short = np.flatnonzero(limits.counts(run.items) < limits.need)
    if short.size and strict:
        nonsymmetric = isinstance(candidates.operand, TwoSided)
        advice = "Ask for fewer, or name some in include." if nonsymmetric else "Use greedy_map with nugget=1e-6."
        found = f"group {limits.names[short[0]]!r}, whose items are linear combinations of others that are chosen"
        raise ValueError(f"greedy choice cannot meet min_per_group for {found}. {advice}")
    return run


def best_run(
    candidates: Candidates,
    limits: Limits,
    floor: float,
    gain: str = "auto",
    power: float | None = None,
    share: float = 0.0,
) -> Run:
    """A greedy run, or the most probable of three runs with different powers of cost for gain="auto"."""
    powers: tuple[float, ...] = (1.0 if power is None else power,)
    if gain == "auto" and power is None:
        powers = (0.0,) if limits.equal_costs else (0.0, 0.5, 1.0)
    runs, expected = [], None
    if candidates.near:  # this kernel depends on how many items are chosen; without any limit we expect sqrt(n)
        expected = limits.most_items if limits.bounded else isqrt(limits.cost.size)
    for r in powers:
        if len(powers) > 1:
            check_stop()
        gains = candidates.gains(limits.k, expected)
        if gains is None:
            assert isinstance(candidates.operand, TwoSided)
            run = greedy_nonsymmetric(candidates.operand, limits, Rule(gain, limits, r), floor)
        else:
            # if qualities alone decide, gains are exact, and hardly any difference is rounding
            tie = TINY if candidates.diversity == 0.0 and isinstance(candidates.model, Embedded) else TIE
            run = GreedyRun(gains, limits, Rule(gain, limits, r, gains.xp, gains.bound, tie), floor, share).run()
        if run.end == End.IMPOSSIBLE:
            without = limits.include[candidates.diag[limits.include] <= 0.0]
            why = "some of its items are linear combinations of the others. Include fewer of them."
            if without.size and gains is not None:  # in a nonsymmetric kernel it may have a gain beside another item
                why = f"item {without[0]} has quality 0. Leave it out."
            raise ValueError(f"include={limits.include.tolist()} has probability 0: {why}")
        runs.append(run)
    best = runs[0]
    if len(runs) > 1:  # quotas come first; rounding makes the first of several runs to the same set count
        best = max(runs, key=lambda run: (-limits.owed(run.items), round(float(np.log(run.gains).sum()), 9)))
    if isinstance(gains, NearGains):
        items = gains.to_middles(best.items, limits)
        if not np.array_equal(items, best.items):
            return best._replace(items=items, gains=gains.gains_of(items))
    return best


def greedy_nonsymmetric(operand: TwoSided, limits: Limits, rule: Rule, floor: float) -> Run:
    """As `GreedyRun`, for a kernel that need not be symmetric; O(n (d + t)) for the t-th item.

    Items may attract each other, so a gain may grow with Y: old gains are no bounds, and items without a gain stay.
    """
    n, forced = operand.n, limits.include
    k = min(limits.k, n)
    g = operand.diag.copy()
    reach = np.abs(g)  # sum of the sizes of all terms of g: a gain that is small beside it is rounding
    rank = min(k, operand.width)
    columns, rows = np.empty((n, rank)), np.empty((rank, n))  # L given Y is L - columns rows
    if forced.size:
        if operand.logdet(forced) == -np.inf:
            return Run(forced[:1], np.zeros(1), End.IMPOSSIBLE)
        t = forced.size
        rows[:t] = operand.rows(forced)
        columns[:, :t] = np.linalg.solve(operand.block(forced).T, operand.columns(forced).T).T
        g -= np.einsum("is,si->i", columns[:, :t], rows[:t])
        reach += np.einsum("is,si->i", np.abs(columns[:, :t]), np.abs(rows[:t]))
    items, gains = forced.tolist(), gains_of_forced(operand, forced)
    left, alive = Remaining(limits, forced), limits.alive.copy()
    while len(items) < k:
        t = len(items)
        able = alive & left.allows(np.arange(n)) & (g > rounding(t + 1) * reach) & (g > floor)
        if t == rank or not able.any():
            break
        who = np.flatnonzero(able)
        j = rule.best(g[who], who)[2]
        column = operand.columns(np.array([j]))[:, 0] - columns[:, :t] @ rows[:t, j]
        row = operand.rows(np.array([j]))[0] - columns[j, :t] @ rows[:t]
        items.append(j)
        gains.append(float(g[j]))
        alive[j] = False
        left.take(j)
        columns[:, t], rows[t] = column / g[j], row
        change = columns[:, t] * row
        g = g - change
        reach += np.abs(change)
    none = End.ALONE if floor < 0.0 else End.GAIN
    return Run(np.array(items, np.int64), np.array(gains), why_ended(limits, items, none))


def gains_of_forced(operand: TwoSided, forced: IntArray) -> list[float]:
    """The factor of the probability by each item in this order; equal shares if a smaller set has probability 0."""
    sizes = np.arange(forced.size + 1)
    logs = operand.logdets(np.append(0, np.cumsum(sizes)), np.concatenate([forced[:t] for t in sizes]))
    if logs.min() == -np.inf:
        return [float(np.exp(logs[-1] / forced.size))] * forced.size
    return np.exp(np.diff(logs)).tolist()


def least_gain(limits: Limits, stop: str | None) -> float:
    """The gain that an item must exceed to be chosen."""
    return 1.0 if stop == "no-gain" or (stop is None and not limits.bounded) else -np.inf


def check_rule(gain: str = "auto", cost_power: float | None = None, stop: str | None = None) -> None:
    """An error for an unknown gain, cost_power or stop."""
    check_choice(gain, "gain", ("auto", "probability", "log"))
    if stop is not None:
        check_choice(stop, "stop", ("no-gain", "full"))
    if cost_power is not None and check_number(cost_power, "cost_power", 0.0) == np.inf:
        raise ValueError("cost_power must be finite, found inf.")


def as_selection(candidates: Candidates, limits: Limits, run: Run) -> Selection:
    """The selection of a run."""
    return Selection(run.items, limits.total(run.items), np.log(run.gains), reason_of(limits, run), candidates.log_prob)


def in_order(candidates: Candidates, limits: Limits, Y: IntArray, reason: str) -> Selection:
    """The selection of a set Y, ordered: items to include first, then by gain."""
    forced = np.searchsorted(Y, limits.include)
    whole = replace(candidates, tilt=0.0) if candidates.tilt else candidates
    run = best_run(whole.part(Y), check_limits(Y.size, k=Y.size, include=forced), -np.inf, "log", 0.0)
    places, gains = run.items, np.log(run.gains)
    if places.size < Y.size:  # a set of probability 0 has items without a gain
        rest = np.setdiff1d(np.arange(Y.size), places)
        places, gains = np.append(places, rest), np.append(gains, np.full(rest.size, -np.inf))
    return Selection(Y[places], limits.total(Y), gains, reason, candidates.log_prob)


def reason_of(limits: Limits, run: Run, min_gain: float | None = None) -> str:
    """Why the run ended, in words; `min_gain` is only for k="auto"."""
    if run.end == End.SIZE:
        return f"the size limit of {limits.k} item{'s' * (limits.k != 1)} is reached"
    if run.end == End.RANK and run.items.size == 0:
        return "every candidate has quality 0"
    fitting = " that fits the budget" * (limits.budget < np.inf)
    least = "" if min_gain is None else f"{min_gain:g} of what the first added"
    too = f" and would add {least}" if least else " and has a gain" * limits.could_take(run.items)
    fewer = f"; a larger min_gain than {min_gain:g} takes fewer" if least else ""
    if least and run.end == End.GAIN and not run.items.size:
        return "every candidate repeats what was given"
    left = limits.budget - limits.total(run.items)
    return {
        End.ROOM: f"no other candidate fits what is left of the budget ({left:g} of {limits.budget:g}){too}",
        End.QUOTA: f"no other candidate{fitting} is within the limits of its group{too}",
        End.GAIN: f"every other candidate would add less than {least}" if least else "no other candidate has a gain",
        End.ALONE: "every other candidate has gain 0, though it may have one together with another",
        End.RANK: f"every other candidate has gain 0, being a linear combination of the {run.items.size} chosen: "
        "the kernel's rank is reached",
        End.EVERY: f"every candidate is chosen{fewer}",
    }[run.end]
