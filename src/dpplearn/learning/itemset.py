"""ItemSet: the items of one instance, with their quality features and their similarities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import (
    Features,
    FloatArray,
    IntArray,
    check_array,
    check_features,
    check_rho,
    check_vector,
    read_only,
    row_lengths,
)
from dpplearn._linalg import check_similarity, to_dense
from dpplearn.determinantal import Frozen


class ItemSet(Frozen):
    """The items of one instance: quality features F and similarities S, or features phi with S = phi phi^T.

    The conditional DPP of section 4 gives them the kernel L_ij = q_i S_ij q_j with
    q_i = exp(theta . f_i / 2), equations (15) and (16). Everything is checked here, once.

    Parameters
    ----------
    features : array of shape (n, m), or a data frame
        Quality features f_i, one row per item. A constant column, which lets the model learn how many
        items to choose, is yours to add.
    similarity : array of shape (n, n), optional
        S: positive semidefinite, with ones on its diagonal.
    phi : array or scipy sparse array of shape (n, d), optional
        Similarity features; rows are scaled to length 1. Give either this or `similarity`.
    cost : array of shape (n,), optional
        What each item takes of a budget; 1 each where it is needed and not given.
    names : sequence of m strings, optional
        Names of the quality features; by default the column names of a data frame.

    Examples
    --------
    >>> items = ItemSet([[1.0, 0.3], [1.0, 0.9]], phi=[[3.0, 4.0], [0.0, 2.0]], names=["constant", "length"])
    >>> items
    <ItemSet of 2 items with 2 features>
    >>> items.similarity_matrix()
    array([[1. , 0.8],
           [0.8, 1. ]])
    >>> items.similarity_matrix(rho=1.0)  # the paper's constant similarity feature: all more alike
    array([[1. , 0.9],
           [0.9, 1. ]])
    """

    features: FloatArray
    similarity: FloatArray | None
    phi: Features | None
    cost: FloatArray | None
    names: tuple[str, ...] | None

    def __init__(
        self,
        features: ArrayLike,
        similarity: ArrayLike | None = None,
        phi: ArrayLike | sparse.sparray | sparse.spmatrix | None = None,
        cost: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if names is None:
            names = column_names(features)
        F = check_array(features, "features", 2)
        n, m = F.shape
        if n == 0 or m == 0:
            raise ValueError(
                f"features must have at least one row (item) and one column (feature), found shape {F.shape}. "
                "Leave instances without items out; for a model without features, pass a column of ones."
            )
        if (similarity is None) == (phi is None):
            found = "neither" if phi is None else "both"
            raise ValueError(
                f"Pass either similarity (n x n) or phi (similarity features, one row per item); found {found}. "
                "For items that do not repel each other, pass similarity=numpy.eye(n)."
            )
        S = None if similarity is None else check_similarity(similarity, "similarity")
        rows = None if phi is None else unit_rows(check_features(phi, "phi"))
        for name, k in (
            ("similarity", None if S is None else len(S)),
            ("phi", None if rows is None else rows.shape[0]),
        ):
            if k is not None and k != n:
                raise ValueError(f"{name} must have one row per item: features has {n} rows, {name} has {k}.")
        costs = None if cost is None else check_costs(cost, n)
        read_only(F, *(x for x in (costs, S) if x is not None))
        self._set(features=F, similarity=S, phi=rows, cost=costs, names=check_names(names, m))

    @classmethod
    def _of(cls, **values: Any) -> ItemSet:
        """An ItemSet from parts that are known to be right (read back from a shard)."""
        self = cls.__new__(cls)
        self._set(**values)
        return self

    @property
    def n(self) -> int:
        """Number of items, N in the paper."""
        return len(self.features)

    @property
    def n_features(self) -> int:
        """Number of quality features, m in the paper."""
        return self.features.shape[1]

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"<ItemSet of {self.n} items with {self.n_features} features>"

    def similarity_matrix(self, rho: float = 0.0) -> FloatArray:
        """S, with a constant similarity feature of value rho: S_ij = (C_ij + rho^2) / (1 + rho^2).

        C is `similarity` as given, or phi phi^T; `rho` is section 7.2's. A new n x n array each time.
        """
        u = check_rho(rho) ** 2
        S = self.similarity.copy() if self.similarity is not None else self._cosines()
        if u > 0:
            S += u
            S /= 1 + u
            S.flat[:: self.n + 1] = 1.0
        return S

    def similarity_of(self, subset: IntArray, rho: float = 0.0) -> FloatArray:
        """The block S_Y, without the rest of S."""
        u = check_rho(rho) ** 2
        if self.similarity is not None:
            C = self.similarity[np.ix_(subset, subset)]
        else:
            assert self.phi is not None  # one of the two was given
            rows = to_dense(self.phi[subset])
            C = rows @ rows.T
        S = (C + u) / (1 + u)
        np.fill_diagonal(S, 1.0)
        return S

    def similarity_rows(self, rho: float = 0.0) -> FloatArray:
        """Rows of length 1 with S = rows rows^T, if phi was given: phi and the constant rho, over sqrt(1 + rho^2)."""
        if self.phi is None:
            raise ValueError("This ItemSet was given similarity, and has no similarity features phi.")
        u = check_rho(rho) ** 2
        rows = to_dense(self.phi)
        if u == 0:
            return rows
        return np.hstack([rows, np.full((self.n, 1), np.sqrt(u))]) / np.sqrt(1 + u)

    def _cosines(self) -> FloatArray:
        if sparse.issparse(self.phi):
            from dpplearn._loops.gram import gram

            S = gram(*self._columns, self.n)
        else:
            assert self.phi is not None
            S = self.phi @ self.phi.T
        S.flat[:: self.n + 1] = 1.0
        return np.asarray(S)

    @cached_property
    def _columns(self) -> tuple[IntArray, IntArray, FloatArray]:
        return shared_columns(self.phi)

    @overload
    @classmethod
    def from_long(
        cls, table: Any, *, group: str, features: Sequence[str], phi: Sequence[str], cost: str | None = ...
    ) -> list[ItemSet]: ...
    @overload
    @classmethod
    def from_long(
        cls, table: Any, *, group: str, features: Sequence[str], phi: Sequence[str], cost: str | None = ..., chosen: str
    ) -> tuple[list[ItemSet], list[IntArray]]: ...
    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        group: str,
        features: Sequence[str],
        phi: Sequence[str],
        cost: str | None = None,
        chosen: str | None = None,
    ) -> list[ItemSet] | tuple[list[ItemSet], list[IntArray]]:
        """Item sets from a table with one row per item and a column that says which instance it is in.

        Parameters
        ----------
        table : data frame or mapping of columns
            Anything whose `table[column]` is a sequence: pandas, polars, a dict of arrays.
        group : str
            Column of the instance; instances come in the order in which they first appear, and the rows
            of one need not be adjacent.
        features, phi : sequences of str
            Columns of the quality features and of the similarity features.
        cost : str, optional
            Column of the costs.
        chosen : str, optional
            Column that is true (or 1) for the items that were chosen.

        Returns
        -------
        list of ItemSet, or with `chosen` also the list of chosen subsets

        Examples
        --------
        >>> table = {"query": ["a", "a", "b"], "score": [0.1, 0.9, 0.5], "x": [1, 0, 1], "y": [0, 1, 1]}
        >>> table["click"] = [0, 1, 1]
        >>> X, y = ItemSet.from_long(table, group="query", features=["score"], phi=["x", "y"], chosen="click")
        >>> X, y
        ([<ItemSet of 2 items with 1 features>, <ItemSet of 1 items with 1 features>], [array([1]), array([0])])
        """
        labels, rows_of = group_rows(column(table, group), group)
        n = sum(rows.size for rows in rows_of)
        F, directions = columns(table, features, "features", n), columns(table, phi, "phi", n)
        costs = None if cost is None else column(table, cost, n)
        picked = None if chosen is None else check_flags(column(table, chosen, n), chosen)
        item_sets, subsets = [], []
        for label, rows in zip(labels, rows_of, strict=True):
            try:
                items = cls(
                    F[rows], phi=directions[rows], cost=None if costs is None else costs[rows], names=list(features)
                )
            except (TypeError, ValueError) as error:
                error.add_note(
                    f"In group {label!r} of the table, whose rows are {rows[:8].tolist()}{'...' * (rows.size > 8)}."
                )
                raise
            item_sets.append(items)
            if picked is not None:
                subsets.append(np.flatnonzero(picked[rows]))
        return item_sets if picked is None else (item_sets, subsets)


def shared_columns(phi: sparse.sparray) -> tuple[IntArray, IntArray, FloatArray]:
    """phi by columns, for the loop `gram`: those that two items share, for no other makes any two alike."""
    X = sparse.csc_array(phi)
    X.sort_indices()
    X = X[:, np.diff(X.indptr) > 1]
    return X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data


def check_costs(cost: ArrayLike, n: int) -> FloatArray:
    """A positive number per item."""
    costs = check_vector(cost, "cost", n)
    if costs.min() <= 0.0:
        i = int(costs.argmin())
        raise ValueError(
            f"cost must be positive, but cost[{i}] is {costs[i]:g}. Give an item that is free a small cost."
        )
    return costs


def unit_rows(phi: Features) -> Features:
    """Rows of length 1; a zero row has no direction and is an error."""
    lengths = row_lengths(phi)
    if lengths.min() == 0.0:
        row = int(lengths.argmin())
        raise ValueError(
            f"phi must have no zero row, because a zero vector has no direction; row {row} is zero "
            f"({int((lengths == 0).sum())} such rows in all). Leave the item out, or give it a feature of its own."
        )
    scaled = sparse.csr_array(sparse.diags_array(1 / lengths) @ phi) if sparse.issparse(phi) else phi / lengths[:, None]
    read_only(scaled.data if sparse.issparse(phi) else scaled)
    return scaled


def check_names(names: Iterable[str] | None, m: int) -> tuple[str, ...] | None:
    """m different strings, or None."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(f"names must be a sequence of {m} strings, found the single string {names!r}.")
    found = tuple(names)
    if not all(isinstance(name, str) for name in found):
        bad = next(name for name in found if not isinstance(name, str))
        raise TypeError(f"names must be strings, found {bad!r}.")
    if len(found) != m:
        raise ValueError(f"names must have one entry per feature ({m}), found {len(found)}.")
    if len(set(found)) != m:
        twice = next(name for k, name in enumerate(found) if name in found[:k])
        raise ValueError(f"names must differ, but {twice!r} appears more than once.")
    return tuple(str(name) for name in found)


