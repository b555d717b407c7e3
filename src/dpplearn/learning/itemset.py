"""ItemSet: the items of one instance, with their quality features and their similarities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

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
    check_vector,
    read_only,
    row_lengths,
)
from dpplearn._linalg import check_similarity, to_dense
from dpplearn.learning.encoding import Encoding
from dpplearn.learning.similarity import Fixed
from dpplearn.learning.table import Drop, Names, Wanted, read_long
from dpplearn.process import Frozen


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
        S: positive semidefinite, with ones on its diagonal; `S=` is the same.
    phi : array or scipy sparse array of shape (n, d), optional
        Similarity features; rows are scaled to length 1. Give either this or `similarity`.
    cost : array of shape (n,), optional
        What each item takes of a budget; 1 each where it is needed and not given.
    names : sequence of m strings, optional
        Names of the quality features; by default the column names of a data frame.

    Attributes
    ----------
    encoding : Encoding or None
        How `from_long` made the features from the columns of a table; `raw` has these columns, in which categories
        are numbered and NaN is what is not known.

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
    encoding: Encoding | None = None
    raw: FloatArray | None = None

    def __init__(
        self,
        features: ArrayLike,
        similarity: ArrayLike | None = None,
        phi: ArrayLike | sparse.sparray | sparse.spmatrix | None = None,
        cost: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        *,
        S: ArrayLike | None = None,
        encoding: Encoding | None = None,
        raw: FloatArray | None = None,
    ) -> None:
        if S is not None and similarity is not None:
            raise TypeError("similarity and S are two names of the same matrix: pass one of them.")
        similarity = S if similarity is None else similarity
        names = column_names(features) if names is None else names
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
        C = None if similarity is None else check_similarity(similarity, "similarity")
        rows: Features = None if phi is None else unit_rows(check_features(phi, "phi"))
        name, given = ("phi", rows) if C is None else ("similarity", C)
        if given.shape[0] != n:
            raise ValueError(f"{name} must have one row per item: features has {n} rows, {name} has {given.shape[0]}.")
        costs = None if cost is None else check_costs(cost, n)
        read_only(F, *(x for x in (costs, C) if x is not None))
        self._set(features=F, similarity=C, phi=rows, cost=costs, names=check_names(names, m))
        if encoding is not None and raw is not None:
            read_only(raw)
            self._set(encoding=encoding, raw=raw)

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

    def similarity_matrix(self, rho: float = 0.0, nugget: float = 0.0) -> FloatArray:
        """S, with a constant similarity feature of value rho: S_ij = (C_ij + rho^2) / (1 + rho^2).

        C is `similarity` as given, or phi phi^T; `rho` is section 7.2's. With a nugget, (1 - nugget) times that, and
        ones on the diagonal as before. A new n x n array each time.
        """
        return Fixed(rho, nugget).matrix(self)

    def similarity_of(self, subset: IntArray, rho: float = 0.0, nugget: float = 0.0) -> FloatArray:
        """The block S_Y, without the rest of S."""
        return Fixed(rho, nugget).block(self, subset)

    def similarity_rows(self, rho: float = 0.0) -> FloatArray:
        """Rows of length 1 with S = rows rows^T, if phi was given: phi and the constant rho, over sqrt(1 + rho^2)."""
        rows = Fixed(rho).rows(self)
        if rows is None:
            raise ValueError("This ItemSet was given similarity, and has no similarity features phi.")
        return rows

    def cosines(self, subset: IntArray | None = None) -> FloatArray:
        """C, or its block for a subset: `similarity` as given, or phi phi^T; a new array."""
        if self.similarity is not None:
            return self.similarity.copy() if subset is None else self.similarity[np.ix_(subset, subset)]
        assert self.phi is not None  # one of the two was given
        if subset is not None:
            rows = to_dense(self.phi[subset])
            return np.asarray(rows @ rows.T)
        if sparse.issparse(self.phi):
            from dpplearn._loops.gram import gram

            S = gram(*self._columns, self.n)
        else:
            S = self.phi @ self.phi.T
        S.flat[:: self.n + 1] = 1.0
        return np.asarray(S)

    @cached_property
    def _columns(self) -> tuple[IntArray, IntArray, FloatArray]:
        return shared_columns(self.phi)

    @overload
    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        group: str | None,
        features: Sequence[str] | None = ...,
        phi: Names | None = ...,
        cost: str | None = ...,
        chosen: None = ...,
        drop: Drop = ...,
        constant: bool | None = ...,
        encoding: Encoding | None = ...,
    ) -> list[ItemSet]: ...
    @overload
    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        group: str | None,
        features: Sequence[str] | None = ...,
        phi: Names | None = ...,
        cost: str | None = ...,
        chosen: str,
        drop: Drop = ...,
        constant: bool | None = ...,
        encoding: Encoding | None = ...,
    ) -> tuple[list[ItemSet], list[IntArray]]: ...
    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        group: str | None,
        features: Sequence[str] | None = None,
        phi: Names | None = None,
        cost: str | None = None,
        chosen: str | None = None,
        drop: Drop = "most frequent",
        constant: bool | None = None,
        encoding: Encoding | None = None,
    ) -> list[ItemSet] | tuple[list[ItemSet], list[IntArray]]:
        """Item sets from a table with one row per item and a column that says which instance it is in.

        Columns hold numbers, booleans (0 and 1) or categories: texts, pandas categoricals, polars Categorical and Enum.

        - As a quality feature, a category has a column for each level but the most frequent, and one whose levels are
          in an order (an ordered categorical, an Enum) a column for each step, such as `size>=m`.
        - As similarity features, items of the same category are alike, and those of an order the more so the nearer
          they are; an item of which all booleans are false is like those of which they are too. Beside categories,
          numbers are standardized.
        - A value that is missing counts as the average of its column, and the weight of `tempo is unknown` says what
          else that means; in similarities, unknown is a category. So is a category that new data have and training
          had not, with a warning.

        Parameters
        ----------
        table : data frame or mapping of columns
            Anything whose `table[column]` is a sequence: pandas, polars, a dict of arrays.
        group : str or None
            Column of the instance; instances come in the order in which they first appear, and the rows
            of one need not be adjacent. None: the table is one instance.
        features, phi : sequences of str
            Columns of the quality features and of the similarity features; `phi` may be several lists by name.
        cost : str, optional
            Column of the costs.
        chosen : str, optional
            Column that is true (or 1) for the items that were chosen.
        drop : {"most frequent", None}
            The level of a category that has no column; with None, all have one, and a prior must tell them apart.
        constant : bool, optional
            Whether a column of ones comes first; by default where a feature is a category, unless one is all ones.
        encoding : Encoding, optional
            In place of features and phi, for new data: `model.encoding_`, or that of an item set.

        Returns
        -------
        list of ItemSet, or with `chosen` also the list of chosen subsets

        Examples
        --------
        >>> table = {"query": ["a", "a", "b", "b"], "score": [0.1, 0.9, 0.5, None], "click": [0, 1, 1, 0]}
        >>> table["kind"] = ["shoe", "hat", "shoe", "shoe"]
        >>> X, y = ItemSet.from_long(table, group="query", features=["score", "kind"], phi=["kind"], chosen="click")
        >>> X, y
        ([<ItemSet of 2 items with 4 features>, <ItemSet of 2 items with 4 features>], [array([1]), array([0])])
        >>> X[1].names, X[1].features
        (('constant', 'score', 'score is unknown', 'kind=hat'), array([[1. , 0.5, 0. , 0. ],
               [1. , 0.5, 1. , 0. ]]))
        """
        if encoding is not None and (features is not None or phi is not None):
            raise TypeError("encoding says which columns are features: leave features and phi out, or encoding.")
        wanted = Wanted(features, phi, drop, constant) if encoding is None else check_encoding(encoding)
        item_sets, subsets = read_long(cls, table, wanted, group=group, cost=cost, chosen=chosen)
        return item_sets if chosen is None else (item_sets, subsets)


def check_encoding(encoding: Any) -> Encoding:
    """An Encoding, and no model that has one."""
    if not isinstance(encoding, Encoding):
        raise TypeError(
            f"encoding must be an Encoding, found {type(encoding).__name__}. Pass model.encoding_, which a model that "
            "was fitted to ItemSet.from_long(...) has."
        )
    return encoding


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
