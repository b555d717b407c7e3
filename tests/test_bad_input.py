"""Bad input gets an error that says what was expected, what was found, and what to do; or it has a stated meaning."""

import numpy as np
import pytest
from scipy import sparse

from dpplearn import DPP, KDPP, ImplicitDPP, LowRankDPP, NonsymmetricDPP, Subsets

EYE = ImplicitDPP(lambda i, j: float(i == j), n=3)
DPP3 = DPP(np.diag([1.0, 2.0, 3.0]))


def indicator(value, at=(1, 2)):
    """The 3 x 3 identity with another value at two symmetric entries."""
    A = np.eye(3)
    A[at] = A[at[::-1]] = value
    return A


COMPLEX, TWINS = sparse.csr_array(np.eye(2, dtype=complex)), DPP(np.ones((2, 2)))
SURE = DPP.from_marginal(np.diag([1.0, 0.5]))


def implicit(kernel):
    return ImplicitDPP(kernel, n=3)


def uneven(i, j):
    return 2.0 if i == j else 0.25 if i < j else 0.5


BAD = [  # a call, its error, and what the message says
    # kernels
    (lambda: DPP(np.ones((2, 3))), ValueError, r"square .*found shape \(2, 3\)"),
    (lambda: DPP([[1.0, 0.5], [0.0, 1.0]]), ValueError, r"symmetric.* differ by up to 0\.5.*L \+ L\.T"),
    (lambda: DPP([[1.0, 2.0], [2.0, 1.0]]), ValueError, r"eigenvalue -1\b.*nearest_psd\(L\)"),
    (lambda: DPP(np.diag([1.0, -0.25])), ValueError, r"eigenvalue -0\.25.*nearest_psd"),
    (lambda: DPP(indicator(np.nan)), ValueError, r"finite, but L\[1, 2\] is nan \(2 such entries in all\)"),
    (lambda: DPP(indicator(np.inf, (0, 0))), ValueError, r"finite, but L\[0, 0\] is inf \(1 such entry in all\)"),
    (lambda: DPP(np.eye(2, dtype=complex)), TypeError, "real numbers, found dtype complex128"),
    (lambda: DPP([["a"]]), TypeError, "found dtype <U1. Convert"),
    (lambda: DPP([[1.0, 0.0], [0.0]]), ValueError, "rows of equal length"),
    (lambda: DPP(sparse.eye_array(3)), TypeError, r"dense array.*toarray\(\)"),
    (lambda: DPP(np.empty((0, 0))), ValueError, "at least one"),
    (lambda: DPP(None), TypeError, "found the type NoneType"),
    (lambda: DPP(max), TypeError, "found the type builtin.*ImplicitDPP"),
    (lambda: DPP.from_marginal(np.diag([0.5, 1.5])), ValueError, r"in \[0, 1\], but its largest is 1\.5.*DPP\(L\)"),
    (lambda: DPP.from_marginal(np.diag([0.5, -0.1])), ValueError, r"eigenvalue -0\.1"),
    *((lambda name=name: getattr(SURE, name), ValueError, "no likelihood kernel L")
      for name in ("L", "log_normalizer", "quality", "similarity", "eigenpairs")),
    # k-DPPs
    (lambda: KDPP(SURE, 1), ValueError, "so near 1 that too few digits"),
    (lambda: KDPP(DPP(np.diag([1.0, 1.0, 0.0])), 3), ValueError, r"rank of L \(2 .*, found 3.*1e-6 I"),
    (lambda: KDPP(DPP3, 4), ValueError, r"number of items \(3\), found 4"),
    (lambda: KDPP(DPP3, -1), ValueError, "at least 0"),
    (lambda: KDPP(DPP3, 1.5), TypeError, "whole number"),
    (lambda: KDPP(EYE, 1), TypeError, "DPP or a LowRankDPP, found ImplicitDPP"),
    # qualities and features
    (lambda: DPP.from_quality([1.0, 1.0, 1.0], np.eye(2)), ValueError, r"one entry per item \(2\), found 3"),
    (lambda: DPP.from_quality([1.0, -1.0], np.eye(2)), ValueError, r"below 0, but q\[1\] is -1"),
    (lambda: DPP.from_quality([1.0, 1.0], 2 * np.eye(2)), ValueError, "ones on its diagonal"),
    (lambda: DPP.from_quality([1e200, 1.0], np.eye(2)), ValueError, "small enough for"),
    (lambda: LowRankDPP.from_quality([1.0, 1.0], [[1.0, 0.0], [0.0, 0.0]]), ValueError, "row 1 is zero"),
    (lambda: LowRankDPP(np.empty((0, 3))), ValueError, r"at least one row .* \(0, 3\)"),
    (lambda: LowRankDPP([[1.0, 0.0], [np.nan, 1.0]]), ValueError, r"B\[1, 0\] is nan"),
    (lambda: LowRankDPP(sparse.csr_array([[1.0, 0.0], [np.nan, 1.0]])), ValueError, r"B\[1, 0\] is nan"),
    (lambda: LowRankDPP(COMPLEX), TypeError, "complex"),
    (lambda: LowRankDPP([[1e200, 0.0], [0.0, 1.0]]), ValueError, "too long"),
    (lambda: LowRankDPP(sparse.csr_array([[1e200, 0.0], [0.0, 1.0]])), ValueError, "too long"),
    (lambda: LowRankDPP([[1.0, 0.0], [1e-170, 0.0]]), ValueError, r"too short for B B\^T to be floats, such as row 1"),
    (lambda: LowRankDPP(sparse.coo_array(np.ones(3))), ValueError, "2 dimensions"),
    # factors of kernels that are not symmetric
    (lambda: NonsymmetricDPP(None, np.eye(2), np.eye(2)), TypeError, "V must be an array"),
    (lambda: NonsymmetricDPP(np.eye(2), np.eye(3), np.eye(3)), ValueError, "one row per item, found 2 and 3"),
    (lambda: NonsymmetricDPP(np.eye(2), np.eye(2), np.eye(3)), ValueError, "D must be square.* each column of B"),
    (lambda: NonsymmetricDPP(np.eye(2), np.eye(2)[:, :0], np.eye(1)), ValueError, "at least one row"),
    (lambda: NonsymmetricDPP(1e200 * np.eye(2), np.eye(2), np.eye(2)), ValueError, "too large"),
    (lambda: NonsymmetricDPP.from_kernel(np.ones((2, 3))), ValueError, "square"),
    (lambda: NonsymmetricDPP.from_kernel([[1, 2], [2, 1]]), ValueError, r"eigenvalue -1\. Pass dpplearn\.kernels"),
    (lambda: NonsymmetricDPP(np.zeros((3, 1)), np.eye(3), np.zeros((3, 3))).condition([0]), ValueError, "this event"),
    # conditioning
    (lambda: DPP3.condition([1], [1, 2]), ValueError, "include and exclude must not share items, but both hold 1"),
    (lambda: DPP3.condition([0, 1], [2]), ValueError, "name all 3 items"),
    (lambda: DPP(np.ones((3, 3))).condition([0, 1]), ValueError, r"include=\[0, 1\]: this event has probability 0"),
    (lambda: LowRankDPP(np.ones((3, 1))).condition([0, 1]), ValueError, r"include=\[0, 1\]: this event"),
    (lambda: SURE.condition(exclude=[0]), ValueError, r"exclude=\[0\]: this event has probability 0"),
    (lambda: TWINS.conditional_marginals([0, 1]), ValueError, "probability 0"),
    # kernels that are functions
    (lambda: ImplicitDPP(np.eye(2), n=2), TypeError, r"must be a function .* rows for LowRankDPP\(B\)"),
    (lambda: implicit(lambda i, j: -1.0 - i - j).sample(1), ValueError, r"diagonal, but L\(2, 2\) = -5"),
    (lambda: EYE.sample(1, k=4), ValueError, "at most 3"),
    (lambda: EYE.sample(1, thin=0), ValueError, "at least 1"),
    (lambda: implicit(lambda i, j: 2.0 if i == j else np.nan).sample(1), ValueError, r"finite .* L\(0, 1\) is nan"),
    (lambda: implicit(uneven).sample(1), ValueError, r"symmetric, but L\(1, 0\) = 0.5 and L\(0, 1\) = 0.25"),
    (lambda: implicit(uneven).log_weight([1, 2]), ValueError, r"symmetric, but L\(2, 1\) = 0.5 and L\(1, 2\)"),
    (lambda: implicit(lambda i, j: "x" * (1 + i * j)).sample(1), TypeError, r"real number, but L\(0, 0\) is 'x'"),
    # many subsets
    (lambda: Subsets(np.array([0, 2]), np.array([1]), 3), ValueError, "indptr"),
    (lambda: Subsets(np.array([0, 5, 2]), np.array([0, 1]), 3), ValueError, "indptr must rise"),
    (lambda: Subsets(np.array([0, 2]), np.array([0, 7]), 3), IndexError, "from 0 to 2"),
    (lambda: Subsets(np.array([0, 2]), np.array([1, 0]), 3), ValueError, "ascending"),
    (lambda: Subsets(np.array([0, 2]), np.array([0.0, 1.7]), 3), TypeError, "integers"),
    (lambda: Subsets.from_lists([[0], [5]], n=3), IndexError, r"subsets\[1\]"),
    (lambda: Subsets.from_lists([[0]], n=3)[1], IndexError, "range"),
    *((lambda dpp=dpp: dpp.log_prob(Subsets.from_lists([[4, 5]], n=9)), ValueError, "the 3 items here, found .* of 9")
      for dpp in (DPP3, LowRankDPP(np.eye(3)), KDPP(DPP3, 2))),
    # samples
    *((lambda rng=rng: DPP3.sample(1, rng=rng), (TypeError, ValueError), "rng") for rng in ("0", 1.5, True, -3)),
    *((lambda size=size: DPP3.sample(size), TypeError, "size must be a whole number") for size in (2.0, "3", True)),
    (lambda: DPP3.sample(-1), ValueError, "size must be at least 0, found -1"),
    (lambda: DPP3.sample(1, n_jobs=0), ValueError, "n_jobs must be at least 1, found 0"),
    (lambda: KDPP(DPP3, 2).sample(1, method="magic"), ValueError, "method must be one of 'spectral'"),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(BAD)))
