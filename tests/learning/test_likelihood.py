"""Value, gradient and Hessian of one instance: enumeration, finite differences, and every route against the others."""

from importlib import import_module

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_learning import exact_terms, log_pmf_table, random_items, with_weights
from dpplearn.learning import ItemSet, likelihood, log_likelihood
from dpplearn.learning.itemset import Shard
from dpplearn.learning.likelihood import Instance, LikelihoodRequest, LogLinear, algorithm1
from dpplearn.learning.similarity import Similarity, fixed_similarity
from dpplearn.learning.training_set import PreparedInstances
from installed import HERE

METHODS = ["primal", "dual", "algorithm1", *(f"evaluator {name}" for name in HERE)]


def terms_of(theta, items, Y, method, rho=0.0, nugget=0.0, **options):
    """By one of the methods, or by an evaluator: of the registry, each is held to the same truth."""
    kind, _, name = method.partition(" ")
    if kind == "algorithm1":
        return algorithm1(theta, items, np.array(Y, np.int64), rho, nugget)
    request = LikelihoodRequest(LogLinear(np.asarray(theta)), fixed_similarity(rho, nugget), **options)
    if not name:
        instance = Instance(items, [np.asarray(Y, np.int64)], [1.0], request.similarity)
        instance.dual = kind == "dual"
        return instance.evaluate(request)
    shard = Shard([items, items], [np.asarray(Y, np.int64), np.empty(0, np.int64)], np.array([1.0, 0.0]))
    prepare = PreparedInstances if name == "numpy" else import_module("dpplearn.torch.evaluator").Batches().prepare
    return prepare(shard, fixed_similarity(0.1, 0.5)).evaluate(request)


@pytest.mark.parametrize(("rho", "nugget"), [(0.0, 0.0), (0.6, 0.0), (0.0, 0.05), (0.6, 0.3), (0.3, 1.0)])
@pytest.mark.parametrize("method", METHODS)
def test_equation_18_by_enumeration(method, rho, nugget, rng):
    items = random_items(6, 3, rng, d=4)
    theta = rng.standard_normal(3)
    for Y, log_p in log_pmf_table(theta, items, rho, nugget).items():
        if len(Y) <= 4 or nugget > 0:  # more than d items have probability 0, up to rounding, but for the nugget
            assert terms_of(theta, items, Y, method, rho, nugget).value == pytest.approx(log_p, abs=1e-9)


@pytest.mark.parametrize("nugget", [0.0, 0.2])
@pytest.mark.parametrize("method", METHODS)
def test_gradient_and_hessian_are_moments_of_the_counts(method, nugget, rng):
    """Equation (19) with its sum over all subsets, and the covariance of the feature counts."""
    items = random_items(6, 3, rng)
    theta = rng.standard_normal(3)
    table = log_pmf_table(theta, items, nugget=nugget)
    p = np.exp(list(table.values()))
    counts = np.array([items.features[list(Y)].sum(axis=0) for Y in table])
    terms = terms_of(theta, items, [0, 2], method, nugget=nugget)
    mean = p @ counts
    np.testing.assert_allclose(terms.gradient, items.features[[0, 2]].sum(axis=0) - mean, atol=1e-11)
    np.testing.assert_allclose(terms.hessian, -(counts - mean).T @ (p[:, None] * (counts - mean)), atol=1e-11)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 14),
    st.integers(1, 20),
    st.sampled_from([0.0, 0.3, 2.0]),
    st.sampled_from([0.0, 0.01, 0.6]),
)
def test_routes_agree(seed, n, d, rho, nugget):
    rng = np.random.default_rng(seed)
    items = random_items(n, 3, rng, d=d)
    theta = 2 * rng.standard_normal(3)
    Y = np.flatnonzero(rng.random(n) < 0.3)[: n if nugget else d]
    reference = algorithm1(theta, items, Y, rho, nugget)
    for method in ("primal", "dual"):
        terms = terms_of(theta, items, Y, method, rho, nugget)
        assert terms.value == pytest.approx(reference.value, rel=1e-9, abs=1e-8)
        np.testing.assert_allclose(terms.gradient, reference.gradient, atol=1e-8)
        np.testing.assert_allclose(terms.hessian, reference.hessian, atol=1e-8)
        first = terms_of(theta, items, Y, method, rho, nugget, order=1)
        assert first.hessian is None
        np.testing.assert_allclose(first.gradient, terms.gradient, atol=1e-10)


@given(st.integers(0, 2**32 - 1))
def test_concave_along_segments(seed):
    """Proposition 1."""
    rng = np.random.default_rng(seed)
    items = random_items(12, 3, rng, d=5)
    a, b = 4 * rng.standard_normal((2, 3))
    t = rng.random()
    f = [log_likelihood(theta, items, [1, 5], order=1).value for theta in (a, b, t * a + (1 - t) * b)]
    assert f[2] >= t * f[0] + (1 - t) * f[1] - 1e-9


def exact_marginals(F, phi, theta):
    """log det(I + B^T B) and K_ii with 900 digits, from unit rows phi taken as they are."""
    n, d = phi.shape
    with mpmath.workdps(900):
        eta = [
            mpmath.fsum(mpmath.mpf(float(a)) * mpmath.mpf(float(b)) for a, b in zip(f, theta, strict=True)) for f in F
        ]
        B = mpmath.matrix([[mpmath.exp(eta[i] / 2) * mpmath.mpf(float(x)) for x in phi[i]] for i in range(n)])
        A = mpmath.eye(d) + B.T * B
        inverse = A**-1
        return float(mpmath.log(mpmath.det(A))), np.array([float((B[i, :] * inverse * B[i, :].T)[0]) for i in range(n)])


