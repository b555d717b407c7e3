"""log P(Y given |Y| = k) for batches of k-DPPs.

log P = log det L_Y - log e_k(lam), where e_k is the k-th elementary symmetric polynomial of the eigenvalues; its
derivative in lam_i is e_{k-1} of the others. Sums are in logarithms, so that nothing over- or underflows.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dpplearn._precision import UNSURE_PROBABILITY
from dpplearn.torch.determinants import entry, hidden
from dpplearn.torch.likelihood import kernel_of, log_det_of_subset, subset_of

UNSURE_SINGLE = 1e-2  # for float32, the error of log P that is refused; for float64 it is UNSURE_PROBABILITY


def kdpp_log_prob(L: Tensor, mask: Tensor, *, items: Tensor | None = None, invalid: float | None = None) -> Tensor:
    """log P(Y given its size) for sets of several sizes: log det L_Y - log e_k(lam), k = |Y|.

    The size plays no part, so that similarity can be learned from which items were chosen together.

    Parameters
    ----------
    L, mask, items, invalid
        As for `log_prob`. Kernels whose k-th eigenvalue is lost in the rounding of the largest are also invalid.

    Examples
    --------
    >>> L = torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    >>> kdpp_log_prob(L, torch.tensor([False, True, True])).exp()  # 6 / (1 2 + 1 3 + 2 3)
    tensor(0.5455, dtype=torch.float64)
    """
    L = kernel_of(L, items, True)
    mask = subset_of(mask, L.shape[-1], items)
    # the derivative of eigenvalues, V diag(.) V^T, also holds for equal ones
    lam = torch.linalg.eigvalsh(L).clamp(min=0.0).expand(*torch.broadcast_shapes(L.shape[:-2], mask.shape[:-1]), -1)
    sizes = mask.sum(-1).expand(lam.shape[:-1])
    log_e, slope = LogElementary.apply(lam, sizes)
    log_det = log_det_of_subset(L, mask, True, invalid, "L_Y")
    value = torch.where(log_det == -float("inf"), log_det, log_det - log_e)  # e_k may be 0 if det L_Y is
    # rounding changes each eigenvalue by eps times the largest
    few = UNSURE_PROBABILITY if lam.dtype == torch.float64 else UNSURE_SINGLE
    lost = torch.isfinite(value) & (torch.finfo(lam.dtype).eps * lam.amax(-1) * slope.sum(-1) > few)
    if invalid is None and not hidden(lost) and bool(lost.any()):
        raise ValueError(
            f"L does not determine the probabilities of sets of this size at {entry(lost)}: they depend on eigenvalues "
            "that are lost in the rounding of the largest. Use float64, a nugget, qualities that differ less, or "
            "dpplearn.KDPP, which works on factors; or pass invalid=float('nan')."
        )
    return torch.where(lost, float("nan") if invalid is None else invalid, value)


def log_esp_table(log_lam: Tensor, most: int) -> Tensor:
    """log e_0 ... e_most of the first i numbers, of shape (..., n + 1, most + 1), from their logarithms."""
    now = torch.full((*log_lam.shape[:-1], most + 1), -float("inf"), dtype=log_lam.dtype, device=log_lam.device)
    now[..., 0] = 0.0
    table = [now]
    for x in log_lam.unbind(-1):  # without the next number, and with it
        taken = torch.nn.functional.pad(now[..., :-1] + x.unsqueeze(-1), (1, 0), value=-float("inf"))
        now = torch.logaddexp(now, taken)
        table.append(now)
    return torch.stack(table, -2)


class LogElementary(torch.autograd.Function):
    """(lam, k) -> log e_k(lam), and its derivatives in lam."""

    generate_vmap_rule = True

    @staticmethod
    def forward(lam: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        most = lam.shape[-1] if hidden(k) or k.numel() == 0 else int(k.max())
        top = lam.amax(-1, keepdim=True).clamp(min=torch.finfo(lam.dtype).tiny)
        log_lam = (lam / top).log()
        before, after = log_esp_table(log_lam, most), log_esp_table(log_lam.flip(-1), most).flip(-2)
        at = k.clamp(min=0).unsqueeze(-1)
        log_e = before[..., -1, :].gather(-1, at)
        # e_{k-1} of all but the i-th: a numbers before it, and k - 1 - a numbers after it
        a = torch.arange(most + 1, device=lam.device)
        rest = (at - 1 - a).clamp(min=0)  # (..., most + 1)
        others = before[..., :-1, :] + after[..., 1:, :].gather(-1, rest.unsqueeze(-2).expand_as(after[..., 1:, :]))
        without = torch.where((a < at).unsqueeze(-2), others, -float("inf")).logsumexp(-1)
        slope = torch.where(torch.isfinite(log_e), (without - log_e).exp() / top, 0.0)
        return (log_e + at * top.log()).squeeze(-1), slope

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG004  # k has no derivative
        ctx.save_for_backward(output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Tensor, _: Any) -> Any:
        return g.unsqueeze(-1) * ctx.saved_tensors[0], None
