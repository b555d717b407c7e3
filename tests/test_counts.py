"""Every count has a bound, which is checked before any work: no number hangs, or asks for all memory."""

import numpy as np
import pytest

from dpplearn import DPP, KDPP, ConditionalDPP, ImplicitDPP, ItemSet, KernelDPP, LowRankDPP, NonsymmetricDPP, diversify
from dpplearn.decoding import greedy_map, sampled_map
from dpplearn.learning import ConditionalDPPCV
from dpplearn.mrf import PairwiseMRF, approximate, factor_surface, fit_dpp_to
from dpplearn.rouge import paired_bootstrap
from dpplearn.subsets import Subsets

HUGE = 10**30
L = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]])
X = [ItemSet(np.eye(3)[:, :2], phi=L) for _ in range(4)]
Y = [[0], [1], [0, 2], [2]]
BASKETS = [["a", "b"], ["b", "c"], ["a"], ["c"]]
FIELD = PairwiseMRF(np.zeros(3), -np.ones((3, 3)) + np.eye(3))
IMPLICIT = ImplicitDPP(lambda i, j: L[i][j], 3)


def fitted(**options):
    return ConditionalDPP(**options).fit(X, Y)


COUNTS = {
    "size": [
        lambda n: DPP(L).sample(n),
        lambda n: DPP(L).sample(n, method="cholesky"),
        lambda n: LowRankDPP(L).sample(n),
        lambda n: KDPP(DPP(L), 2).sample(n),
        lambda n: NonsymmetricDPP.from_kernel(L).sample(n),
        lambda n: IMPLICIT.sample(n),
        lambda n: FIELD.sample(n),
    ],
    "burn_in": [lambda n: IMPLICIT.sample(burn_in=n)],
    "thin": [lambda n: IMPLICIT.sample(thin=n)],
    "n": [lambda n: ImplicitDPP(lambda _i, _j: 1.0, n), lambda n: Subsets.from_lists([[0]], n)],
    "n_samples": [
        lambda n: sampled_map(DPP(L), n_samples=n),
        lambda n: DPP(np.eye(30) + 1.0).entropy(n),
        lambda n: diversify(L, [1, 2, 3], k=2, decoder="sampled", n_samples=n),
    ],
    "n_jobs": [
        lambda n: DPP(L).sample(2, n_jobs=n),
        lambda n: sampled_map(DPP(L), n_samples=9, n_jobs=n),
        lambda n: fitted(n_jobs=n),
        lambda n: ConditionalDPPCV(cv=2, n_jobs=n, progress=False).fit(X, Y),
    ],
    "n_starts": [lambda n: fit_dpp_to(FIELD, n_starts=n)],
    "max_iter": [
        lambda n: fitted(max_iter=n),
        lambda n: KernelDPP(max_iter=n).fit(BASKETS),
    ],
    "rank": [lambda n: KernelDPP(n).fit(BASKETS)],
    "chains": [lambda n: approximate(FIELD, "ais", sweeps=9, chains=n)],
    "sweeps": [lambda n: approximate(FIELD, "ais", chains=12, sweeps=n)],
    "resolution": [lambda n: factor_surface("dpp", 0.5, resolution=n)],
    "resamples": [lambda n: paired_bootstrap(None, None, resamples=n)],
    "max_per_group": [lambda n: diversify(L, [1, 2, 3], k=2, groups=[0, 0, 1], max_per_group=n)],
}  # fmt: skip


@pytest.mark.parametrize(("name", "which"), [(name, i) for name, calls in COUNTS.items() for i in range(len(calls))])
def test_too_many_is_refused_at_once(name, which):
    with pytest.raises(ValueError, match=rf"{name} must be at most \d+.*, found"):
        COUNTS[name][which](HUGE)


def test_a_size_beyond_the_number_of_items_is_all_of_them():
    assert len(diversify(L, [1, 2, 3], k=HUGE)) == 3
    assert len(greedy_map(DPP(L), k=HUGE)) == 3
    model = KernelDPP(alpha=1.0).fit(BASKETS)
    assert model.recommend(["a"], k=HUGE) == model.recommend(["a"], k=2)
    with pytest.raises(ValueError, match="k must be at most the number of items"):
        KDPP(DPP(L), HUGE)


def test_counts_that_are_too_large_together():
    with pytest.raises(ValueError, match=r"size \* thin \+ burn_in must be at most 100000000000 moves"):
        IMPLICIT.sample(10**7, thin=10**6)
    with pytest.raises(ValueError, match=r"size must be at most .* for sets of 100 items on average"):
        LowRankDPP(1e6 * np.eye(100)).sample(10**8)
