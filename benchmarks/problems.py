"""Makes the kernels that several benchmarks share."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import brentq


def text_like_features(n: int, rng: np.random.Generator, *, vocabulary: int = 3000, words: int = 20, rho: float = 0.3):
    """Sparse, non-negative rows of length 1 like tf-idf, with a constant feature rho."""
    frequency = 1.0 / np.arange(1, vocabulary + 1) ** 0.8  # a power of the word's rank
    columns = rng.choice(vocabulary, size=(n, words), p=frequency / frequency.sum())
    counts = sparse.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), columns.ravel())), (n, vocabulary))
    counts.sum_duplicates()
    documents = np.bincount(counts.indices, minlength=vocabulary)
    idf = np.log((1 + n) / (1 + documents)) + 1e-3
    phi = counts @ sparse.diags_array(idf)
    phi = sparse.diags_array(1 / np.sqrt(phi.multiply(phi).sum(axis=1))) @ phi
    return sparse.csr_array(sparse.hstack([phi, np.full((n, 1), rho)]) / np.sqrt(1 + rho**2))


def scaled_to(B, expected_size: float):
    """B times the factor that makes E|Y| = expected_size for L = B B^T."""
    gram = B.T @ B if B.shape[1] < B.shape[0] else B @ B.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    lam = np.maximum(np.linalg.eigvalsh(gram), 0.0)

    def excess(s: float) -> float:
        x = np.exp(s) * lam
        return float((x / (1 + x)).sum() - expected_size)

    return B * np.exp(brentq(excess, -60, 60) / 2)


def text_kernel(n: int, expected_size: float, seed: int = 0) -> np.ndarray:
    """L = B B^T of text-like features with log-normal quality; of full rank if the vocabulary allows it."""
    rng = np.random.default_rng(seed)
    phi = text_like_features(n, rng).toarray()
    B = scaled_to(np.exp(0.5 * rng.standard_normal(n))[:, None] * phi, expected_size)
    return B @ B.T


def low_rank_features(n: int, rank: int, expected_size: float, seed: int = 0) -> np.ndarray:
    """Non-negative B of the given rank, with a constant feature and log-normal quality."""
    rng = np.random.default_rng(seed)
    phi = rng.random((n, rank - 1)) * (rng.random((n, rank - 1)) < 0.2) + 1e-3
    phi /= np.linalg.norm(phi, axis=1, keepdims=True)
    phi = np.hstack([phi, np.full((n, 1), 0.3)]) / np.sqrt(1 + 0.3**2)
    return scaled_to(np.exp(0.5 * rng.standard_normal(n))[:, None] * phi, expected_size)
