"""The same call chooses the same set, whatever holds the data; and every decoder keeps all limits, by brute force."""

import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from brute import subsets
from brute_decoding import algorithm_2, log_minor
from dpplearn import DPP, LowRankDPP, diversify
from dpplearn.decoding import engine, exact_map, greedy_map, local_search
from dpplearn.decoding.candidates import read_model
from holders import ARROW, DENSE, SPARSE

HOLDERS = DENSE | SPARSE | ARROW | {"memory map": None}
K = 7  # columns
CALLS = {
    "k": {"k": 5},
    "as many as there are directions": {"k": K},
    "no limit": {},
    "log": {"k": 5, "gain": "log"},
    "probability": {"k": 5, "gain": "probability"},
    "log with costs": {"budget": 9.0, "cost": True, "gain": "log"},
    "probability with costs": {"budget": 9.0, "cost": True, "gain": "probability"},
    "costs": {"budget": 9.0, "cost": True},
    "costs without power": {"budget": 9.0, "cost": True, "cost_power": 0.0},
    "only gains": {"k": 6, "stop": "no-gain"},
    "nugget": {"k": 5, "nugget": 0.01},
    "nugget past the rank": {"k": 20, "nugget": 1e-6, "kernel": "linear"},
    "nugget past the rank, log": {"k": 20, "nugget": 1e-6, "kernel": "linear", "gain": "log"},
    "nugget past the rank, costs": {"budget": 30.0, "cost": True, "nugget": 1e-6, "kernel": "linear"},
    "groups": {"k": 6, "groups": True, "max_per_group": 2},
    "groups with a least number": {"k": 6, "groups": True, "max_per_group": 3, "min_per_group": 1},
    "groups past the rank": {"k": 12, "groups": True, "max_per_group": 3, "nugget": 1e-6},
    "backfill": {"k": 12, "groups": True, "max_per_group": 1, "nugget": 1e-6, "backfill": True},
    "given rows": {"k": 4, "given": True},
    "given numbers": {"k": 4, "given": [3, 8]},
    "given past the rank": {"k": 12, "given": True, "kernel": "linear"},
    "include and exclude": {"k": 5, "include": [3, 9], "exclude": [0, 1, 2]},
    "all": {"k": 6, "budget": 12.0, "cost": True, "include": [3], "exclude": [0], "groups": True, "max_per_group": 2},
    "score alone": {"k": 6, "diversity": 0.0},
    "a quarter": {"k": 12, "diversity": 0.25, "kernel": "linear"},
    "three quarters": {"k": 5, "diversity": 0.75},
    "similarity alone": {"k": 5, "diversity": 1.0},
    "auto": {"k": "auto"},
    "auto with a nugget": {"k": "auto", "min_gain": 0.2, "nugget": 0.1},
    "exact": {"k": 4, "decoder": "exact"},
    "exact in groups": {"k": 4, "decoder": "exact", "groups": True, "max_per_group": 1},
    "local": {"k": 5, "decoder": "local"},
    "local with all": {"k": 5, "budget": 9.0, "cost": True, "decoder": "local", "groups": True, "max_per_group": 2},
    "local past the rank": {"k": 12, "decoder": "local", "nugget": 0.3},
}
PAST = {  # by near items
    "past the rank": {"k": 20},
    "past the rank, log": {"k": 20, "gain": "log"},
    "past the rank, costs": {"k": 20, "budget": 40.0, "cost": True},
    "past the rank, groups": {"k": 12, "groups": True, "max_per_group": 4, "include": [3]},
    "past the rank, given": {"k": 20, "given": True},
    "near from the start": {"k": 5, "kernel": "near"},
}


