"""Pairwise fields by the best DPP, mean field, belief propagation, trees and chains (docs/dpp-like-mrfs.md).

For each kind of repulsion, number of items and strength, fields with seeded weights; for each the errors in log Z, in
the marginals and in the pair marginals of every method. The truth is enumeration up to 20 items; beyond, four runs of
annealed importance sampling that agree, two from each of two starts, and Gibbs chains. The figure `dpp_like` is drawn
from what it writes. The kinds in `FRESH` are others, on which nothing was chosen: they try the diagnosis.
"""

import argparse
import json
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

from dpplearn._io.atomic import replace_file
from dpplearn.mrf import Approximation, PairwiseMRF, approximate
from dpplearn.mrf.chains import annealed, weighted_moments

OUT = Path(__file__).parent.parent / "src/dpplearn/plots/data/dpp_like.json"
KINDS = ("alike", "groups", "grid", "sparse", "dense", "mixed")
FRESH = ("geometric", "scale-free", "blocks", "bipartite", "cosines", "uneven", "baskets", "baskets-apart")
STRENGTHS = (0.5, 1.0, 2.0, 4.0)


def pair_weights(kind: str, n: int, strength: float, rng: np.random.Generator) -> np.ndarray:
    """w_ij of a kind of field.

    alike: strength log(1 - S_ij^2), the pair factors of a DPP of points in the plane; DPP-like by construction.
    groups: -strength in groups of about five. grid: -strength between neighbours. sparse: exponentially distributed,
    five neighbours on average. dense: all pairs, of mean -5 strength / n. mixed: as sparse, one pair in five attracts.
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
    """w_ij of a kind of field on which nothing was chosen.

    geometric: -strength between points of the plane at most so far apart that each has five others near. scale-free:
    -strength along edges, each new item's two drawn in proportion to those there are. blocks: four blocks, 8 pairs in
    10 inside and 1 in 20 across repel, exponentially distributed. bipartite: all pairs of two halves, of mean
    -10 strength / n, so that the field may have two phases. cosines: strength log(1 - S_ij^2) for S of vectors of eight
    numbers, most of them small. uneven: as alike, with w_i four times as wide.
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
    """w and W of n items, drawn by how often they are chosen, from a file of baskets by pseudo-likelihood."""
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

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:  # with a ridge of one basket on every weight of a pair
        w, W = unpack(x)
        field = w + Y @ W
        left = Y - expit(field)
        G = Y.T @ left
        value = (np.logaddexp(0.0, field) - Y * field).sum() + (x[n:] ** 2).sum() / 2
        return value / len(Y), -np.concatenate([left.sum(axis=0), (G + G.T)[upper] - x[n:]]) / len(Y)

    start = np.concatenate([np.full(n, -2.0), np.zeros(upper[0].size)])
    return unpack(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x)


def make_mrf(kind: str, n: int, strength: float, repeat: int, baskets: Path | None = None) -> PairwiseMRF:
    """w_i normal with deviation 1/2; or both learned from baskets (in `baskets-apart`, the repulsions alone)."""
    rng = np.random.default_rng([(KINDS + FRESH).index(kind), n, int(100 * strength), repeat])
    if kind.startswith("baskets"):
        w, W = learned(baskets, n, rng)
        w -= w.max()  # so that some are likely
        return PairwiseMRF(w, strength * (np.minimum(W, 0.0) if kind == "baskets-apart" else W), repulsive=False)
    W = (pair_weights if kind in KINDS else fresh_weights)(kind, n, strength, rng)
    return PairwiseMRF((2.0 if kind == "uneven" else 0.5) * rng.standard_normal(n), W, repulsive=kind != "mixed")


def truth(mrf: PairwiseMRF, seed: int) -> tuple[float, float, np.ndarray]:
    """log Z with its spread over runs, and the pair marginals."""
    if mrf.n <= 20:
        return mrf.log_normalizer, 0.0, mrf.pair_probs()
    runs = [annealed(mrf.w, mrf.W, 250, 1000, np.random.default_rng([seed, r]), (None, 1.0)[r % 2]) for r in range(4)]
    values = np.array([float(weighted_moments(*run)[0]) for run in runs])  # exp(values) have the mean Z
    pairs = approximate(mrf, "gibbs", chains=3000, sweeps=200, rng=10 * seed + 9).pair_probs
    return float(np.logaddexp.reduce(values) - np.log(4)), float(np.std(values, ddof=1) / 2), pairs


