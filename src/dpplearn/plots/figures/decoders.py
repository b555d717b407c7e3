"""How far each decoder's set is from the most probable one, and how long it takes, measured when drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpplearn._checks import FloatArray
from dpplearn.decoding import Selection, consensus, exact_map, greedy_map, local_search, sampled_map
from dpplearn.dpp import DPP
from dpplearn.plots.style import BLACK, BLUE, GREEN, ORANGE, SKY, TWO_COLUMNS, VERMILION, foot_note, new_figure, style

PROBLEMS, ITEMS, FIT = 10, 30, 6  # problems, items in each, and how many of them the budget lets in, about
SAMPLES = (100, 1_000, 10_000, 100_000)

Decoder = Callable[..., Selection]
Task = tuple[DPP, FloatArray, float]  # with costs and a budget


@dataclass(frozen=True)
class Curve:
    """A decoder, or one with more and more samples, and how it is drawn."""

    decoders: Sequence[Decoder]
    colour: str
    marker: str


def best_of(n: int, tilt: bool) -> Decoder:
    return lambda *task: sampled_map(*task, n_samples=n, tilt=tilt, rng=0, n_jobs=1)


CURVES = {
    "greedy per cost (Algorithm 2)": Curve([lambda *task: greedy_map(*task, gain="probability")], BLUE, "s"),
    "greedy, default": Curve([greedy_map], BLUE, "o"),
    "greedy, then local search": Curve([local_search], SKY, "D"),
    "best of 100 to 100,000 samples": Curve([best_of(n, False) for n in SAMPLES], VERMILION, "v"),
    "the same, tilted to the budget": Curve([best_of(n, True) for n in SAMPLES], ORANGE, "^"),
    "consensus": Curve([lambda *task: consensus(*task, rng=0, n_jobs=1)], GREEN, "P"),
    "exact (branch and bound)": Curve([exact_map], BLACK, "*"),
}


def random_tasks(count: int) -> Iterator[Task]:
    """Random directions around common ones, log-normal qualities and costs, and a budget."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        phi = rng.standard_normal((ITEMS, 10)) + rng.standard_normal(10)
        phi /= np.linalg.norm(phi, axis=1, keepdims=True)
        cost = np.round(rng.lognormal(np.log(115), 0.4, ITEMS))  # like sentences in bytes
        q = 1.5 * np.exp(0.4 * rng.standard_normal(ITEMS))
        yield DPP.from_quality(q, 0.95 * phi @ phi.T + 0.05 * np.eye(ITEMS)), cost, FIT * float(cost.mean())


def measure(count: int = PROBLEMS) -> dict[str, FloatArray]:
    """Rows (median seconds, mean log-probability below the best set, which is `exact_map`'s) of each curve."""
    tasks = list(random_tasks(count))
    best = [exact_map(*task).log_prob for task in tasks]
    return {
        name: np.array([measure_one(decode, tasks, best) for decode in curve.decoders])
        for name, curve in CURVES.items()
    }


def measure_one(decode: Decoder, tasks: Sequence[Task], best: Sequence[float]) -> tuple[float, float]:
    decode(*tasks[0])  # compiles and warms
    gaps, times = [], []
    for task, highest in zip(tasks, best, strict=True):
        start = perf_counter()
        found = decode(*task)
        times.append(perf_counter() - start)
        gaps.append(max(highest - found.log_prob, 0.0))  # rounding aside, none is above
    return float(np.median(times)), float(np.mean(gaps))


def plot_decoders(ax: Axes, measured: Mapping[str, FloatArray]) -> None:
    """Gap against time, one curve or point per decoder."""
    for name, rows in measured.items():
        curve = CURVES[name]
        ms, gaps = 1e3 * rows[:, 0], rows[:, 1]
        size = 7 if curve.marker == "*" else 4.5
        line = "-" if len(ms) > 1 else "none"
        ax.plot(ms, gaps, curve.marker, ls=line, lw=1, ms=size, color=curve.colour, label=name, clip_on=False, zorder=3)
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=0.01)  # 0, the best, is on the axis
    ax.set_ylim(0, 10)
    ax.set_yticks([0, 0.01, 0.1, 1, 10], ["0", "0.01", "0.1", "1", "10"])
    ax.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1,000"])
    ax.minorticks_off()
    ax.set(xlabel="milliseconds (median)", ylabel="log-probability below the best set")
    ax.grid()


@style()
def draw(problems: int = PROBLEMS) -> Figure:
    """Measure on so many problems, and draw."""
    figure, ax = new_figure(TWO_COLUMNS, 2.7)
    plot_decoders(ax, measure(problems))
    figure.legend(loc="outside right upper", labelspacing=1.0)
    foot_note(figure, f"Mean of {problems} problems of {ITEMS} items with a budget for about {FIT}; "
              "measured on this machine, one thread")  # fmt: skip
    return figure
