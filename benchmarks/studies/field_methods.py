"""Other methods for pairwise fields, for the study: belief propagation, the tree-reweighted bound, Gibbs chains."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import expit, logit

from dpplearn._checks import FloatArray
from dpplearn.mrf.chains import mean_field, sweep
from dpplearn.mrf.enumeration import Rows

FAR = 27.0  # logits of beliefs stay this far from infinity


class Beliefs(NamedTuple):
    """log Z, P(i and j in Y) with P(i in Y) on the diagonal, and whether the iteration converged."""

    log_z: float
    pairs: FloatArray
    converged: bool


def independent(p: FloatArray) -> FloatArray:
    """P(i and j in Y) of independent items, with P(i in Y) on the diagonal."""
    pairs = np.outer(p, p)
    np.fill_diagonal(pairs, p)
    return pairs


def belief_propagation(w: FloatArray, W: FloatArray) -> Beliefs:
    """Loopy belief propagation at its best stable fixed point; the Bethe value is no bound on log Z."""
    rho = (W != 0.0).astype(np.float64)
    starts = (np.clip(mean_field(w, W)[1], 0.01, 0.99), np.full(w.size, 0.5))
    return max((best_beliefs(w, W, rho, b)[0] for b in starts), key=lambda beliefs: beliefs.log_z)


def tree_reweighted(w: FloatArray, W: FloatArray, steps: int = 30) -> Beliefs:
    """The upper bound of trees, minimized over their distribution.

    The first trees are drawn in proportion to the product of |w_ij| of their edges; by the matrix-tree theorem, their
    edge probabilities are the leverage scores |w_ij| R_ij. (Weights are at most a thousandfold apart, and probabilities
    are lowered by a factor 1 - 1e-8, so that rounding leaves them those of random forests.) The bound falls by I_ij
    as rho_ij rises, so each step moves towards the spanning tree with the most information (conditional gradient),
    and is kept if the bound falls.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    weights = np.maximum(np.abs(W), 1e-3 * np.abs(W).max()) * (W != 0.0)
    rho, size = (1 - 1e-8) * leverage(weights), 0.5
    starts = np.full(w.size, 0.5), mean_field(w, W)[1]
    best, shared = min((best_beliefs(w, W, rho, b, bound=True) for b in starts), key=lambda pair: pair[0].log_z)
    for _ in range(steps):
        tree = minimum_spanning_tree(np.where(W != 0.0, -(shared + 1e-9), 0.0)).toarray() != 0.0
        trial = (1 - size) * rho + size * (tree | tree.T)
        beliefs, information_there = best_beliefs(w, W, trial, best.pairs.diagonal(), bound=True)
        if beliefs.log_z < best.log_z:
            best, shared, rho = beliefs, information_there, trial
        else:
            size /= 2
    if not best.converged:
        warnings.warn(
            "The search for the beliefs of trees did not converge: the upper bound holds, but may be far above log Z, "
            'and the marginals are rough. Compare them with "ais".',
            RuntimeWarning,
            stacklevel=3,
        )
    return best


def best_beliefs(
    w: FloatArray, W: FloatArray, rho: FloatArray, start: FloatArray, *, bound: bool = False
) -> tuple[Beliefs, FloatArray]:
    """Maximize F(b) = sum w_i b_i + sum w_ij b_ij + sum H_i - sum rho_ij I_ij over beliefs; also return the I_ij.

    With rho = 1 on the edges, F is the Bethe free energy, whose stationary points are the fixed points of loopy belief
    propagation. If rho has the edge probabilities of random spanning trees, F is concave, and its maximum is an upper
    bound on log Z (Wainwright, Jaakkola and Willsky, 2005). Given b_i and b_j, the best b_ij has the odds ratio
    exp(w_ij / rho_ij) (Welling and Teh, 2001), so that L-BFGS need only find the logits x_i of the b_i.

    With these b_ij, score(y) = base + g . y + sum log b_i(y_i) + sum rho_ij log(b_ij / b_i b_j)(y_i, y_j) for every y,
    where g is the gradient of F, and F = base + g . b. With `bound`, the value is base + sum max(g_i, 0), never
    below log Z, even without convergence: for trees, e^(the two sums) adds up to at most 1 (Jensen). If rounding makes
    the marginals of b_ij up to c_ij times too large, it adds up to at most the product of c_ij^rho_ij.
    """
    from scipy import optimize

    n, (i, j) = w.size, np.nonzero(np.triu(rho, 1))
    r = rho[i, j]
    a = W[i, j] / r

    def free(x: FloatArray) -> tuple[float, FloatArray, tuple[FloatArray, ...]]:
        no, table = -np.logaddexp(0.0, x), pair_logs(x[i], x[j], a)
        by_i, by_j = r * (table[1] - table[3] - x[i]), r * (table[2] - table[3] - x[j])
        g = w - x - np.bincount(i, by_i, n) - np.bincount(j, by_j, n)
        return float(-no.sum() - r @ (table[3] - no[i] - no[j])), g, table

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        b, (base, g, _) = expit(x), free(x)
        return -(base + g @ b), -g * b * expit(-x)

    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-13, "gtol": 1e-8}
    bounds = [(-FAR, FAR)] * n
    x, g, rise = logit(start), np.zeros(n), np.inf
    for _ in range(5):  # the gradient fades if a logit went too far; a step x + g, as in message passing, helps
        x = np.clip(x + g, -FAR, FAR)
        x = optimize.minimize(loss, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        b, (base, g, table) = expit(x), free(x)
        rise = float((np.maximum(g, 0.0) - g * b).sum())
        if rise < 1e-3:
            break
    value, both, first, second, neither = base + g @ b, *table
    yes, no = -np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)
    if bound:
        over = [np.logaddexp(both, first) - yes[i], np.logaddexp(second, neither) - no[i]]
        over += [np.logaddexp(both, second) - yes[j], np.logaddexp(first, neither) - no[j]]
        value += rise + r @ np.maximum(np.max(over, axis=0), 0.0)
    joint, shared = independent(b), np.zeros((n, n))
    joint[i, j] = joint[j, i] = np.exp(both)
    shared[i, j] = shared[j, i] = information(table, (yes[i], no[i]), (yes[j], no[j]))
    return Beliefs(float(value), joint, rise < 1e-3), shared


