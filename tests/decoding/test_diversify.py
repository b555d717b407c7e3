"""diversify: the kernel it stands for, its knob, its limits, its reasons, and what it refuses."""

import copy

import numpy as np
import pytest
from scipy import sparse

from dpplearn import DPP, diversify
from dpplearn.decoding import greedy_map
from passed import passed


def problem(rng, n=40, d=8):
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def kernel(E, scores, diversity, nugget=0.0):
    """The formula of the docstring, written out."""
    E, s = np.asarray(E, float), np.asarray(scores, float)
    lengths = np.linalg.norm(E, axis=1)
    S = (E @ E.T) / np.outer(np.where(lengths > 0, lengths, 1), np.where(lengths > 0, lengths, 1))
    S *= min(1, 2 * diversity) * (1 - nugget)
    np.fill_diagonal(S, 1.0)
    q = np.sqrt(2) * np.exp(min(0.5, 1 - diversity) * (s - s.mean()) / s.std())
    return q[:, None] * S * q


@pytest.mark.parametrize("diversity", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_greedy_on_the_kernel_of_the_docstring(diversity, rng):
    E, s = problem(rng)
    E[2] = 0.0
    expected = greedy_map(DPP(kernel(E, s, diversity)), k=6)
    found = diversify(E, s, k=6, diversity=diversity)
    np.testing.assert_array_equal(found.subset, expected.subset)
    np.testing.assert_allclose(found.gains, expected.gains, atol=1e-9)
    if diversity == 0.5:
        assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-9)


def test_the_same_items_as_pyversity(rng):
    pyversity = pytest.importorskip("pyversity", reason="pyversity is a benchmark peer, not installed here")
    E, s = problem(rng, n=200, d=32)
    for diversity in (0.0, 0.5, 0.7, 0.9):  # where the weights are the same
        ours, theirs = diversify(E, s, 10, diversity=diversity), pyversity.diversify(E, s, 10, "dpp", diversity)
        np.testing.assert_array_equal(ours.subset, theirs.indices)
        if diversity > 0:
            np.testing.assert_allclose(np.exp(ours.gains) / 2, theirs.selection_scores, rtol=1e-3)
    ours = diversify(E, s, 10, diversity=0.6, scale=2.0)
    np.testing.assert_array_equal(ours.subset, pyversity.diversify(E, s, 10, diversity=0.6, scale=2.0).indices)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [1, np.nan, 3, np.inf]}, r"scores must be finite, but those of rows 1, 3 are not, such as nan"),
        ({"scores": [1, 2, 3]}, r"4 rows, 3 scores"),
        ({"scores": [[1, 2], [3, 4]]}, r"scores must have 1 dimension"),
        ({"embeddings": [[1, 0], [np.nan, 0], [0, np.inf], [0, 1]]}, r"embeddings must be finite.* rows 1, 2 are not"),
        ({"embeddings": [1.0, 2.0, 3.0, 4.0]}, r"embeddings must have 2 dimensions, found shape \(4,\)"),
        ({"embeddings": np.empty((4, 0))}, r"at least one row \(item\) and one column"),
        ({"embeddings": [[1, 0], [1, 0], [1], [1, 0]]}, r"embeddings must be numbers in rows of equal length"),
        ({"diversity": 1.5}, r"diversity must be from 0"),
        ({"k": -1}, r"k must be at least 0"),
        ({"budget": -1}, r"budget must be a number that is not negative"),
        ({"budget": 3, "cost": [1, 2, 0, 1]}, r"cost\[2\] is 0"),
        ({"budget": 3, "cost": [1, 2]}, r"cost must have one entry per item \(4\), found 2"),
        ({"decoder": "best"}, r"decoder must be one of 'greedy'"),
        ({"kernel": "rbf"}, r"kernel must be one of"),
        ({"backfill": True}, r"backfill needs max_per_group"),
        ({"budget": 10**400}, r"budget must be a number that a float can hold, found 401 digits"),
        ({"scale": -1}, r"scale must be"),
    ],
)
def test_bad_input(change, message):
    call = {"embeddings": np.eye(4), "scores": [1.0, 2.0, 3.0, 4.0], "k": 2} | change
    with pytest.raises(ValueError, match=message):
        diversify(**call)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_kept_by_the_definition(form, monkeypatch):
    monkeypatch.setattr("dpplearn.decoding.selection.COSINES", 20)  # several blocks
    rng = np.random.default_rng(5)
    E = rng.standard_normal((30, 5))
    E[7] = 0.0
    found = diversify(form(E), rng.random(30), k=9, diversity=0.2, include=[7])
    unit = E / np.maximum(np.linalg.norm(E, axis=1, keepdims=True), 1e-300)
    for kept, item in zip(found.kept, found.subset, strict=True):
        cosines = {j: unit[item] @ unit[j] for j in found.subset if j != item}
        assert kept.item == item
        assert kept.nearest in cosines
        assert kept.similarity == pytest.approx(max(cosines.values()), abs=1e-12)
        assert cosines[kept.nearest] == pytest.approx(kept.similarity, abs=1e-12)
    assert copy.deepcopy(found).kept == found.kept
    assert diversify(E, np.ones(30), k=1).kept[0][1:] == (-1, 0.0)
    assert diversify(E, np.ones(30), k=0).kept == []


@pytest.mark.parametrize("seed", range(4))  # with one seed it rested on how a processor rounds
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_k_above_the_dimension_takes_no_duplicate_while_others_are_left(make, dtype, seed):
    """The best items three times, in other lengths too: the 80 directions come first, each by its best item."""
    rng = np.random.default_rng(seed)
    E, s = problem(rng, n=80, d=16)
    scores = np.append(s, [s[:30] + 3.0, s[:30] + 4.0])
    E = E.astype(dtype)
    E = np.concatenate([E, E[:30] * dtype(3.7), E[:30]])  # each number rounded anew
    E[[5, 6]] = 0.0  # similar to none, and so not to each other
    kinds = np.concatenate([np.arange(80), np.arange(30), np.arange(30)])
    kinds[[85, 86, 115, 116]] = [80, 81, 80, 81]
    found = diversify(make(E), scores, k=100)
    assert found.subset.size == 100
    first = kinds[found.subset[:82]]
    assert np.unique(first).size == 82
    assert np.isfinite(found.gains).all()
    assert found.parameters["kernel"] == "near"
    assert "by near items, because the embeddings have 16 directions; 2 of these are rows of zeros" in found.reason
    assert set(found.subset[:82]) >= set(range(110, 115)) | set(range(117, 140))  # the best of three
    costly = np.where(np.arange(140) >= 110, 3.0, 1.0)
    few = diversify(make(E), scores, k=82, budget=100.0, cost=costly)
    assert few.cost <= 100.0
    assert np.unique(kinds[few.subset]).size == few.subset.size


def test_a_plain_call_passes_few_files_and_functions(rng):
    """So that one who reads it need not hold many in mind."""
    X, scores = rng.standard_normal((500, 32)), rng.random(500)
    diversify(X, scores, k=10)
    files, functions = passed(lambda: diversify(X, scores, k=10))
    assert len(files) <= 8
    assert 20 < len(functions) <= 35


def test_an_item_cannot_be_included_and_given():
    with pytest.raises(ValueError, match="include and given must not share items, but both hold 1"):
        diversify(np.eye(4), k=2, include=[1], given=[1, 3])
