"""`DPPLoss`, minus the log-likelihood of chosen subsets, for networks that return qualities and embeddings."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dpplearn.torch.likelihood import log_prob_quality
from dpplearn.torch.sized import kdpp_log_prob


class DPPLoss(nn.Module):
    """Minus log P(Y) for L_ij = q_i S_ij q_j, where S are cosines of embeddings, for batches of padded item sets.

    Parameters
    ----------
    nugget : float
        The share of an item that is its own: S = (1 - nugget) cosines + nugget I. With it every subset is possible, and
        the loss is finite; 0 allows at most as many items as embeddings have dimensions.
    given_size : bool
        Use the likelihood of Y given |Y|: if the size was fixed by design, or to learn similarity, which otherwise
        mostly sharpens the distribution of the size.
    reduction : {"mean", "sum", "none"}
    invalid : float, optional
        The log-probability of entries that hold NaN, as for `log_prob`.

    Examples
    --------
    >>> loss = DPPLoss(nugget=0.1)
    >>> log_q = torch.zeros(2, 3, requires_grad=True)  # two item sets with three items
    >>> phi = torch.eye(3).expand(2, 3, 3)
    >>> mask = torch.tensor([[True, False, False], [True, True, False]])
    >>> value = loss(log_q, phi, mask)  # each item is a fair coin: 3 log 2
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
        """The loss for log-qualities (..., n), embeddings (..., n, d), and masks (..., n) of chosen and all items."""
        unit = nn.functional.normalize(phi if items is None else torch.where(items.unsqueeze(-1), phi, 0.0), dim=-1)
        eye = torch.eye(phi.shape[-2], dtype=phi.dtype, device=phi.device)
        S = torch.where(eye.bool(), 1.0, unit @ unit.mT)
        if self.given_size:
            S = torch.lerp(S, eye, self.nugget)
            # a common factor of all qualities changes nothing, so we make the largest one 1
            top = (log_q if items is None else log_q.masked_fill(~items, -float("inf"))).amax(-1, keepdim=True)
            q = torch.exp(log_q - top.detach())
            value = kdpp_log_prob(q.unsqueeze(-1) * S * q.unsqueeze(-2), mask, items=items, invalid=self.invalid)
        else:
            value = log_prob_quality(log_q, S, mask, items=items, nugget=self.nugget, invalid=self.invalid)
        if self.reduction == "none":
            return -value
        return -value.mean() if self.reduction == "mean" else -value.sum()
