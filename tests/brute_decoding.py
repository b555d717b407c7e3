"""The slow truth of decoding: every feasible set listed, every rule from its definition."""

from __future__ import annotations

import numpy as np

from brute import subsets


def log_minor(L, Y):
    """log det L_Y; -inf where it is singular."""
    Y = list(Y)
    if not Y:
        return 0.0
    d = np.sqrt(np.diagonal(L)[Y])
    if d.min() == 0:
        return -np.inf
    sign, value = np.linalg.slogdet(L[np.ix_(Y, Y)] / d[:, None] / d)
    return value + 2 * np.log(d).sum() if sign > 0 and value > -30 else -np.inf


def feasible(cost, budget, k=None, include=(), exclude=(), groups=None, max_per_group=None, min_per_group=0):
    """All sets that fit and have as many items of each group as they may and must."""
    n = len(cost)
    most = n if max_per_group is None else max_per_group

    def within(Y):
        counts = [sum(groups[i] == g for i in Y) for g in set(groups)]
        return all(min_per_group <= count <= most for count in counts)

    return [
        Y
        for Y in subsets(n)
        if sum(cost[i] for i in Y) <= budget
        and (k is None or len(Y) <= k)
        and set(include) <= set(Y)
        and not set(exclude) & set(Y)
        and (groups is None or within(Y))
    ]


def best_set(L, cost, budget, **limits):
    """log det L_Y of the best feasible set, and the set."""
    return max((log_minor(L, Y), Y) for Y in feasible(cost, budget, **limits))


def algorithm_2(L, cost, budget, rule, power, k=None, include=(), exclude=(), only_gains=False, groups=None):
    """The paper's listing, with determinants recomputed at every step: the items in order, one of each group."""
    Y, n = list(include), len(L)
    U = [i for i in range(n) if i not in Y and i not in exclude]
    while U and (k is None or len(Y) < k):
        spent = sum(cost[i] for i in Y)
        if groups is not None:
            U = [i for i in U if groups[i] not in {groups[j] for j in Y}]
        U = [i for i in U if spent + cost[i] <= budget and log_minor(L, [*Y, i]) > -np.inf]
        now = log_minor(L, Y)
        gain = {i: log_minor(L, [*Y, i]) - now for i in U}  # log of P(Y + i) / P(Y)
        if only_gains:
            gain = {i: x for i, x in gain.items() if x > 0}
        if not gain:
            break
        value = {i: (np.expm1(x) if rule == "probability" else x) / cost[i] ** power for i, x in gain.items()}
        if rule == "signed":  # only gains are divided
            value = {i: x / cost[i] ** power if x >= 0 else x for i, x in gain.items()}
        best = max(value, key=value.get)
        Y.append(best)
        U.remove(best)
    return Y


def random_problem(seed, n=8, rank=None):
    """q, phi (unit rows), cost and a budget for about half of the items; qualities on either side of 1."""
    rng = np.random.default_rng(seed)
    phi = rng.standard_normal((n, rank or n + 2))
    phi /= np.linalg.norm(phi, axis=1, keepdims=True)
    q = np.exp(rng.choice([-1.0, 0.3, 1.0]) + 0.5 * rng.standard_normal(n))
    cost = rng.uniform(1, 3, n)
    return q, phi, cost, float(rng.uniform(0.3, 0.6) * cost.sum())


def kernel(q, phi):
    """L_ij = q_i <phi_i, phi_j> q_j."""
    L = q[:, None] * (phi @ phi.T) * q
    np.fill_diagonal(L, q**2)  # exactly, so that ties are ties
    return L


def nugget_kernel(q, phi, nugget):
    """q_i q_j S_ij with S = (1 - nugget) cosines + nugget I."""
    phi = np.asarray(phi, np.float64)
    unit = phi / np.linalg.norm(phi, axis=1, keepdims=True)
    return q[:, None] * ((1 - nugget) * unit @ unit.T + nugget * np.eye(len(q))) * q
