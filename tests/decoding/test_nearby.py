"""Kernels of near items: against conditional variances from the whole matrix, and what they are for."""

import numpy as np
import pytest
from scipy import sparse

from dpplearn import diversify
from dpplearn.decoding import nearby


def problem(rng, n=120, d=4):
    centers = rng.standard_normal((10, d))
    return centers[rng.integers(0, 10, n)] + 0.2 * rng.standard_normal((n, d)), rng.standard_normal(n)


def plain(E, s, k, kernel, h, nugget):
    """Greedy choice by determinants of the whole kernel, written out."""
    u = E / np.linalg.norm(E, axis=1, keepdims=True)
    x = np.linalg.norm(u[:, None] - u[None], axis=2) / h
    S = np.exp(-(x**2) / 2) if kernel == "rbf" else np.where(x < 2, (1 - x / 2) ** 4 * (2 * x + 1), 0.0)
    S = (1 - nugget) * S + nugget * np.eye(len(E))
    q = np.sqrt(2) * np.exp(0.5 * (s - s.mean()) / s.std())
    L = q[:, None] * S * q
    Y, gains = [], []
    for _ in range(k):
        now = np.linalg.slogdet(L[np.ix_(Y, Y)])[1] if Y else 0.0
        rest = [i for i in range(len(E)) if i not in Y]
        values = [np.linalg.slogdet(L[np.ix_([*Y, i], [*Y, i])])[1] - now for i in rest]
        Y.append(rest[int(np.argmax(values))])
        gains.append(max(values))
    return Y, gains


@pytest.mark.parametrize("kernel", ["rbf", "local"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_by_determinants_where_all_chosen_are_asked(kernel, dtype, rng, monkeypatch):
    monkeypatch.setattr(nearby, "NEAREST", 40)
    monkeypatch.setattr(nearby, "FIRST", 3)
    E, s = problem(rng, d=3)
    E = E.astype(dtype)
    found = diversify(E, s, k=30, kernel=kernel, bandwidth=0.4, nugget=1e-3)
    expected, gains = plain(E.astype(float), s, 30, kernel, 0.4, 1e-3)
    assert found.subset.tolist() == expected
    np.testing.assert_allclose(found.gains, gains, rtol=1e-3, atol=1e-3)


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
    few = diversify(E, s, k="auto", share=0.3, kernel="rbf")
    assert "less than 0.3" in few.reason
    assert few.shares.min() > 0.3
    assert len(diversify(E, s, k=500, kernel="rbf")) == 120
    with pytest.raises(RuntimeError, match="approximate"):
        _ = found.log_prob


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"kernel": "cubic"}, ValueError, "must be one of"),
        ({"kernel": "rbf", "bandwidth": 0}, ValueError, "positive number"),
        ({"bandwidth": 1.0}, ValueError, "bandwidth is for"),
        ({"kernel": "rbf", "budget": 3.0}, ValueError, "budget needs"),
        ({"kernel": "rbf", "diversity": 0.2}, ValueError, "below 0.5"),
        ({"kernel": "rbf", "method": "local"}, ValueError, "method='local' needs"),
    ],
)
def test_what_is_refused(call, error, message, rng):
    E, s = problem(rng)
    with pytest.raises(error, match=message):
        diversify(E, s, k=3, **call)
    with pytest.raises(TypeError, match="dense"):
        diversify(sparse.csr_array(E), s, k=3, kernel="rbf")
