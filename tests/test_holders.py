"""The same numbers in any holder (type, byte order, layout, sparse, Arrow, list) give the same answer everywhere."""

import json
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse

from dpplearn import DPP, KDPP, ConditionalDPP, ItemSet, LowRankDPP, NonsymmetricDPP, diversify
from dpplearn.decoding import consensus, greedy_map, sampled_map
from dpplearn.integrations._common import cosines
from dpplearn.kernels import cosine_similarity, rbf_similarity
from holders import ARROW, DENSE, SPARSE, WHOLE


def held_rows(X, folder, loose=()):
    """X, whose numbers are small and whole, in all that may hold it; `loose` are more, such as sparse arrays."""
    np.save(folder / "X.npy", X.astype(np.float32))
    yield "memory map", np.load(folder / "X.npy", mmap_mode="r")
    makers = DENSE | WHOLE | (ARROW if X.ndim == 2 and loose is not None else {})
    for name, hold in makers.items():
        if X.ndim == 2 or name not in ("strided", "backwards", "tuples"):
            yield name, hold(X)
    yield from loose or ()


@pytest.fixture
def rows():
    """Forty rows of small whole numbers, none negative, none 0."""
    rows = np.random.default_rng(7).integers(0, 4, (40, 6)).astype(float)
    rows[:, 0] += 1
    return rows


def assert_same(found, want, name):
    """The same items in the same order; numbers up to the rounding of products in single precision."""
    if hasattr(want, "subset"):
        np.testing.assert_array_equal(found.subset, want.subset, name)
        found, want = found.gains, want.gains
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(want, float), rtol=1e-5, atol=1e-9, err_msg=name)


L6 = np.array([[4, 1, 0, 1], [1, 3, 1, 0], [0, 1, 5, 2], [1, 0, 2, 4]], float)
SCORES = np.arange(40) % 7
COST = 1 + np.arange(40) % 3


def learned(phi):
    return ConditionalDPP().fit([ItemSet(np.arange(40.0)[:, None] % 5, phi=phi)] * 2, [[0, 3], [1, 2]]).theta_


ENTRIES = {  # of rows
    "diversify": lambda X: diversify(X, SCORES, k=9),
    "diversify past the rank": lambda X: diversify(X, SCORES, k=20),
    "diversify with costs": lambda X: diversify(X, SCORES, budget=20, cost=COST),
    "diversify with groups": lambda X: diversify(X, SCORES, k=9, groups=SCORES, max_per_group=2, min_per_group=1),
    "diversify given": lambda X: diversify(np.eye(6), np.arange(6), k=3, given=X),
    "greedy_map": lambda X: greedy_map((1.0 + SCORES, X), k=5),
    "sampled_map": lambda X: sampled_map((1.0 + SCORES, X), k=4, n_samples=500, rng=0),
    "consensus": lambda X: consensus((1.0 + SCORES, X), k=4),
    "consensus by counts": lambda X: consensus((1.0 + SCORES, np.eye(40, 6) + 1.0), k=1, utility=X),
    "LowRankDPP": lambda X: LowRankDPP(X).marginals,
    "LowRankDPP.from_quality": lambda X: LowRankDPP.from_quality(1.0 + SCORES, X).marginals,
    "cosine_similarity": lambda X: cosine_similarity(X, rho=0.5),
    "ItemSet": lambda X: ItemSet(np.ones((40, 1)), phi=X).parts[0].cosines(),
    "learning": learned,
}  # fmt: skip
NO_SPARSE = {  # entries that refuse sparse rows, and say so
    "rbf_similarity": lambda X: rbf_similarity(X, 2.0),
    "NonsymmetricDPP": lambda X: NonsymmetricDPP(X, X, np.triu(np.ones((6, 6)), 1)).log_prob([0, 3]),
    "ItemSet features": lambda X: ItemSet(X, phi=np.eye(40)).features,
    "cosines with a query": lambda X: cosines(X, [1, 2, 0, 0, 0, 1]),
}  # fmt: skip
KERNELS = {
    "DPP": lambda L: DPP(L).marginals,
    "DPP.from_marginal": lambda L: DPP.from_marginal(np.asarray(L, dtype=float) / 8).marginals,
    "NonsymmetricDPP.from_kernel": lambda L: NonsymmetricDPP.from_kernel(L).log_prob([0, 2]),
    "greedy_map": lambda L: greedy_map(DPP(L), k=2),
    "KDPP": lambda L: KDPP(DPP(L), 2).marginals,
}
VECTORS = {  # of 4 numbers
    "scores": lambda v: diversify(L6, v, k=2),
    "cost": lambda v: greedy_map(DPP(L6), cost=v, budget=5),
    "q": lambda v: DPP.from_quality(v, np.eye(4)).marginals,
    "ItemSet cost": lambda v: ItemSet(np.ones((4, 1)), phi=L6, cost=v).cost,
}
ITEMS = {  # of different whole numbers
    "include": lambda v: diversify(np.eye(9), np.arange(9), k=5, include=v),
    "exclude": lambda v: greedy_map(DPP(np.diag(np.arange(1.0, 10))), k=3, exclude=v),
    "given": lambda v: diversify(np.eye(9), np.arange(9), k=5, given=v),
    "log_prob": lambda v: DPP(2 * np.eye(9)).log_prob(v),
    "condition": lambda v: DPP(2 * np.eye(9)).condition(v).items,
    "groups": lambda v: diversify(np.eye(4), np.arange(4), k=3, groups=v, max_per_group=1),
    "groups of a kernel": lambda v: greedy_map(DPP(np.eye(4)), k=3, groups=np.asarray(v) % 2, max_per_group=1),
}


