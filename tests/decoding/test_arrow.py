"""Arrow arrays as embeddings: read in place where they are in one piece, and refused by row where they are not rows."""

import numpy as np
import pytest

from dpplearn import diversify
from dpplearn._holders import arrow_rows

pa = pytest.importorskip("pyarrow")


def fixed(E):
    return pa.FixedSizeListArray.from_arrays(pa.array(E.ravel()), E.shape[1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_layout_is_the_same_rows(dtype, rng):
    E = rng.standard_normal((60, 5)).astype(dtype)
    s = rng.standard_normal(60)
    column = fixed(E)
    layouts = [
        column,
        pa.array([list(row) for row in E], pa.list_(pa.from_numpy_dtype(dtype))),
        pa.chunked_array([column[:7], column[7:7], column[7:]]),
        pa.table({"embedding": column}),
        pa.table({f"e{c}": E[:, c] for c in range(5)}),
        pa.concat_arrays([fixed(E[:9]), column])[9:],
    ]
    expected = diversify(E, s, k=20, nugget=1e-6)
    for layout in layouts:
        rows = arrow_rows(layout)
        assert rows.dtype == dtype
        np.testing.assert_array_equal(rows, E)
        np.testing.assert_array_equal(diversify(layout, pa.array(s), k=20, nugget=1e-6).subset, expected.subset)


def test_one_piece_is_read_in_place(rng):
    E = rng.standard_normal((70_000, 8)).astype(np.float32)
    found = diversify(fixed(E), rng.random(70_000), k=5)
    assert np.shares_memory(found.candidates.rows, E)


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (lambda: pa.array([[1.0, 2.0], [3.0]]), ValueError, "row 1 has 1 numbers"),
        (lambda: pa.chunked_array([pa.array([[1.0, 2.0]]), pa.array([[3.0]])]), ValueError, "row 1 has 1 numbers"),
        (lambda: pa.array([[1.0, 2.0], None]), ValueError, "row 1 has none"),
        (lambda: pa.array([[1.0, 2.0], [3.0, None]]), ValueError, "row 1 is not"),
        (lambda: pa.array([[1.0, 2.0], [3.0, np.nan]]), ValueError, "row 1 is not"),
        (lambda: pa.array(["a", "b"]), TypeError, "column of lists"),
        (lambda: pa.array([["a"], ["b"]]), TypeError, "lists of numbers"),
        (lambda: pa.table({"a": [1.0, None], "b": [1.0, 2.0]}), ValueError, "row 1"),
        (lambda: pa.table({"a": ["x", "y"], "b": [1.0, 2.0]}), TypeError, "'a' is string"),
    ],
)
def test_what_are_no_rows(column, error, message):
    with pytest.raises(error, match=message):
        diversify(column(), [1.0, 2.0], k=1)
