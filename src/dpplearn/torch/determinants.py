"""Batched log-determinants with explicit derivatives, and batches that fit the memory of a device.

    d log det A = <A^-T, dA>,    d A^-1 = -A^-1 dA A^-1,

so one factorization gives the value and every derivative. The backward pass consists of differentiable products and can
be differentiated again. A block whose determinant is 0 has the value -inf and no derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from dpplearn._precision import EPS, SINGULAR

Result = TypeVar("Result")
TRIANGLE = 32  # up to so many rows, the library inverts triangles on a GPU; on a CPU four times as many
SHARE = 0.5  # the share of the free memory that one batch may use
CACHE = 2**27  # bytes that one batch may use on a CPU, whose memory other programs share
INDEFINITE = 1e3  # an eigenvalue more negative than this times n eps times the largest one is not rounding


def inverse_lower(C: Tensor) -> Tensor:
    """C^-1 of lower triangles, by halves: [A 0; B D]^-1 = [A^-1 0; -D^-1 B A^-1 D^-1]."""
    n = C.shape[-1]
    if n <= (TRIANGLE if C.is_cuda else 4 * TRIANGLE):
        return torch.linalg.solve_triangular(C, torch.eye(n, dtype=C.dtype, device=C.device), upper=False)
    h = TRIANGLE * ((n + TRIANGLE) // (2 * TRIANGLE))  # a multiple of the library's tiles, where it is fastest
    out = torch.zeros_like(C, memory_format=torch.contiguous_format)
    out[..., :h, :h], out[..., h:, h:] = inverse_lower(C[..., :h, :h]), inverse_lower(C[..., h:, h:])
    out[..., h:, :h] = -(out[..., h:, h:] @ (C[..., h:, :h] @ out[..., :h, :h]))
    return out


def entry(bad: Tensor) -> str:
    """A phrase for the first entry of a batch that a mask marks."""
    where = torch.nonzero(bad.reshape(bad.shape or (1,)))[0].tolist()
    several = f" ({int(bad.sum())} such entries in all)" if int(bad.sum()) > 1 else ""
    return (f"batch entry {where[0] if len(where) == 1 else tuple(where)}" if bad.ndim else "the kernel") + several


def hidden(x: Tensor) -> bool:
    """Whether values are unknown, as in torch.compile and transforms of torch.func, so that no error can use them."""
    return bool(torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(x))


def checked(value: Tensor, bad: Tensor, invalid: float | None, name: str, A: Tensor) -> Tensor:
    """The value, with `invalid` in bad entries; if that is None, an error names the entry."""
    if invalid is None and not hidden(bad) and bool(bad.any()):
        nan = bad & ~torch.isfinite(A).all(-1).all(-1)
        what = "holds NaN or inf" if bool(nan.any()) else "is not positive definite"
        raise ValueError(
            f"{name} {what} at {entry(nan if bool(nan.any()) else bad)}. Correct that kernel, or pass "
            "invalid=float('nan') to get NaN there, without a gradient."
        )
    return torch.where(bad, float("nan") if invalid is None else invalid, value)


def items_in_front(mask: Tensor) -> tuple[Tensor, Tensor]:
    """The items of each set, followed by others up to the size of the largest set, and which ones are in the set."""
    n = mask.shape[-1]
    k = n if hidden(mask) else max(int(mask.sum(-1).max()) if mask.numel() else 0, 1)
    taken, idx = torch.sort(mask.to(torch.uint8), dim=-1, descending=True, stable=True)
    return idx[..., :k], taken[..., :k].bool()


def block_of(A: Tensor, mask: Tensor) -> Tensor:
    """A_Y, padded with an identity."""
    idx, taken = items_in_front(mask)
    n, k = A.shape[-1], idx.shape[-1]
    rows = A.gather(-2, idx.unsqueeze(-1).expand(*idx.shape, n))
    block = rows.gather(-1, idx.unsqueeze(-2).expand(*idx.shape[:-1], k, k))
    eye = torch.eye(k, dtype=A.dtype, device=A.device)
    return torch.where(taken.unsqueeze(-1) & taken.unsqueeze(-2), block, eye)


def rows_of(B: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """B_Y, padded with zeros, and which rows are those of Y."""
    idx, taken = items_in_front(mask)
    rows = B.gather(-2, idx.unsqueeze(-1).expand(*idx.shape, B.shape[-1]))
    return torch.where(taken.unsqueeze(-1), rows, 0.0), taken


def factor(A: Tensor, *, inverse: bool, sym: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """log det, A^-1 (or a scalar without `inverse`), and masks: where det is 0, and where there is no factor."""
    n = A.shape[-1]
    least = n * SINGULAR * torch.finfo(A.dtype).eps / EPS  # `singular` of dpplearn._precision, in this type
    X = A.new_zeros(())
    if sym:
        C, info = torch.linalg.cholesky_ex(A)
        pivots = C.diagonal(dim1=-2, dim2=-1)
        log_det = 2 * pivots.log().sum(-1)
        broken = (info != 0) | ~torch.isfinite(log_det)
        zero = ~broken & (pivots.square() <= least * A.diagonal(dim1=-2, dim2=-1)).any(-1)
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
    if inverse:
        X = torch.linalg.lu_solve(LU, pivots_at, torch.eye(n, dtype=A.dtype, device=A.device).expand_as(A))
    return log_det, X, zero, ~zero & ~((sign > 0) & torch.isfinite(log_det))


class LogdetInverse(torch.autograd.Function):
    """(A, inverse, symmetric, singular, invalid, name) -> log det A, and A^-1 or, without `inverse`, a scalar.

    With `singular`, the value of a determinant of 0 is -inf; otherwise it is an error, as for an indefinite matrix.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        A: Tensor, inverse: bool, sym: bool, singular: bool, invalid: float | None, name: str
    ) -> tuple[Tensor, Tensor]:
        value, X, zero, broken = factor(A, inverse=inverse, sym=sym)
        if not singular:
            broken, zero = broken | zero, torch.zeros_like(zero)
        elif sym and not hidden(broken) and bool(broken.any()):
            only_singular = broken.clone()  # which have no factor because they are singular, not indefinite
            only_singular[broken] = ~indefinite(A[broken] if broken.ndim else A[None])
            zero, broken = zero | only_singular, broken & ~only_singular
        value = checked(torch.where(zero, -float("inf"), value), broken, invalid, name, A)
        return value, torch.where((zero | broken)[..., None, None], 0.0, X) if inverse else X

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(output[1])
        if not inputs[1]:
            ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor | None, g_X: Tensor | None) -> Any:
        (X,) = ctx.saved_tensors
        grad = None if g is None else g[..., None, None] * X.mT
        if g_X is not None:
            second = X.mT @ g_X @ X.mT
            grad = -second if grad is None else grad - second
        return (grad, *[None] * 5)


