"""NonsymmetricDPP against exact fractions of the factors: items with L_ii near 0, and rows of any size."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import exact
from brute import check_counts, event, subsets
from dpplearn import NonsymmetricDPP

ISSUE = ([[0, 0], [1, 0.5], [0.5, 1]], [[0.3, 0.1], [0.7, -0.2], [-0.4, 0.9]], [[0.1, 1.7], [0.2, 0.3]])


def exact_pmf(V, B, D):
    """P(Y) under V V^T + B (D - D^T) B^T, from the very floats that are given."""
    V, B, D = exact.fractions(V), exact.fractions(B), exact.fractions(D)
    skew = [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(D, exact.transpose(D), strict=True)]
    left, right = exact.product(V, exact.transpose(V)), exact.product(exact.product(B, skew), exact.transpose(B))
    L = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(left, right, strict=True)]
    return exact.normalized(exact.minors(L))


def scaled(rng, n, which):
    """V, B and D: rows of V, of both alike, or of each alone times 1 ... 1e-12, or 0; or one row of V is 0."""
    r, s = rng.integers(1, 4), rng.integers(2, 4)
    V, B, D = rng.standard_normal((n, r)), rng.standard_normal((n, s)), rng.standard_normal((s, s))
    first, second = (np.where(rng.random(n) < 0.25, 0.0, 10.0 ** -rng.integers(0, 13, n))[:, None] for _ in range(2))
    if which == "zero row":
        V[rng.integers(n)] = 0.0
        return V, B, D
    return V * first, B * {"V": 1.0, "both": first, "each": second}[which], D


KINDS = ["zero row", "V", "both", "each"]


def test_small_probabilities_of_events_keep_their_digits():
    """With more items than columns K is a product, whose rounding was up to 1e-8 of a probability."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        size = 10.0 ** rng.uniform(-9, 0, (6, 1))
        V, B, D = rng.standard_normal((6, 1)) * size, rng.standard_normal((6, 2)) * size, rng.standard_normal((2, 2))
        dpp, truth = NonsymmetricDPP(V, B, D), exact_pmf(V, B, D)
        for A in subsets(6):
            for B in ((), (0,), (2, 4), tuple(i for i in range(6) if i not in A)):
                assert dpp.prob(A, B) == pytest.approx(float(event(truth, A, B)), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("which", KINDS)
def test_every_event_can_be_conditioned_on(which):
    rng = np.random.default_rng(4)
    for _ in range(8):
        factors = scaled(rng, 4, which)
        truth = exact_pmf(*factors)
        dpp = NonsymmetricDPP(*factors)
        for side in product((0, 1, 2), repeat=4):
            A, B, rest = ([i for i in range(4) if side[i] == x] for x in (1, 2, 0))
            p = event(truth, A, B)
            assert dpp.prob(A, B) == pytest.approx(float(p), abs=1e-12)
            if not rest or p < 1e-25:
                continue
            given = dpp.condition(A, B)
            expected = [float(event(truth, {*A, i}, B) / p) for i in range(4)]
            np.testing.assert_allclose(given.marginals, [expected[i] for i in rest], atol=1e-7)
            np.testing.assert_allclose(dpp.conditional_marginals(A, B), expected, atol=1e-7)
            for Y in subsets(len(rest)):
                whole = tuple(sorted({*A, *given.items[list(Y)].tolist()}))
                assert np.exp(given.log_prob(Y)) == pytest.approx(float(truth[whole] / p), abs=1e-7)
            sizes = [sum(float(truth[Y] / p) for Y in truth if set(A) <= set(Y) and not set(B) & set(Y)
                         and len(Y) == len(A) + k) for k in range(len(rest) + 1)]  # fmt: skip
            np.testing.assert_allclose(given.size_pmf, sizes, atol=1e-7)


@pytest.mark.parametrize("rank", [1, 4])
def test_rows_from_tiny_to_huge(rank):
    rng = np.random.default_rng(5)
    for _ in range(25):
        scale = 10.0 ** rng.uniform(-12, 12, (4, 1))
        V, B, D = (rng.standard_normal(shape) for shape in ((4, rank), (4, 2), (2, 2)))
        V, B = scale * V, scale * B
        truth = exact_pmf(V, B, D)
        dpp = NonsymmetricDPP(V, B, D)
        np.testing.assert_allclose(dpp.marginals, [float(event(truth, {i})) for i in range(4)], atol=1e-9)
        for Y, p in truth.items():
            assert dpp.log_prob(Y) == (pytest.approx(exact.log_of(p), abs=1e-7) if p else -math.inf)
        p = event(truth, {1}, {2})
        expected = [float(event(truth, {1, i}, {2}) / p) for i in range(4)]
        np.testing.assert_allclose(dpp.conditional_marginals([1], [2]), expected, atol=1e-7)


@pytest.mark.parametrize("method", ["jumps", "elimination"])
def test_draws_where_items_come_with_others_only(method):
    V, B = np.vstack([ISSUE[0], np.zeros((1, 2)), [[0.2, 0.1]]]), np.vstack([ISSUE[1], [[0.5, -0.6]], [[-0.1, 0.4]]])
    D = np.array(ISSUE[2])
    truth = exact_pmf(V, B, D)
    for A in ((), (0,)):
        p = event(truth, A)
        given = NonsymmetricDPP(V, B, D).condition(A)
        left = {Y: float(q / p) for Y, q in truth.items() if set(A) <= set(Y)}
        draws = given.sample(4000, rng=1, method=method)
        check_counts([np.sort([*A, *given.items[Y]]) for Y in draws], left)
