"""Every question of sections 1 and 2, in every representation, against enumeration."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import dpplearn
from brute import event, pmf, pmf_of_marginal, random_kernel, random_marginal, subsets
from dpplearn import DPP, KDPP, LowRankDPP, Subsets

N = 6
RNG = np.random.default_rng(7)
B_FULL, B_LOW = RNG.standard_normal((N, N)) * 0.7, RNG.standard_normal((N, 3))
L_DUPLICATE = random_kernel(N, RNG)
L_DUPLICATE[1], L_DUPLICATE[:, 1] = L_DUPLICATE[4], L_DUPLICATE[:, 4]
L_DUPLICATE[1, 1] = L_DUPLICATE[4, 4]
L_DIAGONAL = np.diag([0.0, 0.1, 1.0, 3.0, 1e-9, 50.0])
K_TWO_ONES = random_marginal(N, RNG, ones=2, zeros=1)

# name: (the distribution, the truth by enumeration)
CASES = {
    "L": (DPP(B_FULL @ B_FULL.T), pmf(B_FULL @ B_FULL.T)),
    "L of low rank": (DPP(B_LOW @ B_LOW.T), pmf(B_LOW @ B_LOW.T)),
    "L with a repeated item": (DPP(L_DUPLICATE), pmf(L_DUPLICATE)),
    "L diagonal": (DPP(L_DIAGONAL), pmf(L_DIAGONAL)),
    "L wide": (DPP(1e9 * B_FULL @ B_FULL.T), pmf(1e9 * B_FULL @ B_FULL.T)),
    "K": (DPP.from_marginal(DPP(B_FULL @ B_FULL.T).K), pmf(B_FULL @ B_FULL.T)),
    "K with eigenvalues 1": (DPP.from_marginal(K_TWO_ONES), pmf_of_marginal(K_TWO_ONES)),
    "B": (LowRankDPP(B_LOW), pmf(B_LOW @ B_LOW.T)),
    "B square": (LowRankDPP(B_FULL), pmf(B_FULL @ B_FULL.T)),
    "B sparse": (LowRankDPP(sparse.csr_array(B_LOW)), pmf(B_LOW @ B_LOW.T)),
}


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def test_log_prob(case):
    dpp, truth = case
    for Y, p in truth.items():
        assert np.exp(dpp.log_prob(Y)) == pytest.approx(p, rel=1e-7, abs=1e-11)
    assert sum(np.exp(dpp.log_prob(Y)) for Y in truth) == pytest.approx(1.0, rel=1e-9)


def test_log_prob_of_many_is_that_of_each(case):
    dpp, truth = case
    many = dpp.log_prob(Subsets.from_lists(truth, n=N))
    np.testing.assert_allclose(np.exp(many), [np.exp(dpp.log_prob(Y)) for Y in truth], rtol=1e-9, atol=1e-13)


def test_marginals_pairs_and_inclusion(case):
    dpp, truth = case
    np.testing.assert_allclose(dpp.marginals, [event(truth, [i]) for i in range(N)], atol=1e-9)
    np.testing.assert_allclose(dpp.K.diagonal(), dpp.marginals, atol=1e-12)
    pairs = dpp.pair_probs()
    for i, j in combinations(range(N), 2):
        assert pairs[i, j] == pytest.approx(event(truth, [i, j]), abs=1e-9)
    for A in subsets(N):
        assert dpp.inclusion_prob(A) == pytest.approx(event(truth, A), abs=1e-9)
    np.testing.assert_allclose(dpp.pair_probs([1, 4]), pairs[np.ix_([1, 4], [1, 4])], atol=1e-14)


def test_correlations(case):
    dpp, truth = case
    y = np.array([[i in Y for i in range(N)] for Y in truth], float)
    p = np.array(list(truth.values()))
    covariance = (y * p[:, None]).T @ y - np.outer(p @ y, p @ y)
    deviation = np.sqrt(covariance.diagonal())
    got = dpp.correlations()
    for i, j in combinations(range(N), 2):
        if min(deviation[i], deviation[j]) > 1e-3:
            assert got[i, j] == pytest.approx(covariance[i, j] / deviation[i] / deviation[j], abs=1e-6)
    assert (got[~np.eye(N, dtype=bool)] <= 0).all()


def test_include_and_exclude(case):
    dpp, truth = case
    for A in subsets(N):
        if len(A) <= 3:
            for B in [(), (0,), (2, 5), (1, 3, 4)]:
                assert dpp.prob(include=A, exclude=B) == pytest.approx(event(truth, A, B), abs=1e-9)


def test_conditioning(case):
    dpp, truth = case
    for A, B in [((1,), ()), ((), (2,)), ((0, 3), (5,)), ((5,), (1, 2)), ((2,), (0, 1, 3, 4))]:
        evidence = event(truth, A, B)
        if evidence < 1e-6:
            continue
        given = dpp.condition(include=A, exclude=B)
        assert given.items.tolist() == [i for i in range(N) if i not in A + B]
        for Z in subsets(given.n):
            Y = tuple(sorted((*A, *given.items[list(Z)].tolist())))
            assert np.exp(given.log_prob(Z)) == pytest.approx(truth[Y] / evidence, rel=1e-5, abs=1e-8)
        expected = [event(truth, {*A, i}, B) / evidence for i in range(N)]
        np.testing.assert_allclose(dpp.conditional_marginals(A, B), expected, atol=1e-8)


def test_size(case):
    dpp, truth = case
    sizes = np.array([len(Y) for Y in truth])
    p = np.array(list(truth.values()))
    assert dpp.expected_size == pytest.approx(p @ sizes, abs=1e-8)
    assert dpp.size_variance == pytest.approx(p @ sizes**2 - (p @ sizes) ** 2, abs=1e-7)
    np.testing.assert_allclose(dpp.size_pmf, np.bincount(sizes, weights=p), atol=1e-9)


def test_entropy_by_enumeration(case):
    dpp, truth = case
    p = np.array([p for p in truth.values() if p > 0])
    assert dpp.entropy() == pytest.approx(-p @ np.log(p), rel=1e-6)
    assert dpp.entropy().standard_error == 0.0


def test_entropy_by_sampling_agrees_with_the_chain_rule(rng):
    blocks = [random_kernel(8, rng), random_kernel(7, rng), random_kernel(9, rng)]  # independent: entropies add
    L = np.zeros((24, 24))
    start = 0
    for block in blocks:
        stop = start + len(block)
        L[start:stop, start:stop] = block
        start = stop
    exact = sum(DPP(block).entropy() for block in blocks)
    estimate = DPP(L).entropy(rng=3)
    assert 0 < estimate.standard_error < 0.02
    assert abs(estimate - exact) < 4 * estimate.standard_error


def test_quality_and_similarity_are_read_back():
    q, phi = np.array([0.5, 2.0, 1.0]), np.array([[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]])
    dpp = DPP.from_quality(q, phi @ phi.T)
    np.testing.assert_array_equal(DPP.from_quality(q, S=phi @ phi.T).L, dpp.L)
    np.testing.assert_allclose(dpp.quality, q)
    np.testing.assert_allclose(dpp.similarity, phi @ phi.T, atol=1e-12)
    for features in (phi * 7.0, sparse.csr_array(phi)):
        low = LowRankDPP.from_quality(q, features)
        np.testing.assert_allclose(low.L, dpp.L, atol=1e-12)
        np.testing.assert_allclose(low.quality, q)
        np.testing.assert_allclose(low.similarity_of([0, 1], [1, 2]), (phi @ phi.T)[:2, 1:], atol=1e-12)


@pytest.mark.parametrize("k", range(N + 1))
@pytest.mark.parametrize("name", CASES)
def test_a_k_dpp_answers_what_a_dpp_answers(name, k):
    dpp, truth = CASES[name]
    total = sum(p for Y, p in truth.items() if len(Y) == k)
    rank = np.count_nonzero(dpp.spectrum.p)
    if name == "K with eigenvalues 1":  # of which no size is answered
        return
    if k > rank:
        with pytest.raises(ValueError, match=f"rank of L \\({rank}"):
            KDPP(dpp, k)
        return
    if total < 1e-12:
        return
    sized, truth = KDPP(dpp, k), {Y: p / total for Y, p in truth.items() if len(Y) == k}
    close = {"rel": 1e-6, "abs": 1e-8}
    logs = sized.log_prob(Subsets.from_lists([*truth, range(k + 1) if k < N else [0]], N))
    np.testing.assert_allclose(np.exp(logs), [*truth.values(), 0.0], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.exp([sized.log_prob(Y) for Y in truth]), np.exp(logs[:-1]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sized.marginals, [event(truth, [i]) for i in range(N)], atol=1e-8)
    for A in subsets(N):
        for B in [(), (0,), (2, 5), (1, 3, 4)]:
            assert sized.prob(A, B) == pytest.approx(event(truth, A, B), **close)
        assert sized.inclusion_prob(A) == pytest.approx(event(truth, A), **close)
    y = np.array([[i in Y for i in range(N)] for Y in truth], float)
    p = np.array(list(truth.values()))
    np.testing.assert_allclose(sized.pair_probs(), (y * p[:, None]).T @ y, atol=1e-8)
    np.testing.assert_allclose(sized.pair_probs([4, 1]), sized.pair_probs()[np.ix_([4, 1], [4, 1])], atol=1e-12)
    mean = p @ y
    spread = np.sqrt(mean * (1 - mean))
    covariance, got = (y * p[:, None]).T @ y - np.outer(mean, mean), sized.correlations()
    for i, j in combinations(range(N), 2):
        if min(spread[i], spread[j]) > 1e-3:
            assert got[i, j] == pytest.approx(covariance[i, j] / spread[i] / spread[j], abs=1e-5)
    assert (sized.expected_size, sized.size_variance, sized.size_pmf[k], len(sized)) == (k, 0.0, 1.0, N)
    positive = p[p > 0]
    assert sized.entropy() == pytest.approx(-positive @ np.log(positive), abs=1e-7)
    for A, B in [((1,), ()), ((), (2,)), ((0, 3), (5,)), ((5,), (1, 2)), ((2,), (0, 1, 3, 4))]:
        evidence = event(truth, A, B)
        if evidence < 1e-6:
            continue
        given = sized.condition(A, B)
        assert given.k == k - len(A)
        assert given.items.tolist() == [i for i in range(N) if i not in A + B]
        expected = [event(truth, {*A, i}, B) / evidence for i in range(N)]
        np.testing.assert_allclose(sized.conditional_marginals(A, B), expected, atol=1e-7)


def test_the_table_of_who_answers_what_is_true():
    """docs/api names every public attribute of the distributions, but for what makes one."""
    page = (Path(__file__).parents[1] / "docs" / "api" / "distributions.md").read_text("utf-8")
    head, _, *rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("|")]
    answers = {name.strip(" `"): set() for name in head[1:]}
    for names, *cells in rows:
        for told, cell in zip(answers.values(), cells, strict=True):
            told |= {name.strip(" `") for name in names.split(",")} if cell.strip() == "yes" else set()
    for name, told in answers.items():
        kind = getattr(dpplearn, name)
        fields = {x for parent in kind.__mro__ for x in getattr(parent, "__annotations__", ())}
        there = fields | {x for x in dir(kind) if hasattr(kind, x)}
        assert told == {x for x in there if not x.startswith(("_", "from_"))}, name


def test_what_a_k_dpp_cannot_be_is_refused():
    sized = KDPP(DPP([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 2)
    assert sized.prob([0, 1]) == sized.prob(exclude=[2]) == sized.prob([0], [0]) == 0.0
    assert sized.prob([0], [1]) == pytest.approx(0.5)
    for event_of_nothing in ({"include": [0, 1]}, {"exclude": [2]}):
        with pytest.raises(ValueError, match="probability 0"):
            sized.condition(**event_of_nothing)
    with pytest.raises(AttributeError, match="no attribute 'K'"):
        _ = sized.K
    L = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    tiny = KDPP(DPP(1e-200 * L), 2)  # scaling changes nothing
    np.testing.assert_allclose(tiny.pair_probs()[0], [0.7, 0.3, 0.4], atol=1e-12)
    assert tiny.prob([0], [1]) == pytest.approx(0.4)


@pytest.mark.parametrize("dpp", [DPP(np.eye(2)), LowRankDPP(np.eye(2)), LowRankDPP(sparse.eye_array(2))])
def test_frozen(dpp):
    with pytest.raises(AttributeError, match="frozen"):
        dpp.items = np.arange(2)
    arrays = [dpp.K, dpp.marginals, dpp.quality, dpp.size_pmf, dpp.items, *dpp.eigenpairs, KDPP(dpp, 1).marginals]
    arrays += [dpp.L, dpp.similarity] if isinstance(dpp, DPP) else []
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 5


def test_blocks_keep_the_callers_order(rng):
    dpp = LowRankDPP(rng.standard_normal((5, 5)))
    np.testing.assert_allclose(dpp.marginal_kernel([3, 0], [4, 1]), dpp.K[np.ix_([3, 0], [4, 1])], atol=1e-12)
    np.testing.assert_allclose(dpp.pair_probs([3, 0, 1]), dpp.pair_probs()[np.ix_([3, 0, 1], [3, 0, 1])], atol=1e-12)
    np.testing.assert_allclose(dpp.correlations([3, 0]), dpp.correlations()[np.ix_([3, 0], [3, 0])], atol=1e-12)
    S = DPP(dpp.L).similarity
    np.testing.assert_allclose(dpp.similarity_of([3, 0], [4, 1]), S[np.ix_([3, 0], [4, 1])], atol=1e-12)
