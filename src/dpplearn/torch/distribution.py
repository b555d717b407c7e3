"""DPPDistribution: a batch of DPPs with the interface of torch.distributions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints

from dpplearn._checks import check_int
from dpplearn.torch.likelihood import log_prob, marginals
from dpplearn.torch.sampling import sample

ENUMERABLE = 12  # items up to which the entropy is the sum over all subsets


class DPPDistribution(Distribution):
    """Subsets of n items as boolean vectors, P(Y) = det L_Y / det(I + L).

    Parameters
    ----------
    L : tensor of shape (..., n, n)
        Kernels: the leading dimensions are the batch shape, and (n,) the event shape.
    symmetric : bool
        False for nonsymmetric kernels.

    Examples
    --------
    >>> dpp = DPPDistribution(torch.diag(torch.tensor([1.0, 3.0])))
    >>> dpp.mean, dpp.log_prob(torch.tensor([False, True])).exp()
    (tensor([0.5000, 0.7500]), tensor(0.3750))
    >>> dpp.entropy()  # of two coins
    tensor(1.2555)
    """

    has_enumerate_support = True

    def __init__(self, L: Tensor, *, symmetric: bool = True, validate_args: bool | None = None) -> None:
        if L.ndim < 2 or L.shape[-1] != L.shape[-2]:
            raise ValueError(f"L must have shape (..., n, n), found {tuple(L.shape)}.")
        self.L, self.symmetric = L, symmetric
        super().__init__(L.shape[:-2], L.shape[-1:], validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:  # what is wrong with a kernel is told where it shows
        return {}

    @property
    def support(self) -> Any:
        return constraints.independent(constraints.boolean, 1)

    def expand(self, batch_shape: Any, _instance: Any = None) -> DPPDistribution:
        n = self.L.shape[-1]
        return DPPDistribution(self.L.expand(*batch_shape, n, n), symmetric=self.symmetric, validate_args=False)

    def log_prob(self, value: Tensor) -> Tensor:
        """log P(Y) of boolean vectors, or of vectors of 0 and 1."""
        if self._validate_args:
            self._validate_sample(value)
        return log_prob(self.L, value.bool(), symmetric=self.symmetric)

    def sample(self, sample_shape: Any = torch.Size(), generator: torch.Generator | None = None) -> Tensor:  # noqa: B008  # torch's signature; it is immutable
        """Exact draws, of shape (*sample_shape, *batch_shape, n)."""
        return sample(self.L, sample_shape, symmetric=self.symmetric, generator=generator)

    @property
    def mean(self) -> Tensor:
        """P(i in Y)."""
        return marginals(self.L, symmetric=self.symmetric)

    @property
    def variance(self) -> Tensor:
        """Of each item's indicator."""
        k = self.mean
        return k * (1 - k)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All 2^n subsets, for few items."""
        n = self.L.shape[-1]
        if n > 20:
            raise ValueError(f"2^n subsets are listed for up to 20 items, found n = {n}.")
        codes = torch.arange(2**n, device=self.L.device)
        values = (codes.unsqueeze(-1) >> torch.arange(n, device=self.L.device)) % 2 == 1
        values = values.view(-1, *(1,) * len(self.batch_shape), n)
        return values.expand(-1, *self.batch_shape, n) if expand else values

    def entropy(self, n_samples: int = 10_000, generator: torch.Generator | None = None) -> Tensor:
        """-sum of P(Y) log P(Y) in nats: exact, and differentiable, up to 12 items; beyond that from draws."""
        if self.L.shape[-1] <= ENUMERABLE:
            log_p = log_prob(self.L, self.enumerate_support(), symmetric=self.symmetric)
            return -torch.where(torch.isfinite(log_p), log_p.exp() * log_p, 0.0).sum(0)
        draws = self.sample((check_int(n_samples, "n_samples", low=1),), generator)
        return -log_prob(self.L, draws, symmetric=self.symmetric).mean(0)
