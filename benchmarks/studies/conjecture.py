"""Tests the conjecture of section 3: how close DPPs come to random repulsive MRFs of 3 to 10 items (docs/mrf.md).

For each number of items, strength and kind of repulsion, it makes ten MRFs with seeded weights. It finds the closest
DPP of each, and measures how much the similarities that a DPP would need violate transitivity. `python -m
benchmarks.studies.conjecture` takes some twenty minutes on two cores; --draw draws the stored results instead.
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MultipleLocator, NullLocator
from scipy.stats import spearmanr

from dpplearn._io.atomic import replace_file
from dpplearn.mrf import PairwiseMRF, fit_dpp_to
from dpplearn.plots.figures import save
from dpplearn.plots.style import BLUE, GREEN, SEQUENTIAL, TWO_COLUMNS, VERMILION, new_figure, panel_title, style

OUT = Path(__file__).parent / "conjecture.json"
PICTURE = Path(__file__).parents[2] / "docs/assets/figures"
ITEMS = range(3, 11)
STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FIELDS = ("plain", "balanced")
KINDS = ("random", "groups", "across")
MEASURES = ("divergence", "missed", "violation", "positive")


def pair_weights(kind: str, n: int, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Weights w_ij, whose mean over the pairs that repel is -strength.

    random: every pair repels, by exponentially distributed weights. groups: pairs within groups of about three repel
    equally (transitive). across: pairs across two halves repel equally (the least transitive).
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
    """An MRF with normal w_i of deviation 1/2; balanced: less half the sum of its w_ij, so that P_i is near 1/2."""
    W = pair_weights(kind, n, strength, rng)
    w = 0.5 * rng.standard_normal(n)
    return PairwiseMRF(w if field == "plain" else w - W.sum(axis=1) / 2, W)


def study(cell: tuple[str, str, int, float, int], starts: int = 6) -> dict[str, list[float]]:
    """The measures of all MRFs of one cell; the first starts are the same for any number of starts."""
    field, kind, n, strength, repeats = cell
    rows = []
    for repeat in range(repeats):
        seed = [FIELDS.index(field), KINDS.index(kind), n, STRENGTHS.index(strength), repeat]
        mrf = make_mrf(field, kind, n, strength, np.random.default_rng(seed))
        fit = fit_dpp_to(mrf, n_starts=starts, rng=repeat)
        p, joint = mrf.marginals, mrf.pair_probs()
        # KL(MRF || independent items): the whole dependence
        dependence = float(-(p * np.log(p) + (1 - p) * np.log1p(-p)).sum() - mrf.entropy())
        deviation = np.sqrt(p * (1 - p))
        correlation = ((joint - np.outer(p, p)) / np.outer(deviation, deviation))[np.triu_indices(n, 1)]
        rows.append(
            (
                fit.divergence,
                fit.divergence / dependence,
                angle_violation(np.sqrt(np.clip(1.0 - joint / np.outer(p, p), 0.0, 1.0))),
                float(np.maximum(correlation, 0.0).mean()),
            )
        )
    return {name: [short(x) for x in column] for name, column in zip(MEASURES, zip(*rows, strict=True), strict=True)}


def angle_violation(S: np.ndarray) -> float:
    """The violation of a_ij + a_jk >= a_ik for the angles a = arccos |S| between items, averaged over triples."""
    angles, n, total = np.arccos(np.minimum(np.abs(S), 1.0)), len(S), 0.0
    for j in range(n):
        i, k = (np.delete(np.arange(n), j)[index] for index in np.triu_indices(n - 1, 1))
        total += float(np.maximum(angles[i, k] - angles[i, j] - angles[j, k], 0.0).sum())
    return total / (n * (n - 1) * (n - 2) / 6)  # at most one of the three inequalities of a triple is violated


def short(x: float) -> float:
    """x to three digits, or 0 below 1e-6, to keep the file small."""
    return 0.0 if x < 1e-6 else float(f"{x:.3g}")


def summarize(cells: list[dict]) -> dict:
    """Rank correlations over all random MRFs, and their mean within the same N and strength."""
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
    """Spearman's correlation; NaN if x or y is constant."""
    return float("nan") if np.ptp(x) == 0 or np.ptp(y) == 0 else float(spearmanr(x, y).statistic)


