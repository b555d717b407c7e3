"""log P(Y) and marginals of batches of DPPs, as differentiable functions.

A batch has any number of leading dimensions. A subset is a boolean mask (..., n), so that sets of several sizes fit in
one tensor; ground sets of several sizes are padded, and `items` (..., n) says which items exist.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dpplearn.torch.determinants import LogdetInverse, block_of, hidden, rows_of

ASYMMETRY = 1e3  # L and its transpose may differ by this times eps times the largest entry, which is rounding


def log_prob(
    L: Tensor, mask: Tensor, *, items: Tensor | None = None, symmetric: bool = True, invalid: float | None = None
) -> Tensor:
    """log P(Y) = log det L_Y - log det(I + L).

    Parameters
    ----------
    L : tensor of shape (..., n, n)
        Positive semidefinite kernels; with symmetric=False, any kernels whose principal minors are not negative.
    mask : bool tensor of shape (..., n)
        True for the items of Y.
    items : bool tensor of shape (..., n), optional
        Which items exist; the others are padding, and their entries of L do not matter.
    symmetric : bool
        False for nonsymmetric kernels, which are evaluated by LU decomposition.
    invalid : float, optional
        The value, without a gradient, for kernels that hold NaN or are found to be indefinite. By default they raise an
        error that names the batch entry; inside torch.compile, which cannot raise errors, the value is NaN.

    Returns
    -------
    tensor of shape (...)
        -inf, with a gradient of 0, if the items of Y are linearly dependent.

    Examples
    --------
    >>> L = torch.diag(torch.tensor([1.0, 3.0], dtype=torch.float64)).requires_grad_()
    >>> value = log_prob(L, torch.tensor([False, True]))  # log 3/8
    >>> value.backward()
    >>> round(value.item(), 4), L.grad.diagonal()
    (-0.9808, tensor([-0.5000,  0.0833], dtype=torch.float64))
    """
    L = kernel_of(L, items, symmetric)
    mask = subset_of(mask, L.shape[-1], items)
    return log_det_of_subset(L, mask, symmetric, invalid, "L_Y") - log_normalizer(L, symmetric, invalid)


def log_prob_quality(
    log_q: Tensor, S: Tensor, mask: Tensor, *, items: Tensor | None = None, nugget: float = 0.0,
    invalid: float | None = None,
) -> Tensor:  # fmt: skip
    """Equation (18) of the paper: 2 sum of log q_i over Y + log det S_Y - log det(I + L), L_ij = q_i S_ij q_j.

    Since it works with log q instead of q, qualities may have any size.

    Parameters
    ----------
    log_q : tensor of shape (..., n)
    S : tensor of shape (..., n, n)
        Similarities, with ones on the diagonal.
    mask, items, invalid
        As for `log_prob`.
    nugget : float
        The share of an item that is its own: S_ij of different items is multiplied by 1 - nugget.

    Examples
    --------
    >>> S = torch.tensor([[1.0, 0.6], [0.6, 1.0]], dtype=torch.float64)
    >>> log_q = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    >>> value = log_prob_quality(log_q, S, torch.tensor([True, False]))  # 1 / (1 + 1 + 1 + 0.64)
    >>> value.backward()
    >>> round(value.item(), 4), log_q.grad  # 2 (1[i in Y] - K_ii)
    (-1.292, tensor([ 1.0989, -0.9011], dtype=torch.float64))
    """
    mask = subset_of(mask, log_q.shape[-1], items)
    n = log_q.shape[-1]
    if S.shape[-2:] != (n, n):
        raise ValueError(f"S must have one row and one column per item, found shape {tuple(S.shape)} for {n} items.")
    S = symmetrized(S)
    if nugget:
        S = torch.lerp(S, torch.eye(n, dtype=S.dtype, device=S.device), nugget)
    linear = 2 * torch.where(mask, log_q, 0.0).sum(-1)
    eta = 2 * log_q if items is None else torch.where(items, 2 * log_q, -float("inf"))
    # I + L = diag(d) M diag(d) with d = max(1, q), so entries of M are at most 2 for any q. The value does not depend
    # on d, which therefore needs no derivative.
    log_d = (eta / 2).clamp(min=0.0).detach()
    r = torch.exp(eta / 2 - log_d)
    M = S * (r.unsqueeze(-1) * r.unsqueeze(-2)) + torch.diag_embed(torch.exp(-2 * log_d))
    log_z = log_det(M, True, False, invalid, "I + L") + 2 * log_d.sum(-1)
    return linear + log_det_of_subset(S, mask, True, invalid, "S_Y") - log_z


def log_prob_low_rank(B: Tensor, mask: Tensor, *, items: Tensor | None = None, invalid: float | None = None) -> Tensor:
    """log P(Y) for L = B B^T: log det B_Y B_Y^T - log det(I + B^T B), from a d x d and a |Y| x |Y| matrix.

    Parameters
    ----------
    B : tensor of shape (..., n, d)
    mask, items, invalid
        As for `log_prob`.

    Examples
    --------
    >>> B = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]], dtype=torch.float64)
    >>> mask = torch.tensor([[True, False, True], [False, False, False]])
    >>> (log_prob_low_rank(B, mask) - log_prob(B @ B.T, mask)).abs().max() < 1e-12
    tensor(True)
    """
    mask = subset_of(mask, B.shape[-2], items)
    if items is not None:
        B = torch.where(items.unsqueeze(-1), B, 0.0)
    shape = torch.broadcast_shapes(B.shape[:-2], mask.shape[:-1])
    rows, taken = rows_of(B.expand(*shape, *B.shape[-2:]), mask.expand(*shape, -1))
    gram = rows @ rows.mT + torch.diag_embed((~taken).to(B.dtype))
    return log_det(gram, True, True, invalid, "B B^T") - log_normalizer(B.mT @ B, True, invalid)


def log_det(A: Tensor, symmetric: bool, singular: bool, invalid: float | None, name: str) -> Tensor:
    """log det A; the inverse is computed only if a derivative needs it, or a transform that may take one."""
    inverse = hidden(A) or (torch.is_grad_enabled() and A.requires_grad)
    return LogdetInverse.apply(A, inverse, symmetric, singular, invalid, name)[0]


def log_det_of_subset(A: Tensor, mask: Tensor, symmetric: bool, invalid: float | None, name: str) -> Tensor:
    """log det A_Y."""
    shape, n = torch.broadcast_shapes(A.shape[:-2], mask.shape[:-1]), A.shape[-1]
    return log_det(block_of(A.expand(*shape, n, n), mask.expand(*shape, n)), symmetric, True, invalid, name)


def log_normalizer(L: Tensor, symmetric: bool, invalid: float | None) -> Tensor:
    """log det(I + L)."""
    eye = torch.eye(L.shape[-1], dtype=L.dtype, device=L.device)
    return log_det(L + eye, symmetric, False, invalid, "I + L")


def marginals(
    L: Tensor, *, items: Tensor | None = None, symmetric: bool = True, invalid: float | None = None
) -> Tensor:
    """P(i in Y) of every item: the diagonal of K = I - (I + L)^-1.

    Examples
    --------
    >>> marginals(torch.diag(torch.tensor([1.0, 3.0])))
    tensor([0.5000, 0.7500])
    """
    return marginal_kernel(L, items=items, symmetric=symmetric, invalid=invalid).diagonal(dim1=-2, dim2=-1)


def marginal_kernel(
    L: Tensor, *, items: Tensor | None = None, symmetric: bool = True, invalid: float | None = None
) -> Tensor:
    """K = I - (I + L)^-1, for which P(A in Y) = det K_A."""
    L = kernel_of(L, items, symmetric)
    eye = torch.eye(L.shape[-1], dtype=L.dtype, device=L.device)
    return eye - LogdetInverse.apply(L + eye, True, symmetric, False, invalid, "I + L")[1]


def kernel_of(L: Tensor, items: Tensor | None, sym: bool) -> Tensor:
    """A checked square kernel, made exactly symmetric if `sym`, with 0 for padding."""
    if L.ndim < 2 or L.shape[-1] != L.shape[-2] or not L.is_floating_point():
        raise ValueError(f"L must be a floating-point tensor of shape (..., n, n), found {L.dtype} {tuple(L.shape)}.")
    if sym:
        L = symmetrized(L)
    if items is not None:
        L = torch.where(items.unsqueeze(-1) & items.unsqueeze(-2), L, 0.0)
    return L


def symmetrized(L: Tensor) -> Tensor:
    """(L + L^T) / 2, for kernels that are symmetric up to rounding."""
    if not (hidden(L) or L.numel() == 0):
        with torch.no_grad():
            gap = (L - L.mT).abs().amax()
            if bool(gap > ASYMMETRY * torch.finfo(L.dtype).eps * L.abs().amax()):  # NaN is found later
                raise ValueError(
                    f"L must be symmetric, but L and its transpose differ by up to {gap.item():.2g}. Pass "
                    "symmetric=False for a nonsymmetric kernel, or (L + L.mT) / 2 if that is what you mean."
                )
    return (L + L.mT) / 2


def subset_of(mask: Tensor, n: int, items: Tensor | None) -> Tensor:
    """A checked boolean mask of n items, without padding."""
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be a boolean tensor, True for the items of Y; found {mask.dtype}. Use subset_masks."
        )
    if mask.ndim == 0 or mask.shape[-1] != n:
        raise ValueError(f"mask must have one entry per item ({n}), found shape {tuple(mask.shape)}.")
    return mask if items is None else mask & items


def subset_masks(subsets: list[list[int]], n: int, device: torch.device | str | None = None) -> Tensor:
    """Lists of item numbers as one boolean tensor.

    Examples
    --------
    >>> subset_masks([[0, 2], []], 3)
    tensor([[ True, False,  True],
            [False, False, False]])
    """
    out = torch.zeros(len(subsets), n, dtype=torch.bool)
    for row, subset in zip(out, subsets, strict=True):
        row[torch.as_tensor(subset, dtype=torch.long)] = True
    return out.to(device) if device is not None else out
