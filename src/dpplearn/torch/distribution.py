"""Batches of DPPs: `DPPDistribution`, with the interface of torch.distributions, exact samples, and greedy choice.

Samples need no eigenvectors: items are decided one after the other with their conditional probabilities, the pivots of
an elimination of K (Poulson, 2020). After row i is eliminated with the pivot K_ii, or K_ii - 1 if i stays out, what is
left of K is the marginal kernel of the rest. Greedy choice keeps the gain of each item (Chen, Zhang and Zhou, 2018).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints

from dpplearn._checks import check_choice, check_int
from dpplearn._precision import EPS, ROUNDING
from dpplearn.torch.determinants import in_batches
from dpplearn.torch.likelihood import kernel_of, log_prob, marginal_kernel, marginals

SUMMED = 12  # up to so many items, the entropy is the sum over all subsets


def sample(
    L: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    items: Tensor | None = None,
    symmetric: bool = True,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw exact samples from every kernel of a batch.

    Parameters
    ----------
    L : tensor of shape (..., n, n)
    sample_shape : ints
        How many samples of each kernel.
    items, symmetric
        As for `log_prob`.
    generator : torch.Generator, optional
        On the device of L.

    Returns
    -------
    bool tensor of shape (*sample_shape, ..., n)

    Examples
    --------
    >>> L = torch.diag(torch.tensor([1.0, 3.0]))
    >>> draws = sample(L, (1000,), generator=torch.Generator().manual_seed(0))
    >>> draws.shape, draws.float().mean(0)[0] > 0.45
    (torch.Size([1000, 2]), tensor(True))
    """
    with torch.no_grad():
        K = marginal_kernel(L, items=items, symmetric=symmetric)
        shape, n = (*sample_shape, *K.shape[:-1]), K.shape[-1]
        K = K.reshape(-1, n, n)
        count = math.prod(shape[:-1])
        u = torch.rand(count, n, dtype=K.dtype, device=K.device, generator=generator)

        def draw(low: int, high: int) -> Tensor:
            which = torch.arange(low, high, device=K.device) % max(len(K), 1)
            return eliminate_batch(K[which], u[low:high])

        none = torch.empty(0, n, dtype=torch.bool, device=K.device)
        drawn = torch.cat([none, *in_batches(count, 2 * n * n * K.element_size(), K.device, draw)]).reshape(shape)
        return drawn if items is None else drawn & items


def eliminate_batch(A: Tensor, u: Tensor) -> Tensor:
    """One subset of each marginal kernel, from uniform numbers; overwrites A."""
    n = A.shape[-1]
    taken = torch.empty(A.shape[:-1], dtype=torch.bool, device=A.device)
    for i in range(n):
        p = A[:, i, i]
        taken[:, i] = u[:, i] < p
        pivot = torch.where(taken[:, i], p, p - 1)
        if i + 1 < n:
            left = A[:, i + 1 :, i : i + 1] / pivot[:, None, None]
            A[:, i + 1 :, i + 1 :].baddbmm_(left, A[:, i : i + 1, i + 1 :].clone(), alpha=-1)
    return taken


class Chosen(NamedTuple):
    """Items in the order of choice, -1 if none was left, and the log of the factor by which each raised det(L_Y)."""

    indices: Tensor  # (..., k)
    gains: Tensor  # (..., k), 0 if there is no item
    mask: Tensor  # (..., n)


