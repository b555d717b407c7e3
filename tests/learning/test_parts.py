"""The named parts of a similarity: what they may be, and what is said of those that may not."""

import numpy as np
import pytest

from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning.similarity import Similarity


def test_bad_parts():
    F, A = np.ones((3, 1)), np.eye(3)
    for options, message in (
        ({"phi": {"text": A[:2]}}, r"phi\['text'\] must have one row per item: features has 3 rows.*has 2"),
        ({"S": {"given": [[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]}}, r"S\['given'\] must be positive semidef"),
        ({"phi": {"own": A}}, "none can be called 'own'"),
        ({"phi": {}}, "no parts"),
        ({"phi": {"a": A}, "S": {"a": A}}, "both have a part 'a'"),
        ({"phi": A, "S": A}, "found both"),
    ):
        with pytest.raises(ValueError, match=message):
            ItemSet(F, **options)
    with pytest.raises(ValueError, match=r"X\[1\] has the similarity parts b"):
        ConditionalDPP(similarity="mixture").fit([ItemSet(F, phi={"a": A}), ItemSet(F, phi={"b": A})], [[0], [1]])
    with pytest.raises(ValueError, match="positive numbers that sum to 1"):
        Similarity(("a",), np.zeros(3))


def test_parts_in_equal_shares_are_the_fixed_similarity():
    rng = np.random.default_rng(2)
    A, B, F = rng.standard_normal((5, 2)), rng.standard_normal((5, 3)), np.ones((5, 1))
    a, b = ItemSet(F, phi=A).similarity_matrix(), ItemSet(F, phi=B).similarity_matrix()
    np.testing.assert_allclose(ItemSet(F, phi={"a": A, "b": B}).similarity_matrix(), (a + b) / 2, atol=1e-12)
    np.testing.assert_allclose(ItemSet(F, phi={"a": A}, S={"b": b}).similarity_matrix(), (a + b) / 2, atol=1e-12)
