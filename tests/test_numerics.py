"""Scales, ranks and sizes at which naive formulas fail."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from brute import random_kernel, subsets
from dpplearn import DPP, KDPP, LowRankDPP, Subsets
from dpplearn._linalg import logdet
from dpplearn.decoding import greedy_map
from dpplearn.kdpp import log_esp

SCALES = [1e-150, 1e-3, 1.0, 1e20, 1e150]


def truth_at(L):
    """log det(L + I) and the marginals with 400 digits."""
    with mpmath.workdps(400):
        A = mpmath.matrix(L.tolist())
        normal = A + mpmath.eye(len(L))
        K = mpmath.inverse(normal) * A
        return float(mpmath.log(mpmath.det(normal))), np.array([float(K[i, i]) for i in range(len(L))])


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_of_a_full_rank_kernel(scale, rng):
    L = random_kernel(6, rng) * scale
    log_normalizer, marginals = truth_at(L)
    B = np.linalg.cholesky(L / scale) * np.sqrt(scale)
    for dpp in (DPP(L), LowRankDPP(B), LowRankDPP(np.hstack([B, np.zeros((6, 3))]))):
        assert dpp.log_normalizer == pytest.approx(log_normalizer, rel=1e-10)
        np.testing.assert_allclose(dpp.marginals, marginals, rtol=1e-8)
        assert dpp.log_prob([1, 4]) == pytest.approx(logdet(L[np.ix_([1, 4], [1, 4])]) - log_normalizer, rel=1e-9)
        assert dpp.expected_size == pytest.approx(marginals.sum(), rel=1e-8)
        draws = dpp.sample(500, rng=0)
        assert abs(draws.sizes.mean() - marginals.sum()) < 0.3
        assert (KDPP(dpp, 3).sample(50, rng=0).sizes == 3).all()
        assert dpp.size_pmf.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_of_a_singular_kernel(scale, rng):
    """Rank 3 among 8 items, two of them the same: no scale turns rounding into extra directions."""
    B = rng.standard_normal((8, 3))
    B[5] = B[2]
    L = (B @ B.T) * scale
    for dpp in (DPP(L), LowRankDPP(B * np.sqrt(scale))):
        lam = np.linalg.eigvalsh(B.T @ B) * scale
        assert dpp.log_normalizer == pytest.approx(np.log1p(lam).sum(), rel=1e-9)
        assert dpp.expected_size == pytest.approx((lam / (1 + lam)).sum(), rel=1e-9)
        assert dpp.log_prob([2, 5]) == -np.inf
        assert dpp.log_prob([0, 1, 2, 3]) == -np.inf
        assert np.isfinite(dpp.log_prob([0, 1, 2]))
        draws = dpp.sample(2_000, rng=0)
        assert draws.sizes.max() <= 3
        assert not any({2, 5} <= set(Y.tolist()) for Y in draws)
        if scale >= 1e20:
            assert (draws.sizes == 3).all()
        with pytest.raises(ValueError, match="rank"):
            KDPP(dpp, 4)


@pytest.mark.parametrize("spread", [10.0, 60.0, 150.0, 300.0])
def test_qualities_that_differ_beyond_all_bounds(spread, rng):
    """theta^T f of several hundred: q from e^-150 to e^150. Eigenvalues of L alone would lose the small ones."""
    n = 7
    X = rng.standard_normal((n, n))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    q = np.exp(rng.uniform(-spread / 2, spread / 2, n))
    q[0] = 1.0
    S = X @ X.T
    np.fill_diagonal(S, 1.0)
    L = q[:, None] * S * q
    log_normalizer, marginals = truth_at(L)
    for dpp in (DPP.from_quality(q, S), LowRankDPP(q[:, None] * X)):
        np.testing.assert_allclose(dpp.marginals, marginals, atol=1e-9)
        assert dpp.log_normalizer == pytest.approx(log_normalizer, rel=1e-10)
        share = dpp.sample(4_000, rng=1).inclusion_counts() / 4_000
        np.testing.assert_allclose(share, marginals, atol=0.05)


@pytest.mark.parametrize("spread", [50.0, 300.0, 600.0])
def test_repeated_items_of_very_different_quality(spread):
    """Twins whose lesser one, but for rounding, would outweigh all other items."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        P = rng.standard_normal((7, 4))
        P[1] = P[0]
        P[6] = P[2] + P[3]
        P /= np.linalg.norm(P, axis=1, keepdims=True)
        eta = rng.standard_normal(7)
        q = np.exp(eta * spread / np.abs(eta).max() / 2)
        S = P @ P.T
        np.fill_diagonal(S, 1.0)
        S[0, 1] = S[1, 0] = 1.0
        with mpmath.workdps(900):
            B = mpmath.matrix((q[:, None] * P).tolist())
            B[1, :] = B[0, :] * (mpmath.mpf(float(q[1])) / mpmath.mpf(float(q[0])))
            normal = B * B.T + mpmath.eye(7)
            K = mpmath.inverse(normal) * (B * B.T)
            truth, log_normalizer = np.array([float(K[i, i]) for i in range(7)]), float(mpmath.log(mpmath.det(normal)))
        for dpp in (DPP.from_quality(q, S), LowRankDPP(q[:, None] * P)):
            np.testing.assert_allclose(dpp.marginals, truth, atol=1e-7)
            assert dpp.log_normalizer == pytest.approx(log_normalizer, abs=1e-5)


