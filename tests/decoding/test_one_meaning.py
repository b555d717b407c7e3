"""The same call chooses the same set, whatever holds the data."""

import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest
from scipy import sparse

from dpplearn import diversify
from dpplearn.decoding import engine
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
    monkeypatch.setattr(engine, "ROWS_PER_PASS", 16)


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


@pytest.mark.parametrize("k", [3, 20])
def test_a_memory_map_is_read_in_place(k, tmp_path, rng):
    np.save(tmp_path / "E.npy", rng.standard_normal((70_000, 4)).astype(np.float32))
    E, s = np.load(tmp_path / "E.npy", mmap_mode="r"), rng.random(70_000)
    found = diversify(E, s, k=k, nugget=1e-6)
    assert np.shares_memory(found.candidates.rows, E)
    np.testing.assert_array_equal(found.subset, diversify(np.array(E), s, k=k, nugget=1e-6).subset)
