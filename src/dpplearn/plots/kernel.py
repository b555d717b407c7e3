"""A kernel as a picture: one square per pair of items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, Items, check_choice, check_items, check_square
from dpplearn.dpp import DPP
from dpplearn.implicit import ImplicitDPP
from dpplearn.kdpp import KDPP
from dpplearn.lowrank import LowRankDPP
from dpplearn.plots.checks import check_axes, check_labels
from dpplearn.plots.style import DIVERGING, SEQUENTIAL


def plot_kernel(
    kernel: DPP | LowRankDPP | ArrayLike,
    ax: Axes | None = None,
    *,
    which: str | None = None,
    order: Items | None = None,
    labels: Sequence[str] | None = None,
    colorbar: bool = True,
) -> Axes:
    """Show a kernel as a picture, dark where two items are similar.

    Parameters
    ----------
    kernel : DPP, LowRankDPP or array of shape (n, n)
    ax : matplotlib axes, optional
        Where to draw; by default new axes.
    which : {"L", "K", "S"}, optional
        Of a DPP: the likelihood kernel, the marginal kernel or the similarity S_ij = L_ij / sqrt(L_ii L_jj).
        By default L, or K where there is no L. Of an array, what to call it.
    order : item numbers, optional
        Rows and columns from first to last, each item once, such as the chosen set followed by the rest.
    labels : n strings, optional
        Names of the items.
    colorbar : bool
        Whether to show which colour is which value.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from dpplearn import DPP
    >>> ax = plot_kernel(DPP([[2.0, 1.0], [1.0, 2.0]]), which="S", labels=["left", "right"])
    >>> ax.images[0].get_array().data
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['left', 'right']
    """
    if which is not None:
        check_choice(which, "which", ("L", "K", "S"))
    A, name = entries(kernel, which)
    items = np.arange(len(A)) if order is None else check_items(order, len(A), "order")
    if items.size != len(A):
        raise ValueError(
            f"order must name each of the {len(A)} items once, found {items.size} of them. "
            "To draw a part, pass the block of the kernel: L[np.ix_(order, order)]."
        )
    names = check_labels(labels, len(A), "labels")
    ax = check_axes(ax)
    shown = A[np.ix_(items, items)]
    # From 0, so that white is "nothing in common"; similarities up to 1, so that two pictures compare.
    top = 1.0 if name == "S" else float(np.abs(shown).max()) or 1.0
    low, colours = (-top, DIVERGING) if shown.min() < 0 else (0.0, SEQUENTIAL)
    image = ax.imshow(shown, cmap=colours, vmin=low, vmax=top, interpolation="nearest")
    if names is not None:
        ax.set_xticks(range(items.size), [names[i] for i in items], rotation=90)
        ax.set_yticks(range(items.size), [names[i] for i in items])
    elif order is not None or items.size <= 12:
        step = -(-items.size // 12)  # at most twelve numbers on each side
        ax.set_xticks(range(0, items.size, step), items[::step])
        ax.set_yticks(range(0, items.size, step), items[::step])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if names is None:
        ax.set(xlabel="item", ylabel="item")
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
        bar.ax.set_title(f"${name}_{{ij}}$" if name else "", fontsize="medium")  # above: beside it may be other axes
        bar.outline.set_visible(False)
    return ax


def entries(kernel: DPP | LowRankDPP | ArrayLike, which: str | None) -> tuple[FloatArray, str]:
    """The matrix to show, and its letter or nothing."""
    if isinstance(kernel, DPP | LowRankDPP):
        which = which or ("L" if kernel.has_L else "K")
        return {"L": lambda: kernel.L, "K": lambda: kernel.K, "S": lambda: kernel.similarity}[which](), which
    if isinstance(kernel, KDPP):
        raise TypeError("A KDPP has no kernel of its own: pass the DPP it is made from, kdpp.dpp.")
    if isinstance(kernel, ImplicitDPP):
        raise TypeError("An ImplicitDPP holds no matrix: pass the block of it that you want to see.")
    return check_square(kernel, which or "kernel"), which or ""
