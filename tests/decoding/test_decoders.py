"""Exact, local, sampled and consensus decoding against enumeration, and the knob that all share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_decoding import best_set, feasible, kernel, log_minor, random_problem
from dpplearn import DPP, LowRankDPP
from dpplearn.decoding import consensus, exact_map, greedy_map, local_search, sampled_map
from dpplearn.decoding.candidates import diversified, read_model
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.tilt import fill_tilt

seeds = st.integers(0, 10_000)


def limits_of(seed, cost, budget):
    include = [2] if seed % 3 == 0 and cost[2] <= budget else []
    return {"k": [None, 3][seed % 2], "include": include, "exclude": [5] if seed % 5 == 0 else []}


# exact_map


@given(seeds, st.sampled_from([None, 3]))
def test_exact_is_the_best_of_all(seed, rank):
    q, phi, cost, budget = random_problem(seed, rank=rank)
    L, limits = kernel(q, phi), limits_of(seed, cost, budget)
    value, _ = best_set(L, cost, budget, **limits)
    for model in (DPP(L), (q, phi)):
        found = exact_map(model, cost, budget, **limits)
        assert found.optimal
        assert found.gap == 0.0
        assert log_minor(L, found.subset) == pytest.approx(value, abs=1e-7)
        assert tuple(found.sorted_subset) in feasible(cost, budget, **limits)


def test_time_limit_gives_a_gap_that_holds(rng):
    points = rng.random((40, 2))
    S = np.exp(-((points[:, None] - points) ** 2).sum(axis=2) / 0.18)
    early = exact_map(DPP(25 * S), budget=8, time_limit=0)
    whole = exact_map(DPP(25 * S), budget=8)
    assert not early.optimal
    assert early.gap > 0
    assert "time limit" in early.reason
    assert early.log_prob <= whole.log_prob + 1e-9 <= early.log_prob + early.gap + 2e-9


# local_search


@given(seeds, st.sampled_from([0.0, 0.3, 0.5, 0.8]))
def test_local_search_never_loses_and_ends_where_no_move_helps(seed, diversity):
    q, phi, cost, budget = random_problem(seed)
    limits = limits_of(seed, cost, budget)
    L = diversified(kernel(q, phi), diversity)
    choices = feasible(cost, budget, **limits)
    start = choices[seed % len(choices)]
    for model in (DPP(kernel(q, phi)), (q, phi)):
        found = local_search(model, cost, budget, start=start, diversity=diversity, **limits)
        Y = set(found.subset.tolist())
        s = fill_tilt(read_model(model, diversity), check_limits(8, cost, budget, **{"k": None} | limits))
        assert (s == 0) or diversity > 0.5

        def worth(Z, s=s):
            return log_minor(L, Z) + s * len(Z)

        assert worth(found.subset) >= worth(start) - 1e-9
        neighbours = [Z for Z in choices if len(Y - set(Z)) <= 1 and len(set(Z) - Y) <= 1]
        assert worth(found.subset) >= max(worth(Z) for Z in neighbours) - 1e-7


# tilt and sampled_map


@pytest.mark.parametrize("tilt", [False, True])
@pytest.mark.parametrize("form", ["kernel", "rows", "features"])
def test_enough_samples_find_the_best_set(form, tilt):
    q, phi, cost, budget = random_problem(2)
    L = kernel(q, phi)
    model = {"kernel": DPP(L), "rows": LowRankDPP(q[:, None] * phi), "features": (q, phi)}[form]
    low = 0.6 * budget
    found = sampled_map(model, cost, budget, min_cost=low, n_samples=200_000, tilt=tilt, rng=0)
    choices = [Y for Y in feasible(cost, budget) if sum(cost[i] for i in Y) >= low]
    best = max(choices, key=lambda Y: log_minor(L, Y))
    assert found.log_prob == pytest.approx(DPP(L).log_prob(best), abs=1e-9)
    assert found.sorted_subset.tolist() == list(best)


def test_the_seed_decides_and_not_the_threads():
    q, phi, cost, budget = random_problem(4, n=30)
    runs = [sampled_map((q, phi), cost, budget, n_samples=30_000, rng=7, n_jobs=jobs) for jobs in (1, 2, 3)]
    for run in runs[1:]:
        assert run.subset.tolist() == runs[0].subset.tolist()
        assert run.n_feasible == runs[0].n_feasible


# consensus


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"utility": np.ones((2, 3)), "k": 1}, "one row of token counts per item"),
        ({"utility": -np.ones((3, 3)), "k": 1}, "not negative"),
        ({"utility": [(-1.0, np.eye(3))], "k": 1}, "weights"),
        ({"utility": 3.0, "k": 1}, "utility must"),
        ({}, "budget or a size limit"),
        ({"utility": lambda A, B: len(A) + len(B), "k": 1}, "utility must"),
    ],
)
def test_bad_consensus(changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        consensus(DPP(np.eye(3)), **changes)


# diversity


@pytest.mark.parametrize("decode", [greedy_map, exact_map, local_search, sampled_map, consensus])
def test_end_points(decode):
    """0: the items of the highest quality, however similar; 1: quality changes nothing; 0.5: the model."""
    rng = np.random.default_rng(1)
    base = rng.standard_normal(6)
    phi = np.vstack([base + 0.05 * rng.standard_normal((4, 6)), rng.standard_normal((4, 6))])
    phi /= np.linalg.norm(phi, axis=1, keepdims=True)
    q = np.array([9.0, 8.0, 7.0, 6.0, 1.5, 1.4, 1.3, 1.2])
    trios = [Y for Y in feasible(np.ones(8), 3) if len(Y) == 3]
    options = {"rng": 0, "n_samples": 50_000} if decode is sampled_map else {}
    for model in (lambda q: DPP(kernel(q, phi)), lambda q: (q, phi)):
        alone = decode(model(q), k=3, diversity=0, **options)
        assert len(alone) == 3 or decode is consensus
        if decode is not consensus:
            assert alone.sorted_subset.tolist() == [0, 1, 2]
        by_similarity = [decode(model(x), k=3, diversity=1, **options) for x in (q, q[::-1] / 100, np.ones(8))]
        assert len({tuple(chosen.sorted_subset) for chosen in by_similarity}) == 1
        assert len(by_similarity[0]) == 3
        if decode is exact_map:
            S = kernel(np.ones(8), phi)
            assert log_minor(S, by_similarity[0].subset) == pytest.approx(max(log_minor(S, Y) for Y in trios))
        middle = decode(model(q), k=3, diversity=0.5, **options)
        assert middle.sorted_subset.tolist() == decode(model(q), k=3, **options).sorted_subset.tolist()
        assert middle.gains.sum() == pytest.approx(log_minor(kernel(q, phi), middle.subset), abs=1e-6)
