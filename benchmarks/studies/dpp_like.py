"""Compares approximations of pairwise fields: the best DPP, mean field, belief propagation, trees and chains.

For docs/dpp-like-mrfs.md, it makes fields with seeded weights for each kind of repulsion, number of items and strength,
and measures every method's errors in log Z, in the marginals and in the pair marginals. Up to 20 items, the truth comes
from enumeration; beyond, from Gibbs chains and from four runs of annealed importance sampling (two from each of two
starts). `python -m benchmarks.studies.dpp_like` runs it; --draw draws the stored results instead. The kinds in `FRESH`
test the diagnosis: no choice was made on them.
"""

import argparse
import json
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.studies.conjecture import angle_violation
from benchmarks.studies.field_methods import belief_propagation, gibbs, tree_reweighted
from dpplearn._io.atomic import replace_file
from dpplearn.mrf import PairwiseMRF, approximate
from dpplearn.mrf.chains import annealed
from dpplearn.plots.figures import save
from dpplearn.plots.style import BLUE, GREEN, ORANGE, TWO_COLUMNS, VERMILION, new_figure, panel_title, style

OUT = Path(__file__).parent / "dpp_like.json"
PICTURE = Path(__file__).parents[2] / "docs/assets/figures"
KINDS = ("alike", "groups", "grid", "sparse", "dense", "mixed")
FRESH = ("geometric", "scale-free", "blocks", "bipartite", "cosines", "uneven", "baskets", "baskets-apart")
STRENGTHS = (0.5, 1.0, 2.0, 4.0)