def problem(seed, n=30):
    """Multiples of 1/8, which float16 holds; some rows repeat others, and one is 0."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-16, 17, (n, K)) / 8.0
    X[n // 2], X[n - 1] = X[0], X[1]
    X[2] = 0.0
    return X, rng.integers(0, 9, n) / 4.0, rng.integers(1, 5, n).astype(float), rng.integers(0, 4, n)


def filled(call, cost, groups, seed):
    """The call with its arrays."""
    call = dict(call)
    for name, value in (("cost", cost), ("groups", groups)):
        if name in call:
            call[name] = value
    if call.get("given") is True:
        call["given"] = np.random.default_rng(seed + 1).integers(-16, 17, (2, K)) / 8.0
    return call


def hold(name, X, tmp_path):
    if name != "memory map":
        return HOLDERS[name](X)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def small_blocks(monkeypatch):
    """Blocks of 8 items from pools of 32, and passes over 16 rows: few items see what many would."""
    monkeypatch.setattr(engine.ArrayOps, "start", 8)
    monkeypatch.setattr(engine, "SMALL_ENTRIES", 0)
    monkeypatch.setattr(engine, "POOL_SIZE", 32)
    monkeypatch.setattr(engine, "ROWS_AT_ONCE", 16)


@pytest.mark.parametrize("call", [*CALLS, *PAST])
def test_the_same_set_whatever_holds_the_data(call, tmp_path, monkeypatch):
    few = CALLS.get(call, {}).get("decoder") is not None
    for seed in range(2 if few else 3):
        X, s, cost, groups = problem(seed, 12 if few else 30 if seed else 150)
        asked = filled((CALLS | PAST)[call], cost, groups, seed)
        want = diversify(X, s, **asked)
        for small in (False, True):
            with monkeypatch.context() as patch:
                if small:
                    small_blocks(patch)
                for name in HOLDERS:
                    found = diversify(hold(name, X, tmp_path), s, **asked)
                    assert found.subset.tolist() == want.subset.tolist(), (name, small, seed)
                    np.testing.assert_allclose(found.gains, want.gains, rtol=1e-6, atol=1e-6)
                    assert found.reason == want.reason


@pytest.mark.parametrize("make", [np.float64, np.float32, np.float16, sparse.csr_array], ids=lambda x: x.__name__)
def test_blocks_change_nothing_for_many_items(make, monkeypatch):
    """1,000 items with thousands of ties: the first of equals, however they are cut into blocks."""
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (1000, 12)).astype(float)
    s, cost, groups = rng.integers(0, 3, 1000), rng.integers(1, 4, 1000).astype(float), rng.integers(0, 5, 1000)
    calls = [
        {"k": 10},
        {"k": 60, "nugget": 1e-3},
        {"k": 60, "diversity": 0.3, "kernel": "linear"},
        {"budget": 40.0, "cost": cost, "nugget": 1e-3},
        {"budget": 40.0, "cost": cost, "gain": "probability"},
        {"budget": 40.0, "cost": cost, "gain": "probability", "cost_power": 0.0},
        {"budget": 40.0, "cost": cost, "gain": "log"},
        {"budget": 40.0, "cost": cost, "diversity": 1.0},
        {"k": 12, "diversity": 1.0},
        {"k": 12, "groups": groups, "max_per_group": 2, "min_per_group": 1, "nugget": 1e-3},
        {"k": "auto"},
    ]
    want = [diversify(X, s, **call) for call in calls]
    held = make(X) if make is sparse.csr_array else X.astype(make)
    for start, pool, part in ((8, 32, 16), (1, 2, 5), (64, 256, 100), (4000, 2**16, 2**16)):
        monkeypatch.setattr(engine.ArrayOps, "start", start)
        monkeypatch.setattr(engine, "SMALL_ENTRIES", 0)
        monkeypatch.setattr(engine, "POOL_SIZE", pool)
        monkeypatch.setattr(engine, "ROWS_AT_ONCE", part)
        for call, one in zip(calls, want, strict=True):
            assert diversify(held, s, **call).subset.tolist() == one.subset.tolist(), (start, call)


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
            with pytest.raises(ValueError, match=r"exact_map|min_per_group"):
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
    if not quota:
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


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-8])
def test_candidates_of_near_parallel_rows_know_what_log_prob_knows(angle):
    """det L_Y = sin(angle)^2, which products of the rows have lost."""
    phi = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    truth = 2 * np.log(np.sin(angle))
    for candidates in (read_model((np.ones(2), phi)), read_model(LowRankDPP(phi))):
        assert candidates.operand.logdet(np.arange(2)) == pytest.approx(truth, rel=1e-6)
        apart = candidates.log_prob(np.arange(2)) - candidates.log_prob(np.empty(0, np.int64))
        assert candidates.operand.logdet(np.arange(2)) == pytest.approx(apart, rel=1e-9)
    if angle > 1e-7:  # less is rounding for a greedy choice, which takes it for a linear combination
        assert greedy_map((np.ones(2), phi), k=2).gains.sum() == pytest.approx(truth, rel=1e-6)


LARGE = {
    "float64": lambda X: X.copy(),
    "float32": lambda X: X.astype(np.float32),
    "whole numbers": lambda X: (8 * X).astype(np.int64),
    "sparse": sparse.csr_array,
}


@pytest.mark.parametrize("call", [{}, {"nugget": 0.1}, {"given": [1, 2]}, {"gain": "log"}])
@pytest.mark.parametrize("name", LARGE)
def test_a_selection_does_not_keep_large_embeddings_alive(name, call, rng, monkeypatch):
    monkeypatch.setattr(sys.modules["dpplearn.decoding.diversify"], "MAX_HELD_BYTES", 2**20)
    X = rng.integers(-16, 17, (24_000, 16)) / 8.0
    E, s = LARGE[name](X), rng.random(24_000)
    asked = diversify(E, s, k=5, **call)
    before = asked.nearest, asked.kept, len(asked.skipped), asked.log_prob
    found, gone = diversify(E, s, k=5, **call), weakref.ref(E)
    again = pickle.loads(pickle.dumps(asked))
    del E
    gc.collect()
    assert gone() is None
    np.testing.assert_array_equal(asked.nearest.items, before[0].items)  # what was asked before is kept
    assert (asked.kept, len(asked.skipped), asked.log_prob) == before[1:]
    assert (again.kept, again.log_prob) == (before[1], before[3])  # and what travelled in time
    for late in (found, copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert late.subset.tolist() == asked.subset.tolist()
        for ask in ("nearest", "kept", "skipped", "log_prob"):
            with pytest.raises(RuntimeError, match=r"the embeddings are gone"):
                getattr(late, ask)


def test_log_prob_does_not_count_what_was_given(rng):
    """It is that of the set under the model as it is."""
    X, s = rng.standard_normal((12, 4)), rng.standard_normal(12)
    found = diversify(X, s, k=2, given=X[:2] + 0.1)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    q = np.sqrt(2) * np.exp(0.5 * (s - s.mean()) / s.std())
    S = (1 - 1e-6) * unit @ unit.T + 1e-6 * np.eye(12)
    assert found.log_prob == pytest.approx(DPP(q[:, None] * S * q).log_prob(found.sorted_subset), abs=1e-8)
    with pytest.raises(ValueError, match="given is for decoder"):
        diversify(X, s, k=2, given=X[:2], decoder="exact")


@pytest.mark.parametrize("k", [3, 20])
def test_a_memory_map_is_read_in_place(k, tmp_path, rng):
    np.save(tmp_path / "E.npy", rng.standard_normal((70_000, 4)).astype(np.float32))
    E, s = np.load(tmp_path / "E.npy", mmap_mode="r"), rng.random(70_000)
    found = diversify(E, s, k=k, nugget=1e-6)
    assert np.shares_memory(found.candidates.rows, E)
    np.testing.assert_array_equal(found.subset, diversify(np.array(E), s, k=k, nugget=1e-6).subset)
