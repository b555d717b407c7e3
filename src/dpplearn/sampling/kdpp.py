"""Elementary symmetric polynomials: the normalizer, phase 1 and the marginals of a k-DPP."""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._linalg import safe_log


def log_esp(lam: FloatArray, k: int) -> FloatArray:
    """Table T[j, i] = log e_j(lam_1, ..., lam_i) for j = 0 ... k, where e_j sums all products of j numbers.

    In logarithms, so that neither 1e300 nor 1e-300 is left; only positive terms are added, so
    that no digits cancel.

    Examples
    --------
    >>> np.exp(log_esp(np.array([1.0, 2.0, 3.0]), 2))[:, -1].round(9)  # 1, 1+2+3, 2+3+6
    array([ 1.,  6., 11.])
    """
    from dpplearn._determinant_loops import log_esp_table

    return np.asarray(log_esp_table(safe_log(np.asarray(lam, np.float64)), k))


def vector_probs(lam: FloatArray, k: int) -> FloatArray:
    """P(j in J) = lam_j e_{k-1}(the others) / e_k: how often phase 1 of a k-DPP takes each eigenvector."""
    from dpplearn._determinant_loops import log_esp_without

    if k == 0:
        return np.zeros(lam.size)
    log_e = log_esp(lam, k)[k, -1]
    return np.minimum(np.exp(safe_log(lam) + log_esp_without(safe_log(lam), k - 1) - log_e), 1.0)
