"""The figures that `dpplearn figures` draws, by name.

A figure is a module here with `def draw() -> Figure`, decorated with `style.style()`, and a line in FIGURES; one of the
paper's has its number in NUMBERS too. The module is imported, and matplotlib with it, when the figure is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable

# name: (module, one line for --list)
FIGURES = {
    "points": ("dpplearn.plots.figures.points", "A DPP's points beside independent ones (Figure 1)."),
}

# The paper's numbers.
NUMBERS = {"1": "points"}


def figure_names(names: Iterable[str] = ()) -> list[str]:
    """The figures meant by names and by numbers of the paper, each once, in the order given; none means all.

    Examples
    --------
    >>> figure_names(["1", "points"])
    ['points']
    """
    asked = list(names)
    unknown = [name for name in asked if name not in FIGURES and name not in NUMBERS]
    if unknown:
        numbers = {name: number for number, name in NUMBERS.items()}
        known = ", ".join(f"{name} ({numbers[name]})" if name in numbers else name for name in FIGURES)
        raise ValueError(f"There is no figure {unknown[0]!r}. The figures are {known}.")
    return list(dict.fromkeys(NUMBERS.get(name, name) for name in asked)) or list(FIGURES)
