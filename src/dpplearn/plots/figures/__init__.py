"""The figures that `dpplearn figures` draws, by name.

A figure is a module here with `def draw() -> Figure`, decorated with `style.style()`, a line in FIGURES, and a section
in docs/figures.md; one of the paper's has its number in NUMBERS too. The module is imported, and matplotlib with it,
when the figure is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable

# name, which is that of the module: one line for --list
FIGURES = {
    "points": "A DPP's points beside independent ones (Figure 1).",
    "geometry": "Volumes that vectors span, quality, similarity (Figure 2).",
    "factors": "Factors of three items in an MRF and in a DPP (Figure 3).",
    "realizable": "The factors that each of the two can have (Figure 4).",
    "cluster": "A cluster, a reference summary and an extract (Figure 5).",
    "weights": "The weights of the bundled model with 95 % intervals.",
    "sizes": "How many items a DPP draws: exact, sampled, and if they were independent.",
}

# The paper's numbers.
NUMBERS = {"1": "points", "2": "geometry", "3": "factors", "4": "realizable", "5": "cluster"}

FORMATS = ("pdf", "svg", "png")


def figure_names(names: Iterable[str] = ()) -> list[str]:
    """The figures meant by names and by numbers of the paper, each once, in the order given; none means all.

    Examples
    --------
    >>> figure_names(["2", "points", "geometry"])
    ['geometry', 'points']
    """
    asked = list(names)
    unknown = [name for name in asked if name not in FIGURES and name not in NUMBERS]
    if unknown:
        numbers = {name: number for number, name in NUMBERS.items()}
        known = ", ".join(f"{name} ({numbers[name]})" if name in numbers else name for name in FIGURES)
        raise ValueError(f"There is no figure {unknown[0]!r}. The figures are {known}.")
    return list(dict.fromkeys(NUMBERS.get(name, name) for name in asked)) or list(FIGURES)
