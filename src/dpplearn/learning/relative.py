"""What a quality says of an item against the average one of its instance, for groups of features taken together.

    theta_A . (f_iA - mean f_A)      for a group A of columns,

is how much more likely, as a logarithm, they make item i than the average item: 0.7 is twice as likely. Its standard
error is the root of x^T Sigma_AA x with x = f_iA - mean f_A and the covariance Sigma of the weights; where a model
knows only the error of each, |x| . sigma_A, the most that it can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.learning.itemset import ItemSet

MOST = 3  # reasons that are given
LEAST = 0.1  # a term that is less is no reason: a tenth more likely than the average item


@dataclass(frozen=True)
class Reason:
    """A reason for an item: an idea, in words, and how much more likely it makes it, as a logarithm.

    `amount` is relative to the average item of the instance; `error` is its standard error, None where there is none to
    know, as of what was asked for and not learned.

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
        """Whether it speaks for the item, beyond its error."""
        return self.amount >= LEAST and not self.amount <= (self.error or 0.0)


def strongest(reasons: list[Reason]) -> tuple[Reason, ...]:
    """Those that count, at most three, the strongest first."""
    return tuple(sorted((one for one in reasons if one.counts), key=lambda one: -one.amount)[:MOST])


class Relative:
    """What groups of columns add to 2 log q of the items of one instance, each less the average."""

    def __init__(self, model: Any, items: ItemSet, groups: Mapping[Any, IntArray]) -> None:
        self.model, self.groups = model, groups
        self.values = model.quality_.jacobian(items)
        self.means = self.values.mean(axis=0)
        terms = (self.values - self.means) * model.quality_.theta
        self.amounts: dict[Any, FloatArray] = {group: terms[:, own].sum(axis=1) for group, own in groups.items()}

    def error(self, i: int, *groups: Any) -> float | None:
        """The standard error of what some groups add for an item together; None where it is not known."""
        if not groups:
            return None
        own = np.unique(np.concatenate([self.groups[group] for group in groups]))
        x = self.values[i, own] - self.means[own]
        own, x = own[x != 0.0], x[x != 0.0]
        covariance = self.model.covariance_
        if covariance is None:
            found = float(np.abs(x) @ self.model.theta_std_[own])
        else:
            found = float(np.sqrt(max(x @ covariance[np.ix_(own, own)] @ x, 0.0)))
        return None if np.isnan(found) else found
