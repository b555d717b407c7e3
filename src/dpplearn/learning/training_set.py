"""What a training set must be: lists of the same length, with the same features in every instance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, check_array, check_subset
from dpplearn._notebook import short_repr
from dpplearn.learning.itemset import ItemSet


@dataclass(frozen=True, eq=False)
class Shard:
    """Item sets, the subset chosen in each, and the weight of each."""

    __repr__ = short_repr

    item_sets: Sequence[ItemSet]
    subsets: Sequence[IntArray]
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.item_sets)

    def pick(self, which: Sequence[int]) -> Shard:
        """Some of the instances."""
        chosen = [self.item_sets[t] for t in which], [self.subsets[t] for t in which], self.weights[which]
        return Shard(*chosen)


def training_data(X: Any, y: Any, sample_weight: ArrayLike | None) -> Shard | list[str]:
    """Instances in memory, or the paths of shards that hold them."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"X must be a list of ItemSets or of paths of shards, found a single path. Pass [{str(X)!r}].")
    if isinstance(X, Sequence) and len(X) > 0 and all(isinstance(x, str | os.PathLike) for x in X):
        if y is not None or sample_weight is not None:
            raise TypeError("Shards hold their own targets and weights: with paths, leave y and sample_weight out.")
        paths = [os.fspath(path) for path in X]
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            raise FileNotFoundError(
                f"There is no shard file {missing[0]} ({len(missing)} of {len(paths)} are missing)."
            )
        return paths
    return Shard(X, *check_examples(X, y, sample_weight))


def check_item_sets(X: Any, n_features: int | None = None, names: Sequence[str] | None = None) -> Sequence[ItemSet]:
    """A list of item sets, with `n_features` features each; by default as many as the first has."""
    if isinstance(X, ItemSet):
        raise TypeError("X must be a list of ItemSets, found a single one. Pass [item_set].")
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str | bytes):
        raise TypeError(f"X must be a list of ItemSets, found {type(X).__name__}.")
    for t, items in enumerate(X):
        check_item_set(items, n_features, names, f"X[{t}]")
        n_features = items.n_features
        names = names if names is not None else items.names
    return X  # type: ignore[return-value]  # each entry was checked above


def check_item_set(
    items: Any, n_features: int | None, names: Sequence[str] | None, name: str = "The ItemSet"
) -> ItemSet:
    """An ItemSet with the features that were seen before."""
    if not isinstance(items, ItemSet):
        raise TypeError(
            f"{name} must be an ItemSet, found {type(items).__name__}. Make one with ItemSet(features, ...)."
        )
    if n_features is not None and items.n_features != n_features:
        raise ValueError(
            f"{name} has {items.n_features} features, and {n_features} were seen before: "
            "all instances must have the same features, in the same order."
        )
    if names is not None and items.names is not None and tuple(items.names) != tuple(names):
        k, here, before = next((k, a, b) for k, (a, b) in enumerate(zip(items.names, names, strict=True)) if a != b)
        raise ValueError(
            f"{name} names its feature {k} {here!r}, where {before!r} was seen before: "
            "all instances must have the same features, in the same order."
        )
    return items


def check_examples(X: Any, y: Any, sample_weight: ArrayLike | None = None) -> tuple[list[IntArray], FloatArray]:
    """The targets as sorted index arrays and the weights, for a list of item sets that is not empty."""
    X = check_item_sets(X)
    if y is None:
        raise TypeError("y must be a list with the chosen subset of each ItemSet, found None.")
    if len(X) != len(y):
        raise ValueError(f"X and y must have the same length, found {len(X)} item sets and {len(y)} subsets.")
    if len(X) == 0:
        raise ValueError("X has no instances: at least one is needed to learn from.")
    subsets = [check_subset(Y, items.n, f"y[{t}]") for t, (items, Y) in enumerate(zip(X, y, strict=True))]
    if sample_weight is None:
        return subsets, np.ones(len(X))
    weights = check_array(sample_weight, "sample_weight", 1)
    if weights.size != len(X):
        raise ValueError(f"sample_weight must have one entry per instance ({len(X)}), found {weights.size}.")
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative, but sample_weight[{weights.argmin()}] is {weights.min():.3g}."
        )
    return subsets, weights
