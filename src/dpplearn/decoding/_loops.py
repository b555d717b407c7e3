"""Branch and bound, the loop of `dpplearn.decoding.exact`: it sees only arrays and numbers."""

from typing import Any, NamedTuple

import numpy as np

from dpplearn._numba import jit

Array = np.ndarray[Any, Any]
LEAST = 1e-11  # what a bound must exceed the best value by for a branch to be worth a look


class Nodes(NamedTuple):
    """The branch that a search is on: one slice per depth, so that it can stop and go on."""

    R: Array  # (depths, n, n) kernel of the candidates given what was chosen above
    cost: Array  # (depths, n), and so the next three
    ids: Array  # numbers of the candidates
    log_gain: Array
    density: Array  # candidates by gain for cost
    sizes: Array  # (depths,) number of candidates, and so the next four
    child: Array  # the next one to take
    left: Array  # room for costs
    slots: Array  # and for items
    value: Array  # log det of what was chosen above
    path: Array  # (depths,) what was chosen
    noise: Array  # (n,) gains that are only rounding
    group: Array  # (n,) the group of each item; empty where there are no quotas
    most: Array  # (groups,) how many items of each may be chosen


@jit(steps=lambda m: 2 * m)
def knapsack_bound(nodes, depth, start, m, left, slots):
    """Upper bound on log det R_Z over sets Z of the candidates start ... m-1: Hadamard, with the knapsack relaxed.

    det R_Z <= product of R_ii, so the best Z is worth at most the fractional knapsack of log R_ii, filled by value
    for cost (`density` lists the candidates in that order), and at most the `slots` largest values.
    """
    log_gain, cost, density = nodes.log_gain[depth], nodes.cost[depth], nodes.density[depth]
    filled, value, count = 0.0, 0.0, 0
    for a in range(m):
        i = density[a]
        if i < start:
            continue
        if filled + cost[i] > left:
            value += log_gain[i] * (left - filled) / cost[i]
            break
        filled += cost[i]
        value += log_gain[i]
        count += 1
    if count <= slots:
        return value
    top = 0.0  # candidates are in descending order of gain
    for i in range(start, min(start + slots, m)):
        top += log_gain[i]
    return min(value, top)


@jit
def spectral_bound(R, m, left, slots, cost):
    """Upper bound on log det R_Z: the product of the largest eigenvalues, as many as items fit (interlacing)."""
    order = np.sort(cost[:m])
    fit, filled = 0, 0.0
    while fit < m and fit < slots and filled + order[fit] <= left:
        filled += order[fit]
        fit += 1
    lam = np.linalg.eigvalsh(R[:m, :m])
    value = 0.0
    for a in range(fit):
        if lam[m - 1 - a] <= 1.0:
            break
        value += np.log(lam[m - 1 - a])
    return value


@jit(steps=lambda m: m * m)
def open_node(nodes, depth, m, left, slots):
    """Keep the candidates that fit and gain, sort them by gain, and fill log_gain and density; returns how many.

    A gain only shrinks, so an item whose gain is at most 1 can raise the probability of no larger set. Nor can
    one of which only rounding is left, at most noise_i.
    """
    R, cost, ids, log_gain = nodes.R[depth], nodes.cost[depth], nodes.ids[depth], nodes.log_gain[depth]
    keep = np.empty(m, np.int64)
    count = 0
    if slots > 0:
        for i in range(m):
            if cost[i] <= left and R[i, i] > max(1.0, nodes.noise[ids[i]]):
                keep[count] = i
                count += 1
    keep = keep[:count]
    key = np.empty(count)
    for a in range(count):
        key[a] = -R[keep[a], keep[a]]
    keep = keep[np.argsort(key)]
    sub, c, names = np.empty((count, count)), np.empty(count), np.empty(count, np.int64)
    for a in range(count):
        c[a], names[a] = cost[keep[a]], ids[keep[a]]
        for b in range(count):
            sub[a, b] = R[keep[a], keep[b]]
    for a in range(count):
        cost[a], ids[a] = c[a], names[a]
        log_gain[a] = np.log(sub[a, a])
        key[a] = -log_gain[a] / c[a]
        for b in range(count):
            R[a, b] = sub[a, b]
    nodes.density[depth, :count] = np.argsort(key)
    return count


@jit(steps=lambda nodes, limit: min(limit, 2.0**nodes.noise.size * nodes.noise.size**2))
def search(nodes, depth, best, best_set, limit):
    """Depth-first branch and bound.

    Child c of a node takes candidate c and leaves candidates before it out. best_set[0] is the length of the best
    set, whose items follow. Ends after about `limit` entries of matrices touched; returns (depth, best value, nodes
    opened), where depth -1 says that the search is complete.
    """
    R, cost, ids, group = nodes.R, nodes.cost, nodes.ids, nodes.group
    opened, work = 0, 0
    while depth >= 0 and work < limit:
        c, m, left, slots = nodes.child[depth], nodes.sizes[depth], nodes.left[depth], nodes.slots[depth]
        if c >= m or nodes.value[depth] + knapsack_bound(nodes, depth, c, m, left, slots) <= best + LEAST:
            depth -= 1
            continue
        nodes.child[depth] = c + 1
        opened += 1
        work += 16 + m
        v = nodes.value[depth] + nodes.log_gain[depth, c]
        nodes.path[depth] = ids[depth, c]
        if v > best:
            best, best_set[0] = v, depth + 1
            for a in range(depth + 1):
                best_set[a + 1] = nodes.path[a]
        room, places = left - cost[depth, c], slots - 1
        if places == 0 or c + 1 == m or depth + 1 == R.shape[0]:
            continue
        full = False
        if group.size > 0:
            chosen = 0
            for a in range(depth + 1):
                chosen += group[nodes.path[a]] == group[ids[depth, c]]
            full = chosen >= nodes.most[group[ids[depth, c]]]
        # what taking c leaves to those after it: R_ij - R_ic R_jc / R_cc
        pivot = 1.0 / R[depth, c, c]
        count = m - c - 1
        nxt = depth + 1
        for a in range(count):
            f = R[depth, c + 1 + a, c] * pivot
            cost[nxt, a], ids[nxt, a] = cost[depth, c + 1 + a], ids[depth, c + 1 + a]
            for b in range(a + 1):
                x = R[depth, c + 1 + a, c + 1 + b] - f * R[depth, c + 1 + b, c]
                R[nxt, a, b] = x
                R[nxt, b, a] = x
            if full and group[ids[nxt, a]] == group[ids[depth, c]]:
                R[nxt, a, a] = 0.0  # c is the last of its group: without a gain the others leave
        work += 2 * count * count
        count = open_node(nodes, nxt, count, room, places)
        if count == 0:
            continue
        if v + knapsack_bound(nodes, nxt, np.int64(0), count, room, places) <= best + LEAST:  # not a literal: one type
            continue
        if nxt <= 1:
            work += 2 * count * count * count  # of eigenvalues
        if nxt <= 1 and v + spectral_bound(R[nxt], count, room, places, cost[nxt]) <= best + LEAST:
            continue
        nodes.sizes[nxt], nodes.child[nxt], nodes.value[nxt] = count, 0, v
        nodes.left[nxt], nodes.slots[nxt] = room, places
        depth = nxt
    return depth, best, opened