def greedy_map(L: Tensor, k: int, *, items: Tensor | None = None, stop: str = "full") -> Chosen:
    """In every kernel of a batch, add the item with the largest gain g_i = L_ii - L_iY L_Y^-1 L_Yi, k times.

    Parameters
    ----------
    L : tensor of shape (..., n, n)
    k : int
        At most so many items.
    items : bool tensor of shape (..., n), optional
        Which items exist; the others are padding.
    stop : {"full", "no-gain"}
        "no-gain" adds only items that raise the probability, with g_i > 1.

    Examples
    --------
    >>> L = torch.tensor([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]])
    >>> chosen = greedy_map(torch.stack([L, L / 3]), 2)
    >>> chosen.indices
    tensor([[1, 2],
            [1, 2]])
    """
    check_choice(stop, "stop", ("full", "no-gain"))
    with torch.no_grad():
        L = kernel_of(L, items, True)
        shape, n = L.shape[:-2], L.shape[-1]
        k, tiny = min(int(k), n), torch.finfo(L.dtype).tiny
        A = L.reshape(-1, n, n)
        b = torch.arange(len(A), device=L.device)
        diag = A.diagonal(dim1=-2, dim2=-1)
        g = diag.clone()
        alive = diag > 0.0
        C = A.new_zeros(len(A), k, n)
        indices = torch.full((len(A), k), -1, device=L.device)
        gains = A.new_zeros(len(A), k)
        least = ROUNDING * torch.finfo(L.dtype).eps / EPS
        for t in range(k):
            alive = alive & (g > float(stop == "no-gain")) & (g > (t + 1) * least * diag)
            best, j = torch.where(alive, g, -1.0).max(-1)
            left = best > 0.0  # whether an item is left
            indices[:, t] = torch.where(left, j, -1)
            gains[:, t] = torch.where(left, best.clamp(min=tiny).log(), 0.0)
            # e_i = (L_ij - <c_i, c_j>) / sqrt(g_j);  g_i <- g_i - e_i^2
            e = A[b, j] - (C[:, :t] * C[b, :t, j].unsqueeze(-1)).sum(1)
            e = torch.where(left.unsqueeze(-1), e * best.clamp(min=tiny).rsqrt().unsqueeze(-1), 0.0)
            C[:, t] = e
            g = g - e.square()
            alive[b, j] = False
        mask = torch.zeros(len(A), n + 1, dtype=torch.bool, device=L.device)
        mask.scatter_(1, torch.where(indices < 0, n, indices), True)
        return Chosen(indices.reshape(*shape, k), gains.reshape(*shape, k), mask[:, :n].reshape(*shape, n))


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
    arg_constraints: ClassVar[dict[str, Any]] = {}  # kernels are checked when they are used
    support = constraints.independent(constraints.boolean, 1)

    def __init__(self, L: Tensor, *, symmetric: bool = True, validate_args: bool | None = None) -> None:
        if L.ndim < 2 or L.shape[-1] != L.shape[-2]:
            raise ValueError(f"L must have shape (..., n, n), found {tuple(L.shape)}.")
        self.L, self.symmetric = L, symmetric
        super().__init__(L.shape[:-2], L.shape[-1:], validate_args)

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
        """The variance of each item's indicator."""
        k = self.mean
        return k * (1 - k)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All 2^n subsets, for up to 20 items."""
        n = self.L.shape[-1]
        if n > 20:
            raise ValueError(f"2^n subsets are listed for up to 20 items, found n = {n}.")
        codes = torch.arange(2**n, device=self.L.device)
        values = (codes.unsqueeze(-1) >> torch.arange(n, device=self.L.device)) % 2 == 1
        values = values.view(-1, *(1,) * len(self.batch_shape), n)
        return values.expand(-1, *self.batch_shape, n) if expand else values

    def entropy(self, n_samples: int = 10_000, generator: torch.Generator | None = None) -> Tensor:
        """-sum of P(Y) log P(Y) in nats: exact and differentiable up to 12 items, estimated from samples for more."""
        if self.L.shape[-1] <= SUMMED:
            log_p = log_prob(self.L, self.enumerate_support(), symmetric=self.symmetric)
            return -torch.where(torch.isfinite(log_p), log_p.exp() * log_p, 0.0).sum(0)
        draws = self.sample((check_int(n_samples, "n_samples", low=1),), generator)
        return -log_prob(self.L, draws, symmetric=self.symmetric).mean(0)