def test_what_is_wrong_is_said(place):
    call, error, message = BAD[place]
    with pytest.raises(error, match=message):
        call()


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


@pytest.mark.parametrize(
    "rng", [0, np.int64(0), np.random.SeedSequence(0), np.random.default_rng(0), np.random.PCG64(0)]
)
def test_generators_that_mean_the_same(rng):
    assert DPP3.sample(50, rng=rng) == DPP3.sample(50, rng=0)
    assert len(DPP3.sample(50, rng=None)) == 50


def test_input_with_a_stated_meaning():
    for dpp in (DPP3, KDPP(DPP3, 2)):
        assert list(dpp.sample(0, rng=0)) == []
    zero = LowRankDPP(np.zeros((3, 2)))
    assert zero.expected_size == 0.0
    assert zero.sample(5, rng=0).indices.size == 0
    assert DPP3.prob(include=[1], exclude=[1]) == TWINS.prob(include=[0, 1]) == 0.0
    assert TWINS.condition(include=[0]).marginals.tolist() == [0.0]
    mine = np.array([0, 1])
    held = Subsets(np.array([0, 1, 2]), mine, 3)
    mine[0] = 2  # the caller's array stays theirs
    assert held[0].tolist() == [0]


def test_n_by_n_answers_that_do_not_fit():
    dpp = LowRankDPP(np.ones((30_000, 1)))
    for ask in (lambda: dpp.K, lambda: dpp.L, dpp.pair_probs, dpp.correlations, lambda: dpp.similarity):
        with pytest.raises(ValueError, match=r"30,000 items would be an array of 7 GB. Pass items="):
            ask()
    assert dpp.pair_probs([3, 4]).shape == (2, 2)
