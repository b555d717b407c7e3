"""Batched log-determinants of principal blocks, with explicit derivatives.

Of A (..., n, n) and a mask Y (..., n), sets of several sizes in one tensor:

    log det A_Y  and  X = scatter(A_Y^-1, Y),    d log det A_Y = <X^T, dA>,    dX = -X dA X,

so that one factorization gives the value and every derivative; the backward passes are made of differentiable products
and can be differentiated again. A block whose determinant is 0 has the value -inf and no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from dpplearn._precision import EPS, SINGULAR

T = TypeVar("T")
SHARE = 0.5  # of what is free, for the work on one batch
CACHE = 2**27  # bytes of work at a time on a CPU, whose memory is shared with everyone
BLOCK = 32  # triangles up to this size are inverted by the library, larger ones by halves: products are faster
INDEFINITE = 1e3  # times n eps: an eigenvalue that is negative by this share of the largest is no rounding


def inverse_lower(C: Tensor) -> Tensor:
    """C^-1 of lower triangles, by halves: [A 0; B D]^-1 = [A^-1 0; -D^-1 B A^-1 D^-1]."""
    out = torch.zeros_like(C, memory_format=torch.contiguous_format)
    _invert(C, out)
    return out


def _invert(C: Tensor, out: Tensor) -> None:
    n = C.shape[-1]
    if n <= (BLOCK if C.is_cuda else 4 * BLOCK):
        eye = torch.eye(n, dtype=C.dtype, device=C.device)
        out.copy_(torch.linalg.solve_triangular(C, eye, upper=False))
        return
    h = BLOCK * ((n + BLOCK) // (2 * BLOCK))  # where the library is fastest: at a multiple of its tiles
    _invert(C[..., :h, :h], out[..., :h, :h])
    _invert(C[..., h:, h:], out[..., h:, h:])
    out[..., h:, :h] = -(out[..., h:, h:] @ (C[..., h:, :h] @ out[..., :h, :h]))


def entry(bad: Tensor) -> str:
    """The first entry of a batch that a mask marks, in words."""
    where = torch.nonzero(bad.reshape(bad.shape or (1,)))[0].tolist()
    several = f" ({int(bad.sum())} such entries in all)" if int(bad.sum()) > 1 else ""
    return (f"batch entry {where[0] if len(where) == 1 else tuple(where)}" if bad.ndim else "the kernel") + several


def cannot_ask() -> bool:
    """Whether values of tensors are unknown here, so that no error can depend on them."""
    return bool(torch.compiler.is_compiling())


def checked(value: Tensor, bad: Tensor, invalid: float | None, name: str, A: Tensor) -> Tensor:
    """The value, with `invalid` where it is bad; or an error that names the entry."""
    if invalid is None and not cannot_ask() and bool(bad.any()):
        nan = ~torch.isfinite(A).all(-1).all(-1)
        broken = bad & nan if bool((bad & nan).any()) else bad
        what = "holds NaN or inf" if bool(nan[bad].any() if bad.ndim else nan) else "is not positive definite"
        raise ValueError(
            f"{name} {what} at {entry(broken)}. Mend that kernel, or pass invalid=float('nan') for that value "
            "there, without a gradient."
        )
    return torch.where(bad, float("nan") if invalid is None else invalid, value)


def scatter_indices(mask: Tensor) -> tuple[Tensor, Tensor]:
    """The items of each set in front, as many places as the largest set has, and which of the places are taken."""
    n = mask.shape[-1]
    k = n if cannot_ask() else max(int(mask.sum(-1).max()) if mask.numel() else 0, 1)
    taken, idx = torch.sort(mask.to(torch.uint8), dim=-1, descending=True, stable=True)
    return idx[..., :k], taken[..., :k].bool()


def block_of(A: Tensor, idx: Tensor, taken: Tensor) -> Tensor:
    """A_Y in front of an identity."""
    n, k = A.shape[-1], idx.shape[-1]
    rows = A.gather(-2, idx.unsqueeze(-1).expand(*idx.shape, n))
    block = rows.gather(-1, idx.unsqueeze(-2).expand(*idx.shape[:-1], k, k))
    eye = torch.eye(k, dtype=A.dtype, device=A.device)
    return torch.where(taken.unsqueeze(-1) & taken.unsqueeze(-2), block, eye)


def scattered(X: Tensor, idx: Tensor, taken: Tensor, n: int) -> Tensor:
    """The inverse of block_of: an array that is 0 outside Y."""
    X = torch.where(taken.unsqueeze(-1) & taken.unsqueeze(-2), X, 0.0)
    places = idx.unsqueeze(-1) * n + idx.unsqueeze(-2)
    flat = X.new_zeros(*X.shape[:-2], n * n).scatter_(-1, places.flatten(-2), X.flatten(-2))
    return flat.unflatten(-1, (n, n))


def factor(A: Tensor, *, inverse: bool, sym: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """log det, A^-1 (or a scalar where it is not asked for), where det is 0, and where there is no factor."""
    n = A.shape[-1]
    least = n * SINGULAR * torch.finfo(A.dtype).eps / EPS  # `singular` of dpplearn._precision, in this type
    if sym:
        C, info = torch.linalg.cholesky_ex(A)
        pivots = C.diagonal(dim1=-2, dim2=-1)
        log_det = 2 * pivots.log().sum(-1)
        broken = (info != 0) | ~torch.isfinite(log_det)
        zero = ~broken & (pivots.square() <= least * A.diagonal(dim1=-2, dim2=-1)).any(-1)
        X = A.new_zeros(())
        if inverse:
            T = inverse_lower(C)
            X = T.mT @ T
        return log_det, X, zero, broken
    LU, pivots_at, info = torch.linalg.lu_factor_ex(A)
    u = LU.diagonal(dim1=-2, dim2=-1)
    swaps = (pivots_at != torch.arange(1, n + 1, device=A.device)).sum(-1) % 2
    sign = torch.where(swaps == 0, 1.0, -1.0) * u.sign().prod(-1)
    log_det = u.abs().log().sum(-1)
    tiny = (u.abs() <= least * A.abs().amax((-2, -1)).unsqueeze(-1)).any(-1)
    zero = tiny | (info > 0)
    X = A.new_zeros(())
    if inverse:
        X = torch.linalg.lu_solve(LU, pivots_at, torch.eye(n, dtype=A.dtype, device=A.device).expand_as(A))
    return log_det, X, zero, ~zero & ~((sign > 0) & torch.isfinite(log_det))


def batched(info: Any, dims: Any, *tensors: Any) -> list[Any]:
    """Arguments of a vmapped call with the mapped dimension in front: the functions here are batched anyway."""
    size = info.batch_size
    return [
        x if not isinstance(x, Tensor) else x.movedim(d, 0) if d is not None else x.expand(size, *x.shape)
        for x, d in zip(tensors, dims, strict=True)
    ]


class LogdetInverse(torch.autograd.Function):
    """(A, mask, inverse, symmetric, invalid, name) -> log det A_Y, X; a mask of None is of all items.

    With `singular`, a determinant of 0 is -inf; otherwise it is an error like an indefinite one.
    """

    @staticmethod
    def forward(
        A: Tensor, mask: Tensor | None, inverse: bool, sym: bool, singular: bool, invalid: float | None, name: str
    ) -> tuple[Tensor, Tensor]:
        if mask is None:
            idx = taken = None
            block = A
        else:
            idx, taken = scatter_indices(mask)
            block = block_of(A, idx, taken)
        value, X, zero, broken = factor(block, inverse=inverse, sym=sym)
        if singular:
            if sym and not cannot_ask() and bool(broken.any()):  # no factor: because it is singular, or for worse?
                few = block[broken] if broken.ndim else block[None]
                nan = ~torch.isfinite(few).all(-1).all(-1)
                lam = torch.linalg.eigvalsh(torch.where(nan[:, None, None], 0.0, few))
                worst = INDEFINITE * A.shape[-1] * torch.finfo(A.dtype).eps * lam[:, -1].abs().clamp(min=1e-300)
                worse = nan | (lam[:, 0] < -worst)
                singular_only = broken.clone()
                singular_only[broken] = ~worse
                zero, broken = zero | singular_only, broken & ~singular_only
            value = torch.where(zero, -float("inf"), value)
            none = zero | broken
        else:
            broken = none = broken | zero
        value = checked(value, broken, invalid, name, block)
        if inverse:
            X = torch.where(none[..., None, None], 0.0, X)
            if idx is not None and taken is not None:
                X = scattered(X, idx, taken, A.shape[-1])
        return value, X

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(output[1])
        if not inputs[2]:
            ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor | None, g_X: Tensor | None) -> Any:
        (X,) = ctx.saved_tensors
        grad = None if g is None else g[..., None, None] * X.mT
        if g_X is not None:
            second = X.mT @ g_X @ X.mT
            grad = -second if grad is None else grad - second
        return (grad, *[None] * 6)

    @staticmethod
    def vmap(info: Any, dims: Any, A: Tensor, mask: Tensor | None, *options: Any) -> Any:
        A, mask = batched(info, dims[:2], A, mask)
        return LogdetInverse.apply(A, mask, *options), (0, 0 if options[0] else None)


class LogdetRows(torch.autograd.Function):
    """(B, mask, inverse, invalid) -> log det B_Y B_Y^T, and the rows P = (B_Y B_Y^T)^-1 B_Y, 0 outside Y.

    d log det = 2 <P, dB>; and with U = P P^T G, where P P^T is the scattered inverse,
    <G, dP> = <U - U P^T B - P U^T B, dB>.
    """

    @staticmethod
    def forward(B: Tensor, mask: Tensor, inverse: bool, invalid: float | None) -> tuple[Tensor, Tensor]:
        d = B.shape[-1]
        idx, taken = scatter_indices(mask)
        at = idx.unsqueeze(-1).expand(*idx.shape, d)
        rows = torch.where(taken.unsqueeze(-1), B.gather(-2, at), 0.0)
        gram = rows @ rows.mT + torch.diag_embed((~taken).to(B.dtype))
        value, X = LogdetInverse.forward(gram, None, inverse, True, True, invalid, "B B^T")
        if not inverse:
            return value, X
        return value, torch.zeros_like(B).scatter_(-2, at, X @ rows)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(inputs[0], output[1])
        if not inputs[2]:
            ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor | None, g_P: Tensor | None) -> Any:
        B, P = ctx.saved_tensors
        grad = None if g is None else 2 * g[..., None, None] * P
        if g_P is not None:
            U = P @ (P.mT @ g_P)
            second = U - U @ (P.mT @ B) - P @ (U.mT @ B)
            grad = second if grad is None else grad + second
        return grad, None, None, None

    @staticmethod
    def vmap(info: Any, dims: Any, B: Tensor, mask: Tensor, inverse: bool, invalid: float | None) -> Any:
        B, mask = batched(info, dims[:2], B, mask)
        return LogdetRows.apply(B, mask, inverse, invalid), (0, 0 if inverse else None)


class LogNormalizer(torch.autograd.Function):
    """(eta, S, inverse, invalid) -> log det A, W = A^-1, for A = I + diag(q) S diag(q) and eta = 2 log q.

    d log det A = sum of K_ii d eta_i + <G, dS> with K = I - W and G = diag(q) W diag(q); and for a derivative H in W,
    dW = -W dA W gives -sum of ((W H K)_ii + (K H W)_ii) / 2 d eta_i - <diag(q) W H W diag(q), dS>.
    """

    @staticmethod
    def forward(eta: Tensor, S: Tensor, inverse: bool, invalid: float | None) -> tuple[Tensor, Tensor]:
        # A = diag(d) M diag(d) with d = max(1, q): M has entries of at most 2, whatever q is
        log_d = (eta / 2).clamp(min=0.0)
        r = torch.exp(eta / 2 - log_d)
        M = S * (r.unsqueeze(-1) * r.unsqueeze(-2))
        M.diagonal(dim1=-2, dim2=-1).add_(torch.exp(-2 * log_d))
        value, X = LogdetInverse.forward(M, None, inverse, True, False, invalid, "I + L")
        if inverse:
            X = X * torch.exp(-log_d.unsqueeze(-1) - log_d.unsqueeze(-2))
        return value + 2 * log_d.sum(-1), X

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(inputs[0], output[0], output[1])
        if not inputs[2]:
            ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor | None, H: Tensor | None) -> Any:
        eta, value, W = ctx.saved_tensors
        d_eta = d_S = outer = None
        if ctx.needs_input_grad[1]:
            q = torch.exp(eta / 2)
            outer = q.unsqueeze(-1) * q.unsqueeze(-2)
        if g is not None:
            k = 1 - W.diagonal(dim1=-2, dim2=-1)
            d_eta = g.unsqueeze(-1) * torch.where(torch.isfinite(value).unsqueeze(-1), k, 0.0)
            d_S = None if outer is None else g[..., None, None] * outer * W
        if H is not None:
            WH, HW = W @ H, H @ W
            # (W H K)_ii = (WH)_ii - (W H W)_ii, and so (K H W)_ii
            WHW = WH @ W
            both = (WH + HW - 2 * WHW).diagonal(dim1=-2, dim2=-1) / 2
            d_eta = -both if d_eta is None else d_eta - both
            if outer is not None:
                d_S = -outer * WHW if d_S is None else d_S - outer * WHW
        return d_eta, d_S, None, None

    @staticmethod
    def vmap(info: Any, dims: Any, eta: Tensor, S: Tensor, inverse: bool, invalid: float | None) -> Any:
        eta, S = batched(info, dims[:2], eta, S)
        return LogNormalizer.apply(eta, S, inverse, invalid), (0, 0 if inverse else None)


def free_bytes(device: torch.device) -> int:
    """What can be allocated on a device: what the driver has free, and what torch keeps but does not use."""
    if device.type != "cuda":
        return CACHE
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def in_batches(count: int, each: int, device: torch.device, call: Callable[[int, int], T]) -> list[T]:
    """call(low, high) for ranges that cover 0 ... count, of as many as fit where one takes `each` bytes.

    An out-of-memory error halves the batch, and the same range is tried again.
    """
    size = max(1, min(count, int(SHARE * free_bytes(device)) // max(each, 1)))
    out: list[T] = []
    low = 0
    while low < count:
        try:
            out.append(call(low, min(low + size, count)))
            low += size
            continue
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        size = max(1, size // 2)  # outside of the except, whose traceback holds the tensors of the call
        if device.type == "cuda":
            torch.cuda.empty_cache()
    return out
