"""Quality as a record with weights: log q of an item set, what each feature adds to it, and its derivatives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, check_array, check_vector
from dpplearn._io.jsonfile import numbers
from dpplearn._notebook import short_repr
from dpplearn.learning.itemset import ItemSet, check_names
from dpplearn.learning.similarity import Fixed, Similarity
from dpplearn.learning.tables import Encoding

MAX_ETA = 1200.0  # q = e^600 is a float with room to spare
MAX_ETA_KERNEL = 705.0  # exp of it, L_ii, still is one


@dataclass(frozen=True, eq=False)
class LogLinear:
    """log q_i = theta . f_i / 2, equation (16): the log-likelihood is concave in theta (Proposition 1).

    With `constant`, the first weight is that of a constant 1, which the item sets have no column for. With a `center`,
    features are taken less it: a fit works so where it has a constant.

    Examples
    --------
    >>> items = ItemSet([[1.0, 0.5], [1.0, 2.0]], S=[[1.0, 0.0], [0.0, 1.0]])
    >>> LogLinear(np.array([-1.0, 2.0])).contributions(items)
    array([[-1.,  1.],
           [-1.,  4.]])
    """

    __repr__ = short_repr

    theta: FloatArray
    names: tuple[str, ...] = ()
    constant: bool = False
    center: FloatArray | None = None

    @property
    def n_features(self) -> int:
        return self.theta.size - self.constant

    def jacobian(self, items: ItemSet) -> FloatArray:
        """d eta_i / d theta_j for eta = 2 log q, (n, weights)."""
        F = items.features if self.center is None else items.features - self.center
        return np.column_stack([np.ones(items.n), F]) if self.constant else F

    def eta(self, items: ItemSet) -> FloatArray:
        """2 log q_i of every item."""
        return self.jacobian(items) @ self.theta

    def log_q(self, items: ItemSet) -> FloatArray:
        return self.eta(items) / 2

    def contributions(self, items: ItemSet) -> FloatArray:
        """What each weight adds to 2 log q_i."""
        return self.jacobian(items) * self.theta

    def state(self) -> dict[str, Any]:
        return {"theta": self.theta, **({"constant": True} if self.constant else {})}


def check_eta(eta: FloatArray, limit: float = MAX_ETA) -> FloatArray:
    """2 log q_i of every item, none above the limit."""
    if np.isfinite(eta).all() and eta.max() <= limit:
        return eta
    i = int(np.where(np.isfinite(eta), eta, np.inf).argmax())
    raise ValueError(
        f"2 log q (theta . f) must be at most {limit:g} here, and is {eta[i]:.4g} for item {i}: no float holds its "
        "quality. Scale the features down, or fit with a smaller prior_variance."
    )


# What a fit keeps


@dataclass(frozen=True, eq=False)
class Fitted:
    """A quality with the standard errors of its parameters, a similarity, and how they were reached."""

    quality: LogLinear
    std: FloatArray
    similarity: Similarity
    log_likelihood: float
    gradient_norm: float
    n_iter: int
    converged: bool
    starts: FloatArray = field(default_factory=lambda: np.empty(0))  # log-posteriors that the starts reached
    encoding: Encoding | None = None
    covariance: FloatArray | None = None  # of the weights; None where it is not known, or some weight is undetermined
    n_sets: int = 0  # instances that were learned from,
    n_items: int = 0  # and the items of all of them; 0 where that is not known


def known_weights(
    theta: ArrayLike, rho: float, nugget: float, theta_std: ArrayLike | None, names: Sequence[str] | None,
    covariance: FloatArray | None = None,
) -> Fitted:  # fmt: skip
    """Weights that were not fitted here, with their standard errors where those are known."""
    weights = check_array(theta, "theta", 1).copy()
    m = weights.size
    std = np.full(m, np.nan) if theta_std is None else check_vector(theta_std, "theta_std", m).copy()
    quality = LogLinear(weights, check_names(names, m) or default_names(m))
    return Fitted(quality, std, Fixed(rho, nugget), np.nan, np.nan, 0, True, covariance=covariance)


def read_covariance(given: Any, std: FloatArray, path: str | os.PathLike[str]) -> FloatArray | None:
    """The covariance of weights with these standard errors; None where a file has none."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != std.size:
        raise ValueError(f"covariance in {path} must have a row for each of the {std.size} weights.")
    found = np.array([numbers(row, f"covariance[{k}]", path, std.size) for k, row in enumerate(given)])
    if not (np.isfinite(found).all() and np.allclose(found, found.T) and (found.diagonal() >= 0).all()):
        raise ValueError(f"covariance in {path} must be symmetric, with variances that are not negative.")
    return found


def default_names(m: int) -> tuple[str, ...]:
    """x0, x1, ... for features without names."""
    return tuple(f"x{j}" for j in range(m))
