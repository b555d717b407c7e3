"""Draws the figures in docs/assets/figures in the font of the site, and one of them for dark pages too.

    python scripts/docs_figures.py           # all
    python scripts/docs_figures.py sizes     # some: those of the paper by name, and our own, sizes and weights

`make figures` runs it, and scripts/docs_pictures.py for the pictures that examples and pages make.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave
from page_look import page_look

from dpplearn._checks import FloatArray
from dpplearn.determinantal import Determinantal, sum_of_coins
from dpplearn.dpp import DPP
from dpplearn.kernels import rbf_similarity
from dpplearn.plots import plot_weights
from dpplearn.plots.figures import FIGURES, draw, save
from dpplearn.plots.style import (
    BLACK,
    ONE_COLUMN,
    SKY,
    TWO_COLUMNS,
    VERMILION,
    new_figure,
    panel_title,
    style,
)
from dpplearn.summarize.summarizer import Summarizer

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
NIGHT = np.array([0x1E, 0x20, 0x29]) / 255  # the background of the docs' dark pages
SAMPLES = 20_000


def example() -> DPP:
    """A DPP of 150 points in the unit square, similar if they are near."""
    points = np.random.default_rng(5).random((150, 2))
    return DPP.from_quality(np.full(150, 1.2), rbf_similarity(points, length_scale=0.12))


def size_histogram(dpp: Determinantal, samples: int, rng: int = 0) -> FloatArray:
    """The share of samples of each size from 0 to n."""
    sizes = np.diff(dpp.sample(samples, rng=rng).indptr)
    return np.bincount(sizes, minlength=dpp.n + 1) / samples


@style()
def draw_sizes() -> Figure:
    """Draw the sizes: bars for samples, dots for exact probabilities, a dashed line for independent items."""
    dpp = example()
    exact, independent = dpp.size_pmf, sum_of_coins(dpp.marginals)
    shown = np.flatnonzero(np.maximum(exact, independent) > 2e-4)
    k = np.arange(shown[0], shown[-1] + 1)
    figure, ax = new_figure(ONE_COLUMN, 2.5)
    ax.bar(k, size_histogram(dpp, SAMPLES)[k], 0.85, color=SKY, alpha=0.6, lw=0, label=f"{SAMPLES:,} samples")
    ax.plot(k, exact[k], "o", ms=3, color=BLACK, label="exact")
    ax.plot(k, independent[k], "--", lw=1.1, color=VERMILION)
    # Both have the same mean. Repulsion lowers the variance from the sum of K_ii (1 - K_ii) by twice the sum of K_ij^2.
    spread = np.sqrt([dpp.size_variance, (dpp.marginals * (1 - dpp.marginals)).sum()])
    beside = dpp.expected_size + 1.1 * spread[1]
    means = [f"mean {dpp.expected_size:.1f}, s.d. {s:.1f}" for s in spread]
    height = np.interp(beside, k, independent[k]) + 0.004
    label = f"independent items,\nsame marginals:\n{means[1]}"
    ax.text(beside, height, label, color=VERMILION, va="bottom", fontsize=8)
    ax.text(k[0], 0.75 * exact.max(), f"DPP:\n{means[0]}", va="top", fontsize=8)
    ax.set(xlabel="number of items $|Y|$", ylabel="probability", xlim=(k[0] - 0.7, k[-1] + 0.7))
    ax.legend(loc="upper left", borderaxespad=0.2)
    return figure


# Each panel: its title and its first feature. It has the features up to the first one of the next panel.
PANELS = (
    ("How many, and where they stand", "constant"),
    ("What others say", "words of titles"),
    ("How they are written", "length"),
)


@style()
def draw_weights() -> Figure:
    """Draw the weights, with a panel for each kind of feature, on one scale."""
    model = Summarizer.load()
    names = model.features_.names
    starts = [names.index(first) for _, first in PANELS]
    figure, axes = new_figure(TWO_COLUMNS, 2.4, columns=3, sharex=True)
    for ax, letter, (title, _), start, end in zip(axes, "abc", PANELS, starts, [*starts[1:], len(names)], strict=True):
        rows = slice(start, end)
        plot_weights(model.theta_[rows], ax, std=model.theta_std_[rows], names=list(names[rows]))
        panel_title(ax, letter, title)
        ax.grid(axis="x")
        ax.set_xlabel("")
    most = np.abs(model.theta_) + 1.96 * model.theta_std_
    axes[0].set_xlim(-1.05 * most.max(), 1.05 * most.max())
    figure.supxlabel(r"weight $\theta$ with 95 % interval (hollow: it holds 0)", fontsize=9)
    return figure


def pixels(figure: Figure, dpi: float) -> FloatArray:
    """Red, green and blue of each pixel of the figure, from 0 to 1."""
    with BytesIO() as file:
        figure.savefig(file, format="png", dpi=dpi)
        file.seek(0)
        return np.asarray(imread(file), np.float64)[..., :3]


def darkened(rgb: FloatArray) -> FloatArray:
    """The same hues with inverted lightness: white becomes NIGHT, and black becomes white.

    In HSL, lightness is (max + min) / 2, and hue and saturation depend only on c - lightness. So c + 1 - (max + min)
    has the same hue and saturation, and lightness 1 - (max + min) / 2.
    """
    inverted = rgb + 1.0 - rgb.max(axis=-1, keepdims=True) - rgb.min(axis=-1, keepdims=True)
    return np.clip(NIGHT + (1.0 - NIGHT) * inverted, 0.0, 1.0)


OURS = {"sizes": draw_sizes, "weights": draw_weights}


def main() -> None:
    for name in sys.argv[1:] or [*FIGURES, *OURS]:
        with nullcontext() if name == "cluster" else page_look():  # whose columns fit the paper's font
            figure = OURS[name]() if name in OURS else draw(name)
            print(*save(figure, name, ASSETS / "figures", ["png"], dpi=125))
            if name == "points":
                save(figure, name, ASSETS, ["png"], dpi=125)
                with style():
                    imsave(ASSETS / "points-dark.png", darkened(pixels(figure, 125)), metadata={"Software": None})


if __name__ == "__main__":
    main()
