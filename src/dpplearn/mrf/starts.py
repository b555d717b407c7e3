"""Where to start looking for the closest DPP, the closest MRF, and the best DPP of a field."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import linalg

from dpplearn._checks import FloatArray
from dpplearn.mrf.enumeration import inclusion_probs, items_in
from dpplearn.mrf.messages import belief_propagation

EDGE = 1e-3  # eigenvalues of a start stay this far from 0 and, for K, from 1


def dpp_starts(p: FloatArray, count: int, rng: np.random.Generator) -> list[FloatArray]:
    """`count` positive definite likelihood kernels, of a target with probabilities p.

    From its marginals, from its small sets, nearly independent items (exactly so would be a stationary point), then
    random changes of the first two.
    """
    n = items_in(p)
    included = inclusion_probs(p)
    known = [from_marginals(included)]
    if p[0] > 1e-100:  # products of three ratios to it stay finite
        known.append(from_small_sets(p))
    marginals = np.clip(included[np.left_shift(1, np.arange(n))], EDGE, 1 - EDGE)
    r = np.sqrt(marginals / (1 - marginals))
    noise = 0.1 * rng.standard_normal((n, n))
    starts = [*known, r[:, None] * unit_diagonal(np.eye(n) + noise + noise.T) * r]
    while len(starts) < count:
        L = known[len(starts) % len(known)]
        q = np.sqrt(L.diagonal())
        flips = np.triu(np.where(rng.random((n, n)) < 0.3, -1.0, 1.0), 1)
        noise = np.triu(0.3 * rng.standard_normal((n, n)), 1)
        S = L / q[:, None] / q * (flips + flips.T + np.eye(n)) + noise + noise.T
        starts.append(q[:, None] * unit_diagonal(S) * q)
    return starts[:count]


def mrf_starts(p: FloatArray, repulsive: bool) -> list[FloatArray]:
    """Weights (w_i, then w_ij for i < j) of independent items, and, exact for an MRF, those of sets of at most two."""
    n = items_in(p)
    bits = np.left_shift(1, np.arange(n))
    rows, columns = np.triu_indices(n, 1)
    marginals = np.clip(inclusion_probs(p)[bits], 1e-6, 1 - 1e-6)
    starts = [np.concatenate([np.log(marginals / (1 - marginals)), np.zeros(rows.size)])]
    if p[0] > 0.0 and p[bits].min() > 0.0:
        with np.errstate(divide="ignore"):
            one, two = (np.log(p[sets]) - np.log(p[0]) for sets in (bits, bits[rows] | bits[columns]))
        pairs = np.where(np.isfinite(two), two - one[rows] - one[columns], -30.0)
        starts.append(np.concatenate([one, np.minimum(pairs, 0.0) if repulsive else pairs]))
    return starts


def from_marginals(included: FloatArray) -> FloatArray:
    """L of the K with K_ii = P_i and K_ij^2 = P_i P_j - P_ij, signs by P_ijk; eigenvalues forced into (0, 1).

    For a target that is a DPP this is its K, but where triples do not tell all signs.
    """
    return likelihood_kernel(inside(from_minors(included)))


def from_small_sets(p: FloatArray) -> FloatArray:
    """L with L_ii = P({i}) / P({}) and L_ij^2 = L_ii L_jj - P({i, j}) / P({}), signs by triples; made definite."""
    L = from_minors(p / p[0])
    q = np.sqrt(np.maximum(L.diagonal(), EDGE**2))
    return np.asarray(q[:, None] * unit_diagonal(L / q[:, None] / q) * q)


def from_minors(minor: FloatArray) -> FloatArray:
    """The symmetric matrix with these principal minors of one, two and (by its signs) three rows, by position."""
    n = items_in(minor)
    bits = np.left_shift(1, np.arange(n))
    d = minor[bits]
    A = np.sqrt(np.maximum(np.outer(d, d) - minor[bits[:, None] | bits], 0.0))  # magnitudes
    np.fill_diagonal(A, 0.0)
    three = minor[bits[:, None, None] | bits[:, None] | bits]
    squares = d[:, None, None] * A**2
    # det of three rows = d_i d_j d_k + 2 A_ij A_jk A_ik - d_i A_jk^2 - d_j A_ik^2 - d_k A_ij^2
    product = three - np.einsum("i,j,k->ijk", d, d, d)
    product += squares + squares.transpose(1, 0, 2) + squares.transpose(2, 1, 0)
    signs = np.zeros((n, n))
    # the largest entries first; each takes the sign that the triangles with two signs agree on, + where there are none
    for i, j in sorted(combinations(range(n), 2), key=lambda pair: -A[pair]):
        vote = float((product[i, j] * signs[i] * signs[j]).sum())
        signs[i, j] = signs[j, i] = -1.0 if vote < 0.0 else 1.0
    out = signs * A
    np.fill_diagonal(out, d)
    return out


def tree_signs(L: FloatArray) -> FloatArray:
    """Signs s of the items, so that s_i L_ij s_j >= 0 along the tree of the largest similarities; no minor changes."""
    q = np.sqrt(np.maximum(L.diagonal(), np.finfo(np.float64).tiny))
    S = np.abs(L) / q[:, None] / q
    signs = np.zeros(len(L))
    signs[0] = 1.0
    while not signs.all():
        reach = np.where((signs != 0.0)[:, None] & (signs == 0.0), S, -1.0)
        i, j = np.unravel_index(int(reach.argmax()), S.shape)
        signs[j] = signs[i] if L[i, j] >= 0.0 else -signs[i]
    return signs


def unit_diagonal(S: FloatArray) -> FloatArray:
    """A positive definite matrix with ones on the diagonal, near the symmetric S."""
    lam, V = linalg.eigh(S)
    near = (V * np.maximum(lam, EDGE * max(lam[-1], 1.0))) @ V.T
    r = np.sqrt(near.diagonal())
    return np.asarray(near / r[:, None] / r)


def field_starts(w: FloatArray, W: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """Marginal kernels: with the pairs of belief propagation; with the factors of pairs; for few items two more.

    K_ij K_ji = P_i P_j - P_ij; where a pair attracts, K_ij = -K_ji. From factors, L_ii = exp(w_i) and
    L_ij L_ji = exp(w_i + w_j) (1 - exp(w_ij)). Items that do not depend on one another would be a stationary point.
    """
    pairs = belief_propagation(w, W).pairs
    d = np.clip(pairs.diagonal(), EDGE, 1 - EDGE)
    known = [inside(skewed(np.outer(d, d) - pairs) + np.diag(d))]
    quality = np.exp(np.clip(w, -15.0, 15.0) / 2)
    S = skewed(1.0 - np.exp(np.minimum(W, 5.0)))
    L = quality[:, None] * (S + np.eye(w.size)) * quality
    lam, V = linalg.eigh((L + L.T) / 2)
    L = (V * np.maximum(lam, EDGE)) @ V.T + (L - L.T) / 2
    known.append(inside(np.eye(w.size) - linalg.inv(np.eye(w.size) + L)))
    if w.size <= 14:
        for K in known[:2]:
            noise = rng.standard_normal(K.shape) * 0.1
            signs = np.where(np.triu(rng.random(K.shape) < 0.3, 1), -1.0, 1.0)
            known.append(inside(K * signs * signs.T + noise + noise.T))
    return known


def loosely(d: FloatArray, W: FloatArray) -> FloatArray:
    """K of items with marginals d that depend on each other a little: not at all would be a stationary point."""
    spread = np.sqrt(d * (1 - d))
    return np.diag(d) + 0.1 * spread[:, None] * skewed(1.0 - np.exp(np.minimum(W, 5.0))) * spread / len(d)


def skewed(squares: FloatArray) -> FloatArray:
    """A_ij A_ji = squares_ij: symmetric where it is positive, skew where it is negative; 0 on the diagonal."""
    root = np.sqrt(np.abs(squares))
    A = np.where(squares >= 0.0, root, np.triu(root) - np.tril(root))
    np.fill_diagonal(A, 0.0)
    return A


def inside(K: FloatArray, edge: float = EDGE) -> FloatArray:
    """K with the eigenvalues of its symmetric part kept off 0 and 1."""
    p, V = linalg.eigh((K + K.T) / 2)
    return np.asarray((V * np.clip(p, edge, 1 - edge)) @ V.T + (K - K.T) / 2)


def likelihood_kernel(K: FloatArray) -> FloatArray:
    """L = (I - K)^-1 - I."""
    return np.asarray(linalg.inv(np.eye(len(K)) - K)) - np.eye(len(K))
