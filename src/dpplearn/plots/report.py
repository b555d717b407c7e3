"""The page of `dpplearn select --report`, which compares a choice with the best scores and with random items."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import to_dense
from dpplearn.decoding.candidates import Candidates, Embedded
from dpplearn.decoding.diversity import effective_number
from dpplearn.decoding.selection import DiverseSelection, nearest_chosen
from dpplearn.plots.style import BLUE, LIGHT, ORANGE, VERMILION, new_figure, style

MEASURED = 20_000  # sets are compared among at most so many items
SHOWN = 3_000  # points of the picture, at most
ANCHORS = 1_000  # items for the directions of the picture, and for random gains
FEWEST_DRAWS, MOST_DRAWS, WORK = 20, 200, 2 * 10**7  # random choices: fewer where each compares many pairs of items
MOST_SHOWN = 12  # groups in the table, the largest first
FULL_WIDTH = 7.2  # inches
LOOKS = {"chosen": (BLUE, "-"), "best scores": (ORANGE, "--"), "random": ("#555555", ":")}
MEASURES = ("effective number of items", "largest similarity inside", "coverage of nine in ten", "worst coverage")
TABLE = """The <em>effective number of items</em> is 1 if all items of a set are the same, and the size of the set if no
two are alike (the Vendi score). No two items of the set are more similar than the <em>largest similarity inside</em>.
The <em>coverage</em> says how similar the nearest item of the set is, at least, to nine in ten of the other items, and
to all of them (<em>worst coverage</em>). The column for random items has the mean of {:,} draws and, after ±, their
standard deviation."""
BY_SCORE = """The choice is less diverse than random items, because scores count for more than variety here. Choose a
diversity above {:g} to change that."""
PICTURE = """Each grey point is an item. Similar items are close together, as far as two directions can show it: these
two hold {} of the differences between items. A diverse choice has points in all places, and few that are side by side.
A random choice has most of its points where most of the items are."""
ADDED = """What each item added when it was chosen, as a share of the largest such gain. Where the line falls, further
items repeat what is there."""
STYLE = """
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
  color: #1b1f24; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem } p { margin: .5rem 0 } figure { margin: 0 }
