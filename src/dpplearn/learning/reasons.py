"""Reasons for an item: how its features differ from those of the average item of its instance, group by group.

    theta_A . (f_iA - mean f_A)      for a group A of columns

is how much more likely, as a logarithm, these features make item i than the average item: 0.7 is twice as likely. Its
standard error is the root of x^T Sigma_AA x with x = f_iA - mean f_A and the covariance Sigma of the weights. If a
model knows only the error of each weight, the upper bound |x| . sigma_A is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.learning.itemset import ItemSet

MAX_REASONS = 3
LEAST_AMOUNT = 0.1  # a smaller term is not a reason: it makes an item about a tenth more likely than the average one


@dataclass(frozen=True)
class Reason:
    """A reason for an item: an idea, in words, and how much more likely it makes it, as a logarithm.

    `amount` is relative to the average item of the instance; `error` is its standard error, or None if it is not known,
    as for a reason that the user asked for.

    Examples
    --------
    >>> Reason("tempo", "its tempo", 0.7, 0.2).counts, Reason("tempo", "its tempo", 0.7, 0.9).counts
    (True, False)
    """

    idea: str
    words: str
    amount: float
    error: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it is large enough to mention, and larger than its error."""
        return self.amount >= LEAST_AMOUNT and not self.amount <= (self.error or 0.0)


def strongest_reasons(reasons: list[Reason]) -> tuple[Reason, ...]:
    """The reasons that count, at most three, the strongest first."""
    return tuple(
        sorted((reason for reason in reasons if reason.counts), key=lambda reason: -reason.amount)[:MAX_REASONS]
    )


class GroupEffects:
    """What groups of columns add to 2 log q of each item of an instance, relative to the average item."""

    def __init__(self, model: Any, items: ItemSet, groups: Mapping[Any, IntArray]) -> None:
        self.model, self.groups = model, groups
        self.values = model.quality_.jacobian(items)
        self.means = self.values.mean(axis=0)
        terms = (self.values - self.means) * model.quality_.theta
        self.amounts: dict[Any, FloatArray] = {
            group: terms[:, columns].sum(axis=1) for group, columns in groups.items()
        }

    def error(self, i: int, *groups: Any) -> float | None:
        """The standard error of what these groups add together for an item; None if it is not known."""
        if not groups:
            return None
        columns = np.unique(np.concatenate([self.groups[group] for group in groups]))
        x = self.values[i, columns] - self.means[columns]
        columns, x = columns[x != 0.0], x[x != 0.0]
        covariance = self.model.covariance_
        if covariance is None:
            error = float(np.abs(x) @ self.model.theta_std_[columns])
        else:
            error = float(np.sqrt(max(x @ covariance[np.ix_(columns, columns)] @ x, 0.0)))
        return None if np.isnan(error) else error
