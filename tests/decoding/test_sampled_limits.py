"""Sampled sets within all limits, and items to include that leave nothing else to choose."""

from __future__ import annotations

import numpy as np
import pytest

from dpplearn import DPP, LowRankDPP, diversify
from dpplearn.decoding import consensus, exact_map, local_search, sampled_map


@pytest.mark.parametrize("seed", range(12))
def test_items_to_include_that_fill_the_rank_are_the_answer(seed):
    """Nothing can be drawn beside them: no eigenvalue is left."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
    B, cost = rng.standard_normal((n, d)), rng.integers(1, 5, n).astype(float)
    include = np.sort(rng.permutation(n)[:d])
    B[include] = 2 * np.linalg.qr(B[include])[0]
    draws = {"n_samples": 200, "rng": 0}
    for model in (LowRankDPP(B), DPP(B @ B.T), (np.ones(n), B)):
        for limits in ({"k": d + 1}, {"cost": cost, "budget": cost[include].sum() + 2}):
            asked = limits | {"include": include}
            for found in (
                sampled_map(model, **asked, **draws, tilt=True),
                consensus(model, **asked),
                exact_map(model, **asked),
                local_search(model, **asked),
            ):
                assert found.sorted_subset.tolist() == include.tolist()
    found = diversify(B, np.zeros(n), k=d, decoder="sampled", include=include, nugget=0.0, **draws)
    assert found.sorted_subset.tolist() == include.tolist()
