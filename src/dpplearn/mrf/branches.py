"""Entropies of the choices on a few items, and their gradient with respect to K, down both branches of each choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray

LEAST = 1e-15  # a conditional probability below this is rounding: constant there, so that a line search steps back


class Entropies(NamedTuple):
    """Of B blocks of m items: the sum of entropies, its gradient (B, m, m), P(last in Y | the others) (B, 2^(m-1))."""

    value: float
    gradient: FloatArray
    chances: FloatArray


def conditional_entropies(blocks: FloatArray, free: int) -> Entropies:
    """Sum over the blocks of H(last `free` items | those before); blocks (B, m, m) are principal ones of any K.

    Item by item: given the choices before, the first entry a of what the block has become is the chance that the item
    is in. The rest loses v u / a with the item and gains v u / (1 - a) without it (v its column, u its row). Level t
    holds 2^t matrices of m - t rows and their probabilities; the gradient goes the same way back.
    """
    m = blocks.shape[1]
    levels = [(blocks[:, None], np.ones((len(blocks), 1)))]
    value = 0.0
    for t in range(m):
        A, mass = levels[t]
        a = chances(A)
        if t >= m - free:
            value += float((mass * binary_entropy(a)).sum())
        if t < m - 1:
            outer = A[:, :, 1:, :1] * A[:, :, :1, 1:]
            by_out, by_in = inverses(A)
            rest = A[:, :, 1:, 1:]
            matrices = np.concatenate([rest + outer * by_out, rest - outer * by_in], axis=1)
            levels.append((matrices, np.concatenate([mass * (1 - a), mass * a], axis=1)))
    G, g = np.zeros((len(blocks), 1 << m, 0, 0)), np.zeros((len(blocks), 1 << m))
    for t in range(m - 1, -1, -1):
        A, mass = levels[t]
        a = chances(A)
        states = 1 << t
        G_out, G_in, g_out, g_in = G[:, :states], G[:, states:], g[:, :states], g[:, states:]
        slope = mass * (g_in - g_out)  # with respect to a
        g = a * g_in + (1 - a) * g_out  # with respect to the mass
        if t >= m - free:
            slope += mass * np.log((1 - a) / a)
            g += binary_entropy(a)
        both = np.empty_like(A)
        if t < m - 1:
            v, u = A[:, :, 1:, 0], A[:, :, 0, 1:]
            by_out, by_in = inverses(A)
            change = G_out * by_out - G_in * by_in  # d / d(v u)
            by_row = (change @ u[..., None])[..., 0]
            both[:, :, 1:, 1:] = G_out + G_in
            both[:, :, 1:, 0] = by_row
            both[:, :, 0, 1:] = (v[:, :, None] @ change)[:, :, 0]
            squares = G_out * by_out**2 + G_in * by_in**2
            slope += ((v[:, :, None] @ squares)[:, :, 0] * u).sum(axis=-1)
        both[:, :, 0, 0] = np.where(a == A[:, :, 0, 0], slope, 0.0)
        G = both
    return Entropies(value, G[:, 0], chances(levels[-1][0]))


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
