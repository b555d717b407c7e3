"""A kernel held as rows, with what is each item's own, answers as the same kernel held as an array."""

import numpy as np
import pytest
from scipy import sparse

from dpplearn.operand import Dense, Rows

ITEMS = np.array([0, 1, 4, 1, 3, 2])  # of the subsets [0], [1, 4] and [1, 3, 2]
ENDS = np.array([0, 1, 3, 6])


@pytest.mark.parametrize("own", [0.0, 0.5])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_with_something_of_their_own_answer_as_the_array(own, kind, rng):
    X, scale = rng.standard_normal((5, 3)), rng.uniform(0.5, 2.0, 5)
    own = own * rng.uniform(0.5, 1.0, 5)
    B = scale[:, None] * X
    L = B @ B.T + np.diag(own)
    rows, dense = Rows(kind(X), scale, L.diagonal(), own), Dense(L)
    Y, Z = np.array([4, 0, 2]), np.array([1, 2, 4])
    np.testing.assert_allclose(rows.block(Y), dense.block(Y), atol=1e-12)
    np.testing.assert_allclose(rows.block(Y, Z), dense.block(Y, Z), atol=1e-12)
    np.testing.assert_allclose(rows.columns(Y), dense.columns(Y), atol=1e-12)
    np.testing.assert_allclose(rows.logdets(ENDS, ITEMS), dense.logdets(ENDS, ITEMS), atol=1e-10)
    np.testing.assert_allclose(rows.logdets(ENDS, ITEMS)[1], rows.logdet(ITEMS[1:3]), atol=1e-12)
    T = rows.factor().rows
    np.testing.assert_allclose(T @ T.T, L, atol=1e-10)
    assert rows.log_normalizer == pytest.approx(np.linalg.slogdet(np.eye(5) + L)[1])
