"""The compiled loops of the spectral sampler: exact samples from a DPP whose spectrum is known.

Phase 1 picks the eigenvectors J, each with its own probability; phase 2 draws from the projection DPP that V[:, J]
spans. Neither phase touches all n items, unless that is cheaper.
"""

from typing import NamedTuple

import numpy as np

from dpplearn._numba import jit
from dpplearn._precision import REORTHOGONAL
from dpplearn.sampling import Array

SHARE_ERROR = 1e-9  # eigenvectors of close eigenvalues are no more accurate; samples cannot show the difference
PROPOSALS = 4  # proposals are fetched together; of more, most would be thrown away at the end of a sample


class Work(NamedTuple):
    """Working memory of one stream of samples; `draw_one` leaves its sample in `items`."""

    J: Array  # (m,) columns chosen in phase 1
    items: Array  # (n,) items chosen in phase 2
    E: Array  # orthonormal rows that span the items chosen so far
    dots: Array  # (m,) products of a row with the rows of E
    waiting: Array  # (PROPOSALS, m + 1) rows of items that are proposed but not yet examined, and the items


@jit
def next_word(state):
    """The next 64 random bits of xoshiro256++ (Blackman and Vigna, 2021); updates `state` (4,) uint64."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    x = s0 + s3
    word = ((x << np.uint64(23)) | (x >> np.uint64(41))) + s0
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    state[0], state[1], state[2] = s0, s1, s2
    state[3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return word


@jit
def uniform(state):
    """A float in [0, 1) with 53 random bits."""
    return np.float64(next_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def exponential(state):
    """A standard exponential; 1 - u lies in (0, 1], so the logarithm is finite."""
    return -np.log(1.0 - uniform(state))


@jit(steps=lambda out: 10 * out.size)
def fill(state, out):
    """Fill `out` with uniform numbers."""
    for a in range(out.size):
        out[a] = uniform(state)


@jit
def make_work(n, m):
    J, items = np.empty(m, np.int64), np.empty(n, np.int64)
    return Work(J, items, np.empty((min(m, 64), min(m, 64))), np.empty(m), np.empty((PROPOSALS, m + 1)))


@jit(steps=lambda V: 10 * V.size)
def alias_tables(V, accept, alias):
    """Fill Walker's alias tables (Vose's construction) of the squared columns of V.

    Shares within rounding of 1 count as 1, so that tables and samples do not depend on the processor.
    """
    n, m = V.shape
    one = 1.0 - SHARE_ERROR
    w = np.empty(n)
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    for j in range(m):
        total = 0.0
        for i in range(n):
            w[i] = V[i, j] * V[i, j]
            total += w[i]
        a, b = 0, 0
        for i in range(n):
            w[i] *= n / total
            accept[j, i], alias[j, i] = 1.0, i
            if w[i] < one:
                small[a] = i
                a += 1
            else:
                large[b] = i
                b += 1
        while a > 0 and b > 0:
            a -= 1
            i, top = small[a], large[b - 1]
            accept[j, i], alias[j, i] = w[i], top
            w[top] -= 1.0 - w[i]
            if w[top] < one:
                b -= 1
                small[a] = top
                a += 1


@jit(steps=lambda J: 100 + 10 * J.size)
def choose_vectors(hazard, state, J):
    """Phase 1: pick each column j independently with probability p_j; returns how many are in J.

    A unit-rate Poisson process on [0, sum of -log(1 - p)] has no point in the interval of column j with probability
    exp(log(1 - p_j)) = 1 - p_j, independently. After a point we go on behind its column, so the work is proportional to
    the number of columns picked, not to n.
    """
    k, x = 0, exponential(state)
    while hazard.size > 0 and x < hazard[-1]:
        j = np.searchsorted(hazard, x, side="right")
        J[k] = j
        x = hazard[j] + exponential(state)
        k += 1
    return k


@jit(steps=lambda log_esp: 20 * len(log_esp))
def choose_k_vectors(log_esp, state, J):
    """Phase 1 of a k-DPP: J has exactly k columns and probability prod(lam_J) / e_k(lam).

    With j columns still to pick among the first i, column i is skipped with probability e_j(first i-1) / e_j(first i).
    These ratios telescope, so the next column is where e_j falls below u times its value: one binary search for each.
    """
    k, i = log_esp.shape[0] - 1, log_esp.shape[1] - 1
    for j in range(k, 0, -1):
        bar = log_esp[j, i] - exponential(state)  # log(u e_j(first i))
        i = max(np.searchsorted(log_esp[j, : i + 1], bar), j) - 1  # since e_j of fewer than j numbers is 0
        J[k - j] = i
    return k


@jit
def orthogonalize(row, E, t, k, dots):
    """Append to E the direction of `row` that its rows 0 ... t-1, which are orthonormal, do not span; dots = E row."""
    before = 0.0
    for c in range(k):
        before += row[c] * row[c]
    for s in range(t):
        d = dots[s]
        for c in range(k):
            row[c] -= d * E[s, c]
    norm = 0.0
    for c in range(k):
        norm += row[c] * row[c]
    if norm < REORTHOGONAL * before:  # digits were lost; twice is enough
        norm = 0.0
        for s in range(t):
            d = 0.0
            for c in range(k):
                d += E[s, c] * row[c]
            for c in range(k):
                row[c] -= d * E[s, c]
        for c in range(k):
            norm += row[c] * row[c]
    scale = 1.0 / np.sqrt(norm)
    for c in range(k):
        E[t, c] = row[c] * scale


@jit
def project(tables, k, state, work):
    """Phase 2 by rejection: put one exact sample of the projection DPP on V[:, J] into items[:k].

    We propose i from the mixture of v_j(i)^2 over j in J, which is proportional to the leverage |V[i, J]|^2, and accept
    it with the share of that row that the items chosen so far do not span (Barthelmé, Tremblay and Amblard, 2023). This
    takes about k H_k proposals, whatever n is. Proposals do not depend on earlier choices, so a few are fetched
    together, and their cache misses overlap.
    """
    V, accept, alias, waiting = tables.V, tables.accept, tables.alias, work.waiting
    J, items, E, dots = work.J, work.items, work.E, work.dots
    n, t, at = V.shape[0], 0, PROPOSALS
    while t < k:
        if at == PROPOSALS:
            for a in range(PROPOSALS):
                j = J[np.int64(uniform(state) * k)]
                x = uniform(state) * n
                i = np.int64(x)
                if x - i >= accept[j, i]:
                    i = np.int64(alias[j, i])
                waiting[a, k] = i
                for c in range(k):
                    waiting[a, c] = V[i, J[c]]
            at = 0
        leverage = 0.0
        for c in range(k):
            leverage += waiting[at, c] * waiting[at, c]
        # we accept if residual > u leverage: subtract the spanned part until nothing is left to spare
        spare = leverage * (1.0 - uniform(state)) - 1e-14 * leverage
        for s in range(t):
            d = 0.0
            for c in range(k):
                d += E[s, c] * waiting[at, c]
            dots[s] = d
            spare -= d * d
            if spare <= 0.0:
                break
        if spare > 0.0:
            items[t] = np.int64(waiting[at, k])
            orthogonalize(waiting[at], E, t, k, dots)
            t += 1
        at += 1


@jit
def complement(chosen, k, n):
    """Replace the first k numbers of `chosen` by the n - k others, ascending; returns how many these are."""
    left_out = np.ones(n, np.uint8)
    for c in range(k):
        left_out[chosen[c]] = 0
    k = 0
    for i in range(n):
        if left_out[i]:
            chosen[k] = i
            k += 1
    return k


@jit
def draw_one(tables, state, work, smallest, largest):
    """Draw one sample into work.items; returns its size, or -1 if that is not between smallest and largest."""
    n, m = tables.V.shape
    J, items = work.J, work.items
    if tables.log_esp.shape[0] > 0:
        k = choose_k_vectors(tables.log_esp, state, J)
    else:  # this function takes an array, because `tables` has two types and would be compiled twice
        k = choose_vectors(tables.hazard, state, J)
    if not smallest <= k <= largest:
        return -1
    # the complement of the projection DPP on V[:, J] is the one on the columns left out (n = m)
    flip = n == m and 2 * k > n
    if flip:
        k = complement(J, k, n)
    if k > 0:
        if work.E.shape[0] < k:
            work = Work(J, items, np.empty((k, k)), work.dots, work.waiting)
        project(tables, k, state, work)
    return complement(items, k, n) if flip else k


def steps_of_drawing(size, room):
    """The steps of samples of k items: about k log k proposals, each with up to k products of k terms."""
    k = max(room - 64, 0) / size  # a little more than the expected size
    return size * (200 + 10 * k + 0.5 * k**3 * np.log(2 + k))


@jit(steps=steps_of_drawing)
def draw_block(tables, state, size, sizes, room, smallest, largest):
    """Draw `size` samples, put their sizes (or -1, as from `draw_one`) into `sizes`, and return all their items."""
    work = make_work(*tables.V.shape)
    out = np.empty(max(room, 1), np.int32)
    end = 0
    for s in range(size):
        k = draw_one(tables, state, work, smallest, largest)
        sizes[s], k = k, max(k, 0)
        if end + k > out.size:
            grown = np.empty(2 * (end + k), np.int32)
            for c in range(end):  # an assignment of slices would make numba compile an error message
                grown[c] = out[c]
            out = grown
        for c in range(k):
            out[end + c] = work.items[c]
        end += k
    return out[:end].copy()
