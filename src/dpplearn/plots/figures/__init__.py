"""The figures of the paper, by name: `dpplearn figures` draws them.

A figure is a module here with `def draw() -> Figure`, decorated with `style.style()`, a line in FIGURES, and a section
in docs/figures.md. The module is imported, and matplotlib with it, when the figure is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable

# name, which is that of the module: one line for --help, in the order of the paper's numbers
FIGURES = {
    "points": "A DPP's points beside independent ones (Figure 1).",
    "geometry": "Volumes that vectors span, quality, similarity (Figure 2).",
    "factors": "Factors of three items in an MRF and in a DPP (Figure 3).",
    "realizable": "The factors that each of the two can have (Figure 4).",
    "cluster": "A cluster, a reference summary and an extract (Figure 5).",
}

FORMATS = ("pdf", "svg", "png")


def figure_names(names: Iterable[str] = ()) -> list[str]:
    """The figures meant by names and by numbers of the paper, each once, in the order given; none means all.

    Examples
    --------
    >>> figure_names(["2", "points", "geometry"])
    ['geometry', 'points']
    """
    numbered = dict(zip("12345", FIGURES, strict=True))
    found = [numbered.get(name, name) for name in names]
    for name in found:
        if name not in FIGURES:
            known = ", ".join(f"{name} ({number})" for number, name in numbered.items())
            raise ValueError(f"There is no figure {name!r}. The figures are {known}.")
    return list(dict.fromkeys(found)) or list(FIGURES)
