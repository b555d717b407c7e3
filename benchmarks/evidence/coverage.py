"""Checks how often the 95 % intervals of learned weights hold the truth, on sets drawn from a known model."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.evidence.page import mean_and_error
from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning.similarity import Similarity, fixed_similarity

THETA = np.array([-1.0, 0.8, -0.5])
N, NUGGET, SETS, INSTANCES = 10, 0.2, 200, 150
PARTS = {"part 0": 2, "part 1": 3}  # name: number of directions
WEIGHTS = np.array([0.1, 0.2, 0.5, 0.2])  # own (I), all (11^T) and the parts
QUALITY, SIMILARITY = "weights of quality", "weights of similarity (logit)"


def item_set(rng: np.random.Generator) -> ItemSet:
    F = np.column_stack([np.ones(N), rng.standard_normal((N, THETA.size - 1))])
    return ItemSet(F, phi={name: rng.standard_normal((N, d)) for name, d in PARTS.items()})


def standardized(kind: str, given_size: bool, seed: int, instances: int) -> dict[str, list[float]]:
    """The errors of the estimates in one data set, in standard errors; weights at a bound are left out."""
    rng = np.random.default_rng([15, seed])
    truth = Similarity(tuple(PARTS), WEIGHTS) if kind == "mixture" else fixed_similarity(0.0, NUGGET)
    X = [item_set(rng) for _ in range(instances)]
    y = [DPP.from_quality(np.exp(x.features @ THETA / 2), truth.matrix(x)).sample(1, rng=rng)[0] for x in X]
    options = {"similarity": "mixture"} if kind == "mixture" else {"nugget": NUGGET}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of weights at a bound, and of starts that disagree
        model = ConditionalDPP(100.0, given_size=given_size, **options).fit(X, y)
    z = (model.theta_ - THETA) / model.theta_std_
    errors = {QUALITY: z[int(given_size) :].tolist()}  # given the size, the constant cannot be learned
    if kind == "mixture":
        w, error = (np.array(list(x.values())) for x in (model.similarity_.weights, model.similarity_.std))
        logit = np.log(w / (1 - w)) - np.log(WEIGHTS / (1 - WEIGHTS))
        z = logit * w * (1 - w) / error
        errors[SIMILARITY] = z[np.isfinite(z)].tolist()
    return errors


def run(_data: Path, _pictures: Path, quick: bool = False) -> dict:
    sets, instances = (3, 30) if quick else (SETS, INSTANCES)
    rows, low = [], []
    for kind in ("fixed", "mixture"):
        for given_size in (False, True):
            errors = Parallel(n_jobs=2)(
                delayed(standardized)(kind, given_size, seed, instances) for seed in range(sets)
            )
            for name in errors[0]:
                held = [np.mean(np.abs(data_set[name]) < 1.96) for data_set in errors if data_set[name]]
                share, error = mean_and_error(held)
                likelihood = "given the size" if given_size else "of the set"
                n = sum(len(data_set[name]) for data_set in errors)
                rows.append([kind, likelihood, name, len(held), n, f"{100 * share:.1f} ± {100 * error:.1f}"])
                if share + 2 * error < 0.95:
                    low.append(f"{name} of a {kind} similarity, likelihood {likelihood} ({100 * share:.0f} %)")
                print(rows[-1], flush=True)
    verdict = (
        f"are too short for {'; '.join(low)}. The others hold the truth as often as they should"
        if low
        else "hold the truth as often as they should"
    )
    return {
        "question": "Do 95 % intervals of learned weights hold the truth in 95 % of data sets?",
        "data": f"Simulated, because the truth must be known: {sets} data sets of {instances} sets each, drawn from "
        f"DPPs of {N} items.",
        "protocol": "Quality has a constant and two features. The fixed similarity is the mean cosine of two parts "
        f"with a nugget of {NUGGET}; the mixture has the true weights {', '.join(f'{w:g}' for w in WEIGHTS)}, which "
        "are learned too. An interval is the estimate plus or minus 1.96 standard errors, under a weak prior "
        "(variance 100). For similarity weights it is an interval of the logit, as in `similarity_.intervals()`. "
        "Weights estimated at 0 have no interval and are not counted.",
        "answer": f"The intervals {verdict}.",
        "tables": [
            {
                "title": "Share of intervals that hold the truth, %",
                "columns": ["similarity", "likelihood", "intervals of", "data sets", "intervals", "share"],
                "rows": rows,
            }
        ],
        "notes": [
            "[Can similarity be learned?](learned-similarity.md#how-far-the-intervals-can-be-trusted) explains where "
            "intervals are too short."
        ],
    }
