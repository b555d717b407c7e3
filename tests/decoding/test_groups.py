"""Limits of groups, and items chosen before; against greedy choice by the definition."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from brute_decoding import nugget_kernel
from dpplearn import diversify


def problem(rng, n=40, d=5):
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def qualities(s):
    return np.sqrt(2) * np.exp(0.5 * (s - s.mean()) / s.std())


def completes(Y, group, cost, most, need, k, budget):
    """Whether some superset of Y keeps all limits: the cheapest items that are owed, by the definition."""
    total, size = cost[Y].sum(), len(Y)
    for c in range(len(most)):
        inside = sum(group[i] == c for i in Y)
        rest = sorted(cost[i] for i in range(len(group)) if group[i] == c and i not in Y)
        owed = max(0, need[c] - inside)
        if inside > most[c] or owed > len(rest):
            return False
        total, size = total + sum(rest[:owed]), size + owed
    return total <= budget and size <= k


def plain(L, group, cost, most, need, k, budget=np.inf, start=()):
    """At each step the largest determinant among the items with which all limits can still be kept."""
    Y, first = [], list(start)
    while True:
        able = [i for i in range(len(L)) if i not in Y and i not in start]
        able = [i for i in able if completes([*Y, i], group, cost, most, need, k, budget)]
        if not able:
            return Y
        Y.append(max(able, key=lambda i: np.linalg.slogdet(L[np.ix_([*first, *Y, i], [*first, *Y, i])])[1]))


@pytest.mark.parametrize("seed", range(6))
def test_groups_by_the_definition(seed):
    rng = np.random.default_rng(seed)
    E, s = problem(rng)
    group = rng.integers(0, 4, 40)
    most, need = rng.integers(3, 6, 4), rng.integers(0, 4, 4)
    k = int(max(need.sum(), rng.integers(8, 16)))
    names = np.array(["a", "b", "c", "d"])[group]
    call = {"groups": names, "max_per_group": dict(zip("abcd", most.tolist(), strict=True))}
    call["min_per_group"] = dict(zip("abcd", need.tolist(), strict=True))
    L = nugget_kernel(qualities(s), E, 0.01)
    found = diversify(E, s, k=k, nugget=0.01, **call)
    assert found.subset.tolist() == plain(L, group, np.ones(40), most, need, k)
    cost = rng.integers(1, 6, 40).astype(float)
    budget = float(sum(np.sort(cost[group == c])[: need[c]].sum() for c in range(4)) + 6)
    few = diversify(E, s, k=k, budget=budget, cost=cost, nugget=0.01, **call)
    counts = np.bincount(group[few.subset], minlength=4)
    assert few.cost <= budget
    assert (counts >= need).all()
    assert (counts <= most).all()


def keeps(Y, group, cost, most, need, k, budget):
    """Whether a set keeps all limits."""
    counts = np.bincount(group[Y], minlength=len(need))
    return len(Y) <= k and cost[Y].sum() <= budget and (counts >= need).all() and (counts <= most).all()


@pytest.mark.parametrize("seed", range(80))
def test_what_is_owed_is_met_if_any_set_does(seed):
    """Every subset of few items in few directions, of which many repeat each other."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 9)), int(rng.integers(1, 5))
    E, s = rng.integers(-1, 2, (n, d)).astype(float), rng.standard_normal(n)
    E[0], E[n // 2] = E[n - 1], E[n - 1] if seed % 3 else E[n // 2]
    group, cost, k = rng.permutation(np.arange(n) % 3), rng.integers(1, 5, n).astype(float), int(rng.integers(2, n))
    need, budget = rng.integers(0, 3, 3), float(rng.integers(3, 14)) if seed % 2 else np.inf
    most = need + rng.integers(0, 3, 3)
    call = {"k": k, "nugget": 0, "groups": group, "cost": cost} | ({"budget": budget} if seed % 2 else {})
    call |= {"min_per_group": dict(enumerate(need.tolist())), "max_per_group": dict(enumerate(most.tolist()))}
    limits = (group, cost, most, need, k, budget)
    sets = (list(Y) for size in range(k + 1) for Y in combinations(range(n), size))
    if any(keeps(np.array(Y, int), *limits) for Y in sets):
        assert keeps(diversify(E, s, **call).subset, *limits)
    else:
        with pytest.raises(ValueError, match="min_per_group cannot be met"):
            diversify(E, s, **call)


@pytest.mark.parametrize("seed", range(20))
def test_backfill_lifts_the_caps_once_they_are_full(seed):
    """First the choice within the caps, then the greedy one that starts with it, by the definition."""
    rng = np.random.default_rng(seed)
    E, s = problem(rng, n=20)
    group, most, k = rng.integers(0, 3, 20), np.full(3, 2), int(rng.integers(7, 12))
    L, limits = nugget_kernel(qualities(s), E, 0.01), (group, np.ones(20), most, np.zeros(3, int), k)
    inside = plain(L, *limits)
    outside = plain(L, np.zeros(20, int), np.ones(20), [20], [0], k - len(inside), start=inside)
    found = diversify(E, s, k=k, nugget=0.01, groups=group, max_per_group=2, backfill=True)
    assert found.subset.tolist() == inside + outside
    assert found.reason.endswith(
        ("the last one is" if len(outside) == 1 else f"the last {len(outside)} are") + " beyond max_per_group"
    )
    hard = diversify(E, s, k=k, nugget=0.01, groups=group, max_per_group=2)
    assert hard.subset.tolist() == inside


@pytest.mark.parametrize("make", [lambda E: E, lambda E: E.astype(np.float32), sparse.csr_array])
@pytest.mark.parametrize("k", [3, 12])
def test_the_next_items_given_earlier_ones(k, make, rng):
    E, s = problem(rng)
    earlier = rng.standard_normal((9, 5))
    L = nugget_kernel(np.append(qualities(s), np.ones(9)), np.vstack([E, earlier]), 1e-6)
    everyone = np.zeros(49, int)
    expected = plain(L, everyone, np.ones(49), [49], [0], k, start=range(40, 49))
    found = diversify(make(E), s, k=k, given=make(earlier), kernel="linear")
    assert found.subset.tolist() == expected
    assert found.parameters["nugget"] == 1e-6
    own = diversify(E, s, k=k, given=[3, 7], kernel="linear")
    assert not {3, 7} & set(own.subset)
    rows = diversify(E, s, k=k, given=E[[3, 7]], exclude=[3, 7], kernel="linear")
    np.testing.assert_array_equal(own.subset, rows.subset)
    np.testing.assert_array_equal(
        diversify(E, s, k=k, given=[], nugget=0.01).subset, diversify(E, s, k=k, nugget=0.01).subset
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": ["a", "b"]}, r"one label for each of the 6 items, found shape \(2,\)"),
        ({"min_per_group": {"a": 4}}, "group 'a' has 3 candidates, and 4 are due"),
        ({"min_per_group": {"a": 3}, "exclude": [0]}, "group 'a' has 2 candidates, and 3"),
        ({"min_per_group": 2, "max_per_group": 1}, "of which max_per_group allows 1, and 2 are due"),
        ({"min_per_group": 3}, r"asks for 6 items, and k is 4"),
        ({"min_per_group": {"b": 2}, "cost": [1, 1, 1, 2, 3, 4], "budget": 4}, r"budget is 4"),
        ({"max_per_group": 1, "include": [0, 1]}, "names 2 items of group 'a', of which 1 may"),
        ({"max_per_group": {"c": 1}}, "names the group 'c', which no item has. There are 'a', 'b'"),
        ({"groups": None, "max_per_group": 1}, "need groups"),
        ({"k": None, "min_per_group": 1}, "needs k or a budget"),
        ({"decoder": "local", "max_per_group": 1, "backfill": True}, 'backfill is for decoder="greedy"'),
        ({"decoder": "exact", "min_per_group": 1}, "exact_map has no min_per_group"),
        ({"groups": None, "given": np.ones((2, 9))}, r"rows of 4 numbers like the embeddings, found shape \(2, 9\)"),
        ({"groups": None, "given": [9]}, "given must hold item numbers from 0 to 5, found 9"),
        ({"groups": None, "given": np.array([[np.nan, 1, 2, 3]])}, "given must be finite"),
        ({"max_per_group": -1}, "max_per_group must be at least 0"),
    ],
)
def test_what_cannot_be(change, message, rng):
    call = {"k": 4, "groups": list("aaabbb")} | change
    with pytest.raises((ValueError, IndexError), match=message):
        diversify(rng.standard_normal((6, 4)), np.arange(6), **call)