def row_weight(B, Y):
    """det(B_Y B_Y^T) with 80 digits."""
    with mpmath.workdps(80):
        rows = mpmath.matrix(B[list(Y)].tolist())
        return mpmath.det(rows * rows.T)


@pytest.mark.parametrize("scale", [1.0, 1e8])
@pytest.mark.parametrize("e", [1e-5, 1e-7, 3e-8, 1e-10])
def test_rows_that_are_nearly_parallel(e, scale):
    """Their products have lost what they differ in, the rows have not."""
    B = scale * np.array([[1, 0.3, 0], [1, 0.3 + e, 0], [0, 0, 1], [0, 0, 0], [0.5, 0.1, 2]])
    dpp = LowRankDPP(B)
    draws = dpp.sample(500, rng=0)
    assert np.isfinite(dpp.log_prob(draws)).all()
    assert all(np.isfinite(dpp.log_prob(Y)) for Y in draws)
    assert dpp.condition([0, 1], [3]).n == 2
    sets = [Y for k in (1, 2, 3) for Y in subsets(5, k)]
    with mpmath.workdps(80):
        weights = [row_weight(B, Y) for Y in sets]
        truth = np.array([float(mpmath.log(w)) if w > 0 else -np.inf for w in weights])
    for values in (dpp.log_prob(Subsets.from_lists(sets, 5)), [dpp.log_prob(Y) for Y in sets]):
        np.testing.assert_allclose(np.add(values, dpp.log_normalizer), truth, rtol=0, atol=8 * 2.3e-16 / e + 1e-10)
    for k in (2, 3):
        assert np.exp([KDPP(dpp, k).log_prob(Y) for Y in subsets(5, k)]).sum() == pytest.approx(1.0, abs=1e-8)
    found = greedy_map((np.full(3, 2.0), B[:3]), k=2).log_prob_of(np.arange(2))
    assert np.isfinite(found)


def exact_esp(lam, k):
    e = [Fraction(1)] + [Fraction(0)] * k
    for x in lam:
        for j in range(k, 0, -1):
            e[j] += e[j - 1] * Fraction(float(x))
    return e


def test_symmetric_polynomials_against_exact_fractions(rng):
    lam = np.exp(6 * rng.standard_normal(60))
    got = log_esp(lam, 25)[:, -1]
    for j, value in enumerate(exact_esp(lam, 25)):
        exact = mpmath.log(mpmath.mpf(value.numerator)) - mpmath.log(mpmath.mpf(value.denominator))
        assert got[j] == pytest.approx(float(exact), rel=1e-13, abs=1e-12)


