"""Long work can be ended between its steps; and consensus, which skips what cannot win, finds what it found before."""

import numpy as np
import pytest
from dpplearn._loops import consensus as loops
from scipy import sparse

from brute import random_kernel
from dpplearn import DPP
from dpplearn._run.stop import stops_when
from dpplearn.decoding import consensus, greedy_map, sampled_map
from dpplearn.decoding.agreement import check_utility, climb
from dpplearn.decoding.limits import check_limits
from dpplearn.sampling.records import Agreement
from dpplearn.subsets import Subsets


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
        lambda dpp, jobs: consensus(dpp, k=5, n_samples=10**7, rng=0, n_jobs=jobs),
        lambda dpp, jobs: dpp.sample(10**7, rng=0, n_jobs=jobs),
    ],
    ids=["sampled_map", "consensus", "sample"],
)
def test_work_of_hours_ends_when_told(decode, n_jobs, rng):
    dpp = DPP(random_kernel(12, rng))
    with stops_when(Asked(3)), pytest.raises(EnoughError):
        decode(dpp, n_jobs)


def test_consensus_is_asked_between_passes_and_greedy_between_runs(rng):
    dpp, cost = DPP(random_kernel(12, rng)), np.arange(1.0, 13.0)
    references = [[0, 1], [2, 3, 4], [1, 5]]
    counted = Asked(10**6)
    with stops_when(counted):
        whole = consensus(dpp, cost, 20, samples=references)
    steps = 10**6 - counted.left
    assert steps >= 6  # three starts, each with at least one pass after it
    with stops_when(Asked(steps)), pytest.raises(EnoughError):
        consensus(dpp, cost, 20, samples=references)
    assert np.array_equal(consensus(dpp, cost, 20, samples=references).subset, whole.subset)
    with stops_when(Asked(2)), pytest.raises(EnoughError):
        greedy_map(dpp, cost, 20)


def problem(seed):
    """Items as counts of tokens, references, and limits."""
    rng = np.random.default_rng(seed)
    n, tokens = int(rng.integers(2, 14)), int(rng.integers(2, 30))
    counts = [rng.poisson(rng.uniform(0.1, 1.5), (n, tokens)).astype(float) for _ in range(1 + seed % 2)]
    cost = rng.integers(1, 9, n).astype(float) if seed % 3 else np.ones(n)
    limits = check_limits(n, cost, max(float(rng.uniform(0.1, 0.9) * cost.sum()), cost.min()), None, [], [n - 1])
    drawn = [np.flatnonzero(rng.random(n) < 0.4) for _ in range(int(rng.integers(1, 40)))]
    return counts, limits, Subsets.from_lists(drawn, n)


def mean_f1(counts, weights, items, references):
    """The definition, in whole numbers until the division."""
    total = 0.0
    for C, w in zip(counts, weights, strict=True):
        a = C[list(items)].sum(axis=0)
        for Y in references:
            b = C[Y].sum(axis=0)
            total += w * 2 * np.minimum(a, b).sum() / (a.sum() + b.sum() + 1e-12)
    return total / len(references)


@pytest.mark.parametrize("seed", range(40))
def test_skipping_by_bounds_finds_what_looking_at_all_finds(seed):
    counts, limits, references = problem(seed)
    weights = [0.7, 0.3][: len(counts)]
    utility = check_utility(list(zip(weights, map(sparse.csr_array, counts), strict=True)), len(limits.cost))
    known = {}

    def value(key):
        if key not in known:
            known[key] = mean_f1(counts, weights, key, references)
        return known[key]

    found, reached = utility.maximize(limits, references)
    assert reached == pytest.approx(value(tuple(sorted(found.tolist()))), abs=1e-9)
    for power in (0.0, 1.0):  # every candidate looked at, by the same rules
        assert reached >= climb(value, limits, limits.include, power)[1] - 1e-9


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("fraction", [False, True])
def test_no_utility_is_above_its_bound(seed, fraction):
    counts, limits, references = problem(seed)
    if fraction:  # counts may be weights
        counts = [C * np.random.default_rng(seed).random(C.shape) for C in counts]
    weights = np.array([0.7, 0.3][: len(counts)])
    utility = check_utility(list(zip(weights, map(sparse.csr_array, counts), strict=True)), len(limits.cost))
    chosen = sparse.csr_array(references.to_sparse(), dtype=np.float32)
    parts = tuple(utility._part(C, chosen) for C in utility.counts)
    wanted = Agreement(parts, weights, limits.cost, limits.room, limits.k, np.arange(limits.cost.size))
    P, S = len(parts), len(references)
    state = loops.State(
        [np.zeros(part.table.shape[0], np.float32) for part in parts], np.zeros((P, S), np.float32), np.zeros(P),
        [np.zeros(part.table.shape[0]) for part in parts], np.zeros((P, S)), np.full(P, -1.0), np.zeros(S, np.float32),
    )  # fmt: skip
    plain = {name: getattr(loops, name) for name in ("take_rates", "move", "bound_with", "utility_with")}
    plain = {name: getattr(f, "py_func", f) for name, f in plain.items()}
    n = len(limits.cost)
    for i in range(n):
        plain["take_rates"](parts, state)
        known = np.full((P, max(part.kinds.size for part in parts)), -1.0)
        for j in range(i, n):
            bound = plain["bound_with"](wanted, state, known, j)
            exact = plain["utility_with"](wanted, state, j)
            assert bound >= exact
        plain["move"](parts, state, i, 1.0)
