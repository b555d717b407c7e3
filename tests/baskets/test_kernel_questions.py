"""What a kernel from baskets is asked: new items, the next item, completions, and how those are scored."""

from dataclasses import replace

import numpy as np
import pytest

from brute import subsets
from dpplearn import KernelDPP, Subsets
from dpplearn.baskets import completion


def test_next_items_have_their_conditional_probabilities(fitted):
    L = fitted.dpp_.L
    for basket in ([], [0], [4, 2]):
        minors = {i: np.linalg.det(L[np.ix_([*basket, i], [*basket, i])]) for i in range(6) if i not in basket}
        found = fitted.recommend(basket, k=6)
        assert [item for item, _ in found] == sorted(minors, key=minors.get, reverse=True)
        assert dict(found) == pytest.approx({i: m / sum(minors.values()) for i, m in minors.items()})
    without = fitted.recommend([0], k=6, exclude=[1])
    assert 1 not in dict(without)
    assert sum(dict(without).values()) == pytest.approx(1.0)


@pytest.mark.parametrize("hold", ["random", "last"])
def test_completion_is_what_its_definition_says(hold, fitted, draws):
    baskets = [Y[::-1].tolist() for Y in draws[:300]]
    found = completion(fitted, baskets, hold, rng=5)
    rng, ranks, hits = np.random.default_rng(5), [], []
    large = [Y for Y in baskets if len(Y) > 1]
    held = rng.integers(0, [len(Y) for Y in large]) if hold == "random" else [len(Y) - 1 for Y in large]
    for Y, at in zip(large, held, strict=True):
        rest = Y[:at] + Y[at + 1 :]
        scores = {i: fitted.dpp_.log_prob([*rest, i]) for i in range(6) if i not in rest}
        ranks.append(100 * np.mean([scores[Y[at]] >= s for s in scores.values()]))
        hits.append(sorted(scores, key=scores.get)[-1] == Y[at])
    assert found.mpr == pytest.approx(np.mean(ranks))
    assert found.recall[1] == pytest.approx(np.mean(hits))
    assert found.n_baskets + found.n_small == 300
    assert found.mpr_error == pytest.approx(np.std(ranks, ddof=1) / np.sqrt(len(ranks)))
    assert found.log_likelihood == pytest.approx(fitted.score(baskets))
    filled = [Y for Y in baskets if Y]
    real = fitted.dpp_.log_prob(Subsets.from_lists(filled, 6))
    made = np.array([fitted.dpp_.log_prob(rng.choice(6, len(Y), replace=False)) for Y in filled])
    larger, equal = real[:, None] > made + 1e-9, np.abs(real[:, None] - made) <= 1e-9
    assert found.auc == pytest.approx((larger + equal / 2).mean(), abs=0.02)  # which are equal is rounding's to say


def test_the_strongest_pairs_have_the_counts_of_the_baskets(fitted, draws):
    """Every pair by hand: counts and lift from the baskets, correlations from all 64 probabilities."""
    found = fitted.together(k=3)
    assert [(one.first, one.second) for one in found.attract[:2]] == [(0, 1), (2, 3)]
    assert (found.repel[0].first, found.repel[0].second) == (4, 5)
    p = {Y: np.exp(fitted.dpp_.log_prob(Y)) for Y in subsets(6)}
    for one in (*found.attract, *found.repel):
        i, j = one.first, one.second
        both = sum(i in Y and j in Y for Y in draws)
        assert one.baskets == both
        assert one.lift == pytest.approx(both * len(draws) / sum(i in Y for Y in draws) / sum(j in Y for Y in draws))
        p_i, p_j, p_ij = (sum(q for Y, q in p.items() if set(A) <= set(Y)) for A in ([i], [j], [i, j]))
        correlation = (p_ij - p_i * p_j) / np.sqrt(p_i * (1 - p_i) * p_j * (1 - p_j))
        assert one.correlation == pytest.approx(correlation, abs=1e-9)
        assert abs(correlation) > 1 / np.sqrt(len(draws))
    assert KernelDPP(alpha=1.0).fit(draws).together().attract == ()
    assert "0 + 1" in str(found)
    with pytest.raises(Exception, match="not fitted"):
        KernelDPP().together()


def test_nothing_follows_a_basket_that_cannot_be():
    """Two items with the same factors never come together, and so no third comes to them."""
    model = KernelDPP(rank=2, alpha=1.0).fit(10 * [["a", "b"], ["c", "d"], ["b", "c"], ["a"], ["d"]])
    W = model.factors_.W.copy()
    W[1] = W[0]
    model._set(factors=replace(model.factors_, W=W))
    assert model.next_scores(np.array([0]))[2] > 0.0
    assert model.next_scores(np.array([0, 1]))[2:].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="Nothing can follow 2 items"):
        model.recommend(["a", "b"])
