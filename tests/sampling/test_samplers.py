"""Every sampler draws from the distribution: chi-square on counts, marginals and pairs within Monte-Carlo error."""

import numpy as np
import pytest
from scipy import sparse

from brute import check_counts, pmf, pmf_of_marginal, random_factors, random_kernel, random_marginal
from dpplearn import DPP, KDPP, ImplicitDPP, LowRankDPP, NonsymmetricDPP
from dpplearn.decoding import consensus, sampled_map
from dpplearn.kernels import rbf_similarity
from dpplearn.sampling import elimination, jumps
from dpplearn.sampling._spectral_loops import alias_tables
from dpplearn.sampling.spectral import settled

RNG = np.random.default_rng(3)
L5 = random_kernel(5, RNG)
L5_TWICE = L5[np.ix_([0, 1, 2, 3, 1], [0, 1, 2, 3, 1])]
B53 = RNG.standard_normal((5, 3))
K5 = random_marginal(5, RNG, ones=2)


DISTRIBUTIONS = {
    "L": (DPP(L5), pmf(L5)),
    "small": (DPP(0.02 * L5), pmf(0.02 * L5)),
    "large": (DPP(50 * L5), pmf(50 * L5)),  # E|Y| near n: the complement is drawn
    "repeated item": (DPP(L5_TWICE), pmf(L5_TWICE)),
    "L of rank 3": (DPP(B53 @ B53.T), pmf(B53 @ B53.T)),
    "B": (LowRankDPP(B53), pmf(B53 @ B53.T)),
    "B sparse": (LowRankDPP(sparse.csr_array(B53)), pmf(B53 @ B53.T)),
    "K with eigenvalues 1": (DPP.from_marginal(K5), pmf_of_marginal(K5)),
}
SIZED = {f"{k} of L": (KDPP(DPP(L5), k), pmf(L5, k)) for k in range(6)}
SIZED |= {f"{k} of B": (KDPP(LowRankDPP(B53), k), pmf(B53 @ B53.T, k)) for k in range(4)}
SKEW = {
    "not symmetric": np.array([[1.0, 3.0, 0.0], [-2.2, 1.0, -0.4], [-0.5, 0.3, 1.0]]),
    "cycle": np.roll(np.eye(7), 1, axis=1) + np.eye(7),  # the eigenvalues of its symmetric part are 1 + cos
    "skew": np.array([[0.0, 2.0, 0.0], [-2.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
} | {f"not symmetric {shape}": random_factors(*shape, 0)[-1] for shape in ((5, 1, 2), (6, 2, 2), (7, 2, 3))}
SKEW = {name: (NonsymmetricDPP.from_kernel(L), pmf(L)) for name, L in SKEW.items()}
EVERY = DISTRIBUTIONS | SIZED | SKEW


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name, (dpp, _) in EVERY.items() for method in dpp._methods]
)
@pytest.mark.parametrize("block", [2, 64])  # several blocks, or one
def test_exact_samplers(name, method, block, monkeypatch):
    monkeypatch.setattr(jumps, "BLOCK_SIZE", block)
    monkeypatch.setattr(elimination, "BLOCK", block)
    dpp, truth = EVERY[name]
    dpp = dpp if isinstance(dpp, KDPP) else dpp.condition()  # without tables of another test
    check_counts(dpp.sample(8_000, rng=2, method=method), truth)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_spectral_without_tables(name):
    """A few samples at a time take the O(n k^2) chain."""
    dpp, truth = DISTRIBUTIONS[name]
    rng = np.random.default_rng(2)
    draws = [dpp.sample(1, rng=rng)[0] for _ in range(3_000)]
    assert dpp._plain_tables is dpp._sampling_tables(1) or dpp.expected_size > 3
    check_counts(draws, truth)


def test_cholesky_across_blocks(rng):
    """Several blocks of 64 items: marginals and pairs, against K."""
    dpp = DPP(random_kernel(150, rng, rank=30, scale=2.0))
    check_moments(dpp.sample(2_000, rng=5, method="cholesky"), dpp.K)


@pytest.mark.parametrize("name", ["L", "repeated item", "B", "large"])
def test_mcmc(name):
    dpp, truth = DISTRIBUTIONS[name]
    L = dpp.L
    check_counts(ImplicitDPP(lambda i, j: L[i, j], 5).sample(3_000, rng=6, thin=30), truth)


def test_mcmc_of_a_given_size():
    dpp = ImplicitDPP(lambda i, j: L5[i, j], n=5)
    for k in (1, 2, 4):
        check_counts(dpp.sample(2_000, rng=8, thin=30, k=k), pmf(L5, k))
    assert dpp.log_weight([0, 2]) == pytest.approx(np.log(np.linalg.det(L5[np.ix_([0, 2], [0, 2])])))


def check_moments(draws, K):
    """Marginals and pair probabilities within 5 standard errors, everywhere."""
    size, n = len(draws), len(K)
    y = draws.to_sparse()
    pairs = (y.T @ y).toarray() / size
    d = K.diagonal()
    truth = np.outer(d, d) - K**2
    np.fill_diagonal(truth, d)
    error = np.sqrt(np.maximum(truth * (1 - truth), 1e-12) / size) + 5.0 / size
    z = np.abs(pairs - truth) / error
    assert z.max() < 5, f"worst of {n * n}: {z.max():.2f}"
    assert np.sqrt((z**2).mean()) < 1.15


@pytest.mark.parametrize(("n", "expected"), [(200, 6), (200, 100), (120, 118), (500, 150)])
def test_moments_of_larger_kernels(rng, n, expected):
    L = random_kernel(n, rng) + 0.1 * np.eye(n)
    dpp = DPP(scaled_to(L, expected))
    assert dpp.expected_size == pytest.approx(expected, rel=1e-6)
    check_moments(dpp.sample(20_000 if expected < 50 else 1_000, rng=12), dpp.K)


def scaled_to(L, expected):
    """L times the factor that makes E|Y| = expected."""
    lam = np.linalg.eigvalsh(L)
    low, high = -60.0, 60.0
    for _ in range(200):
        mid = (low + high) / 2
        x = np.exp(mid) * lam
        low, high = (mid, high) if (x / (1 + x)).sum() < expected else (low, mid)
    return np.exp(low) * L


@pytest.mark.parametrize("length_scale", [1.0, 3.0])
def test_k_dpp_of_an_ill_conditioned_kernel(length_scale):
    grid = np.stack(np.meshgrid(np.arange(28.0), np.arange(28.0)), axis=-1).reshape(-1, 2)
    dpp = DPP(rbf_similarity(grid, length_scale))
    kdpp = KDPP(dpp, 60)
    draws = kdpp.sample(200, rng=14)
    assert (draws.sizes == 60).all()
    assert np.isfinite(kdpp.log_prob(draws)).all()
    assert kdpp.marginals.sum() == pytest.approx(60, rel=1e-9)


@pytest.mark.parametrize("method", ["spectral", "cholesky"])
def test_same_seed_same_samples_whatever_the_threads(method):
    dpp = DPP(random_kernel(40, np.random.default_rng(0)))
    size = 9_000 if method == "spectral" else 20
    one, three = (dpp.sample(size, rng=5, method=method, n_jobs=jobs) for jobs in (1, 3))
    assert one == three
    assert one != dpp.sample(size, rng=6, method=method)
    assert KDPP(dpp, 7).sample(9_000, rng=5, n_jobs=1) == KDPP(dpp, 7).sample(9_000, rng=5, n_jobs=3)


def test_mcmc_starts_where_no_random_set_would(rng):
    """Rank 5 among 300 items: a random set of 5 is nearly singular; the greedy start never is."""
    B = rng.standard_normal((300, 5)) * np.exp(3 * rng.standard_normal((300, 1)))
    dpp = ImplicitDPP(lambda i, j: B[i] @ B[j], 300)
    draws = dpp.sample(20, rng=0, k=5, burn_in=500, thin=50)
    assert (draws.sizes == 5).all()
    with pytest.raises(ValueError, match="rank"):
        dpp.sample(1, rng=0, k=6)


def test_equal_eigenvalues_have_one_basis_on_every_machine(rng):
    """Spaces of 1, 3 and 2 dimensions, and 0: whatever basis LAPACK gives of them, samples come from the same one."""
    lam = np.array([0.0, 0.0, 0.5, 2.0, 2.0, 2.0, 7.0, 7.0])
    V = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    turn = np.eye(8)
    for space in (slice(3, 6), slice(6, 8)):
        turn[space, space] = np.linalg.qr(rng.standard_normal(turn[space, space].shape))[0]
    other = V @ turn
    assert np.abs(other - V).max() > 0.1
    assert settled(lam, other) == pytest.approx(settled(lam, V), abs=1e-12)
    found = settled(lam, V)
    assert found.T @ found == pytest.approx(np.eye(8), abs=1e-12)
    assert (found * lam) @ found.T == pytest.approx((V * lam) @ V.T, abs=1e-12)


@pytest.mark.parametrize("kind", ["dpp", "few", "rows", "k-dpp", "decoder", "tilted decoder", "consensus"])
def test_no_draw_depends_on_the_basis_of_equal_eigenvalues(kind, rng):
    """Another processor's LAPACK gives another basis: here it is turned by hand."""
    B = np.linalg.qr(rng.standard_normal((9, 6)))[0] * np.array([2.0, 2.0, 2.0, 1.0, 1.0, 0.5])
    answers = []
    for turn in (np.eye(3), np.linalg.qr(rng.standard_normal((3, 3)))[0]):
        dpp = LowRankDPP(B) if kind == "rows" else DPP(B @ B.T)
        lam, V = (np.array(x) for x in dpp.eigenpairs)
        V[:, -3:] = V[:, -3:] @ turn
        dpp.__dict__["eigenpairs"] = lam, V
        limits = {"k": 3, "n_samples": 300, "rng": 0}
        if kind == "k-dpp":
            draws = list(KDPP(dpp, 3).sample(100, rng=0))
        elif kind == "consensus":
            draws = [consensus(dpp, k=3).sorted_subset]
        elif "decoder" in kind:
            draws = [sampled_map(dpp, tilt=kind != "decoder", **limits).sorted_subset]
        else:
            draws = list(dpp.sample(2 if kind == "few" else 300, rng=0))
        answers.append([Y.tolist() for Y in draws])
    assert answers[0] == answers[1]


def test_rounding_changes_no_alias_table(rng):
    """Shares that are whole numbers of 1/n are ties of Vose's construction: the last digits decide none of them."""
    V = np.sqrt(np.array([[20, 15, 1], [5, 15, 2], [5, 0, 27], *[[0, 0, 0]] * 27]) / 30)
    found = []
    for _ in range(8):
        accept, other = np.empty((3, 30)), np.empty((3, 30), np.int32)
        alias_tables(V + 1e-14 * rng.standard_normal(V.shape), accept, other)
        given = accept.copy()
        np.add.at(given, (np.repeat(np.arange(3), 30), other.ravel()), 1.0 - accept.ravel())
        np.testing.assert_allclose(given.T / 30, V**2, atol=1e-9)
        found.append((other.copy(), accept.round(6) + 0.0))
    assert all(np.array_equal(other, found[0][0]) and np.array_equal(accept, found[0][1]) for other, accept in found)
