"""Mean field, loopy belief propagation and the tree-reweighted upper bound for binary pairwise fields."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import expit, logit

from dpplearn._checks import FloatArray
from dpplearn.mrf.branches import binary_entropy
from dpplearn.mrf.surrogate import expected_score, information_of

INSIDE = 1e-12  # beliefs stay this far from 0 and 1


class Beliefs(NamedTuple):
    """A value of log Z, P(i and j in Y) with P(i in Y) on the diagonal, and whether the iteration came to rest."""

    log_z: float
    pairs: FloatArray
    converged: bool


def mean_field(w: FloatArray, W: FloatArray, tol: float = 1e-10, max_iter: int = 2000) -> Beliefs:
    """The independent items with the best lower bound, by coordinate ascent from several starts."""
    best = Beliefs(-np.inf, np.empty((0, 0)), False)
    for mu in (expit(w), np.full(w.size, 0.5), expit(w + W.sum(axis=1)), np.full(w.size, 1e-3)):
        p, change = mu.copy(), np.inf
        for _ in range(max_iter):
            before = p.copy()
            for i in range(w.size):
                p[i] = expit(w[i] + W[i] @ p)
            change = float(np.abs(p - before).max())
            if change < tol:
                break
        K = np.diag(np.clip(p, INSIDE, 1 - INSIDE))
        d = K.diagonal()
        value = expected_score(w, W, K)[0] + float(binary_entropy(d).sum())
        if value > best.log_z:
            pairs = np.outer(d, d)
            np.fill_diagonal(pairs, d)
            best = Beliefs(value, pairs, change < tol)
    return best


def belief_propagation(w: FloatArray, W: FloatArray) -> Beliefs:
    """Loopy belief propagation at its stable fixed points: the Bethe value, neither an upper nor a lower bound."""
    rho = (W != 0.0).astype(np.float64)
    starts = (np.clip(mean_field(w, W).pairs.diagonal(), 0.01, 0.99), np.full(w.size, 0.5))
    return max((best_beliefs(w, W, rho, b)[0] for b in starts), key=lambda found: found.log_z)


def tree_reweighted(w: FloatArray, W: FloatArray, steps: int = 30) -> Beliefs:
    """The upper bound of trees, minimized over their distribution.

    It starts from trees drawn in proportion to the product of |w_ij| of their edges, whose edge probabilities are the
    leverage scores |w_ij| R_ij of the matrix-tree theorem. The bound falls by I_ij where rho_ij rises, so that each
    step moves towards the spanning tree of most information (conditional gradient), and is kept if the bound falls.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    rho, size = leverage(np.abs(W)), 0.5
    best, information = best_beliefs(w, W, rho, np.full(w.size, 0.5), bound=True)
    for _ in range(steps):
        tree = minimum_spanning_tree(np.where(W != 0.0, -(information + 1e-9), 0.0)).toarray() != 0.0
        trial = (1 - size) * rho + size * (tree | tree.T)
        found, other = best_beliefs(w, W, trial, best.pairs.diagonal(), bound=True)
        if found.log_z < best.log_z:
            best, information, rho = found, other, trial
        else:
            size /= 2
    return best


def best_beliefs(
    w: FloatArray, W: FloatArray, rho: FloatArray, start: FloatArray, *, bound: bool = False
) -> tuple[Beliefs, FloatArray]:
    """The largest F(b) = sum w_i b_i + sum w_ij b_ij + sum H_i - sum rho_ij I_ij over beliefs; and the I_ij there.

    rho = 1 on the edges is the Bethe free energy, whose stationary points are the fixed points of loopy belief
    propagation. With the probabilities of edges under a distribution of spanning trees F is concave, and its maximum
    an upper bound on log Z (Wainwright, Jaakkola and Willsky, 2005). Given b_i and b_j the best b_ij is the root of a
    quadratic (Welling and Teh, 2001), so that only the b_i are sought, by L-BFGS on their logits. With `bound`, the
    value gains the most that a concave F can still rise, sum of max(g_i (1 - b_i), -g_i b_i) for its gradient g.
    """
    from scipy import optimize

    edge = rho > 0.0
    ratio = np.exp(np.minimum(np.divide(W, rho, out=np.zeros_like(W), where=edge), 600.0))

    def free(b: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        product = np.outer(b, b)
        Q = 1.0 + (ratio - 1.0) * np.add.outer(b, b)
        root = np.sqrt(np.maximum(Q**2 - 4 * (ratio - 1.0) * ratio * product, 0.0))
        # the one of two forms of the root that does not cancel
        with np.errstate(divide="ignore", invalid="ignore"):
            joint = np.where(Q > 0.0, 2 * ratio * product / (Q + root), (Q - root) / (2 * (ratio - 1.0)))
        joint = np.where(edge, joint, product)
        information, _, by_item = information_of(joint, b)
        information = np.where(edge, information, 0.0)
        np.fill_diagonal(joint, b)
        odds = np.log(b) - np.log1p(-b)
        value = w @ b + (np.triu(W * joint, 1) - np.triu(rho * information, 1)).sum() + binary_entropy(b).sum()
        return float(value), w - odds - np.where(edge, rho * by_item, 0.0).sum(axis=1), joint, information

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        b = np.clip(expit(x), INSIDE, 1 - INSIDE)
        value, g, _, _ = free(b)
        return -value, -g * b * (1 - b)

    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-13, "gtol": 1e-8}
    bounds = [(-27.0, 27.0)] * w.size
    result = optimize.minimize(loss, logit(start), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    b = np.clip(expit(result.x), INSIDE, 1 - INSIDE)
    value, g, joint, information = free(b)
    rise = float(np.maximum(g * (1 - b), -g * b).sum())
    return Beliefs(value + rise if bound else value, joint, rise < 1e-3), information


def leverage(weights: FloatArray) -> FloatArray:
    """P(edge in T) for spanning trees T drawn with probability proportional to the product of their edges' weights.

    The weight times the effective resistance of the edge, from the pseudo-inverse of the Laplacian (in every component
    of the graph by itself).
    """
    P = linalg.pinvh(np.diag(weights.sum(axis=1)) - weights)
    d = P.diagonal()
    return np.clip(np.where(weights > 0.0, weights * (d[:, None] + d - 2 * P), 0.0), 0.0, 1.0)
