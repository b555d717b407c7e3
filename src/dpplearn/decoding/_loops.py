"""Compiled loops of decoding: lengths of many rows, and branch and bound."""

from typing import Any, NamedTuple

import numpy as np

from dpplearn._numba import jit

Array = np.ndarray[Any, Any]
WORTH_A_LOOK = 1e-11  # a branch is searched if its bound exceeds the best value by more


@jit(steps=lambda rows: rows.size)
def row_squares(rows, out):
    """|rows_i|^2 in float64."""
    for i in range(rows.shape[0]):
        x = 0.0
        for c in range(rows.shape[1]):
            y = np.float64(rows[i, c])
            x += y * y
        out[i] = x


class Nodes(NamedTuple):
    """The current branch of a search, with one row per depth, so that the search can stop and continue."""

    L: Array  # (n, n) kernel of the candidates
    cost: Array  # (n,)
    noise: Array  # (n,) gains up to this are only rounding
    group: Array  # (n,) the group of each item
    most: Array  # (groups,) how many items of each may be chosen
    path: Array  # (depths,) the items chosen
    e: Array  # (depths, n) rows of the Cholesky factor of the items chosen
    gain: Array  # (depths, n) of each candidate, given the items chosen above
    ids: Array  # (depths, n) the candidates, those of the largest gain first
    log_gain: Array  # (depths, n) in the order of ids
    density: Array  # (depths, n) places in ids, by log gain for cost
    sizes: Array  # (depths,) number of candidates
    child: Array  # (depths,) place of the candidate to take next
    left: Array  # (depths,) the budget that is left
    slots: Array  # (depths,) how many more items may be chosen
    value: Array  # (depths,) log det of the items chosen above


@jit(steps=lambda nodes: 2 * nodes.cost.size)
def knapsack_bound(nodes, depth):
    """Upper bound of log det R_Z over sets Z of the candidates that are left.

    det R_Z <= product of R_ii (Hadamard). So no Z has more than the fractional knapsack of log R_ii, filled by value
    for cost (`density`), nor more than the sum of the `slots` largest values.
    """
    log_gain, ids, density = nodes.log_gain[depth], nodes.ids[depth], nodes.density[depth]
    start, m, left, slots = nodes.child[depth], nodes.sizes[depth], nodes.left[depth], nodes.slots[depth]
    value, count = 0.0, 0
    for a in range(m):
        i = density[a]
        if i < start:
            continue
        if nodes.cost[ids[i]] > left:
            value += log_gain[i] * left / nodes.cost[ids[i]]
            break
        left -= nodes.cost[ids[i]]
        value += log_gain[i]
        count += 1
    if count <= slots:
        return value
    top = 0.0
    for i in range(start, min(start + slots, m)):
        top += log_gain[i]
    return min(value, top)


@jit(steps=lambda nodes: 10 * nodes.cost.size)
def open_node(nodes, depth):
    """Keep the candidates that fit and gain, sort them by gain, and fill log_gain and density.

    Gains only shrink, so an item whose gain is at most 1, or at most its rounding noise_i, can raise the probability of
    no larger set.
    """
    ids, gain, count = nodes.ids[depth], nodes.gain[depth], 0
    if nodes.slots[depth] > 0:
        for a in range(nodes.sizes[depth]):
            i = ids[a]
            if nodes.cost[i] <= nodes.left[depth] and gain[i] > max(1.0, nodes.noise[i]):
                ids[count] = i
                count += 1
    key = np.empty(count)
    for a in range(count):
        key[a] = -gain[ids[a]]
    kept = ids[:count].copy()
    order = np.argsort(key)
    for a in range(count):
        ids[a] = kept[order[a]]
        nodes.log_gain[depth, a] = np.log(gain[ids[a]])
        key[a] = -nodes.log_gain[depth, a] / nodes.cost[ids[a]]
    nodes.density[depth, :count] = np.argsort(key)
    nodes.sizes[depth], nodes.child[depth] = count, 0


@jit(steps=lambda nodes, limit: min(limit, 2.0**nodes.cost.size * nodes.cost.size**2))
def search(nodes, depth, best, best_set, limit):
    """Depth-first branch and bound.

    Child c of a node takes candidate c and leaves out the candidates before it. best_set[0] is the length of the best
    set, whose items follow. The loop ends after touching about `limit` entries of arrays, and returns (depth, best
    value, nodes opened). Depth -1 says that the search is complete.
    """
    ids, gain, e, path, group = nodes.ids, nodes.gain, nodes.e, nodes.path, nodes.group
    opened, work = 0, 0
    while depth >= 0 and work < limit:
        c, m = nodes.child[depth], nodes.sizes[depth]
        if c >= m or nodes.value[depth] + knapsack_bound(nodes, depth) <= best + WORTH_A_LOOK:
            depth -= 1
            continue
        nodes.child[depth] = c + 1
        opened += 1
        j, v = ids[depth, c], nodes.value[depth] + nodes.log_gain[depth, c]
        path[depth] = j
        if v > best:
            best, best_set[0] = v, depth + 1
            best_set[1 : depth + 2] = path[: depth + 1]
        work += 16 + m
        if nodes.slots[depth] == 1 or c + 1 == m or depth + 1 == path.size:
            continue
        chosen = 0
        for a in range(depth + 1):
            chosen += group[path[a]] == group[j]
        full = chosen >= nodes.most[group[j]]
        nxt, root = depth + 1, 1.0 / np.sqrt(gain[depth, j])
        for a in range(c + 1, m):  # gains of the later candidates, given j
            i = ids[depth, a]
            x = nodes.L[j, i]
            for t in range(depth):
                x -= e[t, i] * e[t, j]
            e[depth, i] = x * root
            gain[nxt, i] = gain[depth, i] - e[depth, i] ** 2
            if full and group[i] == group[j]:
                gain[nxt, i] = 0.0  # j is the last of its group: open_node drops the others
            ids[nxt, a - c - 1] = i
        work += (m - c) * (depth + 10)
        nodes.sizes[nxt], nodes.value[nxt] = m - c - 1, v
        nodes.left[nxt], nodes.slots[nxt] = nodes.left[depth] - nodes.cost[j], nodes.slots[depth] - 1
        open_node(nodes, nxt)
        depth = nxt
    return depth, best, opened