def pair_logs(x: FloatArray, z: FloatArray, a: FloatArray) -> tuple[FloatArray, ...]:
    """Logs of P(both), P(first alone), P(second alone), P(neither); marginals expit(x), expit(z), odds ratio exp(a).

    For a <= 0, P(both) = p r - d and P(first alone) = p (1 - r) + d, where d >= 0 is a root of a quadratic; for a > 0,
    use the complement of the second item. This subtracts no nearly equal numbers, and no cell is 0.
    """
    flip, t = a > 0.0, -np.abs(a)
    z = np.where(flip, -z, z)
    p, p_, r, r_, e, m = expit(x), expit(-x), expit(z), expit(-z), np.exp(t), -np.expm1(t)
    Q = np.where(p < 0.5, r_ - p, p_ - r) + e * (p + r)  # 1 - m (p + r)
    with np.errstate(divide="ignore"):  # m = 0 has Q = 1
        log_pr, log_m, log_Q = np.log(p * r), np.log(m), np.log(np.abs(Q))
        root = np.logaddexp(2 * log_Q, log_m + t + log_pr + np.log(4.0)) / 2  # log sqrt(Q^2 + 4 m e^t p r)
        more = np.logaddexp(log_Q, root) - np.log(2.0)
        both = np.where(Q >= 0.0, log_pr + t - more, more - log_m)
    d = 2 * m * p * p_ * r * r_ / (p * r + p_ * r_ + e * (p * r_ + p_ * r) + np.exp(root))
    first, second = np.log(p * r_ + d), np.log(p_ * r + d)
    neither = t + first + second - both
    return tuple(np.where(flip, (first, both, neither, second), (both, first, second, neither)))


def leverage(weights: FloatArray) -> FloatArray:
    """P(edge in T) for spanning trees T drawn in proportion to the product of their edges' weights.

    This is the edge's weight times its effective resistance, from the pseudo-inverse of the Laplacian, in each
    component of the graph.
    """
    P = linalg.pinvh(np.diag(weights.sum(axis=1)) - weights)
    d = P.diagonal()
    return np.clip(np.where(weights > 0.0, weights * (d[:, None] + d - 2 * P), 0.0), 0.0, 1.0)


def information(table: tuple[FloatArray, ...], first: tuple, second: tuple) -> FloatArray:
    """KL(P_ij || P_i P_j), from the logs of the four cells of P_ij, and of P and 1 - P of both items."""
    products = first[0] + second[0], first[0] + second[1], first[1] + second[0], first[1] + second[1]
    return np.asarray(sum(np.exp(cell) * (cell - product) for cell, product in zip(table, products, strict=True)))


def gibbs(w: FloatArray, W: FloatArray, chains: int, sweeps: int, rng: np.random.Generator) -> FloatArray:
    """P(i and j) from Gibbs chains with random starts, by five states from the second half of each chain's sweeps."""
    Y = rng.random((chains, w.size)) < 0.5
    kept = []
    for part in range(10):
        Y = Y.copy()
        sweep(w, W, w, np.ones(max(sweeps // 10, 1) + 1), Y, rng)
        if part >= 5:
            kept.append(Y)
    return conditional_moments(w, W, np.concatenate(kept))


def conditional_moments(w: FloatArray, W: FloatArray, Y: Rows) -> FloatArray:
    """P(i and j) from samples of the field: the mean of y_i P(y_j = 1 | the rest), which varies less than y_i y_j."""
    rows = Y.astype(np.float64)
    chance = expit(w + rows @ W)
    pairs = rows.T @ chance / len(Y)
    pairs = (pairs + pairs.T) / 2
    np.fill_diagonal(pairs, chance.mean(axis=0))
    return np.asarray(pairs)
