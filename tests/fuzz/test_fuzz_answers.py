"""Every public answer against the slow truth, for problems that nobody has tried.

Truth is exact fractions (tests/exact.py) or all sets listed. Items are scaled by powers of two from 1e-12 to 1e12, are
zero, repeat each other or depend on each other; numbers lie in every kind of holder (tests/holders.py); limits come
all together. `make test` tries the same few problems each time, `make fuzz` new ones for as long as one likes.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import exact
from brute import subsets
from brute_decoding import feasible, log_minor
from dpplearn import DPP, KDPP, ConditionalDPP, ImplicitDPP, ItemSet, LowRankDPP, NonsymmetricDPP, Subsets, diversify
from dpplearn.decoding import consensus, exact_map, greedy_map, local_search, sampled_map
from dpplearn.kernels import cosine_similarity

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 6)
spreads = st.sampled_from([0, 0, 3, 20, 40])  # log2 of how far the items' scales differ: up to 1e12 either way
SURE = 1e-7  # share of its largest possible value above which a determinant keeps half of its digits, at least


def grid(rng, *shape):
    """Multiples of 1/8 from -4 to 4: float16 holds them, and float64 their products and sums, exactly."""
    return rng.integers(-32, 33, shape) / 8.0


def rows_of(rng, n, d, spread):
    """Unit-scale rows, the power of two that scales each, and the scaled ones; some are zero, or repeat others."""
    base = grid(rng, n, d)
    if n > 1 and rng.random() < 0.3:
        base[rng.integers(n)] = base[rng.integers(n)]
    scale = 2.0 ** rng.integers(-spread, spread + 1, n) if spread else np.ones(n)
    if rng.random() < 0.3:
        base[rng.integers(n)] = 0.0
    return base, scale, base * scale[:, None]


def gram(B):
    """B B^T in fractions."""
    A = exact.fractions(B)
    return exact.product(A, exact.transpose(A))


def certainty(base, other=None):
    """For each set, its determinant as a share of the product of lengths: how much of it rounding can reach."""
    other = base if other is None else other
    L = base @ other.T
    size = np.linalg.norm(base, axis=1) * np.linalg.norm(other, axis=1)
    out = {}
    for Y in subsets(len(L)):
        bound = np.prod(size[list(Y)]) if Y else 1.0
        out[Y] = abs(np.linalg.det(L[np.ix_(Y, Y)])) / bound if Y and bound > 0 else float(not Y)
    return out


def assert_log_probs(process, truth, sure, tol=1e-6):
    """log P(Y) of all sets that rounding cannot reach, one by one and all at once; P = 0 never looks likely."""
    many = process.log_prob(Subsets.from_lists(list(truth), n=process.n))
    for value, (Y, p) in zip(many, truth.items(), strict=True):
        one = process.log_prob(list(Y))
        assert one == pytest.approx(value, rel=1e-9, abs=1e-8) or (max(np.exp(one), np.exp(value)) < 1e-9), Y
        if sure[Y] > SURE:
            assert one == pytest.approx(exact.log_of(p), rel=tol, abs=tol), (Y, float(p))
        elif p == 0:
            assert np.exp(one) < 1e-6, (Y, one)


def assert_answers(process, truth, sure, tol=1e-7):
    """Every question but samples."""
    n = process.n
    assert_log_probs(process, truth, sure)
    assert process.log_normalizer == pytest.approx(-exact.log_of(truth[()]), rel=1e-9, abs=1e-9)
    marginals = [float(exact.event(truth, [i])) for i in range(n)]
    np.testing.assert_allclose(process.marginals, marginals, atol=tol)
    np.testing.assert_allclose(process.K.diagonal(), marginals, atol=tol)
    pairs = process.pair_probs()
    for i, j in combinations(range(n), 2):
        assert pairs[i, j] == pytest.approx(float(exact.event(truth, [i, j])), abs=tol)
    sizes = np.bincount([len(Y) for Y in truth], weights=[float(p) for p in truth.values()], minlength=n + 1)
    np.testing.assert_allclose(process.size_pmf, sizes, atol=tol)
    assert process.expected_size == pytest.approx(sizes @ np.arange(n + 1), abs=n * tol)
    assert process.size_variance == pytest.approx(
        sizes @ np.arange(n + 1) ** 2 - (sizes @ np.arange(n + 1)) ** 2, abs=10 * n * tol
    )
    p = np.array([float(p) for p in truth.values() if p > 0])
    p = p[p > 0]
    assert process.entropy() == pytest.approx(-p @ np.log(p), abs=1e-5)


def assert_conditions(process, truth, sure, rng, tol=1e-6):
    """Given some items in and some out: probabilities, marginals and the process that remains, which agree."""
    n = process.n
    for _ in range(3):
        place = rng.integers(0, 4, n)  # in, out, or left to chance
        A, B = np.flatnonzero(place == 0), np.flatnonzero(place == 1)
        p = exact.event(truth, A, B)
        assert process.prob(A, B) == pytest.approx(float(p), abs=1e-7)
        assert process.inclusion_prob(A) == pytest.approx(float(exact.event(truth, A)), abs=1e-7)
        likely = max(
            (sure[Y] for Y, w in truth.items() if w > 0 and set(A) <= set(Y) and not set(B) & set(Y)), default=0
        )
        if p < 1e-6 or likely < SURE:  # what is given has hardly a digit left
            continue
        expected = [float(exact.event(truth, {*A, i}, B) / p) if i not in B else 0.0 for i in range(n)]
        np.testing.assert_allclose(process.conditional_marginals(A, B), expected, atol=tol)
        if A.size + B.size == n:
            continue
        rest = process.condition(A, B)
        np.testing.assert_allclose(rest.marginals, [expected[i] for i in rest.items], atol=tol)
        for Z in subsets(rest.n):
            Y = tuple(sorted((*A.tolist(), *rest.items[list(Z)].tolist())))
            assert np.exp(rest.log_prob(list(Z))) == pytest.approx(float(truth[Y] / p), abs=tol)


@given(n=sizes, d=sizes, spread=spreads, seed=seeds)
def test_symmetric(n, d, spread, seed):
    rng = np.random.default_rng(seed)
    base, _, B = rows_of(rng, n, d, spread)
    L = gram(B)
    truth, sure = exact.normalized(exact.minors(L)), certainty(base)
    held = np.array([[float(x) for x in row] for row in L])
    for process in (DPP(held), LowRankDPP(B), LowRankDPP(sparse.csr_array(B))):
        assert_answers(process, truth, sure)
        assert_conditions(process, truth, sure, rng)
    weight = ImplicitDPP(lambda i, j: B[i] @ B[j], n).log_weight
    for Y in truth:
        if sure[Y] > SURE:
            assert weight(list(Y)) == pytest.approx(exact.log_of(truth[Y] / truth[()]), abs=1e-6)


@given(n=sizes, d=sizes, spread=spreads, k=st.integers(0, 6), seed=seeds)
def test_of_a_given_size(n, d, spread, k, seed):
    rng = np.random.default_rng(seed)
    base, _, B = rows_of(rng, n, d, spread)
    L = gram(B)
    weights, sure = exact.minors(L), certainty(base)
    largest = max((sure[Y] for Y in weights if len(Y) == k), default=0.0)
    assume(largest > SURE)
    truth = exact.normalized(weights, k)
    for dpp in (DPP(np.array([[float(x) for x in row] for row in L])), LowRankDPP(B)):
        kdpp = KDPP(dpp, k)
        marginals = [float(exact.event(truth, [i])) for i in range(n)]
        np.testing.assert_allclose(kdpp.marginals, marginals, atol=1e-6)
        for Y, p in truth.items():
            if sure[Y] > SURE:
                assert kdpp.log_prob(list(Y)) == pytest.approx(exact.log_of(p), abs=1e-5)


@given(n=sizes, ones=st.integers(0, 3), zeros=st.integers(0, 2), near=st.sampled_from([0.0, 1e-13, 1e-9]), seed=seeds)
def test_given_by_a_marginal_kernel(n, ones, zeros, near, seed):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((n, n)))[0]
    p = rng.uniform(0.05, 0.95, n)
    p[: min(ones, n)] = 1.0 - near
    p[n - min(zeros, n) :] = near
    K = (V * p) @ V.T
    K = (K + K.T) / 2
    truth = {Y: max(float(x), 0.0) for Y, x in exact.from_marginal(exact.fractions(K)).items()}
    process = DPP.from_marginal(K)
    for Y, x in truth.items():
        assert np.exp(process.log_prob(list(Y))) == pytest.approx(x, abs=1e-8)
    sizes = np.bincount([len(Y) for Y in truth], weights=list(truth.values()), minlength=n + 1)
    np.testing.assert_allclose(process.size_pmf, sizes, atol=1e-8)
    for k in np.flatnonzero(sizes > 1e-6) if ones == 0 else ():  # else no size is answered
        kept = {Y: x / sizes[k] for Y, x in truth.items() if len(Y) == k}
        np.testing.assert_allclose(
            KDPP(process, int(k)).marginals, [sum(x for Y, x in kept.items() if i in Y) for i in range(n)], atol=1e-6
        )


@given(n=sizes, r=st.integers(1, 3), s=st.integers(1, 3), spread=spreads, whole=st.booleans(), seed=seeds)
def test_nonsymmetric(n, r, s, spread, whole, seed):
    rng = np.random.default_rng(seed)
    V, scale, _ = rows_of(rng, n, r, spread)
    B, D = grid(rng, n, s), grid(rng, s, s)
    if rng.random() < 0.3:
        V[rng.integers(n)] = 0.0  # L_ii = 0
    skew = exact.product(
        exact.product(exact.fractions(B), exact.fractions(D - D.T)), exact.transpose(exact.fractions(B))
    )
    base = [[x + y for x, y in zip(*both, strict=True)] for both in zip(gram(V), skew, strict=True)]
    factor = [exact.Fraction(float(x)) for x in scale]
    L = [[x * factor[i] * factor[j] for j, x in enumerate(row)] for i, row in enumerate(base)]
    truth = exact.normalized(exact.minors(L))
    sure = certainty(np.hstack([V, B @ (D - D.T)]), np.hstack([V, B]))
    if whole:
        process = NonsymmetricDPP.from_kernel([[float(x) for x in row] for row in L])
    else:
        process = NonsymmetricDPP(V * scale[:, None], B * scale[:, None], D)
    assert_answers(process, truth, sure)
    assert_conditions(process, truth, sure, rng)


def limits_of(rng, n):
    """Limits of every kind at once, each left out half of the time."""
    asked = {}
    if rng.random() < 0.7:
        asked["k"] = int(rng.integers(0, n + 2))
    if rng.random() < 0.5 or "k" not in asked:
        asked["cost"] = np.round(rng.uniform(0.5, 3.0, n), 2)
        asked["budget"] = float(np.round(rng.uniform(0.0, 0.7) * asked["cost"].sum(), 2))
    place = rng.permutation(n)
    if rng.random() < 0.5:
        asked["include"] = np.sort(place[: rng.integers(0, 3)])
    if rng.random() < 0.5:
        asked["exclude"] = np.sort(place[n - rng.integers(0, 3) :])
    return asked


def allowed(n, cost=None, budget=np.inf, **limits):
    """All sets that keep all limits, by their definition."""
    return set(feasible(np.ones(n) if cost is None else cost, budget * (1 + 1e-9), **limits))


@given(n=st.integers(2, 8), d=st.integers(1, 6), diversity=st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]), seed=seeds)
def test_all_limits_together(n, d, diversity, seed):
    """diversify keeps every limit; it refuses only where no set keeps them all."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 2.0 ** rng.integers(-40, 41, (n, 1))
    if rng.random() < 0.3:
        X[0] = X[-1]
    asked = limits_of(rng, n)
    quota = {}
    if rng.random() < 0.6:
        quota["groups"] = rng.integers(0, 3, n)
        if rng.random() < 0.7:
            quota["max_per_group"] = int(rng.integers(1, 3))
        if rng.random() < 0.5:
            quota["min_per_group"] = 1
    more = {"nugget": rng.choice([0.0, 1e-6, 0.1])} if rng.random() < 0.5 else {}
    if rng.random() < 0.3 and more.get("nugget") != 0.0:
        more["given"] = rng.standard_normal((2, d))
    possible = allowed(n, **asked, **quota)
    try:
        chosen = diversify(X, rng.standard_normal(n), diversity=diversity, **asked, **quota, **more)
    except ValueError as error:
        parallel = "probability 0" in str(error) or "linear combination" in str(error)
        rank_bound = more.get("nugget") == 0.0 and "min_per_group" in str(error)
        if possible and not (parallel or rank_bound):
            raise
        return
    Y = chosen.subset.tolist()
    assert len(set(Y)) == len(Y)
    if possible:
        assert tuple(sorted(Y)) in possible, (Y, chosen.reason)