def timed(*arguments: object, **options: object) -> tuple[Approximation, float]:
    """The answer, and the seconds of one core that it took."""
    start = process_time()
    return approximate(*arguments, **options), process_time() - start


def study(kind: str, n: int, strength: float, repeat: int, baskets: Path | None = None) -> dict:
    """One field: what the DPP says of it, and the errors of every method."""
    mrf = make_mrf(kind, n, strength, repeat, baskets)
    log_z, spread, pairs = truth(mrf, repeat)
    found = {"dpp": timed(mrf, "dpp", rng=repeat)}
    if kind == "mixed" and n <= 20:
        found["nonsymmetric"] = timed(mrf, "nonsymmetric", rng=repeat)
    for family in ("mean-field", "bp", "trw"):
        found[family] = timed(mrf, family, rng=repeat)
    found["importance"] = timed(mrf, "importance", q=found["dpp"][0].q, chains=2000, rng=repeat)
    if n <= 20 and kind in KINDS:  # beyond, they are the truth; here with as much time as the DPP had
        for family in ("ais", "gibbs"):
            trial = timed(mrf, family, chains=200, sweeps=200, rng=repeat)[1]
            chains = int(min(max(200 * found["dpp"][1] / trial, 200), 20_000))
            found[family] = timed(mrf, family, chains=chains, sweeps=200, rng=repeat)
    off = ~np.eye(n, dtype=bool)
    errors = {
        name: {
            "log_z": float(f"{a.log_normalizer - log_z:.3g}") if name != "gibbs" else None,
            "standard_error": float(f"{error:.2g}") if np.isfinite(error := a.log_normalizer.standard_error) else None,
            "marginals": float(f"{np.abs(a.marginals - pairs.diagonal()).mean():.3g}"),
            "worst": float(f"{np.abs(a.marginals - pairs.diagonal()).max():.3g}"),
            "pairs": float(f"{np.abs(a.pair_probs - pairs)[off].mean():.3g}"),
            "seconds": float(f"{seconds:.3g}"),
        }
        for name, (a, seconds) in found.items()
    }
    said = found["dpp"][0].diagnosis
    numbers = {
        k: float(f"{getattr(said, k):.3g}") for k in ("violation", "positive", "divergence", "missed", "effective")
    }
    cell = {
        "kind": kind,
        "n": n,
        "strength": strength,
        "repeat": repeat,
        "log_z": round(log_z, 4),
        "spread": float(f"{spread:.2g}"),
    }
    return cell | {"dpp_like": said.dpp_like, **numbers, "errors": errors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="JSON file of the figures")
    parser.add_argument("--items", type=int, nargs="+", default=[10, 20, 50, 200])
    parser.add_argument("--strengths", type=float, nargs="+", default=STRENGTHS)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS + FRESH)
    parser.add_argument("--baskets", type=Path, help="for the kinds learned from baskets: a file with one a line")
    parser.add_argument("--repeats", type=int, default=1, help="fields of each kind, number of items and strength")
    parser.add_argument("--add", action="store_true", help="keep what the file has of other cells")
    arguments = parser.parse_args()
    cells = {}
    if arguments.add and arguments.out.exists():
        old = json.loads(arguments.out.read_text(encoding="utf-8"))["cells"]
        cells = {(c["kind"], c["n"], c["strength"], c["repeat"]): c for c in old}
    for n, kind, strength, repeat in product(
        arguments.items, arguments.kinds, arguments.strengths, range(arguments.repeats)
    ):
        cell = study(kind, n, strength, repeat, arguments.baskets)
        cells[kind, n, strength, repeat] = cell
        said = ", ".join(f"{name} {e['log_z']} {e['marginals']} {e['seconds']}s" for name, e in cell["errors"].items())
        print(f"{kind} N={n} strength {strength:g}: missed {cell['missed']}; {said}", flush=True)
        ordered = sorted(
            cells.values(), key=lambda c: ((KINDS + FRESH).index(c["kind"]), c["n"], c["strength"], c["repeat"])
        )
        with replace_file(arguments.out, "w") as file:
            lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in ordered)  # one line a field
            file.write(f'{{"cells": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
