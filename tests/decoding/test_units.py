"""No answer depends on the unit of cost; and what ends a choice is what its reason says."""

import numpy as np
import pytest

from brute_decoding import random_problem
from dpplearn import diversify
from dpplearn.decoding import greedy_map

UNITS = (1e-9, 1e-5, 1e-2, 1e2, 1e5, 1e12)


def problem(seed, n=12):
    rng = np.random.default_rng(seed)
    q, phi, _, _ = random_problem(seed, n)
    return (q, phi), rng.integers(1, 9, n).astype(float), rng.integers(0, 3, (n, 7)).astype(float)


@pytest.mark.parametrize("gain", ["auto", "log", "probability"])
@pytest.mark.parametrize("unit", UNITS)
def test_greedy_in_any_unit_of_cost(gain, unit):
    for seed in range(20):
        model, cost, _ = problem(seed)
        expected = greedy_map(model, cost, 14.0, gain=gain).subset.tolist()
        assert greedy_map(model, unit * cost, unit * 14.0, gain=gain).subset.tolist() == expected


@pytest.mark.parametrize("kernel", ["linear", "near"])
@pytest.mark.parametrize("given", [False, True])
def test_k_auto_stops_at_a_share_of_what_the_first_added(kernel, given, rng):
    """Also where items given leave all but little of every gain, or the kernel of near items does."""
    E = np.concatenate([np.eye(8)[:1] + 0.05 * rng.standard_normal((30, 8))])
    options = {
        "kernel": kernel,
        "given": np.eye(8)[:1] if given else None,
        "nugget": None if kernel == "near" else 1e-6,
    }
    found = diversify(E, k="auto", min_gain=0.2, **options)
    assert len(found) > 0
    gains = np.exp(found.gains)
    assert (gains >= 0.2 * gains[0] * (1 - 1e-6)).all()
    if kernel == "linear":  # and the next one would add less
        more = np.exp(diversify(E, k=len(found) + 1, **options).gains)
        assert more[-1] <= 0.2 * more[0]


def test_k_auto_takes_nothing_that_only_repeats_items_given(rng):
    E = rng.standard_normal((40, 16))
    found = diversify(E, k="auto", given=E)
    assert len(found) == 0
    assert found.reason == "every candidate repeats what was given"
    assert len(diversify(E, k="auto", given=E[:3])) == 13
    assert len(diversify(E, k="auto", given=E[:3], nugget=0.9)) > 3
