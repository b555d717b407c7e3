"""Quality as a sum of small trees on raw columns: numbers, categories, and what is not known."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.jsonfile import number, numbers
from dpplearn._notebook import short_repr
from dpplearn.learning._tree_loops import Trees, sum_paths, sum_trees
from dpplearn.learning.growing import joined, no_trees
from dpplearn.learning.itemset import ItemSet


@dataclass(frozen=True, eq=False)
class Boosted:
    """2 log q_i = base + the sum of the trees at item i.

    Parameters
    ----------
    base : float
        Its only parameter: trees are grown, not moved.
    names : tuple of str
        "constant", and the columns that trees split.
    n_features : int
        Quality features of the item sets, which the columns were made into.
    trees : Trees
    importance, spread : arrays, one entry per column
        Mean of |what the column adds to 2 log q| over the items of an instance, averaged over the training instances,
        and the standard deviation between them.
    """

    __repr__ = short_repr

    kind: ClassVar[str] = "boosted"

    base: float
    names: tuple[str, ...]
    n_features: int
    trees: Trees
    importance: FloatArray
    spread: FloatArray

    @classmethod
    def start(cls, columns: tuple[str, ...], n_features: int) -> Self:
        """No trees yet."""
        nothing = np.zeros(len(columns))
        return cls(0.0, ("constant", *columns), n_features, no_trees(), nothing, nothing)

    @property
    def n_trees(self) -> int:
        return self.trees.root.size

    @property
    def parameters(self) -> FloatArray:
        return np.array([self.base])

    def with_parameters(self, vector: FloatArray) -> Self:
        return replace(self, base=float(vector[0]))

    def with_tree(self, tree: Trees) -> Self:
        """One tree more."""
        return replace(self, trees=joined(self.trees, tree))

    def eta(self, items: ItemSet) -> FloatArray:
        return self.base + np.asarray(sum_trees(self.columns(items), self.trees))

    def log_q(self, items: ItemSet) -> FloatArray:
        return self.eta(items) / 2

    def contributions(self, items: ItemSet) -> FloatArray:
        """What the constant and each column add to 2 log q_i, along the paths of the trees."""
        added = np.asarray(sum_paths(self.columns(items), self.trees))
        added[:, 0] += self.base
        return added

    def jacobian(self, items: ItemSet) -> FloatArray:
        return np.ones((items.n, 1))

    def pull_back(self, items: ItemSet, d_eta: FloatArray) -> FloatArray:  # noqa: ARG002  # the protocol's signature
        return np.array([d_eta.sum()])

    def columns(self, items: ItemSet) -> FloatArray:
        """The columns of an item set that trees split."""
        X = items.columns
        if X.shape[1] != len(self.names) - 1:
            raise ValueError(
                f"The trees were grown on {len(self.names) - 1} columns ({', '.join(self.names[1:])}), and the item "
                f"set has {X.shape[1]}. Make it of a table by ItemSet.from_long(table, ..., encoding=model.encoding_)."
            )
        return X

    def state(self) -> dict[str, Any]:
        """Arrays of numbers; of a category's split, the levels that go left."""
        trees = {name: values for name, values in self.trees._asdict().items() if name != "left"}
        left = [np.flatnonzero(row).tolist() for row in self.trees.left]
        rest = {"base": self.base, "columns": self.names[1:], "importance": self.importance, "spread": self.spread}
        return {"kind": self.kind, **rest, "n_features": self.n_features, "trees": {**trees, "left": left}}


def read_boosted(record: dict[str, Any], path: str | os.PathLike[str]) -> Boosted:
    """The record in a model file; an error where its arrays are no trees."""
    columns, trees = record.get("columns"), record.get("trees")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns) or not columns:
        raise ValueError(f"columns in {path} must be a list of names, found {columns!r:.60}.")
    if not isinstance(trees, dict) or set(trees) != set(Trees._fields):
        raise ValueError(f"trees in {path} must be an object with {', '.join(Trees._fields)}.")
    c, n_features = len(columns), record.get("n_features")
    if type(n_features) is not int or n_features < 1:
        raise ValueError(f"n_features in {path} must be a whole number above 0, found {n_features!r:.60}.")
    value = numbers(trees["value"], "value", path)
    n = value.size
    root = whole(trees["root"], "root", path, None, 0, n)
    column = whole(trees["column"], "column", path, n, 0, c)
    child = whole(trees["child"], "child", path, n, -1, n - 1)
    if ((child >= 0) & (child <= np.arange(n))).any():  # a path through the trees always ends
        raise ValueError(f"child in {path} must be larger than the node it is of.")
    rows = trees["left"]
    if not isinstance(rows, list):
        raise ValueError(f"left in {path} must be a list of lists of levels, found {rows!r:.60}.")
    left = np.zeros((len(rows), 256), np.bool_)
    for k, row in enumerate(rows):
        left[k, whole(row, f"left[{k}]", path, None, 0, 256)] = True
    category = whole(trees["category"], "category", path, n, -1, len(rows))
    unknown = trees["unknown_left"]
    if not isinstance(unknown, list) or len(unknown) != n or not all(isinstance(x, bool) for x in unknown):
        raise ValueError(f"unknown_left in {path} must be {n} times true or false.")
    threshold = numbers(trees["threshold"], "threshold", path, n)
    if not np.isfinite(value).all() or np.isnan(threshold).any():
        raise ValueError(f"value and threshold in {path} must be numbers, and values finite.")
    base = number(record.get("base"), "base", path)
    if not np.isfinite(base):
        raise ValueError(f"base in {path} must be finite, found {base}.")
    forest = Trees(root, column, child, threshold, category, np.array(unknown, np.bool_), value, left)
    importance, spread = (numbers(record.get(name), name, path, c) for name in ("importance", "spread"))
    return Boosted(base, ("constant", *columns), n_features, forest, importance, spread)


def whole(x: Any, name: str, path: str | os.PathLike[str], size: int | None, low: int, high: int) -> np.ndarray:
    """Whole numbers from low to high - 1."""
    ok = isinstance(x, list) and all(type(k) is int and low <= k < high for k in x)
    if not ok or (size is not None and len(x) != size):
        much = "" if size is None else f"{size} "
        raise ValueError(f"{name} in {path} must be a list of {much}whole numbers from {low} to {high - 1}.")
    return np.array(x, np.int64)
