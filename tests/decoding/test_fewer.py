"""A set of fewer items than were asked for says so: only greedy fills k."""

import numpy as np
import pytest

from dpplearn import diversify
from dpplearn.decoding.limits import check_limits

SAID = "of the 9 items asked for, though more would fit"


@pytest.mark.parametrize("method", ["exact", "local", "sampled"])
def test_diversify_says_that_fewer_were_chosen(method, rng):
    E, s = rng.standard_normal((12, 9)), rng.standard_normal(12)
    options = {"n_samples": 2000, "rng": 0} if method == "sampled" else {}
    found = diversify(E, s, k=9, decoder=method, **options)
    assert len(found) < 9  # no further item has a gain of 1
    assert f"{len(found)} {SAID}" in found.reason
    assert "greedy" in found.reason
    near = [x for x in found.skipped if x.similarity < 0.5]
    assert all(x.reason.startswith("the set is preferred without it") for x in near)
    assert len(diversify(E, s, k=9)) == 9
    full = diversify(E, s, k=2, decoder=method, **options)
    assert len(full) == 2
    assert "asked for" not in full.reason
    unasked = diversify(E, s, decoder=method, **options)
    assert "asked for" not in unasked.reason


def test_what_has_no_room_is_not_short():
    """By hand: the budget, a group that is full, and what is excluded leave no item that could be taken."""
    cost = [2.0, 2.0, 3.0]

    def room(subset, budget=None, k=3, **more):
        return check_limits(3, cost, budget, k, (), more.pop("exclude", ()), **more).could_take(np.array(subset))

    assert room([0], budget=4)
    assert not room([0], budget=3.5)
    assert not room([0, 1], budget=4)
    assert room([0], budget=5, exclude=[1])
    assert not room([0], budget=4, exclude=[1])
    assert not room([0], exclude=[2], groups=[0, 0, 1], max_per_group=1)
    assert room([0], groups=[0, 0, 1], max_per_group=1)
    assert not room([0, 1], k=2)
    assert not room([0, 1, 2])
