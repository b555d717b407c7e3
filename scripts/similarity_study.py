"""The table of docs/learned-similarity.md: held-out likelihood and choices of the four kinds of similarity.

    python scripts/similarity_study.py [--quick]

Made-up data, of which the truth is known: subsets drawn from a DPP whose similarity is a mixture of two parts, has
scaled features, or is what the fixed kind says. Half of the instances are held out. Seeded: the same table each time.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.learning.similarity import Mixture, Scaled

THETA = np.array([-1.0, 0.8, -0.5])
KINDS = ("fixed", "mixture", "scaled", "projected")


def item_set(n, rng):
    F = np.column_stack([np.ones(n), rng.standard_normal((n, 2))])
    return ItemSet(F, phi={"topic": rng.standard_normal((n, 3)), "style": rng.standard_normal((n, 3))})


def truths(shapes):
    """What the subsets are drawn from."""
    scaled = Scaled(names=()).bound(shapes)
    return {
        "equal parts (the fixed kind)": Mixture(("topic", "style"), np.array([0.1, 0.1, 0.4, 0.4])),
        "one part counts": Mixture(("topic", "style"), np.array([0.1, 0.1, 0.78, 0.02])),
        "two features count": Scaled(
            scaled.names, np.array([0.1, 0.1, 0.8]), np.array([0.45, 0.02, 0.02, 0.45, 0.03, 0.03])
        ),
    }


def draw(T, n, truth, rng):
    X = [item_set(n, rng) for _ in range(T)]
    q = [np.exp(x.features @ THETA / 2) for x in X]
    return X, [DPP.from_quality(a, truth.matrix(x)).sample(1, rng=rng)[0] for a, x in zip(q, X, strict=True)]


def agreement(model, X, y):
    """Mean share of the chosen items that the model chooses too, when it chooses as many."""
    found = [model.decode(x, k=int(Y.size)).subset for x, Y in zip(X, y, strict=True) if Y.size]
    return np.mean([np.isin(f, Y).mean() for f, Y in zip(found, [Y for Y in y if Y.size], strict=True)])


def main(quick=False):
    T, n = (60, 9) if quick else (200, 14)
    print("| truth | likelihood | " + " | ".join(KINDS) + " |")
    print("|---" * (2 + len(KINDS)) + "|")
    for name, truth in truths([part.shape for part in item_set(3, np.random.default_rng(0)).parts]).items():
        rng = np.random.default_rng(15)
        X, y = draw(2 * T, n, truth, rng)
        for given_size in (False, True):
            cells = []
            for kind in KINDS:
                options = {"nugget": 0.05} if kind == "fixed" else {"similarity": kind, "n_starts": 2}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    model = ConditionalDPP(10.0, given_size=given_size, **options).fit(X[:T], y[:T])
                cells.append(f"{model.score(X[T:], y[T:]):.3f} ({100 * agreement(model, X[T:], y[T:]):.1f} %)")
            of = "given the size" if given_size else "of the set"
            print(f"| {name} | {of} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv)