@pytest.mark.parametrize("entry", [*ENTRIES, *NO_SPARSE])
def test_rows(entry, rows, tmp_path):
    call = (ENTRIES | NO_SPARSE)[entry]
    want = call(rows)
    for name, X in held_rows(rows, tmp_path):
        assert_same(call(X), want, name)


@pytest.mark.parametrize("entry", ENTRIES)
def test_sparse_rows(entry, rows):
    """Sparse products add in another order: the same choice, and numbers to their rounding."""
    call = ENTRIES[entry]
    want = call(rows)
    for name, hold in SPARSE.items():
        assert_same(call(hold(rows)), want, name)


@pytest.mark.parametrize("entry", KERNELS)
def test_kernels(entry, tmp_path):
    want = KERNELS[entry](L6)
    for name, L in held_rows(L6, tmp_path, None if entry == "DPP.from_marginal" else ()):
        assert_same(KERNELS[entry](L), want, name)


@pytest.mark.parametrize("entry", VECTORS)
def test_vectors(entry, tmp_path):
    v = np.array([2.0, 3.0, 1.0, 2.0])
    want = VECTORS[entry](v)
    for name, held in held_rows(v, tmp_path):
        assert_same(VECTORS[entry](held), want, name)


@pytest.mark.parametrize("entry", ITEMS)
def test_item_numbers(entry, tmp_path):
    v = np.array([3, 1, 0, 2])
    want = ITEMS[entry](v)
    for name, held in held_rows(v, tmp_path):
        if name in WHOLE:
            assert_same(ITEMS[entry](held), want, name)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_of_any_length_have_a_direction(kind, form, rng):
    """Lengths from 1e-300 to 1e300, or all that float32 has: squares of most are no floats."""
    E = rng.standard_normal((40, 6))
    sizes = np.exp2(rng.permutation(np.linspace(-100, 100, 40).round() * (1 if kind == np.float32 else 10)))
    want = diversify(E.astype(kind), SCORES, k=6)
    scaled = form(E.astype(kind) * sizes.astype(kind)[:, None])
    found = diversify(scaled, SCORES, k=6)
    assert found.subset.tolist() == want.subset.tolist()
    np.testing.assert_allclose(found.nearest.similarity, want.nearest.similarity, rtol=1e-5)
    assert greedy_map((1.0 + SCORES, scaled), k=6).subset.tolist() == greedy_map((1.0 + SCORES, E), k=6).subset.tolist()
    np.testing.assert_allclose(cosine_similarity(scaled), cosine_similarity(E), atol=1e-6)
    want = LowRankDPP.from_quality(1.0 + SCORES, E).marginals
    np.testing.assert_allclose(LowRankDPP.from_quality(1.0 + SCORES, scaled).marginals, want, atol=1e-6)
    np.testing.assert_allclose(
        ItemSet(np.ones((40, 1)), phi=scaled).parts[0].cosines(), cosine_similarity(E), atol=1e-6
    )


