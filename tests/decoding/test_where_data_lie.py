"""Memory maps and labels as people bring them: read in place."""

import os

import numpy as np
import pytest

from dpplearn import diversify


def mapped(tmp_path, rng, n=70_000):
    np.save(tmp_path / "E.npy", rng.standard_normal((n, 4)).astype(np.float32))
    return np.load(tmp_path / "E.npy", mmap_mode="r")


@pytest.mark.parametrize("k", [3, 20])
def test_a_memory_map_is_read_in_place(k, tmp_path, rng):
    E = mapped(tmp_path, rng)
    s = rng.random(len(E))
    found = diversify(E, s, k=k, nugget=1e-6)
    assert np.shares_memory(found.candidates.rows, E)
    np.testing.assert_array_equal(found.subset, diversify(np.array(E), s, k=k, nugget=1e-6).subset)


@pytest.mark.parametrize(
    "view", [lambda E: E, lambda E: E[50_000:], np.asarray, lambda E: np.asarray(E)[9:]], ids=list("abcd")
)
def test_one_that_became_shorter(view, tmp_path, rng):
    """Also where what is asked about starts late in the file, or is a view: reading it would be a bus error."""
    E = mapped(tmp_path, rng)
    rows = view(E)
    os.truncate(E.filename, 900_000)
    with pytest.raises(ValueError, match="which has only 900000 now"):
        diversify(rows, np.ones(len(rows)), k=2)


def test_a_label_that_is_missing(rng):
    E, s = rng.standard_normal((6, 3)), rng.random(6)
    with pytest.raises(ValueError, match=r"groups\[4\] is missing"):
        diversify(E, s, k=2, groups=[1.0, 1.0, 2.0, 2.0, np.nan, 1.0], max_per_group=1)
