"""Draw the figures of the docs in sans type, as the site is set: docs/assets/figures; one of them for dark pages too.

    python scripts/docs_figures.py           # all
    python scripts/docs_figures.py sizes     # some: of the paper by name, and ours, sizes and weights

`make figures` runs it; scripts/docs_pictures.py draws what examples and pages make.
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
NIGHT = np.array([0x1E, 0x20, 0x29]) / 255  # the ground of the docs' dark pages
SAMPLES = 20_000


def example() -> DPP:
    """150 points of the unit square, similar where near."""
    points = np.random.default_rng(5).random((150, 2))
    return DPP.from_quality(np.full(150, 1.2), rbf_similarity(points, length_scale=0.12))


def size_histogram(dpp: Determinantal, samples: int, rng: int = 0) -> FloatArray:
    """Share of samples of each size 0 ... n."""
    sizes = np.diff(dpp.sample(samples, rng=rng).indptr)
    return np.bincount(sizes, minlength=dpp.n + 1) / samples


@style()
def draw_sizes() -> Figure:
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


# Panel: its title, and the first of its features; the others up to the next panel's are in it too.
PANELS = (
    ("How many, and where they stand", "constant"),
    ("What others say", "words of titles"),
    ("How they are written", "length"),
)


@style()
def draw_weights() -> Figure:
    """One panel for each kind of feature, on one scale."""
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
    """What the figure looks like: red, green and blue of each pixel, from 0 to 1."""
    with BytesIO() as file:
        figure.savefig(file, format="png", dpi=dpi)
        file.seek(0)
        return np.asarray(imread(file), np.float64)[..., :3]


def darkened(rgb: FloatArray) -> FloatArray:
    """The same hues with lightness turned round: white to NIGHT, black to white.

    In HSL, lightness is (max + min) / 2, and c - lightness is all that hue and saturation say: c + 1 - (max + min) has
    the same of these and lightness 1 - (max + min) / 2.
    """
    turned = rgb + 1.0 - rgb.max(axis=-1, keepdims=True) - rgb.min(axis=-1, keepdims=True)
    return np.clip(NIGHT + (1.0 - NIGHT) * turned, 0.0, 1.0)


OURS = {"sizes": draw_sizes, "weights": draw_weights}


def main() -> None:
    for name in sys.argv[1:] or [*FIGURES, *OURS]:
        with nullcontext() if name == "cluster" else page_look():  # its columns are set for the paper's face
            figure = OURS[name]() if name in OURS else draw(name)
            print(*save(figure, name, ASSETS / "figures", ["png"], dpi=125))
            if name == "points":
                save(figure, name, ASSETS, ["png"], dpi=125)
                with style():
                    imsave(ASSETS / "points-dark.png", darkened(pixels(figure, 125)), metadata={"Software": None})


if __name__ == "__main__":
    main()
