"""The report of a selection: a page that compares the choice with the best scores and with random items."""

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
from dpplearn.decoding.diversity import SetDiversity, measured_set
from dpplearn.decoding.selection import DiverseSelection, nearest_chosen
from dpplearn.plots.style import BLUE, LIGHT, ORANGE, VERMILION, new_figure, style

MEASURED = 20_000  # items at most among which sets are compared
SHOWN = 3_000  # points of the picture, at most
ANCHORS = 1_000  # items that its directions are found from
DRAWS = 5  # random choices, of which the mean is told
STEPS = 1_000  # random items whose gains are drawn
MOST_SHOWN = 12  # groups that are shown, the largest first
FULL_WIDTH = 7.2  # inches
LOOKS = {"chosen": (BLUE, "-"), "best scores": (ORANGE, "--"), "random": ("#555555", ":")}
HEADS = ("different items, in effect", "largest similarity inside", "worst coverage")
TABLE = """A set whose items are all the same is worth one item; one in which none is like another is worth as many
as it has (the Vendi score). No two items of a set are more similar than its <em>largest similarity inside</em>, and
each item that is there has one in the set at least as similar as its <em>worst coverage</em>."""
BY_SCORE = """The choice is less diverse than random items, because its scores outweigh what they repeat: a diversity
above {:g} makes variety count for more."""
PICTURE = """Each grey point is an item, and items that are alike lie near each other, as far as two directions can show
it: these hold {} of what the items differ in. A diverse choice reaches every place where there are items, with few
points side by side; a random one has most of its points where most items are."""
ADDED = """What each item added when it was chosen, as a share of the most that one did: where the line falls, further
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
    """A choice, as many of the best scores, and as many drawn at random, among items that are measured."""

    items: Embedded
    sets: dict[str, IntArray]  # by their places among the items; "best scores" only where scores differ
    measures: dict[str, SetDiversity]  # of "random" the means of several draws
    n: int  # items there are

    @property
    def table(self) -> list[tuple[str, ...]]:
        """A row for each measure, with a cell for each set."""
        columns = [(found.effective, found.closest, found.coverage) for found in self.measures.values()]
        return [(head, *(f"{x:.2f}" for x in row)) for head, row in zip(HEADS, zip(*columns, strict=True), strict=True)]


def compare(chosen: DiverseSelection) -> Comparison | None:
    """The choice beside others of its size; None where the items are not in memory, or nothing was chosen."""
    items, n, k = chosen.candidates, chosen.limits.cost.size, len(chosen)
    if items is None or len(items.lengths) != n or not k:
        return None
    rng = np.random.default_rng(0)
    sets = {"chosen": chosen.subset}
    if items.q.min() < items.q.max():
        sets["best scores"] = np.argsort(-items.q, kind="stable")[:k]
    free = np.setdiff1d(np.arange(n), chosen.limits.exclude)
    draws = [rng.choice(free, k, replace=False) for _ in range(DRAWS)]
    if n > MEASURED:
        seen = np.unique(np.concatenate([*sets.values(), *draws, rng.choice(n, MEASURED, replace=False)]))
        items = items.part(seen)
        sets, draws = {name: seen.searchsorted(Y) for name, Y in sets.items()}, [seen.searchsorted(Y) for Y in draws]
    measures = {name: measured_set(items, Y) for name, Y in sets.items()}
    means = np.mean([list(vars(measured_set(items, Y)).values()) for Y in draws], axis=0)
    return Comparison(items, sets | {"random": draws[0]}, measures | {"random": SetDiversity(*means.tolist())}, n)


def report_page(
    chosen: DiverseSelection, compared: Comparison | None, title: str, groups: Sequence[str] | None = None
) -> str:
    """The page, in one file: how diverse the choice is, and a picture for each question."""
    parts = [f"<h1>{len(chosen):,} of {chosen.limits.cost.size:,} items of {escape(title)}</h1>"]
    parts.append(f"<p>Why no more: {escape(chosen.reason)}.</p>")
    with style(), matplotlib.rc_context({"font.family": "sans-serif"}):  # as the text around it
        if compared is not None:
            parts += [measured(chosen, compared), picture(compared)]
        parts += [added(chosen, compared), covered(chosen, compared)]
        if groups is not None:
            parts.append(by_group(chosen, groups))
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    head += f"<style>{STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{"".join(parts)}</body></html>\n'


def measured(chosen: DiverseSelection, compared: Comparison) -> str:
    """The table of measures, and what they say."""
    words = f"{TABLE} For random items these are means of {DRAWS} draws."
    if (among := len(compared.items.lengths)) < compared.n:
        words += f" All is measured among {among:,} of the items."
    diverse = compared.measures["chosen"].effective >= compared.measures["random"].effective
    if not diverse and "best scores" in compared.sets and chosen.diversity < 1.0:
        words += f" <strong>{BY_SCORE.format(chosen.diversity)}</strong>"
    return f"{html_table(('', *compared.measures), compared.table)}<p>{words}</p>"


def panel(heading: str, figure: Figure, words: str) -> str:
    """A figure with what it shows, in words, below it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", dpi=200, metadata={"Date": None})
    svg = f'<svg role="img" aria-label="{heading}"' + out.getvalue().partition("<svg")[2]
    return f"<h2>{heading}</h2>\n<figure>{svg}<figcaption><p>{words}</p></figcaption></figure>\n"


