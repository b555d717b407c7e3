"""What a fit keeps: a quality, a similarity, and how they were reached."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, check_array, check_vector
from dpplearn._io.jsonfile import numbers
from dpplearn.learning.itemset import check_names
from dpplearn.learning.quality import LogLinear
from dpplearn.learning.similarity import Fixed, Similarity
from dpplearn.learning.tables import Encoding


@dataclass(frozen=True, eq=False)
class Fitted:
    """A quality with the standard errors of its parameters, a similarity, and how they were reached."""

    quality: Any  # LogLinear, or Boosted
    std: FloatArray
    similarity: Similarity
    log_likelihood: float
    gradient_norm: float
    n_iter: int
    converged: bool
    names: tuple[str, ...]
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
    known = check_names(names, m) or default_names(m)
    std = np.full(m, np.nan) if theta_std is None else check_vector(theta_std, "theta_std", m).copy()
    return Fitted(
        LogLinear(weights, known), std, Fixed(rho, nugget), np.nan, np.nan, 0, True, known, covariance=covariance
    )


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
