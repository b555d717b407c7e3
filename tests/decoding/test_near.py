"""The kernel of near items: its gains are Schur complements, and its choices cover more than random ones."""

from __future__ import annotations

import numpy as np
import pytest

from dpplearn import diversify
from dpplearn.decoding import near
from dpplearn.decoding.near import NUGGET, NearGains


def lengths(X):
    return np.linalg.norm(np.asarray(X, np.float64), axis=1)


def provider(X, k, q=None, b=1.0, given=()):
    return NearGains(X, lengths(X), np.ones(len(X)) if q is None else q, k, b, given=given)


def choose(gains, k):
    """Greedy choice with one block of all items."""
    g, chosen = gains.block(np.arange(gains.n)), []
    for _ in range(k):
        j = int(g.argmax())
        assert gains.take(j, j) == pytest.approx(g[j], rel=1e-9)
        g -= gains.fall()
        g[j] = -np.inf
        chosen.append(j)
    return np.array(chosen)


def dense_kernel(X, q, k, b, given):
    """L of the items and of those chosen earlier, by the definition, where every item is an anchor."""
    U = X / np.where(lengths(X) > 0, lengths(X), 1.0)[:, None]
    distance = 1.0 - U @ U.T
    unit = np.sort(distance, axis=1)[:, min(max(1, len(X) // k), len(X) - 1)]
    unit = np.maximum(unit, near.LEAST_UNIT_SHARE * np.median(unit))
    G = given / lengths(given)[:, None]
    phi = np.exp(-2.0 * (1.0 - np.vstack([U, G]) @ U.T) / unit)
    phi *= np.append(lengths(X) > 0, np.ones(len(G)))[:, None]
    square = (phi**2).sum(axis=1)
    part = np.clip(square / min(near.FEWEST_DESCRIBING, len(X)), near.LOWEST_SHARE, 1.0)
    diag = np.append(q**2 * part[: len(X)] ** near.POWER, np.ones(len(G)))
    phi /= np.sqrt(np.where(square > 0, square, 1.0))[:, None]
    L = b * (1.0 - NUGGET) * (phi @ phi.T) * np.sqrt(np.outer(diag, diag))
    np.fill_diagonal(L, diag)
    return L


def schur(L, i, chosen):
    if not len(chosen):
        return L[i, i]
    return L[i, i] - L[i, chosen] @ np.linalg.solve(L[np.ix_(chosen, chosen)], L[chosen, i])


@pytest.mark.parametrize("seed", range(6))
def test_gains_are_schur_complements_of_the_dense_kernel(seed, monkeypatch):
    monkeypatch.setattr(near, "SMALLEST_ENTRY", 0.0)
    rng = np.random.default_rng(seed)
    n, k, b = int(rng.integers(2, 9)), int(rng.integers(1, 6)), (1.0, 0.6)[seed % 2]
    X, given = rng.standard_normal((n, 3)), rng.standard_normal((seed % 3, 3))
    X[n - 1] *= seed != 4
    q = np.ones(n) if seed < 2 else rng.lognormal(0.0, 1.0, n)
    L = dense_kernel(X, q, k, b, given)
    assert np.linalg.eigvalsh(L).min() > 0.0
    gains = provider(X, k, q, b=b, given=given)
    chosen, left = list(range(n, n + len(given))), np.arange(n)
    g = gains.block(left)
    for _ in range(n):
        true = np.array([schur(L, i, chosen) for i in left])
        np.testing.assert_allclose(g, true, rtol=2e-4)
        place = int(g.argmax())
        j = int(left[place])
        assert gains.take(j, place) == pytest.approx(true.max(), rel=2e-4)
        g = (g - gains.fall())[left != j]
        chosen.append(j)
        left = left[left != j]
        g_again = gains.block(left)
        np.testing.assert_allclose(g_again, g, rtol=1e-6, atol=1e-12)
        g = g_again


@pytest.mark.parametrize("equal", [True, False])
def test_blocks_and_bounds_agree(equal, monkeypatch):
    monkeypatch.setattr(near, "SMALLEST_ENTRY", 0.0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 6))
    q = np.ones(900) if equal else rng.lognormal(0.0, 0.5, 900)
    gains = provider(X, 100, q)
    truth = provider(X, 100, q)
    g, taken = truth.block(np.arange(900)), set()
    for step in range(90):
        if step % 30 == 0:
            items = np.sort(rng.choice(900, 50, replace=False))
            mine = gains.block(items)
        rest = ~np.isin(items, list(taken))
        np.testing.assert_allclose(mine[rest], g[items[rest]], rtol=1e-6, atol=1e-6)
        assert ((gains.bound >= g - 1e-12) | (gains.bound == -np.inf)).all()
        place = int(rng.integers(50))
        j = int(items[place])
        if j in taken:
            continue
        taken.add(j)
        assert gains.take(j, place) == pytest.approx(truth.take(j, j), rel=1e-6, abs=1e-6)
        assert (gains.fall() >= 0.0).all()
        assert (truth.fall() >= 0.0).all()
        g -= truth.fall()
        mine -= gains.fall()
        gains.bound[j] = -np.inf
    gone = gains.bound == -np.inf
    assert (g >= (1.0 - truth.shared) * truth.diag * (1 - 1e-9))[~gone].all()
    again = gains.block(np.arange(900))
    assert gains.refresh(0)
    assert not gains.refresh(0)
    np.testing.assert_array_equal(gains.bound == -np.inf, gone)
    np.testing.assert_allclose(gains.bound[~gone], again[~gone], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(again[~gone], g[~gone], rtol=1e-6, atol=1e-6)


def clustered(rng, n=6000, d=16):
    centers = rng.standard_normal((40, d))
    X = centers[rng.choice(40, n, p=np.arange(1, 41) ** -1.0 / (np.arange(1, 41) ** -1.0).sum())]
    X = X + 0.5 * rng.standard_normal((n, d))
    X[: n // 20] = X[n // 2 : n // 2 + n // 20] + 0.01 * rng.standard_normal((n // 20, d))
    return X / lengths(X)[:, None]


def test_choices_cover_more_than_random_ones_and_have_no_near_copies():
    rng = np.random.default_rng(5)
    X, k = clustered(rng), 600
    chosen, scored = diversify(X, k=k, kernel="near").subset, choose(provider(X, k, rng.lognormal(0.0, 0.5, 6000)), k)
    random = rng.choice(6000, k, replace=False)
    best = {name: (X @ X[Y].T).max(axis=1) for name, Y in (("near", chosen), ("random", random))}
    assert best["near"].mean() > best["random"].mean() + 0.01
    assert np.quantile(best["near"], 0.01) > np.quantile(best["random"], 0.01)
    for Y in (chosen, scored):
        cosines = X[Y] @ X[Y].T
        assert np.count_nonzero(cosines > 0.99) == k


@pytest.mark.parametrize("seed", range(4))
def test_limits_hold_where_items_move_to_the_middle(seed):
    rng = np.random.default_rng(seed)
    X, n, k = clustered(rng, 3000), 3000, 25
    groups, cost = rng.integers(0, 8, n), rng.uniform(1.0, 3.0, n)
    limits = {"include": rng.choice(1000, 3, replace=False), "exclude": rng.choice(np.arange(1000, n), 1500, False)}
    limits |= {"groups": groups, "max_per_group": 4, "min_per_group": 2} if seed % 2 else {}
    limits |= {"cost": cost, "budget": 40.0} if seed > 1 else {}
    given = X[2000:2100]
    found = diversify(X, k=k, kernel="near", given=given, **limits)
    assert np.unique(found.subset).size == len(found) <= k
    assert set(limits["include"]) <= set(found.subset.tolist())
    assert not np.isin(found.subset, limits["exclude"]).any()
    assert seed < 2 or cost[found.subset].sum() <= 40.0
    assert not seed % 2 or np.isin(np.bincount(groups[found.subset], minlength=8), [2, 3, 4]).all()
    assert (X[found.subset[3:]] @ given.T).max() < 0.99
