"""Where solvers begin: pairs of items that come together more often than chance attract, those that come less repel."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh

from dpplearn._checks import FloatArray, IntArray
from dpplearn.baskets.factors import KernelFactors
from dpplearn.baskets.likelihood import DENSE, BasketShard

PSEUDO = 5.0  # baskets of chance added to the number of each pair
START_LENGTH = 0.7  # length of U's rows beside the identity; at 0 their gradient would be 0


def start_factors(
    baskets: BasketShard, n: int, symmetric_rank: int, skew_rank: int, identity: bool, seed: int
) -> KernelFactors:
    """Factors from counts of items and of pairs.

    With the lift l of a pair, its probability over that of independent items: where items attract, the skew part gets
    sqrt(l - 1) with a random sign, by which sets of four and more differ and no smaller ones; where l < 1, the
    symmetric part gets sqrt(1 - l). The factors are those of their largest eigenvalues.
    """
    rng = np.random.default_rng(seed)
    T = baskets.total
    counts = baskets.item_counts(n)
    p = np.clip(counts / T, 0.5 / (T + 1), 1 - 0.5 / (T + 1))
    log_q = np.log(p / (1 - p)) / 2
    pairs = count_pairs(baskets, n)
    U = repulsion(pairs, counts, T, symmetric_rank, rng)
    B = np.empty((n, 0))
    if skew_rank:
        U *= START_LENGTH if identity else 1.0
        log_q = log_q - np.log1p(START_LENGTH**2 if identity else 0.0) / 2
        B, size = attraction(pairs, counts, T, skew_rank, rng)
        log_q = log_q - np.log1p(size) / 4  # attraction adds to the probability of every set
    return KernelFactors(np.column_stack([log_q, U, B]), symmetric_rank, skew_rank, identity)


def count_pairs(baskets: BasketShard, n: int, among: IntArray | None = None) -> sparse.csr_array:
    """In how many baskets each pair of items is, or each pair `among` some; 0 on the diagonal."""
    sizes, root = np.diff(baskets.indptr), np.sqrt(baskets.weights)
    X = sparse.csr_array((np.repeat(root, sizes), baskets.indices, baskets.indptr), shape=(root.size, n))
    if among is not None and among.size < n:
        X = sparse.csr_array(X @ sparse.diags_array(np.isin(np.arange(n), among).astype(np.float64)))
        X.eliminate_zeros()
    pairs = sparse.csr_array(X.T @ X)
    pairs.setdiag(0.0)
    pairs.eliminate_zeros()
    return pairs


def attraction(
    pairs: sparse.csr_array, counts: FloatArray, T: float, columns: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """B = [X Y] with X Y^T - Y X^T near the wanted skew part A, and the mean of A_ij^2 in each row."""
    n = counts.size
    upper = sparse.triu(pairs, 1, format="coo")
    i, j = upper.coords
    lift = (upper.data + PSEUDO) / (counts[i] * counts[j] / T + PSEUDO)
    # a matrix of signs: a pair has the same one whichever baskets are held out
    signs = rng.choice([-1.0, 1.0], (n, n))[i, j] if n <= DENSE else rng.choice([-1.0, 1.0], lift.size)
    a = np.sqrt(np.maximum(lift - 1, 0.0)) * signs
    A = sparse.csr_array((np.append(a, -a), (np.append(i, j), np.append(j, i))), shape=(n, n))
    h = columns // 2
    noise = 0.02 * rng.normal(size=(n, 2 * h))
    v0 = rng.normal(size=n) + 0j
    if A.nnz == 0:
        return noise, np.zeros(n)
    # i A is Hermitian: an eigenvector x + i y of lam > 0 adds 2 lam (y x^T - x y^T) to A
    if n <= DENSE:
        lam, Q = linalg.eigh(1j * A.toarray(), subset_by_index=[n - h, n - 1], check_finite=False)
    else:
        lam, Q = eigsh(sparse.csr_array(1j * A), k=h, which="LA", v0=v0, tol=1e-2, maxiter=300)
    scale = np.sqrt(2 * np.maximum(lam, 0.0))
    return np.hstack([scale * Q.imag, scale * Q.real]) + noise, np.asarray((A.multiply(A)).sum(axis=1)).ravel() / n


def repulsion(
    pairs: sparse.csr_array, counts: FloatArray, T: float, columns: int, rng: np.random.Generator
) -> FloatArray:
    """Rows of length 1 with the wanted products; random ones for catalogues whose n x n array is too large."""
    n = counts.size
    if n > DENSE:
        return rng.normal(size=(n, columns)) / np.sqrt(columns)
    lift = (pairs.toarray() + PSEUDO) / (np.outer(counts, counts) / T + PSEUDO)
    signs = np.triu(rng.choice([-1.0, 1.0], (n, n)), 1)
    S = np.sqrt(np.maximum(1 - lift, 0.0)) * (signs + signs.T)
    S.flat[:: n + 1] = 1.0
    lam, Q = linalg.eigh(S, check_finite=False)
    U = Q[:, ::-1][:, :columns] * np.sqrt(np.maximum(lam[::-1][:columns], 0.0))
    if columns > n:
        U = np.hstack([U, np.zeros((n, columns - n))])
    if columns < n:  # what the other columns told apart must not be nearly parallel: some baskets would be impossible
        U = U / np.maximum(np.sqrt((U**2).sum(axis=1)), 0.05)[:, None]
        U += rng.normal(size=U.shape) / np.sqrt(columns)
    return np.asarray(U / np.sqrt((U**2).sum(axis=1))[:, None])
