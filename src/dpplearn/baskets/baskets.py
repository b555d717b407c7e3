"""Baskets of items that have names or numbers: read from whatever they come in, and counted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray, check_array, check_choice, count_of
from dpplearn.baskets.likelihood import BasketShard
from dpplearn.learning.columns import is_missing
from dpplearn.learning.tables import column, group_rows
from dpplearn.subsets import Subsets

Label = int | str
N_SHARDS = 8  # as many, whatever the backend: the same sums in the same order
SMALL = 20_000  # baskets up to which one shard is enough


@dataclass(frozen=True, eq=False, repr=False)
class Baskets:
    """Baskets over one catalogue, each with its items in the order given, none twice.

    Parameters
    ----------
    indptr, indices : int64 arrays
        Basket t holds the items of numbers `indices[indptr[t]:indptr[t + 1]]`.
    items : array
        What the items are called: texts, or whole numbers.
    n_repeated, n_unseen : int
        Baskets in which an item was repeated; items that were left out because the catalogue lacks them.

    Examples
    --------
    >>> baskets = Baskets.read([["bib", "bottle"], [], ["cot", "bib"]])
    >>> baskets, baskets.items.tolist(), baskets.counts.tolist()
    (<3 baskets of 3 items, 1 empty>, ['bib', 'bottle', 'cot'], [2, 1, 1])
    """

    indptr: IntArray
    indices: IntArray
    items: np.ndarray
    n_repeated: int = 0
    n_unseen: int = 0

    @classmethod
    def read(cls, baskets: Any, items: Sequence[Label] | np.ndarray | None = None, unseen: str = "error") -> Baskets:
        """From lists of names or numbers, Subsets, a scipy sparse array of 0 and 1, or Baskets.

        Parameters
        ----------
        items : sequence, optional
            The catalogue, where it is known; by default every item that occurs, sorted. Where items have names, it
            names the columns of Subsets and sparse arrays.
        unseen : {"error", "drop"}
            What to do with items that are not in it.
        """
        check_choice(unseen, "unseen", ("error", "drop"))
        indptr, flat = _flatten(baskets)
        if items is None and isinstance(baskets, Baskets):
            return baskets
        if items is None and (columns := _columns(baskets)) is not None:
            return cls(indptr, flat, np.arange(columns))
        if items is None:
            if flat.size == 0:
                raise ValueError("No basket holds an item: at least one is needed, to have a catalogue.")
            names, codes = np.unique(flat, return_inverse=True)
        else:
            names, columns = check_catalogue(items), _columns(baskets)
            if columns is not None and names.dtype.kind == "U":
                if columns != names.size:
                    raise ValueError(f"There must be a column for each of {names.size} items, found {columns}.")
                codes = flat
            else:
                codes = _codes(flat, names, unseen)
        codes, owner = np.asarray(codes, np.int64).ravel(), np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        known = codes >= 0
        codes, owner, n_unseen = codes[known], owner[known], int((~known).sum())
        first = np.sort(np.unique(owner * names.size + codes, return_index=True)[1])
        repeated = np.unique(owner[np.setdiff1d(np.arange(codes.size), first, assume_unique=True)]).size
        sizes = np.bincount(owner[first], minlength=indptr.size - 1)
        return cls(np.append(0, np.cumsum(sizes)), codes[first], names, repeated, n_unseen)

    @classmethod
    def from_long(cls, table: Any, *, basket: str, item: str) -> Baskets:
        """From a table with a row for each item of each basket: a data frame, or a mapping of columns.

        A row without an item, or without a basket, is an error that names it.

        Examples
        --------
        >>> Baskets.from_long({"order": [7, 7, 8], "what": ["bib", "cot", "bib"]}, basket="order", item="what")
        <2 baskets of 2 items>
        """
        labels = column(table, basket)
        names = column(table, item, labels.size)
        for name, values in ((basket, labels), (item, names)):
            check_present(values, name)
        rows_of = group_rows(labels, basket)[1]
        return cls.read([names[rows].tolist() for rows in rows_of])

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __repr__(self) -> str:
        empty = f", {self.n_empty} empty" if self.n_empty else ""
        return f"<{count_of(len(self), 'basket', 'baskets')} of {count_of(self.n, 'item', 'items')}{empty}>"

    @property
    def n(self) -> int:
        return int(self.items.size)

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.indptr)

    @property
    def n_empty(self) -> int:
        return int((self.sizes == 0).sum())

    @property
    def counts(self) -> IntArray:
        """In how many baskets each item is."""
        return np.bincount(self.indices, minlength=self.n)

    @cached_property
    def subsets(self) -> Subsets:
        """The same as sets."""
        owner = np.repeat(np.arange(len(self)), self.sizes)
        return Subsets._of(self.indptr, self.indices[np.lexsort((self.indices, owner))], self.n)

    def take(self, which: IntArray) -> Baskets:
        """Some of the baskets, in this order."""
        return Baskets(*pick(self.indptr, self.indices, which), self.items)

    def distinct(self, weights: FloatArray) -> BasketShard:
        """Different baskets once each, smallest first, with the sum of their weights, where that is not 0."""
        sizes, sets = self.sizes, self.subsets
        found, sums = [np.empty(0, np.int64)], [np.empty(0)]
        lengths = [np.empty(0, np.int64)]
        for k in np.unique(sizes[weights > 0]).tolist():
            which = np.flatnonzero((sizes == k) & (weights > 0))
            rows = sets.indices[sets.indptr[which, None] + np.arange(k)]
            if k == 0:
                rows, group = rows[:1], np.zeros(which.size, np.int64)
            else:
                order = np.lexsort(rows.T[::-1])
                new = np.append(True, (np.diff(rows[order], axis=0) != 0).any(axis=1))
                group = np.empty(which.size, np.int64)
                group[order] = np.cumsum(new) - 1
                rows = rows[order][new]
            found.append(rows.ravel())
            sums.append(np.bincount(group, weights[which]).astype(np.float64))
            lengths.append(np.full(sums[-1].size, k))
        indptr = np.append(0, np.cumsum(np.concatenate(lengths)))
        return BasketShard(indptr, np.concatenate(found), np.concatenate(sums))


def pick(starts: IntArray, indices: IntArray, which: IntArray) -> tuple[IntArray, IntArray]:
    """Some of the baskets that lie end to end, in this order: where each begins, and their items."""
    sizes = np.diff(starts)[which]
    indptr = np.append(0, np.cumsum(sizes))
    return indptr, indices[np.arange(indptr[-1]) - np.repeat(indptr[:-1] - starts[which], sizes)]


def cut(shard: BasketShard) -> list[BasketShard]:
    """Pieces of about the same work, every N_SHARDS-th basket in each."""
    n = shard.weights.size
    pieces = 1 if n <= SMALL else N_SHARDS
    parts = [np.arange(k, n, pieces) for k in range(pieces)]
    return [BasketShard(*pick(shard.indptr, shard.indices, which), shard.weights[which]) for which in parts]


def check_weights(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """A weight for each basket, at least one of them above 0."""
    if sample_weight is None:
        return np.ones(n)
    weights = check_array(sample_weight, "sample_weight", 1)
    if weights.size != n:
        raise ValueError(f"sample_weight must have one entry per basket ({n}), found {weights.size}.")
    if weights.min() < 0 or weights.max() == 0:
        raise ValueError(
            f"sample_weight must not be negative, and not all 0; found {weights.min():g} to {weights.max():g}."
        )
    return weights


def check_present(values: np.ndarray, name: str) -> None:
    """A long table has a basket and an item in every row."""
    absent = [] if values.dtype.kind in "iu" else [row for row, x in enumerate(values.tolist()) if is_missing(x)]
    if absent:
        many = count_of(len(absent), "such row", "such rows")
        raise ValueError(
            f"Column {name!r} has no value in row {absent[0]} (from 0; {many} in all). Leave these rows out, or fill "
            "them in."
        )


def warn_repeated(baskets: Baskets) -> None:
    if baskets.n_repeated:
        warnings.warn(
            f"{count_of(baskets.n_repeated, 'basket holds', 'baskets hold')} an item more than once; it counts once.",
            UserWarning,
            stacklevel=3,
        )


def check_catalogue(items: Sequence[Label] | np.ndarray) -> np.ndarray:
    """What items are called: texts, or whole numbers, none twice."""
    names = items if isinstance(items, np.ndarray) else as_names(list(items))
    if names.ndim != 1 or names.size == 0 or names.dtype.kind not in "Ui":
        raise TypeError(f"items must be a list of texts, or of whole numbers, found {items!r:.60}.")
    known, counts = np.unique(names, return_counts=True)
    if known.size < names.size:
        raise ValueError(f"items must be different, found {known[counts.argmax()].item()!r:.60} more than once.")
    return names


def _columns(baskets: Any) -> int | None:
    """How many columns baskets in the form of a table have; None for other forms."""
    if isinstance(baskets, Subsets):
        return int(baskets.n)
    return int(baskets.shape[1]) if sparse.issparse(baskets) else None


def _flatten(baskets: Any) -> tuple[IntArray, np.ndarray]:
    """Where each basket begins, and the items of all baskets one after the other, by name."""
    if isinstance(baskets, Baskets):
        return baskets.indptr, baskets.items[baskets.indices]
    if isinstance(baskets, Subsets):
        return baskets.indptr, baskets.indices
    if sparse.issparse(baskets):
        table = sparse.csr_array(baskets, copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        if not (table.data == 1).all():
            raise ValueError(
                f"A sparse array of baskets must hold 0 and 1, found {table.data[table.data != 1][0]!r}. "
                "For counts, pass (counts > 0); for weights of baskets, sample_weight."
            )
        return table.indptr.astype(np.int64), table.indices.astype(np.int64)
    if isinstance(baskets, str | bytes) or not isinstance(baskets, Iterable) or hasattr(baskets, "columns"):
        raise TypeError(
            "baskets must be a list with a list of items for each basket, Subsets or a scipy sparse array, found "
            f"{type(baskets).__name__}. For a long table use KernelDPP.from_long; for a file, dpplearn baskets fit."
        )
    if isinstance(baskets, np.ndarray) and baskets.ndim == 2 < baskets.shape[1] and np.isin(baskets, (0, 1)).all():
        raise TypeError("baskets must be lists of items, found an array of 0 and 1: pass scipy.sparse.csr_array of it.")
    rows = []
    for t, one in enumerate(baskets):
        if isinstance(one, str | bytes) or not isinstance(one, Iterable):
            raise TypeError(f"Basket {t} must be a list of items, found {one!r:.60}. Pass [{one!r:.30}] for one item.")
        rows.append(one.tolist() if isinstance(one, np.ndarray) else list(one))
    return np.append(0, np.cumsum([len(one) for one in rows], dtype=np.int64)), as_names([*chain.from_iterable(rows)])


def as_names(names: list[Any]) -> np.ndarray:
    """Names of items as an array: all of them texts, or all of them whole numbers of 64 bits."""
    kinds = {type(x) for x in names}
    texts = {kind for kind in kinds if issubclass(kind, str)}
    others = {kind for kind in kinds - texts if kind is bool or not issubclass(kind, int | np.integer)}
    if others or 0 < len(texts) < len(kinds):
        bad = next((f"{x!r:.40} ({type(x).__name__})" for x in names if type(x) in others), "both")
        raise TypeError(f"Items must be named by texts, or all of them by whole numbers; found {bad}.")
    found = np.array(names) if names else np.empty(0, np.int64)
    if found.dtype.kind not in "Ui":
        raise ValueError(f"Items that are whole numbers must have at most 64 bits, found {max(names, key=abs)}.")
    return found


def _codes(flat: np.ndarray, names: np.ndarray, unseen: str) -> IntArray:
    """The number of each item in the catalogue; -1 for those that are not there, if they may be dropped."""
    at, same = np.zeros(flat.size, np.int64), np.zeros(flat.size, np.bool_)
    if names.dtype.kind == "U" or flat.dtype.kind != "U":  # no text is a number; numbers may be texts
        flat = flat.astype(str if names.dtype.kind == "U" else np.int64)
        order = np.argsort(names, kind="stable")
        at = order[np.minimum(np.searchsorted(names, flat, sorter=order), names.size - 1)]
        same = names[at] == flat
    if unseen == "error" and not same.all():
        new = np.unique(flat[~same])
        near = get_close_matches(str(new[0]), [str(name) for name in names[:100_000].tolist()], n=1)
        raise ValueError(
            f"The catalogue has no item {new[0].item()!r:.60} ({count_of(new.size, 'such item', 'such items')})."
            + (f" Did you mean {near[0]!r}?" if near else "")
            + " Leave out items that were in no basket the model was fitted on, or fit it again with them."
        )
    return np.where(same, at, -1)
