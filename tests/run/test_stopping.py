"""Long work can be ended between its steps."""

import numpy as np
import pytest

from brute import random_kernel
from dpplearn import DPP
from dpplearn._run.stop import stops_when
from dpplearn.decoding import consensus, greedy_map, sampled_map


class EnoughError(Exception):
    """Not a ValueError, which a decoder may catch."""


class Asked:
    """Stops at the n-th question."""

    def __init__(self, n):
        self.left = n

    def __call__(self):
        self.left -= 1
        if self.left <= 0:
            raise EnoughError


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "decode",
    [
        lambda dpp, jobs: sampled_map(dpp, k=5, n_samples=10**8, rng=0, n_jobs=jobs),
        lambda dpp, jobs: dpp.sample(10**7, rng=0, n_jobs=jobs),
    ],
    ids=["sampled_map", "sample"],
)
def test_work_of_hours_ends_when_told(decode, n_jobs, rng):
    dpp = DPP(random_kernel(12, rng))
    with stops_when(Asked(3)), pytest.raises(EnoughError):
        decode(dpp, n_jobs)


def test_consensus_is_asked_between_passes_and_greedy_between_runs(rng):
    dpp, cost = DPP(random_kernel(12, rng)), np.arange(1.0, 13.0)
    counted = Asked(10**6)
    with stops_when(counted):
        whole = consensus(dpp, cost, 20)
    steps = 10**6 - counted.left
    assert steps >= 3  # the greedy start, and passes after it
    with stops_when(Asked(steps)), pytest.raises(EnoughError):
        consensus(dpp, cost, 20)
    assert np.array_equal(consensus(dpp, cost, 20).subset, whole.subset)
    with stops_when(Asked(2)), pytest.raises(EnoughError):
        greedy_map(dpp, cost, 20)
