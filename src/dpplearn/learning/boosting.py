"""Newton boosting on the DPP's own likelihood: trees grown on its slopes, as many as held-out instances ask for.

With eta_i = 2 log q_i, d log P / d eta_i = 1[i in Y] - K_ii, and minus the Hessian's diagonal is K_ii (1 - K_ii). What
is off the diagonal, -K_ij^2, makes the likelihood bend less: a step to g / h does not go too far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_int
from dpplearn.learning._tree_loops import sum_paths
from dpplearn.learning.boosted import Boosted
from dpplearn.learning.growing import Binned, Growth, grow
from dpplearn.learning.likelihood import Slopes

FOLDS, MANY = 5, 100  # folds for early stopping; from so many instances on, one of them is enough
PATIENCE = 10  # trees without a gain on held-out instances
STILL = 0.03  # share of the gain that the last ten trees have, from which more would do good

Evaluate: TypeAlias = Callable[[Boosted], Slopes]
Report: TypeAlias = Callable[[float], None]  # after each tree, the log-likelihood


@dataclass(frozen=True)
class Boosting:
    """The checked settings of trees."""

    n_trees: int = 60
    depth: int = 4
    learning_rate: float = 0.1
    early_stopping: bool = True
    random_state: int = 0

    def __post_init__(self) -> None:
        check_int(self.n_trees, "n_trees", low=1)
        check_int(self.depth, "depth", low=1, high=10)
        check_int(self.random_state, "random_state", low=0)
        if not isinstance(self.learning_rate, int | float | np.number) or not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate must be a number above 0, and at most 1, found {self.learning_rate!r}.")


class Columns(NamedTuple):
    """The raw columns of all items that count, in bins, and the instance of each item."""

    raw: FloatArray
    binned: Binned
    instance: IntArray

    @property
    def groups(self) -> IntArray:
        """A number for each instance: those with the same items, of which several sets were chosen, have the same."""
        ends = np.flatnonzero(np.diff(self.instance)) + 1
        known: dict[bytes, int] = {}
        return np.array([known.setdefault(rows.tobytes(), len(known)) for rows in np.split(self.raw, ends)])


def boost(
    evaluate: Evaluate,
    start: Boosted,
    columns: Columns,
    growth: Growth,
    settings: Boosting,
    say: Report,
    warn: Callable[[str], None] = lambda _: None,
) -> Boosted:
    """The start with trees: as many as settings say, or fewer where held-out instances gain nothing from more."""
    best, groups = settings.n_trees, columns.groups
    if settings.early_stopping and groups.max() > 0:
        curves = []
        for held in held_out(groups, settings.random_state):
            curve = grown(evaluate, start, columns, growth, settings.n_trees, say, held)[1]
            curves.append(np.append(curve, np.full(settings.n_trees + 1 - len(curve), curve[-1])))
        total = np.sum(curves, axis=0)
        best = int(total.argmax())
        late = float(total[-1] - total[-1 - min(PATIENCE, settings.n_trees)])
        if best == settings.n_trees and late > STILL * float(total[-1] - total[0]):
            warn(f"Held-out instances still gain from more trees than n_trees={best}: raise it, or learning_rate.")
    quality = grown(evaluate, start, columns, growth, best, say)[0]
    return with_importance(quality, columns)


def held_out(groups: IntArray, seed: int) -> list[np.ndarray]:
    """Which instances are held out, by fold: all folds where there are few groups of them, else one."""
    n = int(groups.max()) + 1
    folds = min(FOLDS, n)
    fold = (np.random.default_rng(seed).permutation(n) % folds)[groups]
    return [fold == f for f in range(folds if n < MANY else 1)]


def grown(
    evaluate: Evaluate,
    quality: Boosted,
    columns: Columns,
    growth: Growth,
    n_trees: int,
    say: Report,
    held: np.ndarray | None = None,
) -> tuple[Boosted, list[float]]:
    """With trees from the instances that are not held out, and the log-likelihood of those that are after each.

    It ends where no split gains anything, or none of the last trees gained on the held-out instances.
    """
    learn = 1.0 if held is None else (~held[columns.instance]).astype(np.float64)
    curve: list[float] = []
    for made in range(n_trees + 1):
        slopes = evaluate(quality)
        curve.append(float(slopes.values.sum() if held is None else slopes.values[held].sum()))
        if made == n_trees or (held is not None and made - int(np.argmax(curve)) >= PATIENCE):
            break
        tree = grow(columns.binned, learn * slopes.slope, learn * slopes.curvature, growth)
        if tree is None:
            break
        quality = quality.with_tree(tree)
        say(float(slopes.values.sum()))
    return quality, curve


def with_importance(quality: Boosted, columns: Columns) -> Boosted:
    """With how much each column moves the qualities of an instance: on average, and how that varies between them."""
    added = np.abs(sum_paths(columns.raw, quality.trees)[:, 1:])
    sizes = np.bincount(columns.instance)
    means = np.stack([np.bincount(columns.instance, weights=column) / sizes for column in added.T], axis=1)
    return replace(quality, importance=means.mean(axis=0), spread=means.std(axis=0))