def column_names(features: Any) -> Sequence[str] | None:
    """Those of a data frame, if they are names: a frame made from an array numbers its columns."""
    found = getattr(features, "columns", None)
    return None if found is None or not all(isinstance(name, str) for name in found) else list(found)


def column(table: Any, name: str, n: int | None = None) -> np.ndarray:
    """One column as an array, of n entries if that is known."""
    try:
        found = np.asarray(table[name])
    except (KeyError, IndexError, ValueError):
        known = list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))
        raise KeyError(f"The table has no column {name!r}; it has {known}.") from None
    if found.ndim != 1:
        raise ValueError(f"Column {name!r} of the table must hold one value per row, found shape {found.shape}.")
    if n is not None and found.size != n:
        raise ValueError(
            f"The columns of the table must have the same length: the group has {n} entries, {name!r} has {found.size}."
        )
    return found


def columns(table: Any, names: Sequence[str], what: Literal["features", "phi"], n: int) -> FloatArray:
    """Several columns side by side, as floats."""
    if isinstance(names, str) or not isinstance(names, Iterable) or len(list(names)) == 0:
        raise TypeError(f"{what} must be a list of column names, found {names!r}.")
    return np.column_stack([check_array(column(table, name, n), name, 1) for name in names])


def check_flags(flags: np.ndarray, name: str) -> np.ndarray:
    """Booleans, or numbers that are all 0 or 1."""
    if flags.dtype == np.bool_:
        return flags
    if flags.dtype.kind not in "iuf" or not np.isin(flags, (0, 1)).all():
        raise ValueError(f"Column {name!r} must hold booleans, or 0 and 1, to say which items were chosen.")
    return flags.astype(np.bool_)


def group_rows(labels: np.ndarray, name: str) -> tuple[list[Any], list[IntArray]]:
    """The different labels in order of first appearance, and the rows of each in order."""
    rows: dict[Any, list[int]] = {}
    absent = np.isnat(labels) if labels.dtype.kind in "mM" else np.array([is_missing(x) for x in labels], np.bool_)
    if absent.any():
        raise ValueError(
            f"Column {name!r} must say of every row which group it is in, but has no value in row {absent.argmax()} "
            f"({absent.sum()} such rows in all). Leave these rows out, or give them a group."
        )
    for row, label in enumerate(labels.tolist()):
        rows.setdefault(label, []).append(row)
    return list(rows), [np.array(r, np.int64) for r in rows.values()]


def is_missing(x: Any) -> bool:
    """None, NaN, or what pandas has for them."""
    return x is None or type(x).__name__ in ("NAType", "NaTType") or (isinstance(x, float) and x != x)
