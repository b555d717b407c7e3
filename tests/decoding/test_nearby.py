"""Kernels of near items: against conditional variances from the whole matrix, and what they are for."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from dpplearn import DPP, diversify
from dpplearn._loops import nearby as loops
from dpplearn.decoding import greedy_map, nearby, neighbours


def problem(rng, n=120, d=4):
    centers = rng.standard_normal((10, d))
    return centers[rng.integers(0, 10, n)] + 0.2 * rng.standard_normal((n, d)), rng.standard_normal(n)


def whole(E, s, kernel, h, nugget):
    """The kernel of all items, written out."""
    u = E / np.linalg.norm(E, axis=1, keepdims=True)
    x = np.linalg.norm(u[:, None] - u[None], axis=2) / h
    S = np.exp(-(x**2) / 2) if kernel == "rbf" else np.where(x < 2, (1 - x / 2) ** 4 * (2 * x + 1), 0.0)
    q = np.sqrt(2) * np.exp(0.5 * (s - s.mean()) / s.std())
    return q[:, None] * ((1 - nugget) * S + nugget * np.eye(len(E))) * q


def plain(L, k, first=(), allowed=None):
    """Greedy choice by determinants, after some items that come first."""
    Y, gains = list(first), []
    while len(gains) < k:
        now = np.linalg.slogdet(L[np.ix_(Y, Y)])[1] if Y else 0.0
        rest = [i for i in range(len(L)) if i not in Y and (allowed is None or allowed(Y, i))]
        values = [np.linalg.slogdet(L[np.ix_([*Y, i], [*Y, i])])[1] - now for i in rest]
        Y.append(rest[int(np.argmax(values))])
        gains.append(max(values))
    return Y, gains


@pytest.fixture(params=[False, True], ids=["", "swept"])
def all_asked(monkeypatch, request):
    """Conditional variances given all that is chosen, and small blocks; with sweeps of a part of the heap, or none."""
    monkeypatch.setattr(nearby, "NEAREST", 40)
    monkeypatch.setattr(nearby, "FIRST", 3)
    monkeypatch.setattr(nearby, "SWEEP", 3 if request.param else 10**9)
    monkeypatch.setattr(nearby, "SWEPT", 7)


@pytest.mark.usefixtures("all_asked")
@pytest.mark.parametrize("kernel", ["rbf", "local"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_by_determinants_where_all_chosen_are_asked(kernel, dtype, rng):
    E, s = problem(rng, d=3)
    E = E.astype(dtype)
    found = diversify(E, s, k=30, kernel=kernel, bandwidth=0.4, nugget=1e-3)
    expected, gains = plain(whole(E.astype(float), s, kernel, 0.4, 1e-3), 30)
    assert found.subset.tolist() == expected
    np.testing.assert_allclose(found.gains, gains, rtol=1e-3, atol=1e-3)


@pytest.mark.usefixtures("all_asked")
@pytest.mark.parametrize("kernel", ["rbf", "local"])
def test_the_same_limits_as_by_cosines(kernel, rng):
    """Costs, a budget, diversity, groups, items chosen earlier: against the whole kernel."""
    E, s = problem(rng, d=3)
    L, call = whole(E, s, kernel, 0.4, 1e-3), {"kernel": kernel, "bandwidth": 0.4, "nugget": 1e-3}
    cost = rng.integers(1, 9, 120).astype(float)
    found = diversify(E, s, budget=60.0, cost=cost, include=[4], exclude=[7], **call)
    expected = greedy_map(DPP(L), cost, 60.0, include=[4], exclude=[7])
    assert found.subset.tolist() == expected.subset.tolist()
    np.testing.assert_allclose(found.gains, expected.gains, atol=1e-6)
    assert found.reason == expected.reason
    less = diversify(E, s, k=20, diversity=0.3, **call)
    assert less.subset.tolist() == greedy_map(DPP(L), k=20, diversity=0.3).subset.tolist()
    by_score = diversify(E, s, k=5, diversity=0.0, **call)
    assert by_score.subset.tolist() == np.argsort(-s)[:5].tolist()

    group = rng.integers(0, 3, 120)
    most = diversify(E, s, k=12, groups=group, max_per_group=4, **call)
    assert most.subset.tolist() == plain(L, 12, allowed=lambda Y, i: (group[Y] == group[i]).sum() < 4)[0]
    rare = np.where(np.argsort(np.argsort(s)) < 6, "low", "rest")  # six items of the lowest scores
    least = diversify(E, s, k=8, groups=rare, min_per_group={"low": 5}, **call)
    assert (rare[least.subset] == "low").sum() == 5

    first = least.subset.tolist()
    expected = plain(L, 10, first)[0][8:]
    assert diversify(E, s, k=10, given=first, **call).subset.tolist() == expected
    known = np.setdiff1d(np.arange(120), first)  # their rows, where they are not among the candidates
    outside = diversify(E[known], s[known], k=10, given=E[first], **call)
    M = whole(np.concatenate([E[known], E[first]]), np.append(s[known], s[first]), kernel, 0.4, 1e-3)
    z = s[known]
    M /= np.sqrt(np.outer(M.diagonal(), M.diagonal()))
    q = np.append(np.sqrt(2) * np.exp(0.5 * (z - z.mean()) / z.std()), np.ones(8))
    expected = plain(q[:, None] * M * q, 10, range(112, 120))[0][8:]
    assert outside.subset.tolist() == expected


def test_near_items_are_told_apart_past_the_rank(rng):
    """40 places in three dimensions, each with five near-duplicates of higher and lower score: cosines cannot tell."""
    places = rng.standard_normal((40, 3))
    E = np.repeat(places, 5, axis=0) + 0.003 * rng.standard_normal((200, 3))
    s = rng.standard_normal(200)
    kinds = np.repeat(np.arange(40), 5)
    found = {kernel: diversify(E, s, k=40, kernel=kernel) for kernel in nearby.KERNELS}
    different = {kernel: np.unique(kinds[one.subset]).size for kernel, one in found.items()}
    assert min(different["rbf"], different["local"]) > 33 > different["linear"]
    assert 0.0 < found["rbf"].parameters["bandwidth"] < 2.0


def test_limits_and_ends(rng):
    E, s = problem(rng)
    E[3] = 0.0
    found = diversify(E, s, k=10, kernel="rbf", include=[5, 9], exclude=[1])
    assert found.subset[:2].tolist() == [5, 9]
    assert 1 not in found.subset
    assert 3 in diversify(E, s + 9.0 * (np.arange(120) == 3), k=10, kernel="local").subset
    few = diversify(E, s, k="auto", min_gain=0.3, kernel="rbf")
    assert "less than 0.3" in few.reason
    assert few.shares.min() > 0.3
    every = diversify(np.eye(20), np.zeros(20), k="auto", kernel="local", bandwidth=0.1)
    assert (len(every), every.reason) == (20, "every candidate is chosen; a larger share than 0.01 takes fewer")
    assert len(diversify(E, s, k=500, kernel="rbf")) == 120
    with pytest.raises(RuntimeError, match="approximate"):
        _ = found.log_prob
    again = pickle.loads(pickle.dumps(found))
    assert again.nearest.items.tolist() == found.nearest.items.tolist()


def test_a_sweep_waits_for_the_heap(rng, monkeypatch):
    """Items that are included come first, and nothing is on the heap before all of them are chosen."""
    monkeypatch.setattr(nearby, "SWEEP", 3)
    swept = []
    sweep = nearby.Nearby.sweep
    monkeypatch.setattr(
        nearby.Nearby, "sweep", lambda self, run: swept.append(int(run.at[nearby.TAKEN])) or sweep(self, run)
    )
    E, s = problem(rng)
    found = diversify(E, s, k=30, kernel="rbf", include=range(20))
    assert swept
    assert min(swept) >= 20
    monkeypatch.setattr(nearby, "SWEEP", 10**9)
    np.testing.assert_array_equal(found.subset, diversify(E, s, k=30, kernel="rbf", include=range(20)).subset)


def test_a_row_of_zeros_is_near_none(rng):
    """Neither as a candidate nor once it is chosen."""
    E, s = problem(rng)
    E[3] = 0.0
    with_it = diversify(E, s + 9.0 * (np.arange(120) == 3), k=10, kernel="rbf", bandwidth=1.5)
    assert with_it.subset[0] == 3
    others = diversify(E, s + 9.0 * (np.arange(120) == 3), k=9, kernel="rbf", bandwidth=1.5, exclude=[3])
    assert with_it.subset[1:].tolist() == others.subset.tolist()


@pytest.mark.parametrize("earlier", [0, 60])
def test_an_index_finds_what_products_find(earlier, rng, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.setattr(neighbours, "MANY", 20)
    monkeypatch.setattr(neighbours, "GROWS", 8)
    held, found = [], []
    grow, keep = neighbours.Neighbours.grow, loops.keep_nearest
    monkeypatch.setattr(neighbours.Neighbours, "grow", lambda self: grow(self) or held.append(self.index.ntotal))
    monkeypatch.setattr(loops, "keep_nearest", lambda *a: found.append(a[3].size) or keep(*a))
    E, s = problem(rng, n=600, d=8)
    call = {"k": 200, "kernel": "rbf"} | ({"given": rng.standard_normal((earlier, 8))} if earlier else {})
    one, two = (diversify(E, s, index=index, **call) for index in (True, False))
    assert held[-1] > 150 + earlier  # chosen items that it holds
    assert max(found) > 0  # it was searched
    np.testing.assert_array_equal(one.subset, two.subset)
    np.testing.assert_allclose(one.gains, two.gains, atol=1e-5)
    assert [x.parameters["neighbours"] for x in (one, two)] == ["index", "exact"]


def test_without_faiss_there_is_no_index(rng, monkeypatch):
    monkeypatch.setattr(neighbours, "find_spec", lambda _: None)
    E, s = problem(rng)
    assert diversify(E, s, k=5, kernel="rbf").parameters["neighbours"] == "exact"
    with pytest.raises(ImportError, match=r"dpplearn\[index\]"):
        diversify(E, s, k=5, kernel="rbf", index=True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"kernel": "cubic"}, ValueError, "must be one of"),
        ({"kernel": "rbf", "bandwidth": 0}, ValueError, "positive number"),
        ({"bandwidth": 1.0}, ValueError, "bandwidth is for"),
        ({"kernel": "rbf", "decoder": "local"}, ValueError, "for decoder=.greedy., found 'local'"),
        ({"kernel": "rbf", "n_samples": 3}, TypeError, "'n_samples'"),
        ({"kernel": "rbf", "index": "hnsw"}, ValueError, "index must be"),
        ({"kernel": "rbf", "groups": [1, 2]}, ValueError, "one label for each"),
    ],
)
def test_what_is_refused(call, error, message, rng):
    E, s = problem(rng)
    with pytest.raises(error, match=message):
        diversify(E, s, k=3, **call)
    with pytest.raises(TypeError, match="dense"):
        diversify(sparse.csr_array(E), s, k=3, kernel="rbf")