def indefinite(A: Tensor) -> Tensor:
    """Whether matrices (b, n, n) hold NaN or have an eigenvalue that is negative by more than rounding."""
    nan = ~torch.isfinite(A).all(-1).all(-1)
    lam = torch.linalg.eigvalsh(torch.where(nan[:, None, None], 0.0, A))
    noise = INDEFINITE * A.shape[-1] * torch.finfo(A.dtype).eps * lam[:, -1].abs().clamp(min=1e-300)
    return nan | (lam[:, 0] < -noise)


def free_bytes(device: torch.device) -> int:
    """The bytes that can be allocated on a device: free ones, and those that torch keeps but does not use."""
    if device.type != "cuda":
        return CACHE
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def in_batches(count: int, each: int, device: torch.device, call: Callable[[int, int], Result]) -> list[Result]:
    """The results of call(low, high) for ranges that cover 0 ... count, as large as fits with `each` bytes an entry.

    After an out-of-memory error, the range is tried again with half the size.
    """
    size = max(1, min(count, int(SHARE * free_bytes(device)) // max(each, 1)))
    out: list[Result] = []
    low = 0
    while low < count:
        try:
            out.append(call(low, min(low + size, count)))
            low += size
            continue
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        size = max(1, size // 2)  # outside of the except block, whose traceback keeps the tensors of the call
        if device.type == "cuda":
            torch.cuda.empty_cache()
    return out
