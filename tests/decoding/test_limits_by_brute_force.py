"""Every decoder keeps all limits, in any combination, on random small problems: by brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute import subsets
from brute_decoding import algorithm_2, log_minor
from dpplearn import DPP, LowRankDPP
from dpplearn.decoding import exact_map, greedy_map, local_search


def limited(rng, n):
    """Limits of all kinds, each left out at times; those of groups apart."""
    limits, quota, place = {}, {}, rng.permutation(n)
    if rng.random() < 0.6:
        limits["k"] = int(rng.integers(1, n + 1))
    if rng.random() < 0.5:
        limits["cost"] = np.round(rng.uniform(0.5, 3.0, n), 2)
        limits["budget"] = float(np.round(rng.uniform(0.1, 0.8) * limits["cost"].sum(), 2))
    if rng.random() < 0.4:
        limits["include"] = np.sort(place[: rng.integers(0, 2)])
    if rng.random() < 0.4:
        limits["exclude"] = np.sort(place[n - rng.integers(0, 3) :])
    if rng.random() < 0.6:
        quota["groups"] = rng.integers(0, 3, n)
        if rng.random() < 0.8:
            quota["max_per_group"] = int(rng.integers(1, 3))
        if rng.random() < 0.4 and limits.keys() & {"k", "budget"}:
            quota["min_per_group"] = 1
    return limits, quota


def within(
    Y, n, k=None, budget=np.inf, cost=None, include=(), exclude=(), groups=None, max_per_group=None, min_per_group=0
):
    """Whether a set keeps all limits, by their definition."""
    cost = np.ones(n) if cost is None else cost
    if len(Y) > (n if k is None else k) or sum(cost[i] for i in Y) > budget * (1 + 1e-9):
        return False
    if not set(map(int, include)) <= set(Y) or set(map(int, exclude)) & set(Y):
        return False
    counts = [] if groups is None else [sum(groups[i] == g for i in Y) for g in set(groups.tolist())]
    return all(min_per_group <= m <= (n if max_per_group is None else max_per_group) for m in counts)


@settings(max_examples=1000)
@given(st.integers(0, 2**32 - 1))
def test_every_decoder_within_all_limits_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 8))
    B = rng.standard_normal((n, d)) * np.exp(rng.standard_normal((n, 1)))
    L, (limits, quota) = B @ B.T, limited(rng, n)
    values = {Y: log_minor(L, Y) for Y in subsets(n) if within(Y, n, **limits, **quota)}
    best = max(values.values(), default=-np.inf)
    for decode in (greedy_map, exact_map, local_search):
        if decode is exact_map and "min_per_group" in quota:
            with pytest.raises(ValueError, match=r"exact_map|min_per_group|include"):
                decode(DPP(L), **limits, **quota)
            continue
        for dpp in (DPP(L), LowRankDPP(B)):
            try:
                found = decode(dpp, **limits, **quota)
            except ValueError as error:
                if values and "probability 0" not in str(error) and "linear combinations" not in str(error):
                    raise
                continue
            Y = tuple(found.sorted_subset.tolist())
            if values:
                assert Y in values, (decode.__name__, Y, found.reason)
            if decode is exact_map and values:
                assert values[Y] == pytest.approx(best, abs=1e-6)
    if values and not quota:
        cost = limits.get("cost", np.ones(n))
        ends = (
            limits.get("k"),
            [int(i) for i in limits.get("include", ())],
            [int(i) for i in limits.get("exclude", ())],
        )
        for rule in ("probability", "log"):
            only = not limits.keys() & {"k", "budget"}
            want = algorithm_2(L, cost, limits.get("budget", np.inf), rule, 1.0, *ends, only_gains=only)
            if log_minor(L, ends[1]) > -np.inf:
                for dpp in (DPP(L), LowRankDPP(B)):
                    assert greedy_map(dpp, gain=rule, **limits).subset.tolist() == want
