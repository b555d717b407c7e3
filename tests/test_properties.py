"""What must hold for every kernel: relabelling, scaling, conditioning twice, complements, K and L."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpplearn import DPP, KDPP, LowRankDPP

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 7)


def features(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.exp(rng.uniform(-1, 1, (n, 1)))


@given(n=sizes, d=sizes, seed=seeds)
def test_L_from_K_and_back(n, d, seed):
    B = features(n, d, seed)
    L = B @ B.T
    np.testing.assert_allclose(DPP.from_marginal(DPP(L).K).L, L, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(DPP.from_marginal(DPP(L).K).marginals, DPP(L).marginals, atol=1e-9)


@given(n=sizes, d=sizes, seed=seeds)
def test_relabelling(n, d, seed):
    B = features(n, d, seed)
    order = np.random.default_rng(seed).permutation(n)
    dpp, relabelled = DPP(B @ B.T), DPP(B[order] @ B[order].T)
    np.testing.assert_allclose(relabelled.marginals, dpp.marginals[order], atol=1e-9)
    assert abs(relabelled.inclusion_prob([0, 1]) - dpp.inclusion_prob(order[[0, 1]])) < 1e-9
    k = min(n, d) - 1
    np.testing.assert_allclose(KDPP(relabelled, k).marginals, KDPP(dpp, k).marginals[order], atol=1e-8)


@given(n=sizes, d=sizes, seed=seeds, log_scale=st.floats(-300, 300))
def test_scaling_the_kernel_leaves_a_k_dpp_as_it_is(n, d, seed, log_scale):
    B = features(n, d, seed)
    k = min(n, d) - 1
    one, scaled = KDPP(LowRankDPP(B), k), KDPP(LowRankDPP(B * np.exp(log_scale / 2)), k)
    np.testing.assert_allclose(scaled.marginals, one.marginals, rtol=1e-6, atol=1e-9)


@given(n=st.integers(4, 7), seed=seeds)
def test_conditioning_twice_is_conditioning_once(n, seed):
    B = features(n, n + 1, seed)
    for dpp in (DPP(B @ B.T), LowRankDPP(B), DPP.from_marginal(DPP(B @ B.T).K)):
        once = dpp.condition(include=[0, 2], exclude=[3])
        first = dpp.condition(include=[2])
        twice = first.condition(include=[0], exclude=[int(np.flatnonzero(first.items == 3)[0])])
        assert once.items.tolist() == twice.items.tolist()
        np.testing.assert_allclose(twice.K, once.K, atol=1e-7)
