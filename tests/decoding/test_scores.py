"""Scores in any unit, with masked items, outliers, and differences in the last digit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpplearn import diversify
from dpplearn.decoding.scores import standardize

SENTINELS = [-1e4, -1e7, -1e9, float(np.finfo(np.float32).min), float(np.finfo(np.float64).min)]


@pytest.mark.parametrize("decoder", ["greedy", "exact", "local"])
@pytest.mark.parametrize("diversity", [0.0, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("masked", SENTINELS)
def test_a_masked_item_does_not_make_all_others_tie(masked, diversity, decoder):
    found = diversify(np.eye(5), [masked, 0.1, 0.2, 0.3, 0.9], k=2, diversity=diversity, decoder=decoder)
    assert found.subset.tolist() == [4, 3]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 15.0, 300.0]))
def test_by_score_alone_the_highest_are_chosen_exactly(seed, powers):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    s = rng.standard_normal(n).round(1) * 10.0 ** (powers * rng.uniform(-1.0, 0.99, n))
    s[: n // 3] = s[0] * (1.0 + np.finfo(float).eps * rng.integers(0, 3, n // 3))  # the last digit counts
    k = int(rng.integers(1, n + 1))
    expected = np.argsort(-s, kind="stable")[:k]
    assert diversify(rng.standard_normal((n, 4)), s, k=k, diversity=0).subset.tolist() == expected.tolist()


def test_differences_that_are_rounding_are_not_made_larger():
    """Three scores that are equal but for rounding, of float32 too, beside another."""
    for rounding in (1e-16, 1e-8, 1e-7):
        z = standardize(np.array([0.8, 0.8 * (1 + rounding), 0.8 * (1 - rounding), 0.8, 0.8, 0.3]), 1e-16)
        assert np.ptp(z[:5]) < 1e-6
    assert not standardize(np.array([0.3, 0.1 + 0.2]), 2e-16).any()