# kind of repulsion: colour, marker, label
STYLES = {
    "across": (VERMILION, "s", "across two halves"),
    "random": (BLUE, "o", "random"),
    "groups": (GREEN, "^", "inside groups"),
}


def read_study() -> dict[str, Any]:
    """The stored results: a summary, and one cell for each field, kind, N and strength."""
    return dict(json.loads(OUT.read_text(encoding="utf-8")))


@style()
def draw() -> Figure:
    cells = [cell for cell in read_study()["cells"] if cell["field"] == "plain"]
    figure, (left, middle, right) = new_figure(TWO_COLUMNS, 2.65, columns=3)
    draw_divergence(left, [cell for cell in cells if cell["kind"] == "random"])
    draw_kinds(middle, [cell for cell in cells if cell["n"] == 10])
    draw_violation(right, cells)
    return figure


def draw_divergence(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """Draw the KL divergence against the strength, with a line for each N."""
    panel_title(ax, "a", "Random repulsion")
    sizes = sorted({cell["n"] for cell in cells})
    for n in sizes:
        chosen = [cell for cell in cells if cell["n"] == n]
        means = [float(np.mean(cell["divergence"])) for cell in chosen]
        colour = SEQUENTIAL(0.3 + 0.7 * (n - sizes[0]) / (sizes[-1] - sizes[0]))
        ax.plot([cell["strength"] for cell in chosen], means, color=colour, marker="o", markersize=2.5, label=f"{n}")
    ax.yaxis.set_major_locator(MultipleLocator(0.05))
    ax.set(ylabel=r"KL(MRF $\Vert$ closest DPP), nats", ylim=(0, None))
    ax.legend(title="$N$", ncols=2, loc="upper left", reverse=True, columnspacing=0.8, handlelength=1.2)
    strength_axis(ax, cells)


def draw_kinds(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """Draw the share of the dependence that the closest DPP misses, by kind, with two standard errors."""
    panel_title(ax, "b", "Three kinds, $N = 10$")
    for kind, (colour, marker, label) in STYLES.items():
        chosen = [cell for cell in cells if cell["kind"] == kind]
        values = np.array([cell["missed"] for cell in chosen])
        errors = 2 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        x = [cell["strength"] for cell in chosen]
        ax.errorbar(x, values.mean(axis=1), errors, color=colour, marker=marker, label=label, elinewidth=0.8)
    ax.set(ylabel="share of the dependence missed", ylim=(0, 1))
    ax.legend(loc="upper left")
    strength_axis(ax, cells)


def draw_violation(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """Draw the share missed against the violation, with a point for each MRF."""
    panel_title(ax, "c", "Transitivity, all $N$")
    for kind, (colour, marker, _) in STYLES.items():
        chosen = [cell for cell in cells if cell["kind"] == kind]
        violation, missed = (np.concatenate([cell[name] for cell in chosen]) for name in ("violation", "missed"))
        ax.scatter(violation, missed, s=7, color=colour, marker=marker, alpha=0.45, linewidths=0, rasterized=True)
    ax.set(xlabel="mean violation of the angles (rad)", ylabel="share of the dependence missed", ylim=(0, 1))


def strength_axis(ax: Axes, cells: list[dict[str, Any]]) -> None:
    strengths = sorted({cell["strength"] for cell in cells})
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(strengths))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{s:g}" if s >= 1 else f"1/{1 / s:g}" for s in strengths]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("strength, mean of $-w_{ij}$")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="JSON file of the figures")
    parser.add_argument("--repeats", type=int, default=10, help="MRFs of each kind, number of items and strength")
    parser.add_argument("--starts", type=int, default=6, help="starts of each fit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draw", action="store_true", help="only draw the stored results, for the docs")
    arguments = parser.parse_args()
    if arguments.draw:
        from scripts.page_look import page_look

        with page_look():
            save(draw(), "conjecture", PICTURE, ["png"], dpi=125)
        return
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
