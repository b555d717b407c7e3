import copy

import numpy as np
import pytest

from dpplearn import Subsets
from dpplearn.estimate import Estimate


@pytest.fixture
def four():
    return Subsets.from_lists([[2, 0], [], [1], [0, 1, 2]], n=4)


def test_sequence(four):
    assert [Y.tolist() for Y in four] == [[0, 2], [], [1], [0, 1, 2]]
    assert four[-1].tolist() == [0, 1, 2]
    assert four[0].dtype == np.int64
    assert four.sizes.tolist() == [2, 0, 1, 3]
    assert repr(four) == "<4 subsets of 4 items, 1.50 items on average>"
    assert repr(four[:1]) == f"<1 subset of 4 items, with {four[0].size} of them>"


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.uint64])
@pytest.mark.parametrize(("indptr", "indices"), [([0, 2], [2, 0]), ([0, 3, 1, 3], [0, 1, 2])])
def test_order_is_checked_in_any_type_of_integers(kind, indptr, indices):
    with pytest.raises(ValueError, match=r"rise|ascending"):
        Subsets(np.array(indptr, kind), np.array(indices, kind), 3)


def test_slices(four):
    assert [Y.tolist() for Y in four[1:3]] == [[], [1]]
    assert [Y.tolist() for Y in four[::2]] == [[0, 2], [1]]
    assert len(four[3:1]) == 0
    assert four[1:] == Subsets.from_lists([[], [1], [0, 1, 2]], n=4)
    assert four != four[1:]


def test_counts(four):
    assert four.inclusion_counts().tolist() == [2, 2, 2, 0]
    assert four.counts()[(1,)] == 1
    assert four.to_sparse().toarray().tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0]]


def test_estimates_survive_copies():
    assert copy.copy(Estimate(1.0, 0.5)).standard_error == 0.5
    assert repr(Estimate(1.0)) == "1.0"
