"""The named parts of a similarity: what they may be, and what is said of those that may not."""

import numpy as np
import pytest

from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning.similarity import Similarity

quiet = pytest.mark.filterwarnings("ignore:The learned similarity", "ignore:.*starts end in a lower maximum")


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


@quiet
def test_one_part_a_constant_column_and_duplicates():
    """Each works: one array is a part of its own, a constant is like 11^T, and no target is impossible."""
    rng = np.random.default_rng(1)
    X = [ItemSet(np.ones((5, 1)), phi=np.repeat(np.eye(2), [3, 2], axis=0)) for _ in range(12)]
    y = [[0, 1], [0, 3], [1, 4], [2]] * 3
    model = ConditionalDPP(similarity="mixture").fit(X, y)
    assert list(model.similarity_.weights) == ["own", "all", "phi"]
    assert np.isfinite(model.log_prob(X, y)).all()
    same = [ItemSet(np.ones((5, 1)), phi={"c": np.ones((5, 1)), "a": rng.standard_normal((5, 2))}) for _ in range(12)]
    with pytest.warns(UserWarning, match=r"part 'c' is the same matrix as the constant 11\^T in every instance"):
        model = ConditionalDPP(similarity="mixture").fit(same, y)
    assert model.converged_
    with pytest.raises(ValueError, match="a part 'c', and this ItemSet has phi"):
        model.log_prob(X, y)


def test_parts_in_equal_shares_are_the_fixed_similarity():
    rng = np.random.default_rng(2)
    A, B, F = rng.standard_normal((5, 2)), rng.standard_normal((5, 3)), np.ones((5, 1))
    a, b = ItemSet(F, phi=A).similarity_matrix(), ItemSet(F, phi=B).similarity_matrix()
    np.testing.assert_allclose(ItemSet(F, phi={"a": A, "b": B}).similarity_matrix(), (a + b) / 2, atol=1e-12)
    np.testing.assert_allclose(ItemSet(F, phi={"a": A}, S={"b": b}).similarity_matrix(), (a + b) / 2, atol=1e-12)
