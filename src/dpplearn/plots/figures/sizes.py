"""How many items a DPP draws: the exact distribution, a histogram of samples, and independent items beside them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from dpplearn._checks import FloatArray
from dpplearn.determinantal import Determinantal, sum_of_coins
from dpplearn.dpp import DPP
from dpplearn.kernels import rbf_similarity
from dpplearn.plots.style import BLACK, ONE_COLUMN, SKY, VERMILION, new_figure, style

SAMPLES = 20_000


def example() -> DPP:
    """150 points of the unit square, similar where near."""
    points = np.random.default_rng(5).random((150, 2))
    return DPP.from_quality(np.full(150, 1.2), rbf_similarity(points, length_scale=0.12))


def size_histogram(dpp: Determinantal, samples: int, rng: int = 0) -> FloatArray:
    """Share of samples of each size 0 ... n.

    Examples
    --------
    >>> size_histogram(DPP([[1e12, 0.0], [0.0, 1e-12]]), 10)  # always the first item alone
    array([0., 1., 0.])
    """
    sizes = np.diff(dpp.sample(samples, rng=rng).indptr)
    return np.bincount(sizes, minlength=dpp.n + 1) / samples


@style()
def draw() -> Figure:
    """Bars for samples, dots for what is exact, and a dashed line for independent items."""
    dpp = example()
    exact, apart = dpp.size_pmf, sum_of_coins(dpp.marginals)
    shown = np.flatnonzero(np.maximum(exact, apart) > 2e-4)
    k = np.arange(shown[0], shown[-1] + 1)
    figure, ax = new_figure(ONE_COLUMN, 2.5)
    ax.bar(k, size_histogram(dpp, SAMPLES)[k], 0.85, color=SKY, alpha=0.6, lw=0, label=f"{SAMPLES:,} samples")
    ax.plot(k, exact[k], "o", ms=3, color=BLACK, label="exact")
    ax.plot(k, apart[k], "--", lw=1.1, color=VERMILION)
    # The mean is the same; repulsion takes from the variance: sum of K_ii (1 - K_ii) less twice the sum of K_ij^2.
    spread = np.sqrt([dpp.size_variance, (dpp.marginals * (1 - dpp.marginals)).sum()])
    beside = dpp.expected_size + 1.1 * spread[1]
    means = [f"mean {dpp.expected_size:.1f}, s.d. {s:.1f}" for s in spread]
    height = np.interp(beside, k, apart[k]) + 0.004
    said = f"independent items,\nsame marginals:\n{means[1]}"
    ax.text(beside, height, said, color=VERMILION, va="bottom", fontsize=8)
    ax.text(k[0], 0.75 * exact.max(), f"DPP:\n{means[0]}", va="top", fontsize=8)
    ax.set(xlabel="number of items $|Y|$", ylabel="probability", xlim=(k[0] - 0.7, k[-1] + 0.7))
    ax.legend(loc="upper left", borderaxespad=0.2)
    return figure
