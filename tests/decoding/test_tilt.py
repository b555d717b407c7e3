"""Tilted marginals by Newton steps, against the eigenvectors of the same kernel."""

from __future__ import annotations

import numpy as np
import pytest

from brute_decoding import kernel
from dpplearn import DPP
from dpplearn.decoding.tilt import find_tilt, tilted, tilted_kernel


def marginals(dpp, cost, target):
    """K_ii, as roughly as `summarize` asks for them."""
    return tilted_kernel(dpp, cost, target, 1e-5).diagonal()


def by_eigenvectors(L, cost, target):
    lam, V = DPP(L).eigenpairs
    return (V * tilted(lam, find_tilt(lam, V, cost, target))) @ V.T


def similar(seed, n=40, rank=None, scale=0.0):
    """Items that are alike, as sentences are: positive cosines, qualities below 1 or above."""
    rng = np.random.default_rng(seed)
    phi = np.abs(rng.standard_normal((n, rank or 2 * n))) ** 3
    phi /= np.linalg.norm(phi, axis=1, keepdims=True)
    return kernel(np.exp(scale + 0.7 * rng.standard_normal(n)), phi), rng.integers(5, 40, n).astype(float)


@pytest.mark.parametrize("scale", [-6.0, -2.0, 0.0, 3.0])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5, 0.9, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_marginals_are_those_of_the_eigenvectors(seed, share, scale):
    L, cost = similar(seed, scale=scale)
    target = share * cost.sum()
    K = by_eigenvectors(L, cost, target)
    np.testing.assert_allclose(marginals(DPP(L), cost, target), K.diagonal(), rtol=1e-9)
    found = tilted_kernel(DPP(L), cost, target)
    np.testing.assert_allclose(found, K, atol=1e-10)
    np.testing.assert_allclose(found, found.T, atol=1e-15)
    assert found.flags.c_contiguous


@pytest.mark.parametrize("share", [0.05, 0.1, 0.24, 0.3, 0.6])
def test_dependent_items(share):
    """Of rank 10 and 40 items: all that may be drawn costs a quarter of them, and 95 % of that is asked for at most."""
    L, cost = similar(0, rank=10)
    cost[:] = 1.0
    K = by_eigenvectors(L, cost, share * 40)
    np.testing.assert_allclose(marginals(DPP(L), cost, share * 40), K.diagonal(), rtol=1e-8)
    np.testing.assert_allclose(tilted_kernel(DPP(L), cost, share * 40), K, atol=1e-8)
    assert marginals(DPP(L), cost, 1e9).sum() == pytest.approx(9.5)


def test_the_tilt_of_nothing():
    """Sets that cost 0 on average are empty: no search for an s that is not there."""
    lam, V = DPP(similar(0)[0]).eigenpairs
    for target in (0.0, -1.0):
        assert find_tilt(lam, V, np.ones(40), target) == -np.inf
        assert not marginals(DPP(similar(0)[0]), np.ones(40), target).any()
    assert 0.0 < tilted(lam, find_tilt(lam, V, np.ones(40), 1e-200)).sum() < 1e-199