def test_low_rank_forms_nothing_n_by_n(rng):
    """40,000 items would need 12.8 GB: sampling, marginals and conditioning never ask for it."""
    dpp = LowRankDPP(rng.standard_normal((40_000, 8)) * 0.05)
    assert dpp.marginals.shape == (40_000,)
    assert dpp.marginals.sum() == pytest.approx(dpp.expected_size)
    draws = dpp.sample(300, rng=0)
    assert np.isfinite(dpp.log_prob(draws)).all()
    given = dpp.condition(include=[5, 17], exclude=[0])
    assert given.n == 39_997
    assert given.items[0] == 1
    assert KDPP(dpp, 4).sample(10, rng=0).sizes.tolist() == [4] * 10
    assert dpp.marginal_kernel([0, 1], [2]).shape == (2, 1)


@pytest.mark.parametrize("spread", [4, 9, 40])
def test_k_dpp_of_qualities_that_differ_beyond_all_bounds(spread, rng):
    """The k-th eigenvalue is lost in the rounding of the largest; the k-DPP is not."""
    n = 6
    X = rng.standard_normal((n, n))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    q = 10.0 ** np.array([spread, spread / 2, 0, 0, -spread / 2, -spread])
    S = X @ X.T
    np.fill_diagonal(S, 1.0)
    for k in (1, 3, 4, 5, 6):
        sets = subsets(n, k)
        with mpmath.workdps(400):
            L = mpmath.matrix((q[:, None] * S * q).tolist())
            weights = [mpmath.det(mpmath.matrix([[L[i, j] for j in Y] for i in Y])) for Y in sets]
            total = mpmath.fsum(weights)
            truth = np.array([float(w / total) for w in weights])
        for dpp in (DPP.from_quality(q, S), LowRankDPP(q[:, None] * X)):
            kdpp = KDPP(dpp, k)
            assert kdpp.log_normalizer == pytest.approx(float(mpmath.log(total)), rel=1e-9)
            got = np.exp([kdpp.log_prob(Y) for Y in sets])
            np.testing.assert_allclose(got, truth, rtol=1e-6, atol=1e-9)
            marginals = [truth[[i in Y for Y in sets]].sum() for i in range(n)]
            np.testing.assert_allclose(kdpp.marginals, marginals, atol=1e-6)
            share = kdpp.sample(3_000, rng=0).inclusion_counts() / 3_000
            np.testing.assert_allclose(share, marginals, atol=0.05)


def pmf_of_marginal_exactly(K):
    """P(Y) = |det(K - I outside Y)| of every subset, with 80 digits."""
    with mpmath.workdps(80):
        out = {}
        for Y in subsets(len(K)):
            A = mpmath.matrix(K.tolist())
            for i in set(range(len(K))) - set(Y):
                A[i, i] -= 1
            out[Y] = abs(mpmath.det(A))
        return out


@pytest.mark.parametrize("others", [[0.3, 0.7, 0.5], [1e-9, 1e-3, 0.4], [0.5, 0.5, 1 - 1e-9], [0.0, 1e-12, 1.0]])
@pytest.mark.parametrize("below", [1e-7, 1e-12, 1e-13, 1e-14])
def test_marginal_kernels_with_an_eigenvalue_near_1(below, others):
    """L = K (I - K)^-1 would keep no digit of the smaller eigenvalues; K does."""
    for seed in range(3):
        V = np.linalg.qr(np.random.default_rng(seed).standard_normal((4, 4)))[0]
        K = (V * [*others, 1 - below]) @ V.T
        K = (K + K.T) / 2
        exact, dpp = pmf_of_marginal_exactly(K), DPP.from_marginal(K)
        likely = {Y: p for Y, p in exact.items() if p > 1e-6}  # the others are known no better than K's last digit
        for values in ([dpp.log_prob(Y) for Y in likely], dpp.log_prob(Subsets.from_lists(likely, 4))):
            np.testing.assert_allclose(values, [float(mpmath.log(p)) for p in likely.values()], rtol=0, atol=1e-8)
        assert all(dpp.log_prob(Y) < -13 for Y in exact if Y not in likely)
        with pytest.raises(ValueError, match="so near 1 that too few digits"):
            KDPP(dpp, 2)