@pytest.mark.parametrize("size", [300.0, 500.0, 700.0])
@pytest.mark.parametrize("kind", ["twins", "plane"])
def test_what_depends_on_better_items_adds_nothing(kind, size):
    """Of a dependent item of quality e^200, rounding leaves e^164: more than all of an item of quality e^100."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        F = np.column_stack([np.ones(7), rng.standard_normal((7, 2))])
        phi = rng.integers(-3, 4, (7, 4)) + np.eye(7, 4) * 7.0
        phi[1] = phi[0] if kind == "twins" else [0, 4, 0, 0]
        if kind == "plane":  # items 0, 1 and 4 lie in a plane, exactly
            phi[0], phi[4] = [4, 0, 0, 0], [3, 4, 0, 0]
        items = ItemSet(F, phi=phi)
        theta = rng.standard_normal(3)
        theta *= size / np.abs(F @ theta).max()
        log_z, k = exact_marginals(F, items.phi, theta)
        for x in (items, ItemSet(F, S=items.similarity_matrix())):
            terms = log_likelihood(theta, x, [])
            assert terms.value == pytest.approx(-log_z, rel=1e-9, abs=1e-6)
            np.testing.assert_allclose(terms.gradient, -k @ F, atol=1e-6)
            np.testing.assert_allclose(with_weights(theta).dpp(x).marginals, k, atol=1e-6)


@pytest.mark.parametrize("method", ["primal", "dual"])
@pytest.mark.parametrize("size", [40.0, 300.0])
@pytest.mark.parametrize("nugget", [1e-9, 1e-3, 0.5])
def test_a_nugget_at_large_weights_against_800_digits(nugget, size, method, rng):
    """Rank 3 for 6 items, two of them the same, qualities up to e^200: with what is an item's own, all of it right."""
    phi = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, 0.6, 0.8]])
    F = np.column_stack([np.ones(6), rng.uniform(-1, 1, 6)])
    theta, items = np.array([size, size / 3]), ItemSet(F, phi=phi)
    with mpmath.workdps(60):
        own = mpmath.mpf(nugget)
        C = np.array([[mpmath.mpf(int(x)) / 100 for x in row] for row in (10 * phi) @ (10 * phi).T])
        S = [[1 if i == j else (1 - own) * C[i, j] for j in range(6)] for i in range(6)]
    value, gradient = exact_terms(theta, F, S, (0, 2, 3))
    terms = terms_of(theta, items, [0, 2, 3], method, nugget=nugget)
    assert terms.value == pytest.approx(value, rel=1e-9, abs=1e-8)
    np.testing.assert_allclose(terms.gradient, gradient, atol=1e-7)


def test_weights_beyond_every_float(rng):
    """For a solver it is a step too far; for a user an error; and below, whatever is asked is a number."""
    items = random_items(4, 2, rng)
    far = LikelihoodRequest(LogLinear(np.array([1e9, 0.0])), fixed_similarity())
    assert Instance(items, [np.array([0])], [1.0], fixed_similarity()).evaluate(far).value == -np.inf
    model = with_weights([1e9, 0.0])
    asks = (
        lambda: log_likelihood([1e9, 0.0], items, [0]),
        lambda: model.marginals(items),
        lambda: model.qualities(items),
        lambda: model.dpp(items),
        lambda: model.log_prob([items], [[0]]),
    )
    for ask in asks:
        with pytest.raises(ValueError, match=r"must be at most (1200|705), and is 1e\+09 for item 0"):
            ask()
    with pytest.raises(ValueError, match="at most 705, and is 800"):
        with_weights([800.0, 0.0]).predict([random_items(6, 2, rng, d=3)], k=2)
    for size in (1190.0, -1e9):
        terms = log_likelihood([size, 0.0], items, [0])
        assert np.isfinite(terms.value)
        assert np.isfinite(terms.gradient).all()
        np.testing.assert_allclose(with_weights([size, 0.0]).marginals(items), float(size > 0), atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"order": 1}, {"with_similarity": True}, {"given_size": True}], ids=str)
@pytest.mark.parametrize("kind", ["fixed", "mixture"])
def test_targets_of_the_same_items_share_a_normalizer_and_nothing_else(kind, options, rng, monkeypatch):
    one, other = random_items(6, 3, rng), random_items(6, 3, rng)
    X, y = [one, one, one, other, one], [np.array(Y) for Y in ([0, 2], [1, 3], [0, 2, 4], [3], [5])]
    start = Similarity(one.part_names)
    weights = [start.with_parameters(a * np.arange(start.parameters.size)) for a in (0.1, -0.3)]
    records = [fixed_similarity(0.2, 0.1), fixed_similarity(0.4, 0.1)] if kind == "fixed" else weights
    theta = rng.standard_normal(one.n_features)
    if kind == "fixed" and "with_similarity" in options:
        pytest.skip("a fixed similarity has no derivatives")
    calls = []
    true = likelihood.normalize
    monkeypatch.setattr(likelihood, "normalize", lambda *a: calls.append(a) or true(*a))
    ready = PreparedInstances(Shard(X, y, np.arange(1.0, 6.0)), records[0])
    for similarity in records:
        request = LikelihoodRequest(LogLinear(theta), similarity, **options)
        calls.clear()
        found = ready.evaluate(request)
        assert len(calls) == (4 if "given_size" in options else 3)  # of one size, if that is given
        want = request.total(
            (w, Instance(x, [Y], [1.0], similarity).evaluate(request))
            for w, x, Y in zip(range(1, 6), X, y, strict=True)
        )
        for a, b in zip(found, want, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
