"""ItemSet: what it accepts, what it says about what it does not, and long tables."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dpplearn import ItemSet
from dpplearn.kernels import cosine_similarity
from dpplearn.learning.similarity import fixed_similarity

F, S = [[1.0, 2.0], [1.0, 3.0]], [[1.0, 0.5], [0.5, 1.0]]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.3, 1.5]),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_similarities_are_cosines_with_a_constant(seed, n, d, rho, nugget):
    rng = np.random.default_rng(seed)
    phi = rng.random((n, d)) * (rng.random((n, d)) < 0.4)
    phi[:, 0] += 0.1
    expected = cosine_similarity(np.column_stack([phi / np.linalg.norm(phi, axis=1)[:, None], np.full(n, rho)]))
    np.testing.assert_allclose(cosine_similarity(phi, rho), expected, atol=1e-14)
    np.testing.assert_allclose(cosine_similarity(sparse.csr_array(phi), rho), expected, atol=1e-14)
    for kind in (np.array, sparse.csr_array, sparse.csc_matrix):
        rows = fixed_similarity(rho).rows(ItemSet(np.ones((n, 1)), phi=kind(phi)))
        np.testing.assert_allclose(rows @ rows.T, expected, atol=1e-14)
    expected = nugget * np.eye(n) + (1 - nugget) * expected
    record = fixed_similarity(rho, nugget)
    weights, ones = record.weights, np.ones((n, n))
    assert sum(weights.values()) == pytest.approx(1.0)
    mixture = weights["own"] * np.eye(n) + weights["all"] * ones + weights["cosines"] * cosine_similarity(phi)
    np.testing.assert_allclose(mixture, expected, atol=1e-14)
    Y = np.flatnonzero(rng.random(n) < 0.5)
    for kind in (np.array, sparse.csr_array, sparse.csc_matrix):
        items = ItemSet(np.ones((n, 1)), phi=kind(phi))
        np.testing.assert_allclose(items.similarity_matrix(rho, nugget), expected, atol=1e-14)
        rows = record.rows(items)
        assert rows.shape[1] == record.rank(items)
        np.testing.assert_allclose(rows @ rows.T + record.nugget * np.eye(n), expected, atol=1e-14)
        np.testing.assert_allclose(record.matrix(items, Y), expected[np.ix_(Y, Y)], atol=1e-14)
    given_S = ItemSet(np.ones((n, 1)), S=cosine_similarity(phi))
    np.testing.assert_allclose(given_S.similarity_matrix(rho, nugget), expected, atol=1e-14)
    assert record.rows(given_S) is None


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"features": F, "S": S, "phi": F}, ValueError, "found both"),
        ({"features": np.empty((0, 2)), "phi": np.empty((0, 2))}, ValueError, "at least one row"),
        ({"features": [1.0, 2.0], "S": S}, ValueError, "2 dimensions"),
        ({"features": [[1.0, np.nan], [1.0, 2.0]], "S": S}, ValueError, r"features\[0, 1\] is nan"),
        ({"features": F, "S": [[1.0, 2.0], [2.0, 1.0]]}, ValueError, "positive semidefinite"),
        ({"features": F, "S": [[4.0, 0.5], [0.5, 1.0]]}, ValueError, r"S\[0, 0\] is 4"),
        ({"features": F, "S": np.eye(3)}, ValueError, "features has 2 rows, it has 3"),
        ({"features": F, "phi": [[1.0, 0.0], [0.0, 0.0]]}, ValueError, "row 1 is zero"),
        ({"features": F, "phi": sparse.csr_array([[0.0, 0.0], [0.0, 1.0]])}, ValueError, "row 0 is zero"),
        ({"features": F, "phi": [[1.0, np.inf], [0.0, 1.0]]}, ValueError, r"phi\[0, 1\] is inf"),
        ({"features": F, "S": S, "cost": [1.0, 0.0]}, ValueError, r"cost\[1\] is 0"),
        ({"features": F, "S": S, "names": ["a", "a"]}, ValueError, "'a' appears more than once"),
        ({"features": sparse.eye_array(2), "S": S}, TypeError, "dense"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        ItemSet(**arguments)


def test_item_sets_are_frozen_copies():
    features = np.array(F)
    items = ItemSet(features, S=S)
    features[0, 0] = 99.0
    assert items.features[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        items.features[0, 0] = 2.0
    with pytest.raises(AttributeError, match="frozen"):
        items.cost = [1.0, 1.0]
    for twin in (copy.deepcopy(items), pickle.loads(pickle.dumps(items))):
        np.testing.assert_array_equal(twin.features, items.features)
        np.testing.assert_array_equal(twin.similarity_matrix(0.5), items.similarity_matrix(0.5))


def long_table():
    return {
        "query": ["b", "a", "b", "a", "b"],
        "one": [1, 2, 1, 1, 1],
        "score": [0.1, 0.2, 0.3, 0.4, 0.5],
        "x": [1.0, 0.0, 1.0, 1.0, 0.0],
        "y": [0.0, 1.0, 1.0, 0.0, 2.0],
        "price": [3, 4, 5, 6, 7],
        "clicked": [True, False, False, True, True],
    }


@pytest.mark.parametrize("kind", ["dict", "pandas"])
def test_from_long(kind):
    X, y = ItemSet.from_long(
        long_table() if kind == "dict" else pytest.importorskip("pandas").DataFrame(long_table()),
        group="query",
        features=["one", "score"],
        phi=["x", "y"],
        cost="price",
        chosen="clicked",
    )
    assert [items.n for items in X] == [3, 2]  # b came first
    np.testing.assert_array_equal(X[0].features, [[1, 0.1], [1, 0.3], [1, 0.5]])
    np.testing.assert_allclose(X[0].similarity_matrix()[1], [np.sqrt(0.5), 1, np.sqrt(0.5)])
    np.testing.assert_array_equal(X[1].cost, [4, 6])
    assert X[0].names == ("one", "score")
    assert [Y.tolist() for Y in y] == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({}, {"features": "score"}, TypeError, "list of column names"),
        ({"clicked": [0, 1, 2, 0, 0]}, {}, ValueError, "booleans, or 0 and 1; found 2"),
        ({"x": [1.0, 0.0, 1.0, 0.0, 0.0], "y": [0.0, 1.0, 1.0, 0.0, 2.0]}, {}, ValueError, "row 1 is zero"),
        ({"score": [0.1, 0.2, np.inf, 0.4, 0.5]}, {}, ValueError, r"score\[2\] is inf"),
        ({"query": [1.0, np.nan, 2.0, np.nan, 1.0]}, {}, ValueError, r"'query' .* no value in row 1 \(2 such rows"),
        ({"query": np.array(["NaT"] * 5, "M8[D]")}, {}, ValueError, r"no value in row 0 \(5 such rows"),
        ({"query": ["a", "b"]}, {}, ValueError, "same length: 5 rows, but 'query' has 2"),
    ],
)
def test_bad_long_tables(change, options, error, message):
    settings = {"group": "query", "features": ["score"], "phi": ["x", "y"], "chosen": "clicked", **options}
    with pytest.raises(error, match=message):
        ItemSet.from_long({**long_table(), **change}, **settings)


def test_names_of_columns_may_come_from_an_iterator():
    X = ItemSet.from_long(long_table(), group="query", features=iter(["score", "one"]), phi=["x", "y"])
    assert X[0].names == ("score", "one")