def column_of(rows):
    column = np.empty(len(rows), object)
    column[:] = rows
    return column


def frame_holders(X):
    """Rows as tables and columns have them."""
    rows = X.tolist()
    yield "column of lists", column_of(rows)
    yield "column of arrays", column_of(list(X))
    yield "objects", X.astype(object)
    dlpack = {"__dlpack__": lambda _, **how: X.__dlpack__(**how), "__dlpack_device__": lambda _: X.__dlpack_device__()}
    yield "DLPack", type("Tensor", (), dlpack)()  # numpy 1.26 looks in the class
    pd = pytest.importorskip("pandas")
    yield "Series of arrays", pd.Series(list(X), index=range(9, 9 + len(X)))
    yield "Series of lists", pd.Series(rows)
    yield "frame of one column of lists", pd.DataFrame({"e": rows})
    yield "frame that may lack numbers", pd.DataFrame(X).astype("Float64")
    pa = pytest.importorskip("pyarrow")
    yield "frame of pyarrow", pd.DataFrame(X).astype("double[pyarrow]")
    yield "Series of pyarrow", pd.Series(rows, dtype=pd.ArrowDtype(pa.list_(pa.float64())))
    yield "frame of lists of pyarrow", pd.DataFrame({"e": pd.Series(rows, dtype=pd.ArrowDtype(pa.list_(pa.float64())))})
    pl = pytest.importorskip("polars")
    yield "polars Series of lists", pl.Series(rows)
    yield "polars frame of lists", pl.DataFrame({"e": rows})
    yield "polars frame of arrays", pl.DataFrame({"e": pl.Series(rows, dtype=pl.Array(pl.Float64, X.shape[1]))})


@pytest.mark.parametrize("entry", ["diversify", "diversify given", "LowRankDPP", "ItemSet", "rbf_similarity"])
def test_rows_in_tables(entry, rows):
    call = (ENTRIES | NO_SPARSE)[entry]
    want = call(rows)
    for name, held in frame_holders(rows):
        assert_same(call(held), want, name)


TWO = [[1.0, 2.0], [3.0, 4.0]]
REFUSED = {  # the data, and the message
    "missing": ([[None, 0.5], TWO[1]], r"found None at embeddings\[0, 0\]. .* leave such items out"),
    "missing in a column": (column_of([TWO[0], [1.0, None]]), r"found None at embeddings\[1, 1\]"),
    "no row": (column_of([TWO[0], None]), "rows of equal length. Mend rows that differ"),
    "other depth": ([[1.0, [2.0]], TWO[1]], "rows of equal length"),
    "not finite": ([[np.nan, 1.0], TWO[0]], "row 0 is not. Leave such rows out, or mend them"),
    "Decimal": ([[Decimal(1), 2], TWO[1]], "found Decimal.* Convert what is there to a float"),
    "dict": (dict(enumerate(TWO)), "found the type dict. Pass a list or an array"),
    "JSON texts": ([json.dumps(row) for row in TWO], "Convert numbers that were read as text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_told(name):
    data, message = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=message):
        diversify(data, k=1)
