"""What a fit keeps: a quality, a similarity, and how they were reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, check_array, check_vector
from dpplearn.learning.encoding import Encoding
from dpplearn.learning.itemset import check_names
from dpplearn.learning.quality import LogLinear, Quality
from dpplearn.learning.similarity.fixed import Fixed
from dpplearn.learning.similarity.record import Similarity


@dataclass(frozen=True, eq=False)
class Fitted:
    """A quality with the standard errors of its parameters, a similarity, and how they were reached."""

    quality: Quality
    std: FloatArray
    similarity: Similarity
    log_likelihood: float
    gradient_norm: float
    n_iter: int
    converged: bool
    names: tuple[str, ...]
    starts: FloatArray = field(default_factory=lambda: np.empty(0))  # log-posteriors that the starts reached
    encoding: Encoding | None = None


def known_weights(
    theta: ArrayLike, rho: float, nugget: float, theta_std: ArrayLike | None, names: Sequence[str] | None
) -> Fitted:
    """Weights that were not fitted here, with their standard errors where those are known."""
    weights = check_array(theta, "theta", 1).copy()
    m = weights.size
    known = check_names(names, m) or default_names(m)
    std = np.full(m, np.nan) if theta_std is None else check_vector(theta_std, "theta_std", m).copy()
    return Fitted(LogLinear(weights, known), std, Fixed(rho, nugget), np.nan, np.nan, 0, True, known)


def default_names(m: int) -> tuple[str, ...]:
    """x0, x1, ... for features without names."""
    return tuple(f"x{j}" for j in range(m))
