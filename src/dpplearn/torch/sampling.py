"""Exact draws of batches of DPPs, symmetric or not, without eigenvectors.

One item after the other is taken with its conditional probability, the pivot of an elimination of K (Poulson 2020):
what is left of K after row i was eliminated with the pivot K_ii, or K_ii - 1 where i stays out, is the marginal kernel
of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from dpplearn.torch.likelihood import marginal_kernel
from dpplearn.torch.memory import in_batches


def sample(
    L: Tensor,
    sample_shape: Sequence[int] = (),
    *,
    items: Tensor | None = None,
    symmetric: bool = True,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw subsets of every kernel of a batch, exactly.

    Parameters
    ----------
    L : tensor of shape (..., n, n)
    sample_shape : ints
        How many of each.
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
            return eliminate(K[which], u[low:high])

        parts = in_batches(count, 2 * n * n * K.element_size(), K.device, draw)
        drawn = torch.cat(parts) if parts else torch.empty(0, n, dtype=torch.bool, device=K.device)
        drawn = drawn.reshape(shape)
        return drawn if items is None else drawn & items


def eliminate(A: Tensor, u: Tensor) -> Tensor:
    """One subset of each marginal kernel, from uniform numbers; A is used up."""
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
