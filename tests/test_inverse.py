"""Inverses from Cholesky factors, against those of numpy."""

import numpy as np
import pytest

from dpplearn.learning.normalizer import SMALL_TRIANGLE, inverse_of_factor, invert_lower


@pytest.mark.parametrize("n", [1, 2, SMALL_TRIANGLE, SMALL_TRIANGLE + 1, 2 * SMALL_TRIANGLE + 3, 150])
def test_inverses(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, n + 5))
    A = X @ X.T / n + np.eye(n)
    C = np.asfortranarray(np.linalg.cholesky(A))
    T = C.copy(order="F")
    assert invert_lower(T) is T
    np.testing.assert_allclose(T, np.linalg.inv(C), atol=1e-13)
    C += np.triu(rng.normal(size=(n, n)), 1)  # as dpotrf leaves it with clean=0
    np.testing.assert_allclose(np.tril(inverse_of_factor(C)), np.tril(np.linalg.inv(A)), atol=1e-13)
