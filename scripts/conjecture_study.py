"""How close a DPP comes to random repulsive MRFs of 3 to 10 items: the conjecture of section 3 (docs/mrf.md).

For each number of items, strength and kind of repulsion, ten MRFs with seeded weights; for each the closest DPP, and
how much the similarities that a DPP would need violate transitivity. Some twenty minutes on two cores. The figure
`conjecture` is drawn from what it writes.
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from dpplearn._io.atomic import replace_file
from dpplearn.mrf import PairwiseMRF, fit_dpp_to, transitivity

OUT = Path(__file__).parent.parent / "src/dpplearn/plots/data/conjecture.json"
ITEMS = range(3, 11)
STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FIELDS = ("plain", "balanced")
KINDS = ("random", "groups", "across")
MEASURES = ("divergence", "missed", "violation", "positive")


def pair_weights(kind: str, n: int, strength: float, rng: np.random.Generator) -> np.ndarray:
    """w_ij of mean -strength over the pairs that repel.

    random: every pair, exponentially distributed. groups: the same for all pairs of a group of about three, none
    between groups (transitive). across: the same for all pairs across two halves, none inside (the least transitive).
    """
    if kind == "random":
        size = rng.exponential(size=(n, n))
    elif kind == "groups":
        group = rng.permutation(np.arange(n) % max(round(n / 3), 1))
        size = (group[:, None] == group).astype(float)
    else:
        half = rng.permutation(np.arange(n) % 2)
        size = (half[:, None] != half).astype(float)
    upper = np.triu(-strength * size, 1)
    return upper + upper.T


def make_mrf(field: str, kind: str, n: int, strength: float, rng: np.random.Generator) -> PairwiseMRF:
    """plain: w_i normal with deviation 1/2. balanced: minus half of all w_ij, so that every P_i is near 1/2."""
    W = pair_weights(kind, n, strength, rng)
    w = 0.5 * rng.standard_normal(n)
    return PairwiseMRF(w if field == "plain" else w - W.sum(axis=1) / 2, W)


def study(cell: tuple[str, str, int, float, int], starts: int = 6) -> dict[str, list[float]]:
    """The measures of all MRFs of one cell; more starts include those of fewer."""
    field, kind, n, strength, repeats = cell
    rows = []
    for repeat in range(repeats):
        seed = [FIELDS.index(field), KINDS.index(kind), n, STRENGTHS.index(strength), repeat]
        mrf = make_mrf(field, kind, n, strength, np.random.default_rng(seed))
        fit = fit_dpp_to(mrf, n_starts=starts, max_iter=5000, rng=repeat)
        p, joint = mrf.marginals, mrf.pair_probs()
        # KL(MRF || independent items): all the dependence there is
        dependence = float(-(p * np.log(p) + (1 - p) * np.log1p(-p)).sum() - mrf.entropy())
        deviation = np.sqrt(p * (1 - p))
        correlation = ((joint - np.outer(p, p)) / np.outer(deviation, deviation))[np.triu_indices(n, 1)]
        rows.append(
            (
                fit.divergence,
                fit.divergence / dependence,
                transitivity(mrf).mean_angle_violation,
                float(np.maximum(correlation, 0.0).mean()),
            )
        )
    return {name: [short(x) for x in column] for name, column in zip(MEASURES, zip(*rows, strict=True), strict=True)}


def short(x: float) -> float:
    """Three digits, and 0 for what is rounding: the file stays small."""
    return 0.0 if x < 1e-6 else float(f"{x:.3g}")


def summarize(cells: list[dict]) -> dict:
    """Rank correlations over all random MRFs, and the mean of those among MRFs of the same N and strength."""
    out = {}
    for field in FIELDS:
        chosen = [c for c in cells if c["field"] == field and c["kind"] == "random"]
        for cause in ("violation", "positive"):
            pooled = [np.concatenate([c[name] for c in chosen]) for name in ("missed", cause)]
            within = [rank_correlation(c["missed"], c[cause]) for c in chosen if c["strength"] >= 1.0]
            out[f"{field}, missed share against {cause}"] = {
                "all": round(rank_correlation(*pooled), 3),
                "same N and strength": round(float(np.nanmean(within)), 3),
            }
        strength = np.concatenate([np.full(len(c["missed"]), c["strength"]) for c in chosen])
        out[f"{field}, missed share against strength"] = {
            "all": round(rank_correlation(np.concatenate([c["missed"] for c in chosen]), strength), 3)
        }
    return out


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's; not a number where one of the two is constant."""
    return float("nan") if np.ptp(x) == 0 or np.ptp(y) == 0 else float(spearmanr(x, y).statistic)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="JSON file of the figures")
    parser.add_argument("--repeats", type=int, default=10, help="MRFs of each kind, number of items and strength")
    parser.add_argument("--starts", type=int, default=6, help="starts of each fit")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    grid = [(*cell, arguments.repeats) for cell in product(FIELDS, KINDS, ITEMS, STRENGTHS)]
    cells, search = [], partial(study, starts=arguments.starts)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for (field, kind, n, strength, _), measures in zip(grid, pool.map(search, grid), strict=True):
            cells.append({"field": field, "kind": kind, "n": n, "strength": strength, **measures})
            means = ", ".join(f"{name} {np.mean(values):.4f}" for name, values in measures.items())
            print(f"{field:9s}{kind:8s}N = {n:2d}, strength {strength:5.2f}: {means}", flush=True)
    result = {"summary": summarize(cells), "cells": cells}
    print(json.dumps(result["summary"], indent=1))
    with replace_file(arguments.out, "w") as file:
        lines = ",\n".join(json.dumps(cell, separators=(",", ":")) for cell in cells)  # one line a cell
        file.write(f'{{"summary": {json.dumps(result["summary"])},\n"cells": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
