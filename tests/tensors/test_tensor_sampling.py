"""Draws, greedy choice, the distribution and the loss, in batches."""

import numpy as np
import pytest
import torch

from brute import check_counts, pmf, random_kernel
from dpplearn import DPP, NonsymmetricDPP
from dpplearn.decoding import greedy_map as greedy_arrays
from dpplearn.torch import (
    DPPDistribution,
    DPPLoss,
    determinants,
    greedy_map,
    kdpp_log_prob,
    log_prob,
    marginals,
    sample,
    subset_masks,
)

DRAWS = 20_000


def check_draws(draws, L):
    check_counts([Y.nonzero().flatten().numpy() for Y in draws], pmf(L))


@pytest.mark.parametrize("rank", [None, 3])
def test_draws_follow_the_pmf(rank, rng, monkeypatch):
    monkeypatch.setattr(determinants, "CACHE", 2**20)  # several batches
    L = np.stack([random_kernel(5, rng, rank=rank, scale=s) for s in (0.5, 4.0)])
    draws = sample(torch.tensor(L), (DRAWS,), generator=torch.Generator().manual_seed(1))
    assert draws.shape == (DRAWS, 2, 5)
    for t in range(2):
        check_draws(draws[:, t], L[t])


def test_draws_of_nonsymmetric_kernels(rng):
    V, B = rng.standard_normal((2, 5, 4)) / 2
    L = NonsymmetricDPP(V, B, rng.standard_normal((4, 4))).L
    draws = sample(torch.tensor(L), (DRAWS,), symmetric=False, generator=torch.Generator().manual_seed(2))
    check_draws(draws, L)


def test_padding_is_never_drawn(rng):
    items = torch.tensor([True, True, False, True, False])
    draws = sample(torch.tensor(random_kernel(5, rng)) + 1.0, (500,), items=items)
    assert not draws[:, ~items].any()
    assert draws[:, items].any(0).all()
    assert sample(torch.zeros(0, 3, 3)).shape == (0, 3)


def test_greedy_choice_of_a_batch(rng):
    L = np.stack([random_kernel(30, rng, rank=r) for r in (30, 12, 5, 30)])
    for stop in ("full", "no-gain"):
        chosen = greedy_map(torch.tensor(L), 10, stop=stop)
        for t, A in enumerate(L):
            want = greedy_arrays(DPP(A), k=10, stop=stop)
            k = len(want)
            assert chosen.indices[t].tolist() == want.subset.tolist() + [-1] * (10 - k)
            np.testing.assert_allclose(chosen.gains[t, :k], want.gains, atol=1e-9)
            assert chosen.mask[t].nonzero().flatten().tolist() == want.sorted_subset.tolist()
    items = torch.rand(4, 30, generator=torch.Generator().manual_seed(0)) < 0.4
    assert not (greedy_map(torch.tensor(L), 8, items=items).mask & ~items).any()
    with pytest.raises(ValueError, match="no-gain"):
        greedy_map(torch.tensor(L), 3, stop="never")


def test_the_distribution(rng):
    L = torch.tensor(np.stack([random_kernel(5, rng), random_kernel(5, rng, scale=3.0)]), requires_grad=True)
    dpp = DPPDistribution(L)
    assert dpp.batch_shape == (2,)
    assert dpp.event_shape == (5,)
    assert dpp.sample((7,)).shape == (7, 2, 5)
    values = dpp.enumerate_support()
    np.testing.assert_allclose(dpp.log_prob(values).exp().sum(0).detach(), 1.0)
    np.testing.assert_allclose(dpp.log_prob(values.double()).detach(), dpp.log_prob(values).detach())
    np.testing.assert_allclose(dpp.mean.detach(), marginals(L).detach())
    for t in range(2):
        p = np.array(list(pmf(L[t].detach().numpy()).values()))
        assert dpp.entropy()[t].item() == pytest.approx(-(p @ np.log(p)), abs=1e-9)
    assert torch.autograd.gradcheck(lambda A: DPPDistribution(A / 2 + A.mT / 2).entropy(), L)
    assert dpp.expand((3, 2)).log_prob(values[0]).shape == (3, 2)
    with pytest.raises(ValueError, match="support"):
        DPPDistribution(L, validate_args=True).log_prob(torch.full((2, 5), 0.5))
    coins = torch.linspace(0.1, 0.9, 20)  # of which the entropy is known
    many = DPPDistribution(torch.diag(coins / (1 - coins)))
    estimate = many.entropy(4000, torch.Generator().manual_seed(0)).item()
    assert estimate == pytest.approx(torch.distributions.Bernoulli(coins).entropy().sum().item(), abs=0.15)


@pytest.mark.parametrize("given_size", [False, True])
def test_the_loss_is_minus_the_log_probability(given_size, rng):
    log_q = torch.tensor(rng.standard_normal((3, 6)), requires_grad=True)
    phi = torch.tensor(rng.standard_normal((3, 6, 4)), requires_grad=True)
    items = torch.ones(3, 6, dtype=torch.bool)
    items[1, 4:] = False
    mask = subset_masks([[0, 1], [2], [1, 3, 5]], 6)
    unit = torch.nn.functional.normalize(phi, dim=-1)
    S = 0.9 * unit @ unit.mT + 0.1 * torch.eye(6)
    L = log_q.exp()[..., None] * S * log_q.exp()[..., None, :]
    want = -(kdpp_log_prob if given_size else log_prob)(L, mask, items=items)
    for reduction, value in (("none", want), ("sum", want.sum()), ("mean", want.mean())):
        found = DPPLoss(0.1, given_size, reduction)(log_q, phi, mask, items)
        np.testing.assert_allclose(found.detach(), value.detach(), atol=1e-9)
    loss = DPPLoss(0.1, given_size, "sum")
    assert torch.autograd.gradcheck(lambda a, b: loss(a, b, mask, items), (log_q, phi))
    with pytest.raises(ValueError, match="reduction"):
        DPPLoss(reduction="max")
    with pytest.raises(ValueError, match="nugget"):
        DPPLoss(nugget=2.0)
