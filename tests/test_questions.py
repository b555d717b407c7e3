"""Every question of sections 1 and 2, in every representation, against enumeration."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import dpplearn
from brute import event, pmf, pmf_of_marginal, random_factors, random_kernel, random_marginal, subsets
from dpplearn import DPP, KDPP, LowRankDPP, NonsymmetricDPP, Subsets

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


SYMMETRIC = list(CASES)
SKEW = {
    "cycle": np.roll(np.eye(N), 1, axis=1) + np.eye(N),  # the eigenvalues of its symmetric part are 1 + cos
    "nearly skew": np.triu(np.ones((N, N)), 1) - np.tril(np.ones((N, N)), -1) + 1e-6 * np.eye(N),
}
CASES |= {f"not symmetric: {name}": (NonsymmetricDPP.from_kernel(L), pmf(L)) for name, L in SKEW.items()}
for shape in ((1, 2), (2, 2), (2, 3), (6, 4)):
    *factors, L = random_factors(N, *shape, 0)
    CASES[f"not symmetric: {shape}"] = NonsymmetricDPP(*factors), pmf(L)
for name in SYMMETRIC:
    for k in range(N + 1):
        of_size = {Y: p for Y, p in CASES[name][1].items() if len(Y) == k}
        total, rank = sum(of_size.values()), np.count_nonzero(CASES[name][0].spectrum.p)
        if k <= rank and total > 1e-12 and name != "K with eigenvalues 1":  # of which no size is answered
            CASES[f"{k} of {name}"] = KDPP(CASES[name][0], k), {Y: p / total for Y, p in of_size.items()}


def close(dpp, error):
    """The probabilities of k-DPPs are those of events of little probability, and less accurate."""
    return max(error, 1e-8) if isinstance(dpp, KDPP) else error


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def test_log_prob(case):
    dpp, truth = case
    for Y, p in truth.items():
        assert np.exp(dpp.log_prob(Y)) == pytest.approx(p, rel=close(dpp, 1e-7), abs=close(dpp, 1e-11))
    assert sum(np.exp(dpp.log_prob(Y)) for Y in truth) == pytest.approx(1.0, rel=1e-9)


def test_log_prob_of_many_is_that_of_each(case):
    dpp, truth = case
    many = dpp.log_prob(Subsets.from_lists(truth, n=N))
    np.testing.assert_allclose(np.exp(many), [np.exp(dpp.log_prob(Y)) for Y in truth], rtol=1e-9, atol=1e-13)


def test_marginals_pairs_and_inclusion(case):
    dpp, truth = case
    near = close(dpp, 1e-9)
    np.testing.assert_allclose(dpp.marginals, [event(truth, [i]) for i in range(N)], atol=near)
    if not isinstance(dpp, KDPP):
        np.testing.assert_allclose(dpp.K.diagonal(), dpp.marginals, atol=1e-12)
    pairs = dpp.pair_probs()
    for i, j in combinations(range(N), 2):
        assert pairs[i, j] == pytest.approx(event(truth, [i, j]), abs=near)
    for A in subsets(N):
        assert dpp.inclusion_prob(A) == pytest.approx(event(truth, A), abs=near)
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
            truth_ij = covariance[i, j] / deviation[i] / deviation[j]
            assert got[i, j] == pytest.approx(truth_ij, abs=1e-5 if isinstance(dpp, KDPP) else 1e-6)
    if isinstance(dpp, DPP | LowRankDPP):
        assert (got[~np.eye(N, dtype=bool)] <= 0).all()


def test_include_and_exclude(case):
    dpp, truth = case
    for A in subsets(N):
        if len(A) <= 3:
            for B in [(), (0,), (2, 5), (1, 3, 4)]:
                assert dpp.prob(include=A, exclude=B) == pytest.approx(event(truth, A, B), abs=close(dpp, 1e-9))


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
            assert np.exp(given.log_prob(Z)) == pytest.approx(truth.get(Y, 0.0) / evidence, rel=1e-5, abs=1e-8)
        expected = [event(truth, {*A, i}, B) / evidence for i in range(N)]
        np.testing.assert_allclose(dpp.conditional_marginals(A, B), expected, atol=10 * close(dpp, 1e-9))


def test_size(case):
    dpp, truth = case
    sizes = np.array([len(Y) for Y in truth])
    p = np.array(list(truth.values()))
    assert dpp.expected_size == pytest.approx(p @ sizes, abs=1e-8)
    assert dpp.size_variance == pytest.approx(p @ sizes**2 - (p @ sizes) ** 2, abs=1e-7)
    np.testing.assert_allclose(dpp.size_pmf, np.bincount(sizes, weights=p, minlength=N + 1), atol=1e-9)


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


@pytest.mark.parametrize("name", ["L of low rank", "L with a repeated item", "B", "B sparse"])
def test_no_k_dpp_is_beyond_the_rank(name):
    dpp, _ = CASES[name]
    rank = np.count_nonzero(dpp.eigenpairs[0])
    with pytest.raises(ValueError, match=f"rank of L \\({rank}"):
        KDPP(dpp, rank + 1)


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
