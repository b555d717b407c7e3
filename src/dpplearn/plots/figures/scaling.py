"""Time per exact sample as the number of items grows, measured when the figure is drawn; DPPy too where it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpplearn._checks import FloatArray
from dpplearn.lowrank import LowRankDPP
from dpplearn.plots.style import BLUE, ONE_COLUMN, VERMILION, foot_note, new_figure, style

RANK, SIZE = 100, 10  # of the kernels, and about E|Y|
ITEMS = (250, 1000, 4000, 16000)
OURS, PEER = "dpplearn, one thread", "DPPy"


def low_rank_dpp(n: int) -> LowRankDPP:
    """n items of rank RANK with E|Y| near SIZE."""
    B = np.random.default_rng(0).standard_normal((n, RANK))
    # The eigenvalues of B^T B are near n; at lam = s / (r - s) each of r coins lands in Y with probability s / r.
    return LowRankDPP(B * np.sqrt(SIZE / (RANK - SIZE) / n))


def seconds_per_sample(sample: Callable[[int], object], count: int, repeats: int = 5) -> float:
    """Of the fastest repeat; one call goes first, unmeasured: it compiles and warms."""
    sample(count)
    times = []
    for _ in range(repeats):
        start = perf_counter()
        sample(count)
        times.append(perf_counter() - start)
    return min(times) / count  # what else the machine does only adds


def dppy_seconds(lam: FloatArray, V: FloatArray) -> float | None:
    """Of DPPy's exact sampler on given eigenpairs, in the fastest of its modes; None where it is not installed."""
    try:
        from dppy.finite_dpps import FiniteDPP
    except ImportError:
        return None
    dpp, rng = FiniteDPP("likelihood", L_eig_dec=(lam, V)), np.random.RandomState(0)  # DPPy takes no Generator

    def sample(count: int, mode: str) -> None:
        for _ in range(count):
            dpp.sample_exact(mode=mode, random_state=rng)
        dpp.flush_samples()

    return min(seconds_per_sample(partial(sample, mode=mode), 5) for mode in ("GS", "GS_bis", "KuTa12"))


def measure(items: Sequence[int] = ITEMS) -> dict[str, FloatArray]:
    """Seconds per sample by sampler, one for each number of items, set-up excluded."""
    dpps = [low_rank_dpp(n) for n in items]
    ours = [seconds_per_sample(partial(dpp.sample, rng=1, n_jobs=1), 5000) for dpp in dpps]
    peer = [dppy_seconds(*dpp.eigenpairs) for dpp in dpps]
    return {OURS: np.array(ours)} | ({} if None in peer else {PEER: np.array(peer, np.float64)})


def plot_scaling(ax: Axes, items: Sequence[int], times: Mapping[str, FloatArray]) -> None:
    """One line per sampler, named at its right end."""
    for (name, found), colour in zip(times.items(), (BLUE, VERMILION), strict=False):
        ax.plot(items, 1e6 * found, "o-", color=colour)
        ax.annotate(name, (items[-1], 1e6 * found[-1]), (0, 7), textcoords="offset points", ha="right", color=colour)
    ax.set(xscale="log", yscale="log", xlabel="number of items $N$", ylabel="microseconds per sample")
    ax.set_ylim(1, 4 * 1e6 * max(found.max() for found in times.values()))
    ax.set_xticks(items, [f"{n:,}" for n in items])
    ax.minorticks_off()
    ax.grid()


@style()
def draw(items: Sequence[int] = ITEMS) -> Figure:
    """Measure at these numbers of items, and draw."""
    times = measure(items)
    figure, ax = new_figure(ONE_COLUMN, 2.6)
    plot_scaling(ax, items, times)
    peer = f"DPPy {dppy_version()} in the fastest of its exact modes" if PEER in times else "DPPy is not installed here"
    foot_note(figure, f"Rank {RANK}, E|Y| = {SIZE}; fastest of 5 runs on this machine, set-up excluded.\n{peer}.")
    return figure


def dppy_version() -> str:
    try:
        return version("dppy")
    except PackageNotFoundError:  # a copy on the path, not installed
        return ""
