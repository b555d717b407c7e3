"""What a training set must be, and what must be known of it before the first step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, check_array, check_subset
from dpplearn._linalg import logdet
from dpplearn._notebook import short_repr
from dpplearn._precision import rounding
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.similarity import INDEPENDENT, RESERVED, Mixture, Similarity, shared_names
from dpplearn.learning.tables import Encoding

MOST_FEATURE = 1e100  # products of two of them, summed, are floats
SAMPLED = 3  # one instance in so many is in the sample by which starts are compared


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
        return Shard([self.item_sets[t] for t in which], [self.subsets[t] for t in which], self.weights[which])


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


def check_item_sets(X: Any) -> Sequence[ItemSet]:
    """A list of item sets with the same features."""
    if isinstance(X, ItemSet):
        raise TypeError("X must be a list of ItemSets, found a single one. Pass [item_set].")
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str | bytes):
        raise TypeError(f"X must be a list of ItemSets, found {type(X).__name__}.")
    n_features: int | None = None
    names: Sequence[str] | None = None
    for t, items in enumerate(X):
        check_item_set(items, n_features, names, f"X[{t}]")
        n_features, names = items.n_features, names if names is not None else items.names
    return X  # type: ignore[return-value]  # each entry was checked above


def check_item_set(
    items: Any, n_features: int | None, names: Sequence[str] | None, name: str = "The ItemSet"
) -> ItemSet:
    """An ItemSet with the features that were seen before."""
    if not isinstance(items, ItemSet):
        raise TypeError(
            f"{name} must be an ItemSet, found {type(items).__name__}. Make one with ItemSet(features, ...)."
        )
    rule = "all instances must have the same features, in the same order."
    if items.encoding is not None:
        rule += (
            " Read all tables in one way, with ItemSet.from_long(table, ..., encoding=...): model.encoding_, or the "
            "encoding of an item set."
        )
    if n_features is not None and items.n_features != n_features:
        raise ValueError(f"{name} has {items.n_features} features, and {n_features} were seen before: {rule}")
    if names is not None and items.names is not None and tuple(items.names) != tuple(names):
        k, here, before = next((k, a, b) for k, (a, b) in enumerate(zip(items.names, names, strict=True)) if a != b)
        raise ValueError(f"{name} names its feature {k} {here!r}, where {before!r} was seen before: {rule}")
    return items


def check_encoding(found: Encoding | None, encoding: Encoding | None, name: str, other: str, advice: str) -> None:
    """An error where a table was read in another way than before: the same number would mean something else."""
    if encoding is None or found is None or found is encoding or found == encoding:
        return
    differ = ", ".join(found.differences(encoding)) or "their order"
    raise ValueError(
        f"{name} was read from its table in another way than {other}: categories, averages, scales or lists of "
        f"columns differ ({differ}). Read the table with ItemSet.from_long(table, ..., encoding={advice}), without "
        "features and phi."
    )


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


class Survey(NamedTuple):
    """What must be known of a shard, or of all shards, before the first step."""

    n_instances: int
    names: tuple[str, ...] | None
    encoding: Encoding | None  # how the features were made of a table
    impossible: list[tuple[int, str]]  # instances whose target has probability 0, and why
    kept: list[int]  # those that count: they are possible, and their weight is not 0
    low: FloatArray  # smallest f_ij of each feature,
    high: FloatArray  # and the largest
    products: FloatArray  # sum of [F 1]^T [F 1]
    weight: float  # sum of the weights of the instances that count,
    n_chosen: float  # of the items chosen in them,
    n_items: float  # of all their items,
    sampled: float  # and of those in the sample by which starts are compared
    n_counted: int  # items of the instances that count, whatever their weight
    largest: int  # items of one instance, at most
    parts: tuple[str, ...]  # names of what a learned similarity is made of
    same_parts: frozenset[tuple[str, str]]  # parts that are the same matrix in every instance

    @property
    def n_features(self) -> int:
        return self.low.size


def survey_of(shard: Shard, similarity: Similarity) -> Survey:
    """The survey of a shard, the same for all evaluators."""
    learned = isinstance(similarity, Mixture)  # its nugget is never 0: all is possible
    item_sets, m, impossible, kept = shard.item_sets, shard.item_sets[0].n_features, [], []
    low, high, products = np.full(m, np.inf), np.full(m, -np.inf), np.zeros((m + 1, m + 1))
    for t, (items, Y, w) in enumerate(zip(item_sets, shard.subsets, shard.weights.tolist(), strict=True)):
        if w > 0 and not learned and (why := why_impossible(items, Y, similarity)):
            impossible.append((t, why))
        elif w > 0:
            kept.append(t)
        F = np.column_stack([items.features, np.ones(items.n)])
        low, high = np.minimum(low, F.min(axis=0)[:-1]), np.maximum(high, F.max(axis=0)[:-1])
        with np.errstate(over="ignore", invalid="ignore"):  # features that are too large are refused below
            products += F.T @ F
    names = next((items.names for items in item_sets if items.names is not None), None)
    largest = np.maximum(np.abs(low), np.abs(high))
    if largest.max() > MOST_FEATURE:
        j = int(largest.argmax())
        raise ValueError(
            f"Feature {repr(names[j]) if names else j} has values up to {largest[j]:.3g}, and learning needs values of "
            f"at most {MOST_FEATURE:g}, because it multiplies them with each other. Divide the column by its largest "
            "value."
        )
    parts = shared_names([items.part_names for items in item_sets]) if learned else ()
    if parts == (INDEPENDENT,):
        raise ValueError(
            'similarity="mixture" learns what makes items alike, and these item sets have neither phi nor '
            'S. Give them one, or fit with similarity="fixed".'
        )
    weights, sizes = shard.weights[kept], [item_sets[t].n for t in kept]
    return Survey(
        n_instances=len(item_sets),
        names=names,
        encoding=shared_encoding([items.encoding for items in item_sets]),
        impossible=impossible,
        kept=kept,
        low=low,
        high=high,
        products=products,
        weight=float(weights.sum()),
        n_chosen=float(weights @ [len(shard.subsets[t]) for t in kept]),
        n_items=float(weights @ sizes),
        sampled=float(shard.weights[[t for t in kept if is_sampled(shard, t)]].sum()) if learned else 0.0,
        n_counted=sum(sizes),
        largest=max(items.n for items in item_sets),
        parts=parts,
        same_parts=same_parts(item_sets, learned),
    )


def merge_surveys(surveys: Sequence[Survey]) -> Survey:
    """One survey of all shards, with instances numbered through."""
    m = surveys[0].n_features
    names = next((s.names for s in surveys if s.names), None)
    for k, s in enumerate(surveys):
        if s.n_features != m or (names and s.names and s.names != names):
            raise ValueError(
                f"Shard {k} has {s.n_features} features ({', '.join(s.names or ['no names'])}), "
                f"and shard 0 has {m}: all must have the same features, in the same order."
            )
    firsts = np.cumsum([0, *(s.n_instances for s in surveys)]).tolist()
    totals = ("n_instances", "products", "weight", "n_chosen", "n_items", "sampled", "n_counted")
    return surveys[0]._replace(
        names=names,
        encoding=shared_encoding([s.encoding for s in surveys]),
        impossible=[(a + t, why) for a, s in zip(firsts, surveys, strict=False) for t, why in s.impossible],
        kept=[a + t for a, s in zip(firsts, surveys, strict=False) for t in s.kept],
        low=np.min([s.low for s in surveys], axis=0),
        high=np.max([s.high for s in surveys], axis=0),
        largest=max(s.largest for s in surveys),
        parts=shared_names([s.parts for s in surveys], "Shard {}") if surveys[0].parts else (),
        same_parts=frozenset.intersection(*(s.same_parts for s in surveys)),
        **{name: sum(getattr(s, name) for s in surveys) for name in totals},
    )


def shared_encoding(encodings: Sequence[Encoding | None]) -> Encoding | None:
    """How all these features were made of tables, which must be one way; None where they were not."""
    first = next((one for one in encodings if one is not None), None)
    for one in encodings if first is not None else ():
        check_encoding(one, first, "One of the item sets", "the others", "X[0].encoding")
    return first


def is_sampled(shard: Shard, t: int) -> bool:
    """Whether an instance is in the sample; its content decides, so that no layout of files changes the answer."""
    return crc32(shard.subsets[t].tobytes(), crc32(shard.item_sets[t].features.tobytes())) % SAMPLED == 0


def same_parts(item_sets: Sequence[ItemSet], learned: bool) -> frozenset[tuple[str, str]]:
    """Parts of the similarity that are the same matrix in all of these; one that is learned also has I and 11^T."""
    names = [part.name for part in item_sets[0].parts]
    pairs = set(combinations((*RESERVED, *names) if learned else names, 2)) - {RESERVED}
    for items in item_sets:
        if not pairs:
            break
        matrices = {part.name: part.cosines() for part in items.parts}
        matrices |= {"own": np.eye(items.n), "all": np.ones((items.n, items.n))}
        pairs = {(a, b) for a, b in pairs if np.allclose(matrices[a], matrices[b], rtol=0.0, atol=1e-9)}
    return frozenset(pairs)


def why_impossible(items: ItemSet, Y: IntArray, similarity: Similarity) -> str | None:
    """Why the target has probability 0 whatever the qualities are, or None."""
    S_Y = similarity.matrix(items, Y)
    if logdet(S_Y) > -np.inf:
        return None
    close = np.argwhere(np.triu(np.abs(S_Y) ** 2 > 1 - rounding(Y.size), 1))
    if close.size:
        i, j = Y[close[0]]
        return f"its target holds items {i} and {j}, which are duplicates of each other (similarity 1)"
    d = similarity.rank(items)
    if d is not None and Y.size > d:
        return f"its target holds {Y.size} items, and {d} similarity features allow at most {d}"
    return "the similarity features of the items in its target are linearly dependent"
