"""Whether intervals of learned weights hold the truth: sets drawn from each kind of similarity, learned again."""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2
from threadpoolctl import threadpool_limits

from benchmarks.timing import write
from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn._io.atomic import replace_file
from dpplearn.learning.similarity import Similarity

THETA = np.array([-1.0, 0.8, -0.5])
PARTS = {"mixture": {"part 0": 2, "part 1": 3}}
SCALES = ("weight", "log weight", "logit of weight", "theta")
N = 10
FREE = {"mixture": 6}  # parameters
COLUMNS = ["kind", "learned from", "instances", "scale", "data sets", "intervals", "at 0", "share", "standard error"]


class Case(NamedTuple):
    """What data sets are drawn from, what is learned from them, and how many of how many instances."""

    kind: str
    given_size: bool
    sets: int
    instances: int


CASES = [
    Case("mixture", False, 200, 150),
    Case("mixture", False, 60, 600),
    Case("mixture", True, 200, 150),
]


def truth(kind: str) -> Similarity:
    """What sets are drawn from."""
    return Similarity(tuple(PARTS[kind]), np.array([0.1, 0.2, 0.5, 0.2]))


def item_set(n: int, kind: str, rng: np.random.Generator) -> ItemSet:
    F = np.column_stack([np.ones(n), rng.standard_normal((n, THETA.size - 1))])
    return ItemSet(F, phi={name: rng.standard_normal((n, d)) for name, d in PARTS[kind].items()})


def estimates(case: Case, seed: int) -> list[list[float]]:
    """Weights and theta, each with their standard errors (nan where there is none), from one data set.

    Last come the log-likelihoods of what was found and of the truth.
    """
    rng, S, given_size = np.random.default_rng([15, seed]), truth(case.kind), case.given_size
    X = [item_set(N, case.kind, rng) for _ in range(case.instances)]
    q = [np.exp(x.features @ THETA / 2) for x in X]
    y = [DPP.from_quality(a, S.matrix(x)).sample(1, rng=rng)[0] for a, x in zip(q, X, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # weights at a bound, starts that disagree
        model = ConditionalDPP(100.0, similarity=case.kind, given_size=given_size).fit(X, y)
    found = model.similarity_
    true = ConditionalDPP.from_weights(THETA).set_params(given_size=given_size)
    true.similarity_ = S
    return [
        list(found.weights.values()),
        list(found.std.values()),
        model.theta_.tolist(),
        model.theta_std_.tolist(),
        [float(model.log_likelihood_), float(true.log_prob(X, y).sum())],
    ]


def standardized(case: Case, found: list[list[list[float]]]) -> dict[str, np.ndarray]:
    """How many standard errors each estimate is from the truth, on each scale; (data sets, weights)."""
    w, e, theta, theta_e = (np.array([one[j] for one in found]) for j in range(4))
    w0 = np.array(list(truth(case.kind).weights.values()))
    z = (theta - THETA) / theta_e
    if case.given_size:
        z = z[:, 1:]  # of the constant, sets of a size say nothing
    logit = (np.log(w / (1 - w)) - np.log(w0 / (1 - w0))) * w * (1 - w) / e
    return dict(zip(SCALES, ((w - w0) / e, np.log(w / w0) * w / e, logit, z), strict=True))


def coverage(case: Case, found: list[list[list[float]]]) -> list[list[object]]:
    """Of intervals of 1.96 standard errors, the share that holds the truth; and of 95 % regions of the likelihood.

    Their standard errors are those over data sets, for the weights of one hang together.
    """
    rows: list[list[object]] = []
    head = [case.kind, "given the size" if case.given_size else "of the set", case.instances]
    for name, z in standardized(case, found).items():
        known, holds = ~np.isnan(z), np.abs(z) < 1.96
        each = np.array([a[b].mean() for a, b in zip(holds, known, strict=True) if b.any()])
        share, error = float(holds[known].mean()), float(each.std() / np.sqrt(each.size))
        rows.append([*head, name, len(found), int(known.sum()), int((~known).sum()), share, error])
    ratio = 2 * np.array([one[4][0] - one[4][1] for one in found])
    share = float((ratio < chi2.ppf(0.95, FREE[case.kind] - case.given_size)).mean())
    error = float(np.sqrt(share * (1 - share) / len(found)))
    return [*rows, [*head, "all, by likelihood ratio", len(found), len(found), 0, share, error]]


def kept(path: Path, case: Case) -> list[list[list[float]]]:
    """What was found for each data set; those that a file has are not done again, and it is written as they are."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for seed in range(len(found), case.sets):
        found.append(estimates(case, seed))
        with replace_file(path, "w") as file:
            json.dump(found, file)
    return found[: case.sets]


def run(quick: bool = False, work: Path | None = None, cases: list[Case] = CASES) -> dict:
    rows: list[list[object]] = []
    with threadpool_limits(1), tempfile.TemporaryDirectory() as temporary:
        for case in cases:
            one = case._replace(sets=2, instances=30) if quick else case
            name = f"{one.kind}-{'sized' if one.given_size else 'set'}-{one.instances}.json"
            rows += coverage(one, kept((work or Path(temporary)) / name, one))
    title = f"How often what should hold the truth in 95 % of cases does: sets of {N} items"
    return {
        "name": "coverage",
        "title": "Intervals of learned weights",
        "rows": [],
        "tables": [{"title": title, "columns": COLUMNS, "rows": rows}],
        "notes": [
            "Data sets are drawn from the kind that is learned, with weak priors (variance 100, similarity_prior 0.1); "
            "weights at 0 have no standard error, and are not counted.",
        ],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="such as mixture-set-150; done, and kept in --work, not written")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--work", type=Path, help="folder of what was found before, of every data set")
    arguments = parser.parse_args()
    asked = [c for c in CASES if f"{c.kind}-{'sized' if c.given_size else 'set'}-{c.instances}" in arguments.cases]
    result = run(arguments.quick, arguments.work, asked or CASES)
    if not asked:
        print(write(result))
    for line in result["tables"][0]["rows"]:
        print(*line)
