"""More items than dimensions: the nugget and one d x d matrix; against greedy choice on the dense kernel."""

import numpy as np
import pytest
from scipy import sparse

from brute_decoding import nugget_kernel
from dpplearn import DPP, LowRankDPP
from dpplearn.decoding import greedy_map


def problem(rng, n=80, d=6, spread=0.4):
    """Clustered directions and log-normal qualities."""
    centers = rng.standard_normal((7, d))
    phi = centers[rng.integers(0, 7, n)] + 0.5 * rng.standard_normal((n, d))
    return np.exp(spread * rng.standard_normal(n)), phi


def plain_greedy(L, k, cost=None, budget=np.inf):
    """Determinants anew for each candidate; logarithms of gains."""
    Y, gains, cost = [], [], np.ones(len(L)) if cost is None else cost
    while len(Y) < k:
        now = np.linalg.slogdet(L[np.ix_(Y, Y)])[1] if Y else 0.0
        rest = [i for i in range(len(L)) if i not in Y and cost[Y].sum() + cost[i] <= budget]
        if not rest:
            break
        values = [np.linalg.slogdet(L[np.ix_([*Y, i], [*Y, i])])[1] - now for i in rest]
        Y.append(rest[int(np.argmax(values))])
        gains.append(max(values))
    return Y, gains


@pytest.mark.parametrize("nugget", [1e-6, 1e-3, 0.2, 1.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda E: E,
        lambda E: E.astype(np.float32),
        lambda E: E.astype(np.float16),
        sparse.csr_array,
        lambda E: sparse.csr_array(E.astype(np.float32)),
    ],
    ids=["float64", "float32", "float16", "sparse", "sparse32"],
)
@pytest.mark.parametrize("k", [5, 50])
def test_equals_plain_greedy_on_the_dense_kernel(k, make, nugget, rng):
    q, phi = problem(rng)
    rows = make(phi)
    L = nugget_kernel(q, rows.toarray() if sparse.issparse(rows) else rows, nugget)
    expected, gains = plain_greedy(L, k)
    found = greedy_map((q, rows), k=k, nugget=nugget)
    assert found.subset.tolist() == expected
    np.testing.assert_allclose(found.gains, gains, rtol=1e-5, atol=1e-5)
    dense = greedy_map(DPP(nugget_kernel(q, phi, 0.0)), k=k, nugget=nugget)
    if rows is phi:
        assert dense.subset.tolist() == expected
        assert found.log_prob == pytest.approx(DPP(L).log_prob(found.sorted_subset))
        assert dense.log_prob == pytest.approx(found.log_prob)
        low = greedy_map(LowRankDPP(q[:, None] * phi / np.linalg.norm(phi, axis=1, keepdims=True)), k=k, nugget=nugget)
        assert low.subset.tolist() == expected
        assert low.log_prob == pytest.approx(found.log_prob)
