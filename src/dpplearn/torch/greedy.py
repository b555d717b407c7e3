"""Greedy choice of items for batches of kernels: one Schur complement per candidate (Chen, Zhang and Zhou 2018)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from dpplearn._precision import EPS, ROUNDING
from dpplearn.torch.likelihood import kernel_of


class Chosen(NamedTuple):
    """Items in the order of choice, -1 where none was left, and the log of what each multiplied the probability by."""

    indices: Tensor  # (..., k)
    gains: Tensor  # (..., k), 0 where there is no item
    mask: Tensor  # (..., n)


def greedy_map(L: Tensor, k: int, *, items: Tensor | None = None, stop: str = "full") -> Chosen:
    """Add the item with the largest gain g_i = L_ii - L_iY L_Y^-1 L_Yi, k times, in every kernel of a batch.

    Parameters
    ----------
    L : tensor of shape (..., n, n)
    k : int
        How many items at most.
    items : bool tensor of shape (..., n), optional
        Which items there are.
    stop : {"full", "no-gain"}
        "no-gain" takes only items that raise the probability, g_i > 1.

    Examples
    --------
    >>> L = torch.tensor([[3.0, 2.9, 0.0], [2.9, 4.0, 0.0], [0.0, 0.0, 2.0]])
    >>> chosen = greedy_map(torch.stack([L, L / 3]), 2)
    >>> chosen.indices
    tensor([[1, 2],
            [1, 2]])
    """
    if stop not in ("full", "no-gain"):
        raise ValueError(f'stop must be "full" or "no-gain", found {stop!r}.')
    with torch.no_grad():
        L = kernel_of(L, items, True)
        shape, n = L.shape[:-2], L.shape[-1]
        k = min(int(k), n)
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
            alive = alive & (g > max(1.0 if stop == "no-gain" else 0.0, 0.0)) & (g > (t + 1) * least * diag)
            best, j = torch.where(alive, g, -1.0).max(-1)
            found = best > 0.0
            indices[:, t] = torch.where(found, j, -1)
            gains[:, t] = torch.where(found, best.clamp(min=torch.finfo(L.dtype).tiny).log(), 0.0)
            # e_i = (L_ij - <c_i, c_j>) / sqrt(g_j);  g_i <- g_i - e_i^2
            e = A[b, j] - (C[:, :t] * C[b, :t, j].unsqueeze(-1)).sum(1)
            e = torch.where(
                found.unsqueeze(-1), e * best.clamp(min=torch.finfo(L.dtype).tiny).rsqrt().unsqueeze(-1), 0.0
            )
            C[:, t] = e
            g = g - e.square()
            alive[b, j] = False
        mask = torch.zeros(len(A), n + 1, dtype=torch.bool, device=L.device)
        mask.scatter_(1, torch.where(indices < 0, n, indices), True)
        return Chosen(indices.reshape(*shape, k), gains.reshape(*shape, k), mask[:, :n].reshape(*shape, n))
