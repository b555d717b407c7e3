"""A set of fewer items than were asked for says so: only greedy fills k."""

import pytest

from dpplearn import diversify

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
