"""What a model says of itself, as tables: on a terminal, and as HTML in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpplearn._notebook import card, table
from dpplearn.learning.boosted import Boosted


class Table(NamedTuple):
    """Cells as texts, under names; the first column has names of rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Summary:
    """Facts by name, and tables; `print` it, or let a notebook show it.

    Examples
    --------
    >>> print(Summary("A model", {"kind": "fixed"}, (weight_table("weights", ["size"], [0.25], [0.125]),)))
    A model
    kind: fixed
    <BLANKLINE>
    weights  weight  standard error     z
    -------  ------  --------------  ----
    size      +0.25           0.12  +2.0
    """

    title: str
    facts: Mapping[str, str]
    tables: tuple[Table, ...]

    def __str__(self) -> str:
        head = [self.title, *(f"{name}: {value}" for name, value in self.facts.items())]
        return "\n".join([*head, *(line for table in self.tables for line in ("", *lines_of(table)))])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        tables = (table((one.title, *one.columns), one.rows, len(one.rows)) for one in self.tables)
        return card(self.title, *tables, facts=self.facts)


def lines_of(table: Table) -> list[str]:
    """Columns as wide as they need, the first to the left, numbers to the right."""
    head = (table.title, *table.columns)
    grid = [head, *table.rows]
    widths = [max(len(row[j]) for row in grid) for j in range(len(head))]
    rule = tuple("-" * width for width in widths)
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in (head, rule, *table.rows)
    ]


def weight_table(title: str, names: Iterable[str], weights: Iterable[float], std: Iterable[float]) -> Table:
    """Weights with standard errors and z = weight / error, to two digits of the error, where it is known."""
    rows = []
    for name, weight, error in zip(names, weights, std, strict=True):
        known = math.isfinite(error) and error > 0
        digits = int(np.clip(1 - math.floor(math.log10(error)), 1, 9)) if known else 3
        unknown = ("inf" if error == math.inf else "", "")
        figures = (f"{error:.{digits}f}", f"{weight / error:+.1f}") if known else unknown
        rows.append((str(name), f"{weight:+.{digits}f}", *figures))
    return Table(title, ("weight", "standard error", "z"), tuple(rows))


def conditional_summary(model: Any) -> Summary:
    """Of a ConditionalDPP: its quality, and its similarity."""
    prior = getattr(model, "prior_variance_", getattr(model, "prior_variance", None))
    independent = model.encoding_ is not None and model.encoding_.independent
    facts = {
        "quality": model.quality_.kind,
        "similarity": "none, items are independent of each other" if independent else model.similarity_.kind,
        "prior variance": "none" if prior is None else f"{prior:g}" if np.ndim(prior) == 0 else "one for each weight",
        "log-likelihood": f"{model.log_likelihood_:.6g}" if np.isfinite(model.log_likelihood_) else "not known",
        "iterations": f"{model.n_iter_}{'' if model.converged_ else ', and not converged'}",
        **blanks(model.similarity_),
    }
    if model.quality_.kind == Boosted.kind:
        facts["iterations"] = f"{model.quality_.n_trees} trees"
    alike = () if independent else (similarity_table(model.similarity_),)
    return Summary(type(model).__name__, facts, (quality_table(model), *alike))


def quality_table(model: Any) -> Table:
    """Weights with standard errors, or how much each column moves log q^2 of an item, and the spread of that."""
    quality = model.quality_
    if quality.kind != Boosted.kind:
        return weight_table("feature", model.feature_names_in_, model.theta_, model.theta_std_)
    order = np.argsort(-quality.importance, kind="stable").tolist()
    rows = [(quality.names[j + 1], f"{quality.importance[j]:.3f}", f"{quality.spread[j]:.3f}") for j in order]
    return Table("column", ("mean |added to log q^2|", "spread over instances"), tuple(rows))


def similarity_table(similarity: Any) -> Table:
    """The weights of the similarity by name, with standard errors where it has some."""
    weights = similarity.weights
    std = getattr(similarity, "std", None) or {}
    rows = weight_table("", weights, list(weights.values()), [std.get(name, math.nan) for name in weights]).rows
    wide = 3 if std else 2  # z says little of a weight that cannot be negative
    columns = ("weight", "standard error")[: wide - 1]
    return Table("similarity", columns, tuple((row[0], row[1].lstrip("+"), *row[2:])[:wide] for row in rows))


def blanks(similarity: Any) -> dict[str, str]:
    """Why some weights of a similarity have no standard error where others have one.

    Examples
    --------
    >>> from dpplearn.learning.similarity import Mixture
    >>> blanks(Mixture(("a",), [0.5, 0.49, 0.01], [0.1, 0.1, math.nan]))
    {'no standard error': 'a, so near 0 that the data do not tell it from 0'}
    """
    std = getattr(similarity, "std", None) or {}
    names = [name for name, error in std.items() if math.isnan(error)]
    if not names or len(names) == len(std):
        return {}
    them = "it" if len(names) == 1 else "them"
    return {"no standard error": f"{', '.join(names)}, so near 0 that the data do not tell {them} from 0"}


def kernel_summary(model: Any, most: int = 20) -> Summary:
    """Of a KernelDPP: its shape, and the items that are chosen most often."""
    factors, p = model.factors_, model.dpp_.marginals
    facts = {
        "items": f"{factors.n}",
        "columns that repel": f"{factors.repelling}",
        "columns that attract": f"{factors.attracting}",
        "alpha": f"{model.alpha_:g}",
        "log-likelihood": f"{model.log_likelihood_:.6g}",
        "iterations": f"{model.n_iter_}",
        "expected size of a basket": f"{p.sum():.2f}",
    }
    best = np.argsort(-p, kind="stable")[:most]
    rows = tuple((str(model.items_[i]), f"{p[i]:.4f}") for i in best.tolist())
    title = "item" if len(p) <= most else f"item ({most} most frequent of {len(p)})"
    return Summary("KernelDPP", facts, (Table(title, ("probability",), rows),))
