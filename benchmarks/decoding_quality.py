"""Measures how far each decoder is from the most probable set, for benchmarks.decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from dpplearn import DPP, Subsets
from dpplearn.decoding import Selection, consensus, exact_map, greedy_map, local_search, sampled_map
from dpplearn.plots.style import BLACK, BLUE, GREEN, TWO_COLUMNS, VERMILION, new_figure, style

Decoder = Callable[[DPP, np.ndarray, float], Selection]

GREEDY: dict[str, Decoder] = {
    'greedy_map (gain="auto")': greedy_map,
    'greedy_map (gain="probability", the paper\'s)': lambda *p: greedy_map(*p, gain="probability"),
    'greedy_map (gain="log")': lambda *p: greedy_map(*p, gain="log"),
    'greedy_map (gain="log", cost_power=0)': lambda *p: greedy_map(*p, gain="log", cost_power=0),
}
DECODERS: dict[str, Decoder] = GREEDY | {
    "greedy_map, then local_search": lambda *p: local_search(*p),
    "sampled_map, 1,000 samples": lambda *p: sampled_map(*p, n_samples=1_000, rng=0),
    "sampled_map, 1,000 samples, tilt": lambda *p: sampled_map(*p, n_samples=1_000, tilt=True, rng=0),
    "sampled_map, 100,000 samples, tilt": lambda *p: sampled_map(*p, n_samples=100_000, tilt=True, rng=0),
    "consensus (of items)": lambda *p: consensus(*p),
    "exact_map": exact_map,
}


def problems(count: int, n: int, items: int, quality: float) -> Iterator[tuple[DPP, np.ndarray, float]]:
    """Random directions in 10 dimensions, some around a common one; log-normal qualities and lengths; a budget."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        phi = rng.standard_normal((n, 10)) + rng.choice([0.0, 1.0]) * rng.standard_normal(10)
        phi = np.hstack([phi / np.linalg.norm(phi, axis=1, keepdims=True), 0.2 * np.eye(n)]) / np.sqrt(1.04)
        cost = np.round(rng.lognormal(np.log(115), 0.4, n))
        q = quality * np.exp(0.4 * rng.standard_normal(n)) * (cost / 115) ** rng.choice([0.0, 0.5])
        yield DPP.from_quality(q, phi @ phi.T), cost, items * float(cost.mean())


def quality_above(count: int, n: int, items: int) -> dict:
    """The gap to exact_map for qualities around 4, where the budget binds."""
    gaps: dict[str, list[float]] = {name: [] for name in DECODERS}
    times: dict[str, list[float]] = {name: [] for name in DECODERS}
    for dpp, cost, budget in problems(count, n, items, 4.0):
        best = exact_map(dpp, cost, budget).log_prob
        for name, decode in DECODERS.items():
            start = perf_counter()
            selection = decode(dpp, cost, budget)
            times[name].append(perf_counter() - start)
            assert selection.cost <= budget
            gaps[name].append(max(best - selection.log_prob, 0.0))
    title = f"Log-probability below the best set: {count} problems, N = {n}, budget for about {items} items, q about 4"
    rows = [
        [
            name,
            float(np.mean(gaps[name])),
            f"{np.mean(np.array(gaps[name]) < 1e-9):.0%}",
            1e3 * float(np.median(times[name])),
        ]
        for name in DECODERS
    ]
    return {"title": title, "columns": ["decoder", "mean gap", "optimal", "median ms"], "rows": rows}


def quality_below(count: int, n: int, items: int) -> dict:
    """The gap for qualities around 0.3, where every item lowers the probability and the best set is empty.

    So a set is compared with the most probable set of the same size that fits (a common factor on all qualities does
    not change this gap), and the table also shows how much of the budget it uses.
    """
    masks = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    sizes = masks.sum(axis=1)
    subsets = Subsets(np.append(0, np.cumsum(sizes)), np.nonzero(masks)[1], n)
    measures: dict[str, list[tuple[float, int, float]]] = {name: [] for name in GREEDY}
    for dpp, cost, budget in problems(count, n, items, 0.3):
        values = np.where(masks @ cost <= budget, dpp.log_prob(subsets) - dpp.log_prob([]), -np.inf)  # log det L_Y
        best = [values[sizes == size].max() for size in range(n + 1)]
        for name, decode in GREEDY.items():
            Y = decode(dpp, cost, budget)
            measures[name].append((best[len(Y)] - float(Y.gains.sum()), len(Y), Y.cost / budget))
    title = f"The same with q about 0.3, below the best set of the same size: {count} problems, N = {n}"
    rows = [[name, *(float(x) for x in np.mean(measures[name], axis=0))] for name in GREEDY]
    return {"title": title, "columns": ["decoder", "mean gap", "items", "share of budget"], "rows": rows}


COLOURS = {"greedy_map": BLUE, "sampled_map": VERMILION, "consensus": GREEN}


@style()
def plot_quality(table: dict, path: Path) -> None:
    """Draw the gap against the time, with one point for each decoder."""
    figure, ax = new_figure(TWO_COLUMNS, 3.4)
    for name, gap, _, ms in table["rows"]:
        colour = COLOURS.get(name.split(" ")[0].split(",")[0], BLACK)
        above = name.endswith(" 1,000 samples, tilt")  # the labels of its neighbours are beside it
        ax.plot(ms, gap, "o", color=colour, clip_on=False, zorder=3)
        label = name.replace("gain=", "").replace('"', "")
        beside = (6, 0) if gap else (6, 7)  # a gap of 0 lies on the axis
        ax.annotate(label, (ms, gap), (0, 10) if above else beside, textcoords="offset points", fontsize=8,
                    ha="center" if above else "left", va="center", color=colour)  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=0.01)  # so that 0, the best, is on the axis
    ax.set_ylim(0, 100)
    ax.set_xlim(0.03, 1000)
    ax.set_yticks([0, 0.01, 0.1, 1, 10, 100], ["0", "0.01", "0.1", "1", "10", "100"])
    ax.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1,000"])
    ax.minorticks_off()
    ax.set(xlabel="milliseconds (median)", ylabel="mean log-probability below the best set")
    ax.set_title(table["title"].split(": ", 1)[1], loc="left")
    ax.grid()
    figure.savefig(path, dpi=150)
