"""The measure of a set: closed forms, and the definition on all items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dpplearn import diversity_of
from dpplearn.decoding.candidates import Embedded
from dpplearn.decoding.diversity import measured_set


@pytest.mark.parametrize("n", [1, 2, 7])
def test_closed_forms(n):
    same, different = diversity_of(np.ones((n, 3)), range(n)), diversity_of(np.eye(n), range(n))
    assert (same.effective, same.coverage) == (pytest.approx(1.0), pytest.approx(1.0))
    assert (different.effective, different.coverage) == (pytest.approx(n), pytest.approx(1.0))
    if n > 1:
        assert (same.closest, different.closest) == (pytest.approx(1.0), pytest.approx(0.0))
    # two alike by c: eigenvalues (1 + c) / 2 and (1 - c) / 2
    c = 0.6
    p = np.array([1 + c, 1 - c]) / 2
    pair = diversity_of([[1, 0], [c, 0.8], [0, 1]], [0, 1])
    assert pair.effective == pytest.approx(np.exp(-(p * np.log(p)).sum()))
    assert (pair.closest, pair.coverage) == (pytest.approx(0.6), pytest.approx(0.8))


@given(st.integers(0, 10**6))
def test_by_definition(seed):
    """With S as a matrix, whichever of n x n and d x d is smaller, and rows of zeros, which are like none."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 12), rng.integers(1, 9)
    X = rng.standard_normal((n, d)) * (rng.random(n) < 0.8)[:, None]
    Y = rng.permutation(n)[: rng.integers(1, n + 1)]
    lengths = np.linalg.norm(X, axis=1)
    S = (X @ X.T) / np.where(np.outer(lengths, lengths) > 0, np.outer(lengths, lengths), 1.0)
    np.fill_diagonal(S, 1.0)
    lam = np.linalg.eigvalsh(S[np.ix_(Y, Y)] / Y.size)
    lam = lam[lam > 1e-15]
    found = diversity_of(X, Y)
    assert found.effective == pytest.approx(np.exp(-(lam * np.log(lam)).sum()))
    assert found.coverage == pytest.approx(S[:, Y].max(axis=1).min(), abs=1e-9)
    others = S[np.ix_(Y, Y)][~np.eye(Y.size, dtype=bool)]
    if Y.size > 1:
        assert found.closest == pytest.approx(others.max(), abs=1e-9)
    again = diversity_of(sparse.csr_array(X), Y)
    assert again.effective == pytest.approx(found.effective)
    assert 1.0 - 1e-9 <= found.effective <= Y.size + 1e-9


def test_few_items_and_bad_ones():
    one, none = diversity_of(np.eye(2), [0]), diversity_of(np.eye(2), [])
    assert (one.effective, np.isnan(one.closest), one.coverage) == (pytest.approx(1.0), True, 0.0)
    assert (none.effective, np.isnan(none.closest), np.isnan(none.coverage)) == (0.0, True, True)
    assert repr(one) == "SetDiversity(effective=1, closest=nan, coverage=0)"
    with pytest.raises(IndexError):
        diversity_of(np.eye(2), [2])


@pytest.mark.parametrize("d", [3, 12])
def test_rows_with_something_of_their_own(d, rng):
    """S = (1 - nugget) cosines + nugget I, as a model may say it: by the same definition."""
    U = rng.standard_normal((9, d))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    S = 0.7 * U @ U.T + 0.3 * np.eye(9)
    Y = np.array([4, 0, 7, 8, 2, 1])
    found = measured_set(Embedded(0.7**0.5 * U, np.ones(9), np.ones(9)), Y)
    lam = np.linalg.eigvalsh(S[np.ix_(Y, Y)] / Y.size)
    assert found.effective == pytest.approx(np.exp(-(lam * np.log(lam)).sum()))
    assert found.closest == pytest.approx((S - np.eye(9))[np.ix_(Y, Y)].max())
    assert found.coverage == pytest.approx(S[:, Y].max(axis=1).min())
