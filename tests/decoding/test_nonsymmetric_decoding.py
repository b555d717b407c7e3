"""greedy_map and local_search on kernels that need not be symmetric, against the definition."""

from __future__ import annotations

import numpy as np
import pytest

from brute import pmf
from dpplearn import NonsymmetricDPP
from dpplearn.decoding import greedy_map, local_search


def attracting(n, r, s, seed):
    rng = np.random.default_rng(seed)
    return NonsymmetricDPP(rng.normal(size=(n, r)), rng.normal(size=(n, s)), rng.normal(size=(s, s)))


def greedy_by_definition(L, k, given=()):
    """Items in order, each with the largest det(L_Y), and the ratios."""
    Y, gains = list(given), []
    while len(Y) < k:
        now = np.linalg.det(L[np.ix_(Y, Y)]) if Y else 1.0
        g, i = max((np.linalg.det(L[np.ix_([*Y, i], [*Y, i])]) / now, i) for i in range(len(L)) if i not in Y)
        if g < 1e-9:
            break
        Y.append(i)
        gains.append(np.log(g))
    return Y, gains


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", [(8, 2, 3), (8, 5, 5), (30, 3, 4)])
def test_greedy_takes_the_largest_ratio_of_determinants(shape, seed):
    dpp = attracting(*shape, seed)
    found = greedy_map(dpp, k=4)
    items, gains = greedy_by_definition(dpp.L, 4)
    assert found.subset.tolist() == items
    np.testing.assert_allclose(found.gains, gains, atol=1e-8)
    assert found.log_prob == pytest.approx(found.gains.sum() - dpp.log_normalizer, abs=1e-8)
    with_two = greedy_map(dpp, k=4, include=[3, 1])
    assert with_two.subset.tolist() == greedy_by_definition(dpp.L, 4, with_two.subset[:2])[0]
    assert set(with_two.subset[:2].tolist()) == {1, 3}
    assert with_two.log_prob == pytest.approx(with_two.gains.sum() - dpp.log_normalizer, abs=1e-8)


@pytest.mark.parametrize("seed", range(10))
def test_local_search_ends_where_no_move_helps(seed):
    dpp = attracting(7, 3, 3, seed)
    truth = pmf(dpp.L)
    found = local_search(dpp, k=3)
    Y = set(found.subset.tolist())
    near = [Z for Z in truth if len(Z) <= 3 and len(Y - set(Z)) <= 1 and len(set(Z) - Y) <= 1]
    assert np.exp(found.log_prob) == pytest.approx(max(truth[Z] for Z in near))
    assert found.log_prob >= greedy_map(dpp, k=3).log_prob - 1e-9


def test_items_that_come_only_in_pairs():
    """L_ii = 0: no first step of one item, but two that are included together are a set like others."""
    dpp = NonsymmetricDPP(np.zeros((3, 1)), np.eye(3), [[0, 2, 0], [0, 0, 0], [0, 0, 0]])
    nothing = greedy_map(dpp, k=2)
    assert nothing.subset.size == 0
    assert "together with another" in nothing.reason
    pair = greedy_map(dpp, k=3, include=[0, 1])
    assert pair.log_prob == pytest.approx(np.log(4 / 5))
    assert pair.gains.sum() == pytest.approx(np.log(4))
    with pytest.raises(ValueError, match="probability 0"):
        greedy_map(dpp, include=[0, 2])
    assert local_search(dpp, start=[0, 1]).sorted_subset.tolist() == [0, 1]