@pytest.mark.parametrize("below", [1e-14, 1e-13, 1e-12, 1e-10, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("near", [2, 3])
def test_sizes_below_the_eigenvalues_near_1(below, near):
    """How far these are from 1 decides there, of which K keeps few digits: the answer is right, or refused."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        V = np.linalg.qr(rng.standard_normal((5, 5)))[0]
        K = (V * [*rng.uniform(0.2, 0.7, 5 - near), *(1 - below * rng.uniform(0.5, 2.0, near))]) @ V.T
        K = (K + K.T) / 2
        exact, dpp = pmf_of_marginal_exactly(K), DPP.from_marginal(K)
        for k in range(1, near + 1):
            if below <= 1e-7:
                with pytest.raises(ValueError, match="so near 1 that too few digits"):
                    KDPP(dpp, k)
                continue
            of_size = {Y: p for Y, p in exact.items() if len(Y) == k}
            total = sum(of_size.values())
            marginals = [float(sum(p for Y, p in of_size.items() if i in Y) / total) for i in range(5)]
            np.testing.assert_allclose(KDPP(dpp, k).marginals, marginals, atol=1e-7)
            found = np.exp([KDPP(dpp, k).log_prob(Y) for Y in of_size])
            np.testing.assert_allclose(found, [float(p / total) for p in of_size.values()], atol=1e-7)


@pytest.mark.parametrize(("n", "small"), [(500, 1e-13)])
def test_a_k_dpp_of_many_eigenvalues_that_are_each_nothing(n, small):
    """Beside the largest they are rounding; beside the k-th, together, they are not."""
    lam = np.append(np.full(n - 11, small), np.append(1.1e-8, np.ones(10)))
    others = exact_esp(lam[1:], 10)[10]
    truth = float((n - 11) * Fraction(small) * others / exact_esp(lam, 11)[11])
    for dpp in (DPP(np.diag(lam)), LowRankDPP(np.diag(np.sqrt(lam))))[: 2 if n <= 500 else 1]:
        chosen = KDPP(dpp, 11)
        assert chosen.marginals[: n - 11].sum() == pytest.approx(truth, rel=1e-6)
        assert chosen.marginals.sum() == pytest.approx(11.0)
        share = (chosen.sample(4_000, rng=0).inclusion_counts() / 4_000)[: n - 11].sum()
        assert share == pytest.approx(truth, abs=5 * np.sqrt(truth / 4_000))


@pytest.mark.parametrize("scale", [1e9, 1e18, 1e40])
def test_probabilities_of_leaving_out_what_is_nearly_sure(scale, rng):
    """I - K keeps no digit of them; against the same in 60 digits."""
    V = rng.standard_normal((4, 4))
    L = scale * (V @ V.T)
    with mpmath.workdps(60):
        exact = mpmath.matrix(L.tolist())
        for A, B in (((), (0,)), ((), (0, 1, 2, 3)), ((2,), (0, 3)), ((0, 1), (2, 3))):
            left = [i for i in range(4) if i not in B]
            M = mpmath.matrix(len(left), len(left))
            for a, i in enumerate(left):
                for b, j in enumerate(left):
                    M[a, b] = exact[i, j] + (i == j and i not in A)
            truth = (mpmath.det(M) if left else mpmath.mpf(1)) / mpmath.det(exact + mpmath.eye(4))
            assert DPP(L).prob(A, B) == pytest.approx(float(truth), rel=1e-8)
    assert DPP.from_quality([scale] * 2, np.eye(2)).prob(exclude=[0, 1]) == pytest.approx(scale**-4, rel=1e-12, abs=0)
