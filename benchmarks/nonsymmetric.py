"""Compares sampling from a nonsymmetric DPP with elimination, item by item, in plain numpy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from benchmarks.timing import alternate, main
from dpplearn import NonsymmetricDPP
from dpplearn._checks import FloatArray

TARGET = 50.0


def eliminate(Z: FloatArray, W: FloatArray, rng: np.random.Generator) -> list[int]:
    """One sample from K = Z W Z^T in O(n d^2): Gartrell et al. (2021), after Poulson (2020)."""
    W, chosen = W.copy(), []
    for i, z in enumerate(Z):
        left, right = W @ z, z @ W
        p = z @ left
        if rng.random() < p:
            chosen.append(i)
        else:
            p -= 1.0
        W -= np.outer(left, right / p)
    return chosen


def problem(n: int, r: int, s: int, size: float) -> NonsymmetricDPP:
    """A random kernel of rank r + s, scaled so that E|Y| = size; for s = 0, its rank is r and B = V."""
    rng = np.random.default_rng(0)
    V = rng.standard_normal((n, r)) * np.exp(0.5 * rng.standard_normal((n, 1)))
    B = rng.standard_normal((n, s)) if s else V
    D = rng.standard_normal((B.shape[1], B.shape[1])) / np.sqrt(B.shape[1])

    def scaled(x: float) -> NonsymmetricDPP:
        return NonsymmetricDPP(np.exp(x) * V, np.exp(x) * B, D)

    return scaled(brentq(lambda x: scaled(x).expected_size - size, -20.0, 5.0, xtol=1e-6))


def case(n: int, r: int, s: int, size: float, repeats: int) -> dict:
    dpp = problem(n, r, s, size)
    Z = np.hstack([dpp.V, dpp.B]) if s else dpp.V
    C = np.eye(r) + dpp.D - dpp.D.T
    if s:
        C = np.block([[np.eye(r), np.zeros((r, s))], [np.zeros((s, r)), dpp.D - dpp.D.T]])
    W = C @ np.linalg.inv(np.eye(len(C)) + Z.T @ Z @ C)
    rng, count = np.random.default_rng(0), max(int(200 / size), 2)
    times = alternate(
        lambda: dpp.sample(count, rng=0, n_jobs=1), lambda: eliminate(Z, W, rng), repeats, ours_count=count
    )
    name = f"n = {n:,}, rank {r + s}{'' if s else ' (B = V)'}, E|Y| = {size:g}, one core"
    row = {"case": name, "peer": "elimination in numpy, O(n d²) a sample", **times}
    return row | ({"target": TARGET} if size <= 10 else {})


def run(quick: bool = False) -> dict:
    n, repeats = (1000, 2) if quick else (10_000, 5)
    cases = [(50, 50, 3), (50, 50, 10), (50, 50, 30), (50, 50, 80), (100, 0, 3), (100, 0, 10), (100, 100, 10)]
    rows = [case(n, r, s, size, repeats) for r, s, size in (cases[:2] if quick else cases)]
    notes = [
        "`sample` goes from one chosen item to the next. Its preparation, once for each model (0.3 s at rank 100), is "
        "not counted.",
        "A sample of k items costs k² d², for any n, so that the gain is smallest where k is near the rank.",
    ]
    return {"name": "nonsymmetric", "title": "Samples of a nonsymmetric DPP", "rows": rows, "notes": notes}


if __name__ == "__main__":
    main(run)