NAN, NAT = float("nan"), np.datetime64("NaT")


@pytest.mark.parametrize(
    "labels", [["a", NAN, "b"], ["a", None, "b"], [1.0, NAN, 2.0], [np.datetime64("2020"), NAT, np.datetime64("2021")]]
)
@pytest.mark.parametrize("holder", [list, np.array, lambda x: np.array(x, object), "Series", "column", "masked"])
def test_an_item_without_a_group_is_refused_by_its_number(labels, holder):
    if isinstance(holder, str):
        pd = pytest.importorskip("pandas")
        held = pd.Series(labels) if holder == "Series" else pd.DataFrame({"g": labels})
        held = np.ma.array([1, 2, 3], mask=[0, 1, 0]) if holder == "masked" else held
    else:
        held = holder(labels)
    if holder is np.array and held.dtype.kind == "U":
        return  # numpy has made the text "nan" of it, before anybody could see
    with pytest.raises(ValueError, match=r"groups\[1\] is missing \((nan|None|NaT)\). Give such items a label"):
        diversify(np.eye(3), k=2, groups=held, max_per_group=1)


@pytest.mark.parametrize("labels", [["a\0", "a"], [2**53, 2**53 + 1, 0.5], [1, True, 1.0, np.float32(1)]])
def test_labels_are_one_group_as_python_calls_them_equal(labels):
    chosen = diversify(np.eye(len(labels)), k=9, groups=labels, max_per_group=1)
    held = diversify(np.eye(len(labels)), k=9, groups=np.array(labels, object), max_per_group=1)
    assert len(chosen) == len(held) == len(set(labels))
