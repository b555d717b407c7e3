"""Whether intervals of learned weights hold the truth: sets drawn from each kind of similarity, learned again."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning.similarity import Learned, Mixture, Projected, Scaled

THETA = np.array([-1.0, 0.8, -0.5])
SHARES = np.array([0.1, 0.2, 0.7])  # of I, of 11^T and of all features
MAP = np.array([[1.0, 0.0], [0.0, 0.8], [0.4, 0.3], [0.1, -0.1]])
PARTS = {"mixture": {"part 0": 2, "part 1": 3}, "scaled": {"x": 4}, "projected": {"x": 4}}
SCALES = ("weight", "log weight", "logit of weight", "theta")
T, N = 150, 10


def truth(kind: str) -> Learned:
    """What sets are drawn from; of a projection that is known, what is compared knows no rotation: the weights."""
    if kind == "mixture":
        return Mixture(tuple(PARTS[kind]), np.array([0.1, 0.2, 0.5, 0.2]))
    shapes = [part.shape for part in item_set(3, kind, np.random.default_rng(0)).parts]
    if kind == "scaled":
        return Scaled(Scaled().bound(shapes).names, SHARES, np.array([0.5, 0.25, 0.15, 0.1]))
    return Projected(Projected().bound(shapes).names, SHARES, MAP.shape[1], MAP)


def item_set(n: int, kind: str, rng: np.random.Generator) -> ItemSet:
    F = np.column_stack([np.ones(n), rng.standard_normal((n, THETA.size - 1))])
    return ItemSet(F, phi={name: rng.standard_normal((n, d)) for name, d in PARTS[kind].items()})


def estimates(kind: str, given_size: bool, seed: int, instances: int = T) -> list[list[float]]:
    """Weights and theta, each with their standard errors (nan where there is none), from one data set.

    Last come the log-likelihoods of what was found and of the truth.
    """
    rng, S = np.random.default_rng([15, seed]), truth(kind)
    X = [item_set(N, kind, rng) for _ in range(instances)]
    q = [np.exp(x.features @ THETA / 2) for x in X]
    y = [DPP.from_quality(a, S.matrix(x)).sample(1, rng=rng)[0] for a, x in zip(q, X, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # weights at a bound, starts that disagree
        model = ConditionalDPP(100.0, similarity=kind, given_size=given_size).fit(X, y)
    found = model.similarity_
    true = ConditionalDPP.from_weights(THETA, similarity=S).set_params(given_size=given_size)
    return [
        list(found.weights.values()),
        list(found.std.values()),
        model.theta_.tolist(),
        model.theta_std_.tolist(),
        [float(model.log_likelihood_), float(true.log_prob(X, y).sum())],
    ]


def standardized(kind: str, given_size: bool, found: list[list[list[float]]]) -> dict[str, np.ndarray]:
    """How many standard errors each estimate is from the truth, on each scale; (data sets, weights)."""
    w, e, theta, theta_e = (np.array([one[j] for one in found]) for j in range(4))
    w0 = np.array(list(truth(kind).weights.values()))
    z = (theta - THETA) / theta_e
    if given_size:
        z = z[:, 1:]  # of the constant, sets of a size say nothing
    logit = (np.log(w / (1 - w)) - np.log(w0 / (1 - w0))) * w * (1 - w) / e
    return dict(zip(SCALES, ((w - w0) / e, np.log(w / w0) * w / e, logit, z), strict=True))


def coverage(kind: str, given_size: bool, found: list[list[list[float]]]) -> list[list[object]]:
    """Of intervals of 1.96 standard errors, the share that holds the truth, with its standard error over data sets."""
    rows: list[list[object]] = []
    for name, z in standardized(kind, given_size, found).items():
        known = ~np.isnan(z)
        # weights of one data set hang together: the error is that of the mean over data sets
        each = np.array([np.mean(np.abs(a[b]) < 1.96) for a, b in zip(z, known, strict=True) if b.any()])
        share, error = float((np.abs(z[known]) < 1.96).mean()), float(each.std() / np.sqrt(each.size))
        what = "given the size" if given_size else "of the set"
        rows.append([kind, what, name, len(found), int(known.sum()), int((~known).sum()), share, error])
    return rows


def kept(path: Path, make: Callable[[int], list[list[float]]], sets: int) -> list[list[list[float]]]:
    """What was found for each data set; those that a file has are not done again, and it is written as they are."""
    found = json.loads(path.read_text()) if path.exists() else []
    for seed in range(len(found), sets):
        found.append(make(seed))
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(found))
        temporary.replace(path)
    return found[:sets]


def run(sets: int, work: Path | None, cases: list[tuple[str, bool]], instances: int = T) -> list[list[object]]:
    rows = []
    for kind, given_size in cases:
        with threadpool_limits(1):
            if work is None:
                found = [estimates(kind, given_size, seed, instances) for seed in range(sets)]
            else:
                path = work / f"{kind}-{'sized' if given_size else 'set'}-{instances}.json"
                found = kept(path, lambda seed, k=kind, g=given_size: estimates(k, g, seed, instances), sets)
        rows += coverage(kind, given_size, found)
        print(*rows[-len(SCALES) :], sep="\n", flush=True)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--instances", type=int, default=T)
    parser.add_argument("--work", type=Path)
    a = parser.parse_args()
    run(a.sets, a.work, [(c.split("-")[0], c.endswith("sized")) for c in a.cases], a.instances)
