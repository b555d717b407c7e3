"""The Gaussian prior on the weights of a log-linear quality, and the constant that sets how many items are chosen.

Without a constant nothing but the features can set the size of a set, and their weights take signs that are not theirs.
So a fit has one unless it is told not to, or the features span one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.learning.evaluators import Survey
from dpplearn.learning.solvers import unit_diagonal

AVERAGE = 100.0  # variance of log q^2 of the average item, where the constant is ours: e^20 and e^-20 are 2 errors away


@dataclass(frozen=True, eq=False)
class Prior:
    """Gaussian around 0: a precision for each weight and, with a constant of ours, one for the average item.

    What a constant has to be depends on where the other features have their zero: beside the year of a book it is
    about -2000 times the weight of a year. A prior on it would be one on that weight. So it is on u . theta, which is
    log q^2 of the average item (u has the mean of each feature), and wide.
    """

    precision: FloatArray
    average: FloatArray | None = None  # u over its standard deviation

    def value(self, theta: FloatArray) -> float:
        """Minus the logarithm of the density, up to a constant."""
        whole = 0.0 if self.average is None else float(self.average @ theta) ** 2
        return (float(self.precision @ theta**2) + whole) / 2

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Of `value`."""
        own = self.precision * theta
        return own if self.average is None else own + self.average * float(self.average @ theta)

    def hessian(self) -> FloatArray:
        """Of `value`."""
        own = np.diag(self.precision)
        return own if self.average is None else own + np.outer(self.average, self.average)

    @property
    def std(self) -> FloatArray:
        """The standard deviation of each weight by itself; inf where it has none."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.sqrt(self.precision))

    @property
    def free(self) -> np.ndarray:
        """The weights without any prior; our constant has one, by the average item."""
        free = self.precision == 0
        return free if self.average is None else free & (np.arange(free.size) > 0)


def check_precision(prior_variance: Any, m: int) -> FloatArray:
    """1 / variance of the Gaussian prior of each weight; 0 where the variance is infinite or None."""
    if prior_variance is None:
        return np.zeros(m)
    try:
        variance = np.asarray(prior_variance, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"prior_variance must be a positive number, one per feature, or None; found {prior_variance!r}."
        ) from None
    if variance.ndim > 1 or (variance.ndim == 1 and variance.size != m):
        raise ValueError(
            f"prior_variance must be a number or have one entry per feature ({m}), found shape {variance.shape}."
        )
    if np.isnan(variance).any() or (variance < 1e-300).any():  # 1 / variance must be a float
        raise ValueError(f"prior_variance must be positive (numpy.inf or None for no prior), found {prior_variance!r}.")
    return np.broadcast_to(1 / variance, (m,)).copy()


def make_prior(prior_variance: Any, survey: Survey, added: bool, given_size: bool) -> Prior:
    """The prior of a log-linear quality; `added` says that a constant comes before the features.

    A table's own constant is treated as an added one, unless a vector gives it a variance.
    """
    precision = check_precision(prior_variance, survey.n_features)
    in_table = survey.encoding is not None and survey.encoding.constant and np.ndim(prior_variance) == 0
    if added:
        precision = np.concatenate([[0.0], precision])
    elif not in_table or given_size:  # given the size, a constant changes nothing: its own prior keeps it at 0
        return Prior(precision)
    if not precision.any():
        return Prior(precision)
    precision[0] = 0.0
    mean = survey.products[-1, :-1] / survey.products[-1, -1]
    return Prior(precision, (np.concatenate([[1.0], mean]) if added else mean) / np.sqrt(AVERAGE))


def needs_constant(survey: Survey) -> bool:
    """Whether no combination of the features is constant. Where they come from a table, the table has decided."""
    if survey.encoding is not None or ((survey.low == survey.high) & (survey.low != 0)).any():
        return False
    return not constant_of(survey.products).any()


def constant_of(products: FloatArray) -> FloatArray:
    """c with F c = 1 for all items, from [F 1]^T [F 1]; 0 where no combination of features is constant."""
    gram, sums, n = products[:-1, :-1], products[:-1, -1], float(products[-1, -1])
    scale, A = unit_diagonal(gram)
    lam, U = np.linalg.eigh(A)
    root = U[:, lam > 1e-10 * lam.size] / np.sqrt(lam[lam > 1e-10 * lam.size])
    c = scale * (root @ (root.T @ (scale * sums)))
    # of squares: a feature that differs from a constant by a millionth of its mean, as the seconds of a day, is none
    return np.asarray(c if abs(n - c @ sums) <= 1e-12 * n else np.zeros_like(c))
