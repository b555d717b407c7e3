"""The closest DPP and the closest MRF: gradients, exactness inside the family, optimality outside it."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from brute import pmf, random_kernel
from brute_mrf import position, random_mrf
from dpplearn import DPP, KDPP
from dpplearn.mrf import fit_dpp_to, kl_divergence
from dpplearn.mrf.fit import Divergence
from dpplearn.mrf.starts import with_signs


def brute_probabilities(L):
    out = np.empty(1 << len(L))
    for Y, p in pmf(L).items():
        out[position(Y)] = p
    return out


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_divergence_is_the_sum_over_subsets(n, rng):
    L, p = random_kernel(n, rng), rng.dirichlet(np.ones(1 << n))
    loss = Divergence(p)
    value, _ = loss(loss.kernels.start(DPP(L).K))
    assert value == pytest.approx(p @ np.log(p / brute_probabilities(L)), rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_gradient_agrees_with_finite_differences(n, rng):
    loss = Divergence(rng.dirichlet(np.ones(1 << n)))
    x = loss.kernels.start(DPP(random_kernel(n, rng) + 0.1 * np.eye(n)).K)
    steps = approx_fprime(x, lambda y: loss(y)[0], 1e-7)
    np.testing.assert_allclose(loss(x)[1], steps, atol=2e-5)
    # equal eigenvalues of M, where the divided differences are derivatives
    x = loss.kernels.start(0.6 * np.eye(n))
    np.testing.assert_allclose(loss(x)[1], approx_fprime(x, lambda y: loss(y)[0], 1e-7), atol=2e-5)


@pytest.mark.parametrize(("n", "rank"), [(2, None), (3, None), (4, 2), (6, None), (7, 3)])
def test_a_dpp_is_found_again(n, rank, rng):
    L = random_kernel(n, rng, rank=rank)
    fit = fit_dpp_to(brute_probabilities(L))
    assert fit.converged
    assert fit.divergence < 1e-8
    np.testing.assert_allclose(fit.model.K**2, DPP(L).K ** 2, atol=1e-4)
    np.testing.assert_array_equal(with_signs(fit.model.K), fit.model.K)  # it has these signs already
    np.testing.assert_allclose(fit.model.K, with_signs(DPP(L).K), atol=1e-4)


def test_the_divergence_is_that_of_the_model_returned(rng):
    mrf = random_mrf(5, rng, strength=3.0)
    fit = fit_dpp_to(mrf)
    assert fit.divergence == pytest.approx(kl_divergence(mrf, brute_probabilities(fit.model.L)), rel=1e-6)
    assert fit.divergences[0] == fit.divergence
    assert list(fit.divergences) == sorted(fit.divergences)


@pytest.mark.parametrize(
    "target",
    [
        np.eye(8)[5],  # one subset alone
        np.eye(8)[0],
        np.array([0.0, 0.5, 0.5, 0.0]),  # exactly one of two items
        KDPP(DPP(np.eye(4) + 0.3), 2),
        DPP(np.diag([0.0, 1.0, 2.0])),  # an item that is never chosen
    ],
    ids=["single", "empty", "either", "k-dpp", "never"],
)
def test_targets_that_exclude_subsets(target):
    fit = fit_dpp_to(target)
    assert fit.converged
    assert fit.divergence < (0.06 if isinstance(target, KDPP) else 1e-8)


def test_positive_correlation_is_out_of_reach():
    """Two items that come together: the closest DPP has independent items."""
    target = np.array([0.4, 0.1, 0.1, 0.4])
    mutual_information = float(target @ np.log(target / 0.25))
    assert fit_dpp_to(target).divergence == pytest.approx(mutual_information, abs=1e-9)


def test_what_does_not_converge_says_so(rng, monkeypatch):
    monkeypatch.setattr("dpplearn.mrf.fit.MOST_STEPS", 1)
    with pytest.warns(RuntimeWarning, match="DPP was not reached"):
        assert not fit_dpp_to(random_mrf(6, rng, strength=2.0)).converged