table { border-collapse: collapse } th, td { padding: .25rem 1.2rem .25rem 0; text-align: right }
th:first-child { text-align: left; font-weight: normal } thead th { border-bottom: 1px solid #999 }
figure svg { width: 100%; height: auto }
"""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A choice, as many of the best scores, and as many random items, all measured among the same items.

    `sets` are numbers of `items`; there are "best scores" only if scores differ. `measures` have the MEASURES of each
    set, rounded as they are shown; those of "random" are means of `draws` draws, with standard deviations `spread`.
    """

    items: Embedded
    sets: dict[str, IntArray]
    measures: dict[str, FloatArray]
    spread: FloatArray
    draws: int
    n: int  # number of all items, of which `items` may be a sample

    @property
    def table(self) -> list[tuple[str, ...]]:
        """A row for each measure, with a cell for each set."""
        columns = [["–" if np.isnan(x) else f"{x:.2f}" for x in values] for values in self.measures.values()]
        columns[-1] = [x if x == "–" else f"{x} ± {y:.2f}" for x, y in zip(columns[-1], self.spread, strict=True)]
        return list(zip(MEASURES, *columns, strict=True))


def compare(chosen: DiverseSelection) -> Comparison | None:
    """Compare a choice with others of its size; None if the items are not in memory, or nothing was chosen."""
    items, n, k = chosen.candidates, chosen.limits.cost.size, len(chosen)
    if items is None or len(items.lengths) != n or not k:
        return None
    rng = np.random.default_rng(0)
    sets = {"chosen": chosen.subset}
    if items.q.min() < items.q.max():
        sets["best scores"] = np.argsort(-items.q, kind="stable")[:k]
    free = np.setdiff1d(np.arange(n), chosen.limits.exclude)
    count = int(np.clip(WORK // (k * min(n, MEASURED)), FEWEST_DRAWS, MOST_DRAWS))
    draws = [rng.choice(free, k, replace=False) for _ in range(count)]
    if n > MEASURED:
        seen = np.unique(np.concatenate([*sets.values(), *draws, rng.choice(n, MEASURED, replace=False)]))
        items = items.part(seen)
        sets, draws = {name: seen.searchsorted(Y) for name, Y in sets.items()}, [seen.searchsorted(Y) for Y in draws]
    measures, random = {name: measured(items, Y) for name, Y in sets.items()}, [measured(items, Y) for Y in draws]
    measures["random"] = np.mean(random, axis=0)
    measures = {name: values.round(2) for name, values in measures.items()}
    return Comparison(items, sets | {"random": draws[0]}, measures, np.std(random, axis=0), count, n)


def measured(items: Embedded, Y: IntArray) -> FloatArray:
    """The MEASURES of a set, as in `diversity_of`; nan where there are too few items."""
    part = items.part(Y)
    inside = nearest_chosen(part, part, Y).similarity.max() if Y.size > 1 else np.nan
    others = np.delete(nearest_chosen(items, part, Y).similarity, Y)
    covered = [np.quantile(others, 0.1), others.min()] if others.size else [np.nan, 1.0]
    return np.array([effective_number(part), inside, *covered])


def report_page(
    chosen: DiverseSelection, compared: Comparison | None, title: str, groups: Sequence[str] | None = None
) -> str:
    """The page as one file: a table of how diverse the choice is, and pictures."""
    parts = [f"<h1>{len(chosen):,} of {chosen.limits.cost.size:,} items of {escape(title)}</h1>"]
    parts.append(f"<p>{escape(chosen.reason[:1].upper() + chosen.reason[1:])}.</p>")
    with style(), matplotlib.rc_context({"font.family": "sans-serif"}):  # like the text around the figures
        if compared is not None:
            parts += [measures_table(chosen, compared), picture(compared)]
        parts.append(added(chosen, compared))
        if groups is not None:
            parts.append(by_group(chosen, groups))
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    head += f"<style>{STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{"".join(parts)}</body></html>\n'


def measures_table(chosen: DiverseSelection, compared: Comparison) -> str:
    """The table of measures, and what they mean."""
    words = TABLE.format(compared.draws)
    if (count := len(compared.items.lengths)) < compared.n:
        words += f" Everything is measured among {count:,} of the items."
    less_diverse = compared.measures["chosen"][0] < compared.measures["random"][0]
    if less_diverse and "best scores" in compared.sets and chosen.diversity < 1.0:
        words += f" <strong>{BY_SCORE.format(chosen.diversity)}</strong>"
    return f"{html_table(('', *compared.measures), compared.table)}<p>{words}</p>"


def panel(heading: str, figure: Figure, words: str) -> str:
    """A figure with a heading above it, and below it the words that explain it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", dpi=200, metadata={"Date": None})
    svg = f'<svg role="img" aria-label="{heading}"' + out.getvalue().partition("<svg")[2]
    return f"<h2>{heading}</h2>\n<figure>{svg}<figcaption><p>{words}</p></figcaption></figure>\n"


def picture(compared: Comparison) -> str:
    """The choice among all items, in two principal directions, and a random choice beside it."""
    rng, n = np.random.default_rng(0), len(compared.items.lengths)
    shown = np.arange(n) if n <= SHOWN else np.sort(rng.choice(n, SHOWN, replace=False))
    points, share = directions(compared.items, [shown, compared.sets["chosen"], compared.sets["random"]], rng)
    figure, axes = new_figure(FULL_WIDTH, 3.6, columns=2, sharex=True, sharey=True)
    for ax, name, subset in zip(axes, ("chosen", "random"), points[1:], strict=True):
        size, color = 30 if len(subset) <= 100 else 8, LOOKS[name][0]
        ax.scatter(*points[0].T, 5 if n > 300 else 14, LIGHT, linewidths=0, rasterized=True)
        ax.scatter(*subset.T, size, color, edgecolors="white", linewidths=0.4, rasterized=True)
        ax.set(title=f"{len(subset):,} {name}", xticks=[], yticks=[], aspect="equal")
        ax.spines[:].set_visible(False)
    return panel("The chosen items among all", figure, PICTURE.format(f"{share:.0%}"))


def directions(items: Embedded, sets: list[IntArray], rng: np.random.Generator) -> tuple[list[FloatArray], float]:
    """The coordinates of items in the two principal directions of their unit rows, and their share of the variance.

    The directions are computed from the cosines of a sample, so that rows may be sparse and of any width.
    """
    n = len(items.lengths)
    anchors = items.part(np.arange(n) if n <= ANCHORS else np.sort(rng.choice(n, ANCHORS, replace=False)))

    def cosines(part: Embedded) -> FloatArray:
        rows, columns = (np.where(x.lengths > 0.0, x.lengths, 1.0) for x in (part, anchors))
        return np.asarray(to_dense(part.rows @ anchors.rows.T) / rows[:, None] / columns)

    K = cosines(anchors)
    mean = K.mean(axis=0)
    lam, V = np.linalg.eigh(K - mean - mean[:, None] + mean.mean())
    lam, V = np.maximum(lam[::-1], 0.0), V[:, ::-1][:, :2]
    scale = np.sqrt(np.where(lam[:2] > 1e-12, lam[:2], 1.0))
    points = []
    for part in map(cosines, map(items.part, sets)):
        centred = part - mean - part.mean(axis=1)[:, None] + mean.mean()
        points.append(np.column_stack([centred @ V / scale, np.zeros((len(part), 2 - V.shape[1]))]))
    return points, float(lam[:2].sum() / max(lam.sum(), 1e-12))


def added(chosen: DiverseSelection, compared: Comparison | None) -> str:
    """A curve of what each further item added, beside that of random items, with the number of directions."""
    figure, ax = new_figure(FULL_WIDTH, 2.8)
    near, words = chosen.parameters.get("kernel") == "near", ADDED
    lines = {"chosen": chosen.shares}
    if len(chosen):
        words += f" The last of the {len(chosen):,} items added {chosen.shares[-1]:.2g} of it."
    if compared is not None and not near:
        part = compared.items.part(compared.sets["random"][:ANCHORS])
        drawn = Candidates(part, min(chosen.diversity, 0.5), nugget=chosen.parameters.get("nugget") or 0.0)
        gains = drawn.gains(len(part.lengths))
        assert gains is not None
        lines["random"] = np.array([gains.take(j) for j in range(len(part.lengths))]) / np.exp(chosen.gains.max())
        words += " Random items stand in the order in which they were drawn."
    for name, y in lines.items():
        color, dash = LOOKS[name]
        shown = np.where(y > 0.0, y, np.nan)
        ax.plot(np.arange(1, len(y) + 1), shown, dash + ("o" if len(y) <= 20 else ""), color=color, label=name)
    if len(lines) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)
    ax.set(xlabel="place in the order of choice", ylabel="share of the largest gain", yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if compared is not None:
        rank = Candidates(compared.items).directions
        words += f" The embeddings have {rank:,} directions."
        if len(chosen) > rank:
            ax.axvline(rank, color=VERMILION, lw=0.9)
            ax.text(rank, 1, f" {rank:,} directions", color=VERMILION, transform=ax.get_xaxis_transform(), va="top")
            words += " Beyond as many items no item has a new direction"
            words += ", and nearness decides." if near else "."
    return panel("What each item added", figure, words)


def by_group(chosen: DiverseSelection, groups: Sequence[str]) -> str:
    """A table of the shares of groups in the choice and in all items, where a random choice would have them, too."""
    names, numbers, counts = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    after, show = np.bincount(numbers[chosen.subset], minlength=names.size), np.argsort(-counts, kind="stable")
    shares = np.column_stack([after / max(1, after.sum()), counts / counts.sum()])
    rows = [(escape(str(names[g])[:30]), *(f"{x:.1%}" for x in shares[g])) for g in show[:MOST_SHOWN]]
    words = "Shares of the groups in the choice and in all items. A random choice would have the shares of all items."
    if names.size > MOST_SHOWN:
        words += f" These are the {MOST_SHOWN} largest of {names.size} groups."
    return f"<h2>Groups</h2>{html_table(('', 'chosen', 'all items'), rows)}<p>{words}</p>"


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first cell of each row is its heading."""
    top = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(f'<tr><th scope="row">{row[0]}</th><td>{"</td><td>".join(row[1:])}</td></tr>' for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
