"""Text in lines of a given width, with some of its words on a coloured ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

LEADING = 1.22  # from line to line, in sizes of the type


@dataclass(frozen=True)
class Word:
    """A word and the colour behind it, if any."""

    text: str
    ground: str | None = None


Line = list[Word]


def words(text: str, ground: str | None = None) -> list[Word]:
    return [Word(part, ground) for part in text.split()]


def width_of(text: str, size: float, weight: str = "normal") -> float:
    """Width in points of a text in matplotlib's font of the moment, the same for every backend.

    Examples
    --------
    >>> width_of("m", 24) == 2 * width_of("m", 12) > 2 * width_of("i", 12)
    True
    """
    font = FontProperties(size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def wrap(text: Iterable[Word], width: float, size: float, weight: str = "normal") -> list[Line]:
    """Words in lines of at most `width` points; a word wider than that has a line to itself.

    Examples
    --------
    >>> from dpplearn.plots.style import style
    >>> with style():
    ...     [[word.text for word in line] for line in wrap(words("the river rose at night"), 32, 8)]
    [['the', 'river'], ['rose', 'at'], ['night']]
    """
    lines: list[Line] = []
    space, used = width_of(" ", size, weight), 0.0
    for word in text:
        wide = width_of(word.text, size, weight)
        if not lines or used + space + wide > width:
            lines.append([])
            used = -space
        lines[-1].append(word)
        used += space + wide
    return lines


def draw_lines(
    ax: Axes, lines: Sequence[Line], x: float, y: float, size: float, *, color: str = "black", weight: str = "normal"
) -> float:
    """Draw lines from the corner (x, y), on axes whose units are points and whose y runs down; return the y below.

    Words side by side on the same ground are drawn as one text.
    """
    for line in lines:
        base, at = y + 0.95 * size, x
        for ground, group in groupby(line, key=lambda word: word.ground):
            text = " ".join(word.text for word in group)
            wide = width_of(text, size, weight)
            if ground is not None:
                box = Rectangle((at - 0.8, y + 0.1 * size), wide + 1.6, 1.1 * size, color=ground, lw=0, zorder=1)
                ax.add_patch(box)
            ax.text(at, base, text, size=size, color=color, weight=weight, va="baseline", parse_math=False, zorder=2)
            at += wide + width_of(" ", size, weight)
        y += LEADING * size
    return y