DECODERS = {
    "greedy": greedy_map,
    "exact": lambda *args, **limits: exact_map(*args, **limits, time_limit=None),
    "local": local_search,
    "sampled": lambda *args, **limits: sampled_map(*args, **limits, n_samples=500, rng=0),
    "consensus": consensus,
    "by counts": lambda dpp, **limits: consensus(dpp, utility=np.arange(5 * dpp.n).reshape(dpp.n, 5) % 3, **limits),
}


@given(
    n=st.integers(1, 7), d=sizes, spread=st.sampled_from([0, 3, 20]), name=st.sampled_from(list(DECODERS)), seed=seeds
)
def test_decoders(n, d, spread, name, seed):
    """Every decoder keeps the limits, says the right probability, and finds no better set than there is."""
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((n, d))
    B = base * (2.0 ** rng.integers(-spread, spread + 1, n))[:, None]
    L = B @ B.T
    asked, quota = limits_of(rng, n), {}
    if rng.random() < 0.5:
        quota = {"groups": rng.integers(0, 3, n), "max_per_group": int(rng.integers(1, 3))}
        if rng.random() < 0.4 and name != "exact":  # which refuses it
            quota["min_per_group"] = 1
    values = {Y: log_minor(L, Y) for Y in allowed(n, **asked, **quota)}
    for dpp in (DPP(L), LowRankDPP(B)):
        try:
            chosen = DECODERS[name](dpp, **asked, **quota)
        except ValueError as error:
            include = [int(i) for i in asked.get("include", ())]
            dependent = "min_per_group" in quota and "linear combinations" in str(error)  # greedy, within the rank
            if values and log_minor(L, include) > -np.inf and not dependent:
                raise
            continue
        Y = tuple(chosen.sorted_subset.tolist())
        assert not values or Y in values, (Y, chosen.reason)
        if Y not in values or values[Y] == -np.inf:
            continue
        best = max(values.values())
        normalizer = np.logaddexp.reduce([log_minor(L, Z) for Z in subsets(n)])
        assert chosen.log_prob == pytest.approx(values[Y] - normalizer, rel=1e-5, abs=1e-5)
        assert chosen.gains.sum() == pytest.approx(values[Y], rel=1e-5, abs=1e-5)
        assert values[Y] <= best + 1e-6
        if name == "exact":
            assert values[Y] == pytest.approx(best, rel=1e-6, abs=1e-6)


