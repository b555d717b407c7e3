"""log P and its derivatives, in batches: enumeration, the numpy core, gradcheck, padding, bad kernels, transforms."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from brute import pmf, random_kernel, subsets
from dpplearn import DPP, KDPP, NonsymmetricDPP
from dpplearn.torch import (
    kdpp_log_prob,
    log_prob,
    log_prob_low_rank,
    log_prob_quality,
    marginals,
    subset_masks,
)

N = 6
ALL = subset_masks([list(Y) for Y in subsets(N)], N)


def tensor(x, **options):
    return torch.tensor(np.asarray(x), dtype=torch.float64, **options)


def skewed(n, rng, d=6):
    """A nonsymmetric kernel whose principal minors are not negative: a positive semidefinite and a skew part."""
    return NonsymmetricDPP(
        rng.standard_normal((n, d)) / 2, rng.standard_normal((n, d)) / 2, rng.standard_normal((d, d))
    )


def random_S(n, rng, d):
    phi = rng.standard_normal((n, d))
    phi /= np.linalg.norm(phi, axis=1)[:, None]
    return phi @ phi.T


@pytest.fixture
def masks(rng):
    return torch.tensor(rng.random((5, N)) < 0.4)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_every_subset_by_enumeration(scale, rng):
    L = random_kernel(N, rng, scale=scale)
    table = pmf(L)
    found = log_prob(tensor(L), ALL)
    np.testing.assert_allclose(found, np.log(list(table.values())), atol=1e-9, rtol=1e-9)
    C = np.linalg.cholesky(L)
    np.testing.assert_allclose(log_prob_low_rank(tensor(C), ALL), found, atol=1e-9)
    q = np.sqrt(L.diagonal())
    np.testing.assert_allclose(log_prob_quality(tensor(q).log(), tensor(L / np.outer(q, q)), ALL), found, atol=1e-9)


def test_nonsymmetric_kernels_by_enumeration(rng):
    dpp = skewed(N, rng)
    L = dpp.L
    table = pmf(L)
    found = log_prob(tensor(L), ALL, symmetric=False)
    np.testing.assert_allclose(found.exp(), list(table.values()), atol=1e-9)
    np.testing.assert_allclose(marginals(tensor(L), symmetric=False), dpp.marginals, atol=1e-9)
    np.testing.assert_allclose(found[3:40], [dpp.log_prob(Y) for Y in subsets(N)[3:40]], atol=1e-9)


def test_kdpp_by_enumeration(rng):
    L = random_kernel(N, rng)
    table = pmf(L)
    sizes = np.array([len(Y) for Y in table])
    p = np.array(list(table.values()))
    given = p / np.array([p[sizes == k].sum() for k in sizes])
    np.testing.assert_allclose(kdpp_log_prob(tensor(L), ALL), np.log(given), atol=1e-9)


def test_kdpps_whose_digits_are_lost_are_refused(rng):
    S = random_S(6, rng, 8)
    good, lost = (np.outer(q, q) * S for q in ([1e2, 1e2, 1.0, 1.0, 1.0, 1.0], [1e9, 1e9, 1.0, 1.0, 1.0, 1.0]))
    mask, sized = torch.tensor([True] * 4 + [False] * 2), KDPP(DPP(good), 4)
    assert kdpp_log_prob(tensor(good), mask).item() == pytest.approx(sized.log_prob([0, 1, 2, 3]), abs=1e-9)
    with pytest.raises(ValueError, match=r"sets of this size at batch entry 1: .*lost in the rounding"):
        kdpp_log_prob(tensor([good, lost]), mask)
    L = tensor([good, lost], requires_grad=True)
    found = kdpp_log_prob(L, mask, invalid=-7.0)
    found.sum().backward()
    assert found[1] == -7.0
    assert torch.isfinite(L.grad).all()
    assert (L.grad[1] == 0.0).all()
    assert kdpp_log_prob(tensor(np.ones((3, 3))), torch.tensor([True, True, False])).item() == -np.inf


def test_derivatives(rng, masks):
    L = tensor(np.stack([random_kernel(N, rng) for _ in range(5)]), requires_grad=True)
    assert gradcheck(lambda L: log_prob(L / 2 + L.mT / 2, masks), L)
    assert gradgradcheck(lambda L: log_prob(L / 2 + L.mT / 2, masks), L)
    assert gradcheck(lambda L: marginals(L / 2 + L.mT / 2), L)
    assert gradgradcheck(lambda L: marginals(L / 2 + L.mT / 2), L)
    assert gradcheck(lambda L: kdpp_log_prob(L / 2 + L.mT / 2, masks), L)


def test_padding_changes_nothing(rng):
    sizes, n = (3, 6, 1), 6
    kernels = [random_kernel(k, rng) for k in sizes]
    L, items = torch.full((3, n, n), 7.0, dtype=torch.float64), torch.zeros(3, n, dtype=torch.bool)
    for t, (k, A) in enumerate(zip(sizes, kernels, strict=True)):
        L[t, :k, :k], items[t, :k] = tensor(A), True
    mask = torch.zeros(3, n, dtype=torch.bool)
    mask[:, 0] = True
    want = [DPP(A).log_prob([0]) for A in kernels]
    L.requires_grad_()
    found = log_prob(L, mask, items=items)
    np.testing.assert_allclose(found.detach(), want, atol=1e-9)
    found.sum().backward()
    assert (L.grad[0, 3:] == 0).all()
    assert (L.grad[0, :3, :3] != 0).any()
    np.testing.assert_allclose(kdpp_log_prob(L, mask, items=items).detach(),
                               [KDPP(DPP(A), 1).log_prob([0]) for A in kernels], atol=1e-9)  # fmt: skip
    q = L.detach().diagonal(dim1=-2, dim2=-1).sqrt()
    S = L.detach() / (q.unsqueeze(-1) * q.unsqueeze(-2))
    log_q = q.log().requires_grad_()
    found = log_prob_quality(log_q, S, mask, items=items)
    np.testing.assert_allclose(found.detach(), want, atol=1e-9)
    found.sum().backward()
    assert (log_q.grad[0, 3:] == 0).all()


def test_sets_of_probability_0(rng):
    B = rng.standard_normal((5, 2))
    B[3] = B[0]
    L = tensor(B @ B.T, requires_grad=True)
    mask = subset_masks([[0, 3], [0, 1, 2], [0, 1]], 5)
    value = log_prob(L, mask)
    assert value[:2].tolist() == [-np.inf, -np.inf]
    assert torch.isfinite(value[2])
    rows = log_prob_low_rank(tensor(B), mask)
    assert rows[:2].tolist() == [-np.inf, -np.inf]
    torch.autograd.backward(value[2])
    assert torch.isfinite(L.grad).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bad_kernels_are_named_or_masked(dtype, rng):
    L = torch.tensor(np.stack([random_kernel(4, rng) for _ in range(3)]), dtype=dtype)
    mask = torch.ones(3, 4, dtype=torch.bool)
    L[1, 2, 2] = torch.nan
    with pytest.raises(ValueError, match=r"NaN.*entry 1"):
        log_prob(L, mask)
    L[1] = torch.diag(torch.tensor([1.0, -3.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match=r"not positive definite.*entry 1"):
        log_prob(L, mask)
    with pytest.raises(ValueError, match=r"entry \(0, 1\)"):
        marginals(L[None])
    L.requires_grad_()
    found = log_prob(L, mask, invalid=-99.0)
    found.sum().backward()
    assert torch.isfinite(found[[0, 2]]).all()
    assert (L.grad[1] == 0).all()
    assert torch.isfinite(L.grad).all()
    assert torch.isnan(marginals(L, invalid=torch.nan)).sum() == 0  # a probability of 1 - 0: no derivative, no value


def test_transforms_of_torch_func(rng, masks):
    L = tensor(np.stack([random_kernel(N, rng) for _ in range(5)]))
    want = log_prob(L, masks)
    np.testing.assert_allclose(torch.vmap(log_prob)(L, masks), want, atol=1e-12)
    np.testing.assert_allclose(torch.vmap(log_prob, in_dims=(None, 0))(L[0], masks), log_prob(L[0], masks), atol=1e-12)
    X = L.clone().requires_grad_()
    log_prob(X, masks).sum().backward()
    found = torch.vmap(torch.func.grad(log_prob))(L, masks)
    np.testing.assert_allclose(found, X.grad, atol=1e-12)
    log_q, S = torch.zeros(5, N, dtype=torch.float64), tensor(random_S(N, rng, 8))
    each = torch.vmap(torch.func.grad(log_prob_quality), in_dims=(0, None, 0))(log_q, S, masks)
    log_q.requires_grad_()
    log_prob_quality(log_q, S, masks).sum().backward()
    np.testing.assert_allclose(each, log_q.grad, atol=1e-12)
    np.testing.assert_allclose(torch.vmap(kdpp_log_prob)(L, masks), kdpp_log_prob(L, masks), atol=1e-12)
    B = tensor(rng.standard_normal((5, N, N)))
    np.testing.assert_allclose(torch.vmap(log_prob_low_rank)(B, masks), log_prob_low_rank(B, masks), atol=1e-12)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, of what its compiler imports
@pytest.mark.parametrize("function", [log_prob, kdpp_log_prob, log_prob_low_rank, marginals])
def test_compiled_functions(function, rng, masks):
    torch.compiler.reset()
    given = () if function is marginals else (masks,)
    L = tensor(np.stack([random_kernel(N, rng) for _ in range(5)]), requires_grad=True)
    want = function(L, *given)
    (gradient,) = torch.autograd.grad(want.sum(), L)
    found = torch.compile(function, backend="aot_eager")(L, *given)
    np.testing.assert_allclose(found.detach(), want.detach(), atol=1e-12)
    np.testing.assert_allclose(torch.autograd.grad(found.sum(), L)[0], gradient, atol=1e-12)


def test_derivatives_of_nonsymmetric_kernels(rng, masks):
    L = tensor(np.stack([skewed(N, rng).L for _ in range(5)]), requires_grad=True)
    assert gradcheck(lambda L: log_prob(L, masks, symmetric=False), L)
    assert gradgradcheck(lambda L: log_prob(L, masks, symmetric=False), L)
