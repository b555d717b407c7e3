"""A feed: each place against determinants of the window before it, and what makes it one pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpplearn import diversify
from dpplearn.decoding.scores import qualities, standardize


def slow_feed(X, scores, window, diversity=0.5, nugget=1e-6, groups=None, cap=99):
    """Each next item has the largest det L_{W + i} / det L_W, of equals the first."""
    n = len(X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    U = np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0.0)
    S = min(1.0, 2 * diversity) * (1.0 - nugget) * (U @ U.T)
    np.fill_diagonal(S, 1.0)
    q = qualities(standardize(scores, 1e-16), 1.0, diversity)
    L, order = q[:, None] * S * q, []
    while len(order) < n:
        W = order[max(0, len(order) - window + 1) :]
        left = [i for i in range(n) if i not in order]
        if groups is not None:
            left = [i for i in left if sum(groups[j] == groups[i] for j in W) < cap] or left
        gains = [np.exp(np.linalg.slogdet(L[np.ix_([*W, i], [*W, i])])[1] - np.linalg.slogdet(L[np.ix_(W, W)])[1])
                 for i in left]  # fmt: skip
        order.append(left[int(np.flatnonzero(np.array(gains) >= max(gains) * (1 - 1e-6))[0])])
    return order


@given(st.integers(0, 10**6), st.integers(2, 9), st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]))
def test_each_place_is_the_largest_gain(seed, window, diversity):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 10), rng.integers(1, 6)
    X, scores = rng.standard_normal((n, d)), rng.standard_normal(n)
    groups = rng.integers(0, 2, n) if seed % 2 else None
    caps = {} if groups is None else {"groups": groups, "max_per_group": 1 + seed % 3}
    feed = diversify(X, scores, window=window, diversity=diversity, nugget=1e-3, **caps)
    slow = slow_feed(X, scores, window, diversity, 1e-3, groups, 1 + seed % 3)
    assert feed.subset.tolist() == slow
    if diversity == 0.0 and groups is None:
        assert slow == np.argsort(-scores, kind="stable").tolist()


def test_a_window_of_all_is_greedy_choice(rng):
    X, scores = rng.standard_normal((30, 40)), rng.standard_normal(30)
    feed, chosen = diversify(X, scores, window=30), diversify(X, scores, k=30)
    assert feed.subset.tolist() == chosen.subset.tolist()
    assert feed.gains == pytest.approx(chosen.gains, abs=1e-4)  # by its nugget


def test_what_was_shown_counts(rng):
    """The second page of a feed goes on from the first one, whether it is given by number or by rows."""
    X, scores = rng.standard_normal((60, 8)), rng.standard_normal(60)
    whole = diversify(X, scores, window=5).subset
    rest = diversify(X, scores, window=5, given=whole[:20])
    assert rest.subset.tolist() == whole[20:].tolist()
    assert rest.gains == pytest.approx(diversify(X, scores, window=5).gains[20:])
    by_rows = diversify(X, scores, window=5, given=X[whole[:20]], exclude=whole[:20])
    assert by_rows.subset.tolist() == whole[20:].tolist()
    assert rest.reason == "no item is left"


@pytest.mark.parametrize(
    "other",
    [{"decoder": "local"}, {"kernel": "near"}, {"budget": 3}, {"include": [1]}, {"k": "auto"}, {"rng": 0}],
)
def test_what_a_feed_does_not_know(other):
    with pytest.raises(ValueError, match=f"so it knows no {next(iter(other))}"):
        diversify(np.eye(3), window=2, **other)


def test_the_reason_counts_items():
    assert diversify(np.eye(3), window=2, k=1).reason == "the size limit of 1 item is reached"
