"""NonsymmetricDPP against the list of all subsets, and against LowRankDPP where it is symmetric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from brute import random_factors
from dpplearn import LowRankDPP, NonsymmetricDPP


def attracting(*shape):
    *factors, L = random_factors(*shape)
    return NonsymmetricDPP(*factors), L


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 2**31), st.sampled_from([0.1, 1.0, 10.0]))
def test_without_a_skew_part_it_is_the_low_rank_dpp(n, r, seed, scale):
    B = scale * np.random.default_rng(seed).standard_normal((n, r))
    mine, other = NonsymmetricDPP(B, np.zeros((n, 1)), [[0.0]]), LowRankDPP(B)
    assert_allclose(mine.log_normalizer, other.log_normalizer, rtol=1e-9, atol=1e-12)
    assert_allclose(mine.marginals, other.marginals, atol=1e-9)
    assert_allclose(mine.pair_probs(), other.pair_probs(), atol=1e-9)
    assert_allclose(mine.size_pmf, other.size_pmf, atol=1e-9)
    assert_allclose(mine.conditional_marginals([0]), other.conditional_marginals([0]), atol=1e-7)


def test_size_pmf_of_hundreds_of_items_in_fifty_digits():
    mpmath = pytest.importorskip("mpmath")
    dpp, _ = attracting(300, 7, 8, 5, 0.2)
    with mpmath.workdps(50):
        Z, skew = mpmath.matrix(np.hstack([dpp.V, dpp.B]).tolist()), mpmath.matrix((dpp.D - dpp.D.T).tolist())
        T = Z.T * Z  # det(I + z L) = det(I + z Z^T Z C), C = diag(I, D - D^T)
        d, r = T.rows, dpp.V.shape[1]
        T[:, r:] = T[:, r:] * skew
        # det(I + z T) by its values at d + 1 roots of unity
        values = [mpmath.det(mpmath.eye(d) + mpmath.expjpi(mpmath.mpf(2 * m) / (d + 1)) * T) for m in range(d + 1)]
        total = mpmath.det(mpmath.eye(d) + T)
        truth = [
            sum(v * mpmath.expjpi(-mpmath.mpf(2 * m * k) / (d + 1)) for m, v in enumerate(values)).real
            / (d + 1)
            / total
            for k in range(d + 1)
        ]
    assert_allclose(dpp.size_pmf[: d + 1], [float(x) for x in truth], rtol=1e-9)
    assert (dpp.size_pmf[d + 1 :] == 0.0).all()


def test_rounding_of_single_precision_is_forgiven(rng):
    rounded = (1.0 + 1e-7 * rng.standard_normal((30, 30))).astype(np.float32)
    assert NonsymmetricDPP.from_kernel(rounded).log_normalizer == pytest.approx(np.log(31), abs=1e-4)
