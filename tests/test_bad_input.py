"""Bad input gets an error that says what was expected, what was found, and what to do; or it has a stated meaning."""

import numpy as np
import pytest
from scipy import sparse

from dpplearn import DPP, KDPP, ImplicitDPP, LowRankDPP, Subsets
from dpplearn.decoding import exact_map

EYE = ImplicitDPP(lambda i, j: float(i == j), n=3)
DPP3 = DPP(np.diag([1.0, 2.0, 3.0]))
WITH_NAN = np.eye(3)
WITH_NAN[1, 2] = WITH_NAN[2, 1] = np.nan
WITH_INF = np.eye(3)
WITH_INF[0, 0] = np.inf
NOT_PSD = np.array([[1.0, 2.0], [2.0, 1.0]])

KERNELS = {
    "not square": (np.ones((2, 3)), ValueError, r"square .*found shape \(2, 3\)"),
    "not symmetric": (np.array([[1.0, 0.5], [0.0, 1.0]]), ValueError, r"symmetric.* differ by up to 0\.5.*L \+ L\.T"),
    "not PSD": (NOT_PSD, ValueError, r"eigenvalue -1\b.*nearest_psd\(L\)"),
    "negative diagonal": (np.diag([1.0, -0.25]), ValueError, r"eigenvalue -0\.25.*nearest_psd"),
    "NaN": (WITH_NAN, ValueError, r"finite, but L\[1, 2\] is nan \(2 such"),
    "infinity": (WITH_INF, ValueError, r"finite, but L\[0, 0\] is inf"),
    "complex": (np.eye(2, dtype=complex), TypeError, "real numbers, found dtype complex128"),
    "text": ([["a"]], TypeError, "found dtype <U1. Convert"),
    "ragged": ([[1.0, 0.0], [0.0]], ValueError, "rows of equal length"),
    "sparse": (sparse.eye_array(3), TypeError, r"dense array.*toarray\(\)"),
    "empty": (np.empty((0, 0)), ValueError, "at least one"),
    "None": (None, TypeError, "found the type NoneType"),
    "a function": (max, TypeError, "found the type builtin.*ImplicitDPP"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    L, error, message = KERNELS[name]
    with pytest.raises(error, match=message):
        DPP(L)


def test_rounding_is_forgiven():
    L = np.array([[1.0, 0.3 + 1e-12], [0.3, 1.0]])
    assert DPP(L).L[0, 1] == DPP(L).L[1, 0]
    B = np.random.default_rng(0).standard_normal((30, 2)).astype(np.float32)
    DPP(B @ B.T)  # eigenvalues of -1e-7 are rounding in single precision
    V = np.linalg.qr(B)[0]
    assert (DPP.from_marginal(V @ V.T).sample(20, rng=0).sizes == 2).all()  # and so are 1 + 1e-7


def test_a_large_kernel_is_looked_at_as_well():
    L = np.eye(600)
    L[0, 1] = L[1, 0] = 3.0
    for make in (DPP.from_marginal, DPP, lambda S: DPP.from_quality(np.ones(600), S)):
        with pytest.raises(ValueError, match=r"eigenvalue -2\b.*nearest_psd"):
            make(L)
    with pytest.raises(ValueError, match=r"eigenvalue -1\b"):
        DPP(-np.eye(600))


def test_marginal_kernel_outside_0_1():
    with pytest.raises(ValueError, match=r"eigenvalues in \[0, 1\], but its largest is 1\.5.*DPP\(L\)"):
        DPP.from_marginal(np.diag([0.5, 1.5]))
    with pytest.raises(ValueError, match=r"eigenvalue -0\.1"):
        DPP.from_marginal(np.diag([0.5, -0.1]))


def test_what_needs_L_says_so():
    dpp = DPP.from_marginal(np.diag([1.0, 0.5]))
    assert not dpp.has_L
    for ask in ("L", "log_normalizer", "quality", "similarity", "eigenpairs"):
        with pytest.raises(ValueError, match="no likelihood kernel L"):
            getattr(dpp, ask)
    with pytest.raises(ValueError, match="so near 1 that too few digits"):
        KDPP(dpp, 1)
    with pytest.raises(ValueError, match="an eigenvalue of its marginal kernel K is 1"):
        _ = DPP.from_marginal(np.diag([1.0, 0.5])).L


@pytest.mark.parametrize(
    ("subset", "error", "message"),
    [
        ([0, 3], IndexError, "from 0 to 2, found 3"),
        ([-1], IndexError, "from 0 to 2, found -1"),
        ([1, 1], ValueError, "repeat items, but 1 appears more than once"),
        ([0, 1, 1], ValueError, r"0 or 1 for each item, pass np\.flatnonzero\("),
        ([0.0, 1.0, 0.0], TypeError, "integers or be a boolean mask"),
        ([True, False], ValueError, "mask must have length 3, found 2"),
        ([0.5], TypeError, "integers or be a boolean mask, found dtype float64"),
        ([[0, 1]], ValueError, "flat list of item numbers"),
        (1, ValueError, "flat list of item numbers"),
        (["a"], TypeError, "integers"),
        ([[0], [1, 2]], ValueError, "flat list of item numbers"),
        (np.array([2**63], np.uint64), IndexError, "found 9223372036854775808"),
        (np.ma.array([0, 1], mask=[0, 1]), TypeError, "masked"),
        ([np.nan], TypeError, "integers"),
    ],
)
def test_subsets(subset, error, message):
    for ask in (DPP3.log_prob, DPP3.inclusion_prob, LowRankDPP(np.eye(3)).log_prob, KDPP(DPP3, 2).log_prob):
        with pytest.raises(error, match=message):
            ask(subset)
    with pytest.raises(error):
        DPP3.condition(include=subset)
    with pytest.raises(error):
        DPP3.prob(exclude=subset)


def test_subsets_that_mean_something():
    expected = DPP3.log_prob([0, 2])
    for Y in (
        iter([2, 0]),
        {0: "a", 2: "b"}.keys(),
        [2, 0],
        (0, 2),
        {0, 2},
        np.array([0, 2], np.uint8),
        [True, False, True],
        np.array([True, False, True]),
    ):
        assert DPP3.log_prob(Y) == expected
    assert DPP3.log_prob(range(3)) == DPP3.log_prob([0, 1, 2])
    assert DPP3.log_prob([]) == DPP3.log_prob(np.zeros(3, bool)) == -DPP3.log_normalizer


@pytest.mark.parametrize("make", [lambda: DPP3, lambda: KDPP(DPP3, 2)])
def test_sizes(make):
    dpp = make()
    assert len(dpp.sample(0, rng=0)) == 0
    assert list(dpp.sample(0, rng=0)) == []
    with pytest.raises(ValueError, match="size must be at least 0, found -1"):
        dpp.sample(-1)
    for bad in (2.0, "3", True, None):
        with pytest.raises(TypeError, match="size must be a whole number"):
            dpp.sample(bad)
    with pytest.raises(ValueError, match="n_jobs must be at least 1, found 0"):
        dpp.sample(1, n_jobs=0)
    with pytest.raises(ValueError, match="method must be one of 'spectral'"):
        dpp.sample(1, method="magic")


@pytest.mark.parametrize("rng", ["0", 1.5, True, -3])
def test_generators(rng):
    with pytest.raises((TypeError, ValueError), match="rng"):
        DPP3.sample(1, rng=rng)


@pytest.mark.parametrize(
    "rng", [0, np.int64(0), np.random.SeedSequence(0), np.random.default_rng(0), np.random.PCG64(0)]
)
def test_generators_that_mean_the_same(rng):
    assert DPP3.sample(50, rng=rng) == DPP3.sample(50, rng=0)
    assert len(DPP3.sample(50, rng=None)) == 50


def test_k():
    with pytest.raises(ValueError, match=r"rank of L \(2 to working precision\), found 3.*1e-6 I"):
        KDPP(DPP(np.diag([1.0, 1.0, 0.0])), 3)
    with pytest.raises(ValueError, match=r"number of items \(3\), found 4"):
        KDPP(DPP3, 4)
    with pytest.raises(ValueError, match="at least 0"):
        KDPP(DPP3, -1)
    with pytest.raises(TypeError, match="whole number"):
        KDPP(DPP3, 1.5)
    with pytest.raises(TypeError, match=r"DPP or a LowRankDPP, found ndarray"):
        KDPP(np.eye(3), 1)
    with pytest.raises(TypeError, match="found ImplicitDPP"):
        KDPP(EYE, 1)


def test_quality():
    with pytest.raises(ValueError, match=r"one entry per item \(2\), found 3"):
        DPP.from_quality([1.0, 1.0, 1.0], np.eye(2))
    with pytest.raises(ValueError, match=r"below 0, but q\[1\] is -1"):
        DPP.from_quality([1.0, -1.0], np.eye(2))
    with pytest.raises(ValueError, match="ones on its diagonal"):
        DPP.from_quality([1.0, 1.0], 2 * np.eye(2))
    with pytest.raises(ValueError, match="small enough for"):
        DPP.from_quality([1e200, 1.0], np.eye(2))
    with pytest.raises(ValueError, match="row 1 is zero"):
        LowRankDPP.from_quality([1.0, 1.0], [[1.0, 0.0], [0.0, 0.0]])


def test_features():
    with pytest.raises(ValueError, match=r"at least one row .* \(0, 3\)"):
        LowRankDPP(np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"B\[1, 0\] is nan"):
        LowRankDPP([[1.0, 0.0], [np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"B\[1, 0\] is nan"):
        LowRankDPP(sparse.csr_array(np.array([[1.0, 0.0], [np.nan, 1.0]])))
    with pytest.raises(TypeError, match="complex"):
        LowRankDPP(sparse.csr_array(np.eye(2, dtype=complex)))
    for make in (np.array, sparse.csr_array):
        with pytest.raises(ValueError, match="too long"):
            LowRankDPP(make([[1e200, 0.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="2 dimensions"):
        LowRankDPP(sparse.coo_array(np.ones(3)))
    zero = LowRankDPP(np.zeros((3, 2)))
    assert zero.expected_size == 0.0
    assert zero.sample(5, rng=0).indices.size == 0


def test_n_by_n_answers_that_do_not_fit():
    dpp = LowRankDPP(np.ones((30_000, 1)))
    for ask in (lambda: dpp.K, lambda: dpp.L, dpp.pair_probs, dpp.correlations, lambda: dpp.similarity):
        with pytest.raises(ValueError, match=r"30,000 items would be an array of 7 GB. Pass items="):
            ask()
    assert dpp.pair_probs([3, 4]).shape == (2, 2)


def test_conditioning():
    twins = DPP(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"include and exclude must not share items, but both hold 1"):
        DPP3.condition(include=[1], exclude=[1, 2])
    with pytest.raises(ValueError, match="name all 3 items"):
        DPP3.condition(include=[0, 1], exclude=[2])
    assert DPP3.prob(include=[1], exclude=[1]) == 0.0
    triplets = DPP(np.ones((3, 3)))
    low = LowRankDPP(np.ones((3, 1)))
    for dpp in (triplets, low):
        with pytest.raises(ValueError, match=r"include=\[0, 1\]: this event has probability 0"):
            dpp.condition(include=[0, 1])
    sure = DPP.from_marginal(np.diag([1.0, 0.5]))
    with pytest.raises(ValueError, match=r"exclude=\[0\]: this event has probability 0"):
        sure.condition(exclude=[0])
    assert twins.prob(include=[0, 1]) == 0.0
    with pytest.raises(ValueError, match="probability 0"):
        twins.conditional_marginals([0, 1])
    assert twins.condition(include=[0]).marginals.tolist() == [0.0]


def test_kernel_functions():
    with pytest.raises(TypeError, match=r"must be a function .* rows for LowRankDPP\(B\)"):
        ImplicitDPP(np.eye(2), n=2)
    with pytest.raises(ValueError, match=r"diagonal, but L\(2, 2\) = -5"):
        ImplicitDPP(lambda i, j: -1.0 - i - j, n=3).sample(1)
    with pytest.raises(ValueError, match="at most 3"):
        EYE.sample(1, k=4)
    with pytest.raises(ValueError, match="at least 1"):
        EYE.sample(1, thin=0)
    with pytest.raises(ValueError, match=r"finite numbers, but L\(0, 1\) is nan"):
        ImplicitDPP(lambda i, j: 2.0 if i == j else np.nan, n=3).sample(1)
    with pytest.raises(ValueError, match=r"symmetric, but L\(1, 0\) = 0.5 and L\(0, 1\) = 0.25"):
        ImplicitDPP(lambda i, j: 2.0 if i == j else 0.25 if i < j else 0.5, n=3).sample(1)
    with pytest.raises(ValueError, match=r"symmetric, but L\(2, 1\) = 0.5 and L\(1, 2\) = 0.25"):
        ImplicitDPP(lambda i, j: 2.0 if i == j else 0.25 if i < j else 0.5, n=3).log_weight([1, 2])
    with pytest.raises(AttributeError, match="log_prob"):
        EYE.log_prob([1])
    with pytest.raises(TypeError, match=r"real number, but L\(0, 0\) is 'x'"):
        ImplicitDPP(lambda i, j: "x" * (1 + i * j), n=3).sample(1)


def test_subsets_objects():
    with pytest.raises(ValueError, match="indptr"):
        Subsets(np.array([0, 2]), np.array([1]), 3)
    with pytest.raises(ValueError, match="indptr must rise"):
        Subsets(np.array([0, 5, 2]), np.array([0, 1]), 3)
    with pytest.raises(IndexError, match="from 0 to 2"):
        Subsets(np.array([0, 2]), np.array([0, 7]), 3)
    with pytest.raises(ValueError, match="ascending"):
        Subsets(np.array([0, 2]), np.array([1, 0]), 3)
    with pytest.raises(TypeError, match="integers"):
        Subsets(np.array([0, 2]), np.array([0.0, 1.7]), 3)
    mine = np.array([0, 1])
    Subsets(np.array([0, 1, 2]), mine, 3)
    mine[0] = 2  # the caller's array stays theirs
    others = Subsets.from_lists([[4, 5]], n=9)
    for dpp in (DPP3, LowRankDPP(np.eye(3)), KDPP(DPP3, 2)):
        with pytest.raises(ValueError, match="subsets of the 3 items here, found subsets of 9"):
            dpp.log_prob(others)
    with pytest.raises(IndexError, match=r"subsets\[1\]"):
        Subsets.from_lists([[0], [5]], n=3)
    with pytest.raises(IndexError):
        Subsets.from_lists([[0]], n=3)[1]


def test_one_of_a_thing_is_singular():
    with pytest.raises(ValueError, match=r"\(1 such entry in all\)"):
        DPP([[np.nan, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"\(2 such entries in all\)"):
        DPP([[np.nan, 0.0], [0.0, np.inf]])
    assert "0 sets" not in exact_map(DPP(np.eye(2)), include=[0, 1]).reason
