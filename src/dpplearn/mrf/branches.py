"""Entropies and expected log probabilities of choices, from K, down both branches of each; their gradients, back up.

Item by item: given the choices before, the first entry a of what K has become is the chance that the item is in. The
rest loses v u / a with the item and gains v u / (1 - a) without it (v its column, u its row). Level t holds 2^t
matrices of n - t rows.
"""

from __future__ import annotations

import numpy as np

from dpplearn._checks import FloatArray

LEAST = 1e-15  # a conditional probability below this is rounding: constant there, so that a line search steps back


def conditional_entropies(blocks: FloatArray, free: int) -> tuple[float, FloatArray, FloatArray]:
    """Sum over the blocks of H(last `free` items | those before); blocks (B, m, m) are principal ones of any K.

    Also its gradient (B, m, m), and P(last in Y | the others) (B, 2^(m-1)).
    """
    m, value, levels = blocks.shape[1], 0.0, []
    A, mass = blocks[:, None], np.ones((len(blocks), 1))
    for t in range(m):
        a, by_out, by_in = chances(A), *inverses(A)
        levels.append((A, mass, a, by_out, by_in))
        if t >= m - free:
            value += float((mass * binary_entropy(a)).sum())
        rest, outer = A[:, :, 1:, 1:], A[:, :, 1:, :1] * A[:, :, :1, 1:]
        A = np.concatenate([rest + outer * by_out, rest - outer * by_in], axis=1)
        mass = np.concatenate([mass * (1 - a), mass * a], axis=1)
    G, g = np.zeros_like(A), np.zeros_like(mass)
    for t in range(m - 1, -1, -1):
        A, mass, a, by_out, by_in = levels[t]
        states = 1 << t
        G_out, G_in, g_out, g_in = G[:, :states], G[:, states:], g[:, :states], g[:, states:]
        slope = mass * (g_in - g_out)  # with respect to a
        g = a * g_in + (1 - a) * g_out  # with respect to the mass
        if t >= m - free:
            slope += mass * np.log((1 - a) / a)
            g += binary_entropy(a)
        v, u = A[:, :, 1:, 0], A[:, :, 0, 1:]
        change = G_out * by_out - G_in * by_in  # d / d(v u)
        squares = G_out * by_out**2 + G_in * by_in**2
        slope += ((v[:, :, None] @ squares)[:, :, 0] * u).sum(axis=-1)
        G = np.empty_like(A)
        G[:, :, 1:, 1:] = G_out + G_in
        G[:, :, 1:, 0] = (change @ u[..., None])[..., 0]
        G[:, :, 0, 1:] = (v[:, :, None] @ change)[:, :, 0]
        G[:, :, 0, 0] = np.where(a == A[:, :, 0, 0], slope, 0.0)
    return value, G[:, 0], levels[-1][2]


def expected_log_prob(K: FloatArray, masses: list[tuple[FloatArray, FloatArray]]) -> tuple[float, FloatArray]:
    """Sum of P(Y) log P_K(Y) over all subsets Y, and its gradient with respect to the symmetric K.

    `masses` are the `branch_masses` of P. All levels together hold some six numbers a subset.
    """
    n = len(K)
    levels, value = [K[None]], 0.0
    for taken, left in masses:
        A = levels[-1]
        chance, rest, v = chances(A), A[:, 1:, 1:], A[:, 1:, 0]
        value += float(taken @ np.log(chance) + left @ np.log1p(-chance))
        outer = v[:, :, None] * v[:, None, :]
        levels.append(
            np.concatenate([rest + outer / (1 - chance)[:, None, None], rest - outer / chance[:, None, None]])
        )
    G = np.zeros((1 << n, 0, 0))
    for i in range(n - 1, -1, -1):
        A, (taken, left) = levels[i], masses[i]
        chance, v = chances(A), A[:, 1:, 0]
        without, within = G[: 1 << i], G[1 << i :]
        r_in, r_out = v / chance[:, None], v / (1 - chance)[:, None]
        to_in, to_out = np.einsum("sjk,sk->sj", within, r_in), np.einsum("sjk,sk->sj", without, r_out)
        slope = taken / chance - left / (1 - chance)
        slope += np.einsum("sj,sj->s", to_in, r_in) + np.einsum("sj,sj->s", to_out, r_out)
        G = np.empty_like(A)
        G[:, 1:, 1:] = without + within
        G[:, 1:, 0] = G[:, 0, 1:] = to_out - to_in
        G[:, 0, 0] = np.where(chance == A[:, 0, 0], slope, 0.0)
    return value, G[0]


def branch_masses(p: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """For each item i, and each of the 2^i choices on the items before: P(these, and i in Y), P(these, and i not)."""
    out = []
    while p.size > 1:  # the last item first: the upper half has it, and is then added to the lower
        half = p.size // 2
        out.append((p[half:], p[:half]))
        p = p[:half] + p[half:]
    return out[::-1]


def chances(A: FloatArray) -> FloatArray:
    """First diagonal entries, kept off 0 and 1."""
    return np.clip(A[..., 0, 0], LEAST, 1 - LEAST)


def inverses(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """1 / P(out) and 1 / P(in) of the first item; 0 for a branch that is impossible, whose matrices do not count."""
    a = A[..., :1, :1]
    inside = np.clip(a, LEAST, 1 - LEAST)
    return np.where(a < 1 - LEAST, 1 / (1 - inside), 0.0), np.where(a > LEAST, 1 / inside, 0.0)


def binary_entropy(p: FloatArray) -> FloatArray:
    """Entropy of a coin, in nats, for 0 < p < 1."""
    return np.asarray(-p * np.log(p) - (1 - p) * np.log1p(-p))
