"""Summaries of models as tables, on a terminal and in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpplearn._notebook import card, table
from dpplearn.learning.similarity import Similarity


class Table(NamedTuple):
    """Cells as texts, under the names of columns; the first column has the names of the rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class ModelSummary:
    """Facts by name, and tables; `print` it, or let a notebook show it.

    Examples
    --------
    >>> print(ModelSummary("A model", {"kind": "fixed"}, (weight_table("feature", ["size"], [0.25], [0.125]),)))
    A model
    kind: fixed
    <BLANKLINE>
    feature  weight  standard error     z      p  2.5 %  97.5 %
    -------  ------  --------------  ----  -----  -----  ------
    size      +0.25            0.12  +2.0  0.046  +0.01   +0.49
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
        tables = (table((x.title, *x.columns), x.rows, len(x.rows)) for x in self.tables)
        return card(self.title, *tables, facts=self.facts)


def lines_of(table: Table) -> list[str]:
    """The lines of a table: the first column to the left, the others to the right."""
    head = (table.title, *table.columns)
    widths = [max(len(row[j]) for row in (head, *table.rows)) for j in range(len(head))]
    rule = tuple("-" * width for width in widths)
    return [
        "  ".join(
            x.rjust(width) if j else x.ljust(width) for j, (x, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, rule, *table.rows)
    ]


def weight_table(
    title: str, names: Iterable[str], weights: Iterable[float], std: Iterable[float], notes: Sequence[str] = ()
) -> Table:
    """Weights with standard errors, z = weight / error, p of a weight of 0, and 95 % intervals.

    Figures have two digits of the error. `notes` may comment on each weight.
    """
    rows = []
    for name, weight, error in zip(names, weights, std, strict=True):
        if math.isfinite(error) and error > 0:
            digits, z = digits_of(error), weight / error
            low, high = (f"{weight + side * 1.959964 * error:+.{digits}f}" for side in (-1, 1))
            figures = (f"{error:.{digits}f}", f"{z:+.1f}", f"{math.erfc(abs(z) / math.sqrt(2)):.3f}", low, high)
        else:
            digits, figures = 3, ("inf" if error == math.inf else "", "", "", "", "")
        rows.append((str(name), f"{weight:+.{digits}f}", *figures))
    columns = ("weight", "standard error", "z", "p", "2.5 %", "97.5 %")
    if any(notes):
        return Table(title, (*columns, ""), tuple((*row, note) for row, note in zip(rows, notes, strict=True)))
    return Table(title, columns, tuple(rows))


def digits_of(error: float) -> int:
    """Decimals that show two digits of an error."""
    return int(np.clip(1 - math.floor(math.log10(error)), 1, 9))


def conditional_summary(model: Any) -> ModelSummary:
    """The summary of a ConditionalDPP."""
    similarity, encoding = model.similarity_, model.encoding_
    learned = bool(similarity.names)
    independent = encoding is not None and not encoding.phi
    facts = {"sets": f"{model.n_sets_}", "items": f"{model.n_items_}"} if model.n_sets_ else {}
    kind = "mixture" if learned else "fixed"
    facts["similarity"] = "none, items are independent of each other" if independent else kind
    if np.isfinite(model.log_likelihood_):
        facts["log-likelihood"] = f"{model.log_likelihood_:.6g}"
        weights = model.theta_.size + (len(similarity.weights) - 1 if learned else 0)
        facts["AIC"] = f"{2 * weights - 2 * model.log_likelihood_:.6g}"
    else:
        facts["log-likelihood"] = "not known"
    facts["iterations"] = f"{model.n_iter_}{'' if model.converged_ else ', and not converged'}"
    facts["unit"] = "log q^2; a weight of +0.69 doubles the odds of an item by itself"
    if hasattr(model, "prior_variance"):  # the summarizer's own models do not have it
        prior = np.inf if model.prior_variance is None else np.asarray(model.prior_variance, float)
        facts["prior"] = f"variance {prior:g}" if np.ndim(prior) == 0 else "a variance for each weight"
        facts["prior"] = "none" if np.all(np.isinf(prior)) else facts["prior"]
    if encoding is not None and encoding.references:
        facts["reference levels"] = ", ".join(f"{name}={level}" for name, level in encoding.references.items())
    if not independent and not learned:
        facts["similarity weights"] = "given, not learned"
    tables = (quality_table(model),) if independent else (quality_table(model), similarity_table(similarity))
    return ModelSummary(type(model).__name__, facts, tables)


def quality_table(model: Any) -> Table:
    """Weights with standard errors; a weight whose error is infinite, or that of its prior, is undetermined."""
    std, m, notes = model.theta_std_, model.quality_.n_features, list[str]()
    if hasattr(model, "prior_variance"):
        width = np.full(std.size, np.inf)  # a constant that the model added has a prior of its own
        width[-m:] = np.inf if model.prior_variance is None else np.sqrt(model.prior_variance)
        notes = ["undetermined" if s >= 0.99 * w or np.isinf(s) else "" for s, w in zip(std, width, strict=True)]
    return weight_table("feature", model.feature_names_in_, model.theta_, std, notes)


def similarity_table(similarity: Similarity) -> Table:
    """The weights of the similarity by name; with standard errors and 95 % intervals if they were learned."""
    names = {"own": "own (nugget)", "all": "all (constant)"}
    if not similarity.names:
        given = tuple((names.get(name, name), f"{weight:.3f}") for name, weight in similarity.weights.items())
        return Table("similarity", ("weight",), given)
    rows: list[tuple[str, ...]] = []
    for (name, weight), error, ends in zip(
        similarity.weights.items(), similarity.std.values(), similarity.intervals().values(), strict=True
    ):
        digits = digits_of(error) if math.isfinite(error) and error > 0 else 3
        figures = ("" if math.isnan(x) else f"{x:.{digits}f}" for x in (weight, error, *ends))
        rows.append((names.get(name, name), *figures))
    return Table("similarity", ("weight", "standard error", "2.5 %", "97.5 %"), tuple(rows))
