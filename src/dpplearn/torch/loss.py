"""DPPLoss: minus the log-likelihood of chosen subsets, for networks that give qualities and embeddings."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dpplearn.torch.likelihood import log_prob_quality
from dpplearn.torch.sized import kdpp_log_prob


class DPPLoss(nn.Module):
    """Minus log P(Y) under L_ij = q_i S_ij q_j, S the cosines of embeddings, for batches of padded item sets.

    Parameters
    ----------
    nugget : float
        What of an item is particular to it: S = (1 - nugget) cosines + nugget I. With it every subset is possible, and
        the loss finite; 0 allows at most as many items as embeddings have dimensions.
    given_size : bool
        The likelihood of Y given |Y|: what to take where the size was fixed by design, or to learn similarity, which
        otherwise first of all sharpens the distribution of the size.
    reduction : {"mean", "sum", "none"}
    invalid : float, optional
        As for `log_prob`: the log-probability of entries that hold NaN.

    Examples
    --------
    >>> loss = DPPLoss(nugget=0.1)
    >>> log_q = torch.zeros(2, 3, requires_grad=True)  # of two item sets with three items
    >>> phi = torch.eye(3).expand(2, 3, 3)
    >>> mask = torch.tensor([[True, False, False], [True, True, False]])
    >>> value = loss(log_q, phi, mask)  # six coins for all: 3 log 2
    >>> round(value.item(), 4)
    2.0794
    """

    def __init__(
        self, nugget: float = 0.0, given_size: bool = False, reduction: str = "mean", invalid: float | None = None
    ) -> None:
        super().__init__()
        if not 0.0 <= nugget <= 1.0:
            raise ValueError(f"nugget must be a number from 0 to 1, found {nugget!r}.")
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f'reduction must be "mean", "sum" or "none", found {reduction!r}.')
        self.nugget, self.given_size, self.reduction, self.invalid = nugget, given_size, reduction, invalid

    def forward(self, log_q: Tensor, phi: Tensor, mask: Tensor, items: Tensor | None = None) -> Tensor:
        """Of log-qualities (..., n), embeddings (..., n, d) and the chosen ones (..., n) of the items there are."""
        S = cosines(phi, items)
        if self.given_size:
            n = S.shape[-1]
            S = torch.lerp(S, torch.eye(n, dtype=S.dtype, device=S.device), self.nugget)
            # the same factor on all qualities of a set does nothing here, so that none is large
            top = (log_q if items is None else log_q.masked_fill(~items, -float("inf"))).amax(-1, keepdim=True)
            q = torch.exp(log_q - top.detach())
            value = kdpp_log_prob(q.unsqueeze(-1) * S * q.unsqueeze(-2), mask, items=items, invalid=self.invalid)
        else:
            value = log_prob_quality(log_q, S, mask, items=items, nugget=self.nugget, invalid=self.invalid)
        if self.reduction == "none":
            return -value
        return -value.mean() if self.reduction == "mean" else -value.sum()


def cosines(phi: Tensor, items: Tensor | None = None) -> Tensor:
    """S of embeddings (..., n, d), with ones on its diagonal; padding has the direction of no item."""
    if items is not None:
        phi = torch.where(items.unsqueeze(-1), phi, 0.0)
    unit = nn.functional.normalize(phi, dim=-1)
    S = unit @ unit.mT
    eye = torch.eye(S.shape[-1], dtype=torch.bool, device=S.device)
    return torch.where(eye, 1.0, S)
