"""The Gaussian prior on the weights of a log-linear quality, and the constant that sets how many items are chosen.

Without a constant nothing but the features can set the size of a set, and their weights take signs that are not theirs.
So a fit has one unless it is told not to, or the features span one.

What a constant has to be depends on where the other features have their zero: beside the year of a book it is about
-2000 times the weight of a year, and a prior on it would be one on that weight. So a fit takes features less their
mean: the constant is then log q^2 of the average item, and its prior is wide. The weights that a fit returns are those
of the features as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn.learning.evaluators import Survey
from dpplearn.learning.fitted import default_names
from dpplearn.learning.quality import LogLinear, Quality
from dpplearn.learning.solve import unit_diagonal

AVERAGE = 100.0  # variance of the prior on log q^2 of the average item: e^20 and e^-20 are 2 deviations away


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


def center_of(survey: Survey) -> FloatArray:
    """The mean of each feature."""
    return np.asarray(survey.products[-1, :-1] / survey.products[-1, -1])


def prior_precision(prior_variance: Any, survey: Survey, added: bool) -> FloatArray:
    """Of each weight; that of a constant which was added is wide, for it is log q^2 of the average item."""
    precision = check_precision(prior_variance, survey.n_features)
    return np.append(1 / AVERAGE if precision.any() else 0.0, precision) if added else precision


def needs_constant(survey: Survey) -> bool:
    """Whether no combination of the features is constant."""
    one_value = ((survey.low == survey.high) & (survey.low != 0)).any()
    return not one_value and not constant_of(survey.products).any()


def constant_of(products: FloatArray) -> FloatArray:
    """c with F c = 1 for all items, from [F 1]^T [F 1]; 0 where no combination of features is constant."""
    gram, sums, n = products[:-1, :-1], products[:-1, -1], float(products[-1, -1])
    scale, A = unit_diagonal(gram)
    lam, U = np.linalg.eigh(A)
    root = U[:, lam > 1e-10 * lam.size] / np.sqrt(lam[lam > 1e-10 * lam.size])
    c = scale * (root @ (root.T @ (scale * sums)))
    # Of squares: a feature that differs from a constant by a millionth of its mean, such as a time in seconds, is none.
    return np.asarray(c if abs(n - c @ sums) <= 1e-13 * n else np.zeros_like(c))


def log_linear(survey: Survey, constant: bool, given_size: bool) -> LogLinear:
    """A weight of 0 for each feature and, where none is spanned and the size is to be learned, for a constant."""
    features = survey.names or default_names(survey.n_features)
    if not constant or given_size or not needs_constant(survey):
        return LogLinear(np.zeros(survey.n_features), features)
    name = next(name for name in ("constant", "added constant", *default_names(1)) if name not in features)
    return LogLinear(np.zeros(survey.n_features + 1), (name, *features), constant=True)


def uncentered(
    quality: Quality, theta: FloatArray, std: FloatArray, covariance: FloatArray | None
) -> tuple[Quality, FloatArray, FloatArray | None]:
    """The quality at theta, for features as they are, with the standard errors and the covariance of its weights."""
    if not isinstance(quality, LogLinear):
        return quality.with_parameters(theta), std, None
    if quality.center is None:
        return quality.with_parameters(theta), std, covariance
    A = np.eye(theta.size)
    A[0, -quality.center.size :] -= quality.center
    std = std.copy()
    if covariance is not None:
        covariance = A @ covariance @ A.T
        std[0] = np.sqrt(max(covariance[0, 0], 0.0))
    elif np.isinf(std[A[0] != 0]).any():
        std[0] = np.inf
    else:
        std[0] = np.abs(A[0]) @ std  # at most
    return replace(quality, theta=A @ theta, center=None), std, covariance