def pair_weights(kind: str, n: int, strength: float, rng: np.random.Generator) -> np.ndarray:
    """The weights w_ij of a kind of field.

    alike: strength log(1 - S_ij^2), the pair factors of a DPP of points in the plane; DPP-like by construction.
    groups: -strength within groups of about five. grid: -strength between neighbours. sparse: exponentially
    distributed, for five neighbours on average. dense: the same for all pairs, with mean -5 strength / n. mixed: like
    sparse, but one pair in five attracts.
    """
    if kind == "alike":
        X = rng.random((n, 2))
        squares = ((X[:, None] - X) ** 2).sum(axis=2) * n
        S = 0.95 * np.exp(-squares)
        return strength * np.where(S > 1e-3, np.log1p(-(np.where(np.eye(n), 0.0, S) ** 2)), 0.0)
    if kind == "groups":
        group = rng.permutation(np.arange(n) % max(n // 5, 1))
        size = (group[:, None] == group).astype(float)
    elif kind == "grid":
        side = int(np.ceil(np.sqrt(n)))
        x, y = np.divmod(np.arange(n), side)
        size = (np.abs(x[:, None] - x) + np.abs(y[:, None] - y) == 1).astype(float)
    elif kind == "dense":
        size = rng.exponential(size=(n, n)) * 5 / n
    else:
        size = rng.exponential(size=(n, n)) * (rng.random((n, n)) < 5 / n)
        if kind == "mixed":
            size *= np.where(rng.random((n, n)) < 0.2, -0.5, 1.0)
    upper = np.triu(-strength * size, 1)
    return upper + upper.T


def fresh_weights(kind: str, n: int, strength: float, rng: np.random.Generator) -> np.ndarray:
    """The weights w_ij of a kind of field on which no choice was made.

    geometric: -strength between points of the plane within a radius that holds five others on average. scale-free:
    -strength along edges; each new item has two, drawn in proportion to the edges that items have. blocks: in four
    blocks, 8 of 10 pairs inside and 1 of 20 across repel, by exponentially distributed weights. bipartite: all pairs
    across two halves repel, with mean -10 strength / n, so that the field may have two phases. cosines: strength
    log(1 - S_ij^2) for vectors of eight numbers, most of them small. uneven: like alike, with w_i four times as wide.
    """
    if kind == "geometric":
        X = rng.random((n, 2))
        size = (((X[:, None] - X) ** 2).sum(axis=2) < 5 / (np.pi * n)).astype(float)
    elif kind == "scale-free":
        size, ends = np.zeros((n, n)), [0, 1]
        for i in range(2, n):
            for j in set(rng.choice(ends, 2).tolist()):
                size[j, i] = 1.0
                ends += [i, j]
    elif kind == "blocks":
        block = np.arange(n) % 4
        inside = block[:, None] == block
        size = rng.exponential(size=(n, n)) * (rng.random((n, n)) < np.where(inside, 0.8, 0.05))
    elif kind == "bipartite":
        half = np.arange(n) % 2
        size = (half[:, None] != half) * rng.exponential(size=(n, n)) * 10 / n
    elif kind == "cosines":
        X = rng.gamma(0.4, size=(n, 8))
        X /= np.sqrt((X**2).sum(axis=1))[:, None]
        size = -np.log1p(-((0.95 * X @ X.T) ** 2))
    else:
        return pair_weights("alike", n, strength, rng)
    upper = np.triu(-strength * size, 1)
    return upper + upper.T


def learned(path: Path, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """w and W, learned from a file of baskets by pseudo-likelihood, for n items drawn by their frequency."""
    from scipy.optimize import minimize
    from scipy.special import expit

    lines = path.read_text(encoding="utf-8").replace(",", " ").splitlines()
    baskets = [np.array(line.split(), int) for line in lines if line.strip()]
    count = np.bincount(np.concatenate(baskets))
    items = np.sort(rng.choice(count.size, n, replace=False, p=count / count.sum()))
    Y = np.array([np.isin(items, basket) for basket in baskets], float)
    upper = np.triu_indices(n, 1)

    def unpack(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        W = np.zeros((n, n))
        W[upper] = x[n:]
        return x[:n], W + W.T

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:  # the ridge on pair weights counts as one basket
        w, W = unpack(x)
        field = w + Y @ W
        left = Y - expit(field)
        G = Y.T @ left
        value = (np.logaddexp(0.0, field) - Y * field).sum() + (x[n:] ** 2).sum() / 2
        return value / len(Y), -np.concatenate([left.sum(axis=0), (G + G.T)[upper] - x[n:]]) / len(Y)

    start = np.concatenate([np.full(n, -2.0), np.zeros(upper[0].size)])
    return unpack(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x)


def make_mrf(kind: str, n: int, strength: float, repeat: int, baskets: Path | None = None) -> PairwiseMRF:
    """A field with normal w_i of deviation 1/2, or one learned from baskets (`baskets-apart`: its repulsions alone)."""
    rng = np.random.default_rng([(KINDS + FRESH).index(kind), n, int(100 * strength), repeat])
    if kind.startswith("baskets"):
        w, W = learned(baskets, n, rng)
        w -= w.max()  # makes some sets likely
        return PairwiseMRF(w, strength * (np.minimum(W, 0.0) if kind == "baskets-apart" else W), repulsive=False)
    W = (pair_weights if kind in KINDS else fresh_weights)(kind, n, strength, rng)
    return PairwiseMRF((2.0 if kind == "uneven" else 0.5) * rng.standard_normal(n), W, repulsive=kind != "mixed")


def truth(mrf: PairwiseMRF, seed: int) -> tuple[float, float, np.ndarray]:
    """log Z with its spread over runs, and the pair marginals."""
    if mrf.n <= 20:
        return mrf.log_normalizer, 0.0, mrf.pair_probs()
    runs = [annealed(mrf.w, mrf.W, 250, 1000, np.random.default_rng([seed, r]), (None, 1.0)[r % 2]) for r in range(4)]
    values = np.array([float(log_z) for log_z, _ in runs])  # the mean of exp(values) is Z
    pairs = gibbs(mrf.w, mrf.W, 3000, 200, np.random.default_rng(10 * seed + 9))
    return float(np.logaddexp.reduce(values) - np.log(4)), float(np.std(values, ddof=1) / 2), pairs


class Answer(NamedTuple):
    """A method's log Z with its standard error (if it has one), P(i and j), and its CPU seconds."""

    log_z: float
    error: float
    pairs: np.ndarray
    seconds: float


def answer(mrf: PairwiseMRF, family: str, repeat: int, **options: int) -> Answer:
    """The answer of a method for a field."""
    start = process_time()
    if family == "gibbs":
        pairs = gibbs(mrf.w, mrf.W, rng=np.random.default_rng(repeat), **options)
        return Answer(np.nan, np.nan, pairs, process_time() - start)
    if family in ("bp", "trw"):
        beliefs = (belief_propagation if family == "bp" else tree_reweighted)(mrf.w, mrf.W)
        return Answer(beliefs.log_z, np.inf if family == "bp" else 0.0, beliefs.pairs, process_time() - start)
    approximation = approximate(mrf, family, rng=repeat, **options)
    log_z = approximation.log_normalizer
    return Answer(float(log_z), log_z.standard_error, approximation.pair_probs, process_time() - start)


def study(kind: str, n: int, strength: float, repeat: int, baskets: Path | None = None) -> dict:
    """The cell of one field: the DPP's diagnosis, and the errors of every method."""
    mrf = make_mrf(kind, n, strength, repeat, baskets)
    log_z, spread, pairs = truth(mrf, repeat)
    answers = {family: answer(mrf, family, repeat) for family in ("dpp", "mean-field", "bp", "trw")}
    if n <= 20 and kind in KINDS:  # larger fields use them as the truth; here they get as much time as the DPP
        for family in ("ais", "gibbs"):
            trial = answer(mrf, family, repeat, chains=200, sweeps=200).seconds
            chains = int(min(max(200 * answers["dpp"].seconds / trial, 200), 20_000))
            answers[family] = answer(mrf, family, repeat, chains=chains, sweeps=200)
    off = ~np.eye(n, dtype=bool)
    errors = {
        name: {
            "log_z": float(f"{a.log_z - log_z:.3g}") if name != "gibbs" else None,
            "standard_error": float(f"{a.error:.2g}") if np.isfinite(a.error) else None,
            "marginals": float(f"{np.abs(a.pairs - pairs).diagonal().mean():.3g}"),
            "worst": float(f"{np.abs(a.pairs - pairs).diagonal().max():.3g}"),
            "pairs": float(f"{np.abs(a.pairs - pairs)[off].mean():.3g}"),
            "seconds": float(f"{a.seconds:.3g}"),
        }
        for name, a in answers.items()
    }
    diagnosis = approximate(mrf, rng=repeat)
    S = np.sqrt(-np.expm1(np.minimum(mrf.W, 0.0))) + np.eye(n)
    measures = angle_violation(S), diagnosis.divergence, diagnosis.missed
    numbers = dict(zip(("violation", "divergence", "missed"), (float(f"{x:.3g}") for x in measures), strict=True))
    cell = {
        "kind": kind,
        "n": n,
        "strength": strength,
        "repeat": repeat,
        "log_z": round(log_z, 4),
        "spread": float(f"{spread:.2g}"),
    }
    return cell | {"dpp_like": diagnosis.dpp_like, **numbers, "errors": errors}


# family: colour, marker, label
FAMILIES = {
    "dpp": (BLUE, "o", "DPP"),
    "bp": (GREEN, "^", "belief propagation"),
    "mean-field": (VERMILION, "s", "mean field"),
    "trw": (ORANGE, "v", "trees"),
}


def read_study(name: str = "dpp_like") -> dict[str, Any]:
    """The stored results: one cell for each field; "dpp_like_fresh" has the kinds in FRESH."""
    return dict(json.loads((OUT.parent / f"{name}.json").read_text(encoding="utf-8")))


@style()
def draw() -> Figure:
    cells = read_study()["cells"]
    figure, (left, middle, right) = new_figure(TWO_COLUMNS, 3.0, columns=3)
    panel_title(left, "a", r"Error in $\log Z$, per item")
    panel_title(middle, "b", "Error of the marginals")
    scatter(left, cells, lambda cell, name: abs(cell["errors"][name]["log_z"]) / cell["n"])
    scatter(middle, cells, lambda cell, name: cell["errors"][name]["marginals"])
    draw_kinds(right, cells)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, handletextpad=0.2)
    return figure


def scatter(ax: Axes, cells: list[dict[str, Any]], measure: Any) -> None:
    """Draw a point for each field and family, against the share of the dependence that the DPP misses."""
    for name, (colour, marker, label) in FAMILIES.items():
        x = [max(cell["missed"], 1e-3) for cell in cells]
        y = [max(measure(cell, name), 1e-6) for cell in cells]
        ax.scatter(x, y, s=9, color=colour, marker=marker, alpha=0.6, linewidths=0, label=label)
    ax.set(xscale="log", yscale="log", xlabel="share missed by the DPP")


def draw_kinds(ax: Axes, cells: list[dict[str, Any]]) -> None:
    """Draw the median error of the marginals, by kind of field."""
    panel_title(ax, "c", "Marginals, by kind (median)")
    for name, (colour, marker, _) in FAMILIES.items():
        medians = [np.median([c["errors"][name]["marginals"] for c in cells if c["kind"] == kind]) for kind in KINDS]
        ax.plot(range(len(KINDS)), medians, color=colour, marker=marker, markersize=3.5, linewidth=0.8)
    ax.set_xticks(range(len(KINDS)), KINDS, rotation=45)
    ax.set(yscale="log")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="JSON file of the figures")
    parser.add_argument("--items", type=int, nargs="+", default=[10, 20, 50, 200])
    parser.add_argument("--strengths", type=float, nargs="+", default=STRENGTHS)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS + FRESH)
    parser.add_argument(
        "--baskets", type=Path, help="for the kinds learned from baskets: a file with one basket a line"
    )
    parser.add_argument("--repeats", type=int, default=1, help="fields of each kind, number of items and strength")
    parser.add_argument("--add", action="store_true", help="keep the other cells of the file")
    parser.add_argument("--draw", action="store_true", help="only draw the stored results, for the docs")
    arguments = parser.parse_args()
    if arguments.draw:
        from scripts.page_look import page_look

        with page_look():
            save(draw(), "dpp_like", PICTURE, ["png"], dpi=125)
        return
    cells = {}
    if arguments.add and arguments.out.exists():
        old = json.loads(arguments.out.read_text(encoding="utf-8"))["cells"]
        cells = {(c["kind"], c["n"], c["strength"], c["repeat"]): c for c in old}
    for n, kind, strength, repeat in product(
        arguments.items, arguments.kinds, arguments.strengths, range(arguments.repeats)
    ):
        cell = study(kind, n, strength, repeat, arguments.baskets)
        cells[kind, n, strength, repeat] = cell
        errors = ", ".join(
            f"{name} {e['log_z']} {e['marginals']} {e['seconds']}s" for name, e in cell["errors"].items()
        )
        print(f"{kind} N={n} strength {strength:g}: missed {cell['missed']}; {errors}", flush=True)
        ordered = sorted(
            cells.values(), key=lambda c: ((KINDS + FRESH).index(c["kind"]), c["n"], c["strength"], c["repeat"])
        )
        with replace_file(arguments.out, "w") as file:
            lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in ordered)  # one line a field
            file.write(f'{{"cells": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
