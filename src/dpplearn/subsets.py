"""The class `Subsets`, which holds many subsets, such as samples, in two arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import overload

import numpy as np
from scipy import sparse

from dpplearn._checks import IntArray, Items, check_int, check_subset, count_of, frozen
from dpplearn.sampling import end_to_end


@dataclass(frozen=True, eq=False, repr=False)
class Subsets:
    """A sequence of subsets of n items, stored end to end.

    Subset s is `indices[indptr[s]:indptr[s + 1]]`, sorted. Indexing and iterating give int64 arrays.

    Parameters
    ----------
    indptr : int64 array of shape (number of subsets + 1,)
    indices : int64 array
    n : int
        Size of the ground set.

    Examples
    --------
    >>> draws = Subsets.from_lists([[0, 2], [], [2]], n=3)
    >>> len(draws), draws[0], draws.sizes
    (3, array([0, 2]), array([2, 0, 1]))
    >>> draws.inclusion_counts()
    array([1, 0, 2])
    """

    indptr: IntArray
    indices: IntArray
    n: int

    def __post_init__(self) -> None:
        n = check_int(self.n, "n", low=1)
        indptr, indices = np.array(self.indptr), np.array(self.indices)
        for name, array in (("indptr", indptr), ("indices", indices)):
            if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
                raise TypeError(f"{name} must be a flat array of integers, found {array.dtype}, shape {array.shape}.")
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)  # unsigned differences would wrap around
        if indptr.size == 0 or indptr[0] != 0 or indptr[-1] != indices.size or (np.diff(indptr) < 0).any():
            raise ValueError(f"indptr must rise from 0 to the number of indices ({indices.size}).")
        if indices.size and (indices.min() < 0 or indices.max() >= n):
            raise IndexError(f"indices must be item numbers from 0 to {n - 1}.")
        rising = np.diff(indices) > 0
        starts = indptr[(indptr > 0) & (indptr < indices.size)]
        rising[starts - 1] = True  # numbers may fall between two sets
        if not rising.all():
            raise ValueError("Each subset must list its items in ascending order, none twice; see Subsets.from_lists.")
        self._keep(indptr, indices, n)

    def _keep(self, indptr: IntArray, indices: IntArray, n: int) -> None:
        self.__dict__.update(indptr=frozen(indptr), indices=frozen(indices), n=n)

    @classmethod
    def _of(cls, indptr: IntArray, indices: IntArray, n: int) -> Subsets:
        """Subsets from arrays that need no checks, such as a sampler's."""
        self = cls.__new__(cls)
        self._keep(indptr, indices, n)
        return self

    @classmethod
    def from_lists(cls, subsets: Iterable[Items], n: int) -> Subsets:
        """Subsets from any sequence of item lists or masks."""
        n = check_int(n, "n", low=1)
        arrays = [check_subset(Y, n, f"subsets[{s}]") for s, Y in enumerate(subsets)]
        return cls._of(*end_to_end(arrays), n)

    def __len__(self) -> int:
        return self.indptr.size - 1

    @overload
    def __getitem__(self, key: int) -> IntArray: ...
    @overload
    def __getitem__(self, key: slice) -> Subsets: ...
    def __getitem__(self, key: int | slice) -> IntArray | Subsets:
        s = range(len(self))[key]
        if isinstance(s, range) and s.step == 1:  # without copying the items
            ends = self.indptr[s.start : max(s.stop, s.start) + 1]
            return Subsets._of(ends - ends[0], self.indices[ends[0] : ends[-1]], self.n)
        if isinstance(s, range):
            return Subsets._of(*end_to_end([self[i] for i in s]), self.n)
        return self.indices[self.indptr[s] : self.indptr[s + 1]]

    def __iter__(self) -> Iterator[IntArray]:
        return (self.indices[a:b] for a, b in zip(self.indptr[:-1], self.indptr[1:], strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subsets):
            return NotImplemented
        same = self.n == other.n and np.array_equal(self.indptr, other.indptr)
        return same and np.array_equal(self.indices, other.indices)

    __hash__ = None  # type: ignore[assignment]  # hashing a large content would be slow

    def __repr__(self) -> str:
        mean = f", {self.indices.size / len(self):.2f} items on average" if len(self) > 1 else ""
        if len(self) == 1:
            mean = f", with {self.indices.size} of them"
        return f"<{count_of(len(self), 'subset', 'subsets')} of {count_of(self.n, 'item', 'items')}{mean}>"

    @property
    def sizes(self) -> IntArray:
        """Number of items in each subset."""
        return np.diff(self.indptr)

    def inclusion_counts(self) -> IntArray:
        """How many subsets contain each item."""
        return np.bincount(self.indices, minlength=self.n)

    def counts(self) -> Counter[tuple[int, ...]]:
        """How often each subset occurs."""
        return Counter(tuple(Y.tolist()) for Y in self)

    def to_sparse(self) -> sparse.csr_array:
        """Indicator matrix, one row per subset and one column per item."""
        ones = np.ones(self.indices.size, np.int64)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=(len(self), self.n))
