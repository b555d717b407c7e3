"""Baskets of items with names or numbers, read from lists, tables and arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import IntArray, check_choice, count_of
from dpplearn.baskets.likelihood import BasketShard, pick
from dpplearn.learning.columns import is_missing, warn_about_labels
from dpplearn.learning.tables import column, group_rows
from dpplearn.subsets import Subsets

Label = int | str


@dataclass(frozen=True, eq=False, repr=False)
class Baskets:
    """Baskets over one catalogue, with the items of each in the order given; a repeated item counts once.

    Parameters
    ----------
    indptr, indices : int64 arrays
        Basket t holds the items of numbers `indices[indptr[t]:indptr[t + 1]]`.
    items : array
        Names of the items: texts, or whole numbers.
    n_unseen : int
        Items that were left out because they are not in the catalogue.

    Examples
    --------
    >>> baskets = Baskets.read([["bib", "bottle"], [], ["cot", "bib"]])
    >>> baskets, baskets.items.tolist(), baskets.subsets.inclusion_counts()
    (<3 baskets of 3 items, 1 empty>, ['bib', 'bottle', 'cot'], array([2, 1, 1]))
    """

    indptr: IntArray
    indices: IntArray
    items: np.ndarray
    n_unseen: int = 0

    @classmethod
    def read(cls, baskets: Any, items: Sequence[Label] | np.ndarray | None = None, unseen: str = "error") -> Baskets:
        """From lists of names or numbers, Subsets, a scipy sparse array (not 0: in the basket), or Baskets.

        Parameters
        ----------
        items : sequence, optional
            The catalogue; by default every item that occurs, sorted. If it has texts, it names the columns of Subsets
            and sparse arrays.
        unseen : {"error", "drop"}
            What to do with items that are not in the catalogue.
        """
        check_choice(unseen, "unseen", ("error", "drop"))
        if items is None and isinstance(baskets, Baskets):
            return baskets
        indptr, flat, columns = flatten(baskets)
        names = None if items is None else check_catalogue(items)
        if columns is not None and (names is None or names.dtype.kind == "U"):
            names, codes = np.arange(columns) if names is None else names, flat
            if columns != names.size:
                raise ValueError(f"There must be a column for each of {names.size} items, found {columns}.")
        elif names is not None:
            codes = find_codes(flat, names, unseen)
        elif flat.size:
            names, codes = np.unique(flat, return_inverse=True)
        else:
            raise ValueError("No basket holds an item: at least one is needed, to have a catalogue.")
        if items is None and names.dtype.kind == "U":
            warn_about_labels(names.tolist(), "The catalogue")
        codes, owner = np.asarray(codes, np.int64).ravel(), np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        seen = codes >= 0
        codes, owner, n_unseen = codes[seen], owner[seen], int((~seen).sum())
        first = np.sort(np.unique(owner * names.size + codes, return_index=True)[1])
        sizes = np.bincount(owner[first], minlength=indptr.size - 1)
        return cls(np.append(0, np.cumsum(sizes)), codes[first], names, n_unseen)

    @classmethod
    def from_long(cls, table: Any, *, basket: str, item: str) -> Baskets:
        """From a table with a row for each item of each basket: a data frame, or a mapping of columns.

        A row without an item, or without a basket, is an error.

        Examples
        --------
        >>> Baskets.from_long({"order": [7, 7, 8], "what": ["bib", "cot", "bib"]}, basket="order", item="what")
        <2 baskets of 2 items>
        """
        labels = column(table, basket)
        names = column(table, item, labels.size)
        for name, values in ((basket, labels), (item, names)):
            if absent := [row for row, value in enumerate(values.tolist()) if is_missing(value)]:
                where = f"row {absent[0]} (from 0; {count_of(len(absent), 'such row', 'such rows')} in all)"
                raise ValueError(f"Column {name!r} has no value in {where}. Leave these rows out, or fill them in.")
        return cls.read([names[rows].tolist() for rows in group_rows(labels, basket)])

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __repr__(self) -> str:
        n_empty = int((self.sizes == 0).sum())
        empty = f", {n_empty} empty" if n_empty else ""
        return f"<{count_of(len(self), 'basket', 'baskets')} of {count_of(self.n, 'item', 'items')}{empty}>"

    @property
    def n(self) -> int:
        return int(self.items.size)

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.indptr)

    @cached_property
    def subsets(self) -> Subsets:
        """The baskets as sets."""
        owner = np.repeat(np.arange(len(self)), self.sizes)
        return Subsets._of(self.indptr, self.indices[np.lexsort((self.indices, owner))], self.n)

    def take(self, which: IntArray) -> Baskets:
        """Some of the baskets, in this order."""
        return Baskets(*pick(self.indptr, self.indices, which), self.items)

    @cached_property
    def distinct(self) -> BasketShard:
        """Each different basket once, with how often it occurs, smallest first."""
        counts = self.subsets.counts()
        sets = sorted(counts, key=len)
        indptr = np.append(0, np.cumsum([len(Y) for Y in sets]))
        items = np.fromiter(chain.from_iterable(sets), np.int64)
        return BasketShard(indptr, items, np.array([counts[Y] for Y in sets], np.float64))


def check_catalogue(items: Sequence[Label] | np.ndarray) -> np.ndarray:
    """Names of items: texts, or whole numbers, all different."""
    names = as_names(list(items))
    if names.size == 0:
        raise TypeError(f"items must be a list of texts, or of whole numbers, found {items!r:.60}.")
    different, counts = np.unique(names, return_counts=True)
    if different.size < names.size:
        raise ValueError(f"items must be different, found {different[counts.argmax()].item()!r:.60} more than once.")
    return names


def flatten(baskets: Any) -> tuple[IntArray, np.ndarray, int | None]:
    """Where each basket begins, the items of all in a row, and the number of columns if there are columns."""
    if isinstance(baskets, Baskets):
        return baskets.indptr, baskets.items[baskets.indices], None
    if isinstance(baskets, Subsets):
        return baskets.indptr, baskets.indices, int(baskets.n)
    if sparse.issparse(baskets):
        table = sparse.csr_array(baskets, copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        return table.indptr.astype(np.int64), table.indices.astype(np.int64), int(table.shape[1])
    if isinstance(baskets, str | bytes) or not isinstance(baskets, Iterable) or hasattr(baskets, "columns"):
        found = f"{type(baskets).__name__}. For a long table use KernelDPP.from_long; for a file, dpplearn baskets fit"
        raise TypeError(f"baskets must be lists of items, Subsets or a scipy sparse array, found {found}.")
    if isinstance(baskets, np.ndarray) and baskets.ndim == 2 < baskets.shape[1] and np.isin(baskets, (0, 1)).all():
        raise TypeError("baskets must be lists of items, found an array of 0 and 1: pass scipy.sparse.csr_array of it.")
    for t, row in enumerate(rows := list(baskets)):
        if isinstance(row, str | bytes) or not isinstance(row, Iterable):
            raise TypeError(f"Basket {t} must be a list of items, found {row!r:.60}. Pass [{row!r:.30}] for one item.")
        rows[t] = row.tolist() if isinstance(row, np.ndarray) else list(row)
    return np.append(0, np.cumsum([*map(len, rows)], dtype=np.int64)), as_names([*chain.from_iterable(rows)]), None


def as_names(names: list[Any]) -> np.ndarray:
    """Names of items as an array: all texts, or all whole numbers of 64 bits."""
    names = [x.item() if isinstance(x, np.unsignedinteger) else x for x in names]  # numpy would not make them int64
    array = np.array(names) if names else np.empty(0, np.int64)
    kinds = str if any(isinstance(x, str) for x in names) else int | np.integer
    bad = [x for x in names if not isinstance(x, kinds) or isinstance(x, bool)]
    if bad:
        raise TypeError(f"Items must be named by texts, or all of them by whole numbers; found {bad[0]!r:.60}.")
    if array.dtype.kind not in "Ui":
        raise ValueError(f"Items that are whole numbers must have at most 64 bits, found {max(names, key=abs)}.")
    return array


def find_codes(flat: np.ndarray, names: np.ndarray, unseen: str) -> IntArray:
    """The number of each item in the catalogue; -1 for items that are not in it, if they may be dropped."""
    if names.dtype.kind == "U":
        flat = flat.astype(str)  # the names may be texts of digits, and the items numbers
    number = {name: i for i, name in enumerate(names.tolist())}
    codes = np.array([number.get(name, -1) for name in flat.tolist()], np.int64)
    if unseen == "error" and (codes < 0).any():
        new = np.unique(flat[codes < 0])
        near = get_close_matches(str(new[0]), [str(name) for name in names[:100_000].tolist()], n=1)
        advice = f"Did you mean {near[0]!r}?" if near else "Leave out items that the model was not fitted on."
        many = count_of(new.size, "such item", "such items")
        raise ValueError(f"The catalogue has no item {new[0].item()!r:.60} ({many}). {advice}")
    return codes