@given(n=st.integers(2, 6), m=st.integers(1, 3), size=st.sampled_from([None, 1, 2, 3]), seed=seeds)
def test_learned_models(n, m, size, seed):
    """A conditional model's probabilities and marginals, from its definition; features of any scale."""
    rng = np.random.default_rng(seed)
    unit = 2.0 ** int(rng.integers(-40, 41))
    F, theta, S = rng.standard_normal((n, m)), rng.standard_normal(m), cosine_similarity(rng.standard_normal((n, 3)))
    q = np.exp(F @ theta / 2)
    L = q[:, None] * (0.9 * S + 0.1 * np.eye(n)) * q
    model = ConditionalDPP.from_weights(theta / unit, nugget=0.1)
    items = ItemSet(F * unit, S=S)
    weights = {Y: float(w) for Y, w in exact.minors(exact.fractions(L)).items()}
    if size is None:
        truth = exact.normalized(weights)
        for Y, p in truth.items():
            assert model.log_prob([items], [list(Y)])[0] == pytest.approx(np.log(p), abs=1e-6)
        marginals = model.marginals(items)
    else:
        assume(size <= n)
        truth = exact.normalized(weights, size)
        marginals = model.marginals(items, k=size)
    np.testing.assert_allclose(marginals, [exact.event(truth, [i]) for i in range(n)], atol=1e-7)