def picture(compared: Comparison) -> str:
    """What was chosen among what was there, in two principal directions, and a random choice beside it."""
    rng, n = np.random.default_rng(0), len(compared.items.lengths)
    there = np.arange(n) if n <= SHOWN else np.sort(rng.choice(n, SHOWN, replace=False))
    points, share = directions(compared.items, [there, compared.sets["chosen"], compared.sets["random"]], rng)
    figure, axes = new_figure(FULL_WIDTH, 3.6, columns=2, sharex=True, sharey=True)
    for ax, name, own in zip(axes, ("chosen", "random"), points[1:], strict=True):
        size, color = 30 if len(own) <= 100 else 8, LOOKS[name][0]
        ax.scatter(*points[0].T, 5 if n > 300 else 14, LIGHT, linewidths=0, rasterized=True)
        ax.scatter(*own.T, size, color, edgecolors="white", linewidths=0.4, rasterized=True)
        ax.set(title=f"{len(own):,} {name}", xticks=[], yticks=[], aspect="equal")
        ax.spines[:].set_visible(False)
    return panel("What was chosen among what was there", figure, PICTURE.format(f"{share:.0%}"))


def directions(items: Embedded, sets: list[IntArray], rng: np.random.Generator) -> tuple[list[FloatArray], float]:
    """Items in the two principal directions of their unit rows, and the share of the variance that these have.

    They are found from the cosines of a sample, so that rows may be sparse and of any width.
    """
    n = len(items.lengths)
    anchors = items.part(np.arange(n) if n <= ANCHORS else np.sort(rng.choice(n, ANCHORS, replace=False)))

    def cosines(some: Embedded) -> FloatArray:
        long, wide = (np.where(each.lengths > 0.0, each.lengths, 1.0) for each in (some, anchors))
        found: FloatArray = to_dense(some.rows @ anchors.rows.T) / long[:, None] / wide
        return found

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
    """What each further item added, beside random items, and where the directions end."""
    figure, ax = new_figure(FULL_WIDTH, 2.8)
    near, words = chosen.parameters.get("kernel") == "near", ADDED
    lines = {"chosen": chosen.shares}
    if len(chosen):
        words += f" The last of the {len(chosen):,} added {chosen.shares[-1]:.2g} of it."
    if compared is not None and not near:
        part = compared.items.part(compared.sets["random"][:STEPS])
        own = Candidates(part, min(chosen.diversity, 0.5), nugget=chosen.parameters.get("nugget") or 0.0)
        gains = own.gains(len(part.lengths))
        assert gains is not None
        lines["random"] = np.array([gains.take(j) for j in range(len(part.lengths))]) / np.exp(chosen.gains.max())
        words += " Random items are in the order in which they were drawn."
    for name, y in lines.items():
        color, dash = LOOKS[name]
        shown = np.where(y > 0.0, y, np.nan)
        ax.plot(np.arange(1, len(y) + 1), shown, dash + ("o" if len(y) <= 20 else ""), color=color, label=name)
    if len(lines) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)
    ax.set(xlabel="rank", ylabel="share of the most", yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if compared is not None:
        rank = Candidates(compared.items).directions
        words += f" The embeddings have {rank:,} directions"
        if len(chosen) > rank:
            ax.axvline(rank, color=VERMILION, lw=0.9)
            ax.text(rank, 1, f" {rank:,} directions", color=VERMILION, transform=ax.get_xaxis_transform(), va="top")
            words += ": beyond as many items none is new by its direction"
            words += ", and near items are told apart." if near else "."
        else:
            words += ", so that the rank would end after as many items."
    return panel("What each item added", figure, words)


def covered(chosen: DiverseSelection, compared: Comparison | None) -> str:
    """How near the others are to what was chosen, and to other sets."""
    if compared is None:
        found = {"chosen": np.delete(chosen.nearest.similarity, chosen.subset)}
    else:
        items, sets = compared.items, compared.sets.items()
        found = {name: np.delete(nearest_chosen(items, items.part(Y), Y).similarity, Y) for name, Y in sets}
    least = ", ".join(f"{np.quantile(x, 0.1):.2f} ({name})" for name, x in found.items() if x.size)
    words = f"Nine of ten of them have one in the set of similarity {least} or more." if least else "There are none."
    return f"<h2>How well the others are covered</h2><p>{words}</p>"


def by_group(chosen: DiverseSelection, groups: Sequence[str]) -> str:
    """The share of each group in all items, which is that of a random choice, and in those chosen."""
    names, numbers, counts = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    after, show = np.bincount(numbers[chosen.subset], minlength=names.size), np.argsort(-counts, kind="stable")
    shares = np.column_stack([after / max(1, after.sum()), counts / counts.sum()])
    rows = [(escape(str(names[g])[:30]), *(f"{x:.1%}" for x in shares[g])) for g in show[:MOST_SHOWN]]
    words = "The share of each group in what was chosen, and in all items, which is that of a random choice."
    if names.size > MOST_SHOWN:
        words += f" Shown are the {MOST_SHOWN} largest of {names.size} groups."
    return f"<h2>Groups</h2>{html_table(('', 'chosen', 'all items'), rows)}<p>{words}</p>"


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first cell of a row says what the others are of."""
    top = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(f'<tr><th scope="row">{row[0]}</th><td>{"</td><td>".join(row[1:])}</td></tr>' for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
