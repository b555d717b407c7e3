"""Likelihoods given the size where digits are lost: right, or refused with the reason. The truth has 60 digits."""

from itertools import combinations

import mpmath
import numpy as np
import pytest

from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning.likelihood import log_likelihood
from dpplearn.learning.similarity import Similarity
from dpplearn.learning.sized import LostDigitsError


def exact(F, C, theta, Y, nugget):
    """log P(Y given |Y|), its gradient in theta, and its derivative in the nugget, from all sets of this size."""
    n, k = len(F), len(Y)
    sets = list(combinations(range(n), k))
    eta = [mpmath.fsum(mpmath.mpf(f) * t for f, t in zip(row, theta.tolist(), strict=True)) for row in F.tolist()]

    def log_prob(nugget):
        S = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                S[i, j] = 1 if i == j else (1 - nugget) * C[i][j]
        weights = {
            A: mpmath.exp(sum(eta[i] for i in A)) * mpmath.det(mpmath.matrix([[S[i, j] for j in A] for i in A]))
            for A in sets
        }
        total = mpmath.fsum(weights.values())
        return mpmath.log(weights[tuple(Y)] / total), {A: w / total for A, w in weights.items()}

    value, p = log_prob(mpmath.mpf(nugget))
    mean = [float(mpmath.fsum(w for A, w in p.items() if i in A)) for i in range(n)]
    h = mpmath.mpf(10) ** -25
    slope = (log_prob(nugget + h)[0] - log_prob(nugget - h)[0]) / (2 * h) if nugget else mpmath.mpf(0)
    return float(value), F[Y].sum(axis=0) - np.array(mean) @ F, float(slope)


def unit_products(phi):
    rows = [[mpmath.mpf(x) for x in row] for row in phi.tolist()]
    length = [mpmath.sqrt(mpmath.fsum(x * x for x in row)) for row in rows]
    pairs = [[mpmath.fsum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for a in rows]
    return [[x / length[i] / length[j] for j, x in enumerate(row)] for i, row in enumerate(pairs)]


def problem(kind, rng):
    n, k = 5, 3
    F, theta, nugget = rng.standard_normal((n, 2)), rng.standard_normal(2), 0.0
    if kind == "qualities far apart":
        theta, phi = 10 ** rng.uniform(0, 1.7) * theta, rng.standard_normal((n, n + 1))
    elif kind == "nearly parallel":
        phi = rng.standard_normal((n, 1)) @ rng.standard_normal((1, n))
        phi += 10 ** rng.uniform(-7, -1) * rng.standard_normal((n, n))
    else:  # fewer features than items are chosen, and little that is particular to each
        phi, nugget = rng.standard_normal((n, 2)), 10 ** rng.uniform(-13, -2)
    return F, theta, phi, nugget, np.sort(rng.choice(n, k, replace=False))


@pytest.mark.parametrize("as_matrix", [False, True])
@pytest.mark.parametrize("kind", ["qualities far apart", "nearly parallel", "a small nugget"])
def test_right_or_refused(kind, as_matrix):
    """Derivatives in the nugget were wrong by any factor where the k-th eigenvalue is below 1e-8 of the largest."""
    right = 0
    with mpmath.workdps(60):
        for seed in range(12):
            F, theta, phi, nugget, Y = problem(kind, np.random.default_rng(seed))
            items = ItemSet(F, phi=phi)
            C = unit_products(items.phi)
            if as_matrix:
                S = np.array([[float(x) for x in row] for row in C])
                np.fill_diagonal(S, 1.0)
                items, C = ItemSet(F, S=S), [[mpmath.mpf(x) for x in row] for row in S.tolist()]
            value, gradient, slope = exact(F, C, theta, Y, nugget)
            try:
                found = log_likelihood(theta, items, Y, given_size=True, nugget=nugget)
            except LostDigitsError:
                continue
            np.testing.assert_allclose(found.gradient, gradient, atol=2e-6)
            assert found.value == pytest.approx(value, abs=2e-3 if as_matrix else 1e-5)
            if nugget:
                S = Similarity(items.part_names, [nugget, 1e-30, 1 - nugget])
                try:
                    found = log_likelihood(theta, items, Y, given_size=True, similarity=S)
                except LostDigitsError:
                    continue
                if np.isnan(found.similarity_gradient).any():
                    continue
                # the shares of I and of the part, of logits z: dw_own = w_own w_part (dz_own - dz_part)
                assert found.similarity_gradient[0] == pytest.approx(slope * nugget * (1 - nugget), rel=0.01, abs=0.01)
            right += 1
    assert right >= (12 if kind == "qualities far apart" else 4)


def test_the_advice_works():
    rng = np.random.default_rng(0)
    X = [ItemSet(rng.standard_normal((6, 2)), phi=rng.standard_normal((6, 2))) for _ in range(10)]
    y = [np.sort(rng.choice(6, 4, replace=False)) for _ in X]
    with pytest.raises(
        ValueError, match=r"sets of 4 items.*lost in rounding. Fit with a larger nugget, such as nugget=1e-4"
    ):
        ConditionalDPP(given_size=True, nugget=1e-12).fit(X, y)
    assert ConditionalDPP(given_size=True, nugget=1e-4).fit(X, y).converged_
    tiny = Similarity(("phi",), np.array([1e-13, 0.1, 0.9]))
    with pytest.raises(LostDigitsError, match="larger nugget"):
        log_likelihood([0.1, 0.2], X[0], y[0], similarity=tiny, given_size=True)
