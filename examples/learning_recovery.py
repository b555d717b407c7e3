"""Draw subsets from known weights, learn the weights back, and see how far off they are.

Writes a figure and prints the table of docs/learning.md: the error falls like 1 / sqrt(T) with T instances, and
the 95 % intervals hold the true weight about 95 % of the time.

    python examples/learning_recovery.py --out recovery.png
"""

from __future__ import annotations

import argparse

import numpy as np

from dpplearn import DPP, ConditionalDPP, ItemSet

THETA = np.array([-1.0, 0.8, -0.5, 0.3])
N_ITEMS, N_DIRECTIONS = 12, 8


def draw_instance(rng: np.random.Generator) -> tuple[ItemSet, np.ndarray]:
    """Twelve items with a constant and three random features, and a subset from the true model."""
    F = np.column_stack([np.ones(N_ITEMS), rng.standard_normal((N_ITEMS, THETA.size - 1))])
    items = ItemSet(F, phi=rng.standard_normal((N_ITEMS, N_DIRECTIONS)))
    truth = DPP.from_quality(np.exp(F @ THETA / 2), items.similarity_matrix())
    return items, truth.sample(1, rng=rng, n_jobs=1)[0]


def simulate(T: int, repeats: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors of theta and whether each interval holds the truth, both of shape (repeats, features)."""
    errors, held = [], []
    for _ in range(repeats):
        X, y = zip(*(draw_instance(rng) for _ in range(T)), strict=True)
        model = ConditionalDPP(prior_variance=100.0).fit(X, y)
        low, high = model.intervals(0.95).T
        errors.append(model.theta_ - THETA)
        held.append((low <= THETA) & (high >= THETA))
    return np.array(errors), np.array(held)


def plot(sizes: list[int], rms: list[float], coverage: list[float], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    left.loglog(sizes, rms, "o", color="#1f5f8b", label="simulation")
    left.loglog(sizes, rms[0] * np.sqrt(sizes[0] / np.array(sizes)), "--", color="0.5", label=r"$1/\sqrt{T}$")
    left.set(xlabel="instances T", ylabel="root mean square error of a weight", xticks=sizes, xticklabels=sizes)
    left.set(yticks=[0.05, 0.1, 0.2], yticklabels=["0.05", "0.1", "0.2"])
    left.minorticks_off()
    left.legend(frameon=False)
    right.axhspan(93, 97, color="#1f5f8b", alpha=0.12, lw=0, label="93 to 97 %")
    right.semilogx(sizes, 100 * np.array(coverage), "o", color="#1f5f8b", label="simulation")
    right.set(xlabel="instances T", ylabel="95 % intervals that hold the truth (%)", ylim=(88, 100))
    right.set(xticks=sizes, xticklabels=sizes)
    right.minorticks_off()
    right.legend(frameon=False, loc="lower right")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn known weights back from subsets drawn from them.")
    parser.add_argument("--out", default="learning_recovery.png", help="where to write the figure")
    parser.add_argument("--repeats", type=int, default=200, help="training sets of each size")
    arguments = parser.parse_args()
    rng, sizes = np.random.default_rng(2011), [25, 50, 100, 200, 400]
    rms, coverage = [], []
    print("| T | RMS error | RMS error x sqrt(T) | coverage of 95 % intervals |\n|--:|--:|--:|--:|")
    for T in sizes:
        errors, held = simulate(T, arguments.repeats, rng)
        rms.append(float(np.sqrt((errors**2).mean())))
        coverage.append(float(held.mean()))
        print(f"| {T} | {rms[-1]:.3f} | {rms[-1] * np.sqrt(T):.2f} | {100 * coverage[-1]:.1f} % |", flush=True)
    plot(sizes, rms, coverage, arguments.out)
    print(f"The figure is in {arguments.out}.")


if __name__ == "__main__":
    main()
