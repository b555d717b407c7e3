"""Pairwise fields by the best DPP, mean field, belief propagation, trees and chains (docs/dpp-like-mrfs.md).

For each kind of repulsion, number of items and strength, fields with seeded weights; for each the errors in log Z, in
the marginals and in the pair marginals of every method. The truth is enumeration up to 20 items; beyond, four runs of
annealed importance sampling that agree, and Gibbs chains. The figure `dpp_like` is drawn from what it writes.
"""

import argparse
import json
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

from dpplearn._io.atomic import replace_file
from dpplearn.mrf import Approximation, PairwiseMRF, approximate

OUT = Path(__file__).parent.parent / "src/dpplearn/plots/data/dpp_like.json"
KINDS = ("alike", "groups", "grid", "sparse", "dense", "mixed")
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


def make_mrf(kind: str, n: int, strength: float, repeat: int) -> PairwiseMRF:
    """w_i normal with deviation 1/2."""
    rng = np.random.default_rng([KINDS.index(kind), n, int(100 * strength), repeat])
    W = pair_weights(kind, n, strength, rng)
    return PairwiseMRF(0.5 * rng.standard_normal(n), W, repulsive=kind != "mixed")


def truth(mrf: PairwiseMRF, seed: int) -> tuple[float, float, np.ndarray]:
    """log Z with its spread over runs, and the pair marginals."""
    if mrf.n <= 20:
        return mrf.log_normalizer, 0.0, mrf.pair_probs()
    runs = [approximate(mrf, "ais", chains=250, sweeps=1000, rng=10 * seed + run) for run in range(4)]
    values = [float(run.log_normalizer) for run in runs]
    pairs = approximate(mrf, "gibbs", chains=3000, sweeps=200, rng=10 * seed + 9).pair_probs
    return float(np.mean(values)), float(np.std(values, ddof=1) / 2), pairs


def timed(*arguments: object, **options: object) -> tuple[Approximation, float]:
    """The answer, and the seconds of one core that it took."""
    start = process_time()
    return approximate(*arguments, **options), process_time() - start


def study(kind: str, n: int, strength: float, repeat: int) -> dict:
    """One field: what the DPP says of it, and the errors of every method."""
    mrf = make_mrf(kind, n, strength, repeat)
    log_z, spread, pairs = truth(mrf, repeat)
    found = {"dpp": timed(mrf, "dpp", rng=repeat)}
    if kind == "mixed" and n <= 50:
        found["nonsymmetric"] = timed(mrf, "nonsymmetric", rng=repeat)
    for family in ("mean-field", "bp", "trw"):
        found[family] = timed(mrf, family, rng=repeat)
    found["importance"] = timed(mrf, "importance", q=found["dpp"][0].q, chains=2000, rng=repeat)
    if n <= 20:  # beyond, they are the truth; here with as much time as the DPP had
        for family in ("ais", "gibbs"):
            trial = timed(mrf, family, chains=200, sweeps=200, rng=repeat)[1]
            chains = int(min(max(200 * found["dpp"][1] / trial, 200), 20_000))
            found[family] = timed(mrf, family, chains=chains, sweeps=200, rng=repeat)
    off = ~np.eye(n, dtype=bool)
    errors = {
        name: {
            "log_z": float(f"{a.log_normalizer - log_z:.3g}") if name != "gibbs" else None,
            "standard_error": float(f"{a.log_normalizer.standard_error:.2g}") if name != "gibbs" else None,
            "marginals": float(f"{np.abs(a.marginals - pairs.diagonal()).mean():.3g}"),
            "pairs": float(f"{np.abs(a.pair_probs - pairs)[off].mean():.3g}"),
            "seconds": float(f"{seconds:.3g}"),
        }
        for name, (a, seconds) in found.items()
    }
    said = found["dpp"][0].diagnosis
    numbers = {
        k: float(f"{getattr(said, k):.3g}") for k in ("violation", "positive", "divergence", "missed", "effective")
    }
    cell = {"kind": kind, "n": n, "strength": strength, "repeat": repeat, "log_z": round(log_z, 4), "spread": spread}
    return cell | {"dpp_like": said.dpp_like, **numbers, "errors": errors}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="JSON file of the figures")
    parser.add_argument("--items", type=int, nargs="+", default=[10, 20, 50, 200])
    parser.add_argument("--strengths", type=float, nargs="+", default=STRENGTHS)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
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
        cell = study(kind, n, strength, repeat)
        cells[kind, n, strength, repeat] = cell
        said = ", ".join(f"{name} {e['log_z']} {e['marginals']} {e['seconds']}s" for name, e in cell["errors"].items())
        print(f"{kind} N={n} strength {strength:g}: missed {cell['missed']}; {said}", flush=True)
        ordered = sorted(cells.values(), key=lambda c: (KINDS.index(c["kind"]), c["n"], c["strength"], c["repeat"]))
        with replace_file(arguments.out, "w") as file:
            lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in ordered)  # one line a field
            file.write(f'{{"cells": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
