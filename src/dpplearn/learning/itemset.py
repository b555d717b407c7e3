"""ItemSet: the items of one instance, with their quality features and similarities; and lists of item sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._cached import cached_property
from dpplearn._checks import (
    Features,
    FloatArray,
    IntArray,
    check_array,
    check_int,
    check_items,
    check_vector,
    read_only,
)
from dpplearn._notebook import short_repr
from dpplearn.learning.similarity import INDEPENDENT, SimilarityPart, fixed_similarity, read_parts
from dpplearn.learning.tables import Encoding, Names, check_flags, column, directions_of, group_rows, raw_columns
from dpplearn.process import Frozen


class ItemSet(Frozen):
    """The items of one instance: quality features F and similarities S, or features phi with S = phi phi^T.

    The conditional DPP of section 4 gives them the kernel L_ij = q_i S_ij q_j with
    q_i = exp(theta . f_i / 2), equations (15) and (16). Everything is checked here, once.

    Parameters
    ----------
    features : array of shape (n, m), or a data frame
        Quality features f_i, one row per item. `ConditionalDPP` adds a constant, which lets it learn how many items to
        choose, where the features have none.
    S : array of shape (n, n), or several by name, optional
        Similarities: positive semidefinite, with ones on the diagonal.
    phi : array or scipy sparse array of shape (n, d), or several by name, optional
        Similarity features; rows are scaled to length 1. Give either this or `S`, or parts by name with
        both: `phi={"text": A, "image": B}, S={"given": M}`. The fixed similarity takes parts in equal
        shares; `ConditionalDPP(similarity="mixture")` learns their weights. Without `phi` and `S` items are
        independent of each other: S = I.
    cost : array of shape (n,), optional
        How much of a budget each item takes; 1 each if it is needed and not given.
    names : sequence of m strings, optional
        Names of the quality features; by default the column names of a data frame.
    k : int, optional
        How many items are to be chosen, if that is fixed beforehand: for models with `given_size=True`.

    Attributes
    ----------
    encoding : Encoding or None
        How `from_long` made the features from the columns of a table, if it did.

    Examples
    --------
    >>> items = ItemSet([[1.0, 0.3], [1.0, 0.9]], phi=[[3.0, 4.0], [0.0, 2.0]], names=["constant", "length"])
    >>> items
    <ItemSet of 2 items with 2 features>
    >>> items.similarity_matrix()
    array([[1. , 0.8],
           [0.8, 1. ]])
    >>> items.similarity_matrix(rho=1.0)  # the paper's constant similarity feature
    array([[1. , 0.9],
           [0.9, 1. ]])
    """

    features: FloatArray
    parts: tuple[SimilarityPart, ...]  # what S is made of
    cost: FloatArray | None
    names: tuple[str, ...] | None
    k: int | None = None
    encoding: Encoding | None = None

    def __init__(
        self,
        features: ArrayLike,
        S: ArrayLike | Mapping[str, ArrayLike] | None = None,
        phi: ArrayLike | sparse.sparray | sparse.spmatrix | Mapping[str, Any] | None = None,
        cost: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        *,
        k: int | None = None,
        encoding: Encoding | None = None,
    ) -> None:
        columns = getattr(features, "columns", None)  # of a data frame; names that are only numbers are not used
        if names is None and columns is not None and all(isinstance(name, str) for name in columns):
            names = tuple(columns)
        F = check_array(features, "features", 2)
        n, m = F.shape
        if n == 0 or m == 0:
            raise ValueError(f"features must have at least one row (item) and one column, found shape {F.shape}.")
        parts = read_parts(phi, S, n)
        costs = None if cost is None else check_vector(cost, "cost", n)
        if costs is not None and costs.min() <= 0.0:
            i = int(costs.argmin())
            raise ValueError(f"cost must be positive, but cost[{i}] is {costs[i]:g}. Give a free item a small cost.")
        read_only(*[x for x in (F, costs) if x is not None])
        size = None if k is None else check_int(k, "k", high=n)
        self._set(features=F, parts=parts, cost=costs, names=check_names(names, m), k=size, encoding=encoding)

    @cached_property
    def phi(self) -> Features | None:
        """The similarity features, with rows of length 1, if there is one part and it has features."""
        return self.parts[0].phi if len(self.parts) == 1 else None

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
        alone = ", independent of each other" if self.part_names == (INDEPENDENT,) else ""
        return f"<ItemSet of {self.n} items with {self.n_features} features{alone}>"

    def similarity_matrix(self, rho: float = 0.0, nugget: float = 0.0) -> FloatArray:
        """S, with a constant similarity feature of value rho: S_ij = (C_ij + rho^2) / (1 + rho^2).

        C is `S` as given, or phi phi^T; `rho` is section 7.2's. With a nugget, (1 - nugget) times that, and
        ones on the diagonal as before. A new n x n array each time.
        """
        return fixed_similarity(rho, nugget).matrix(self)

    @property
    def part_names(self) -> tuple[str, ...]:
        """The names of the parts of its similarity."""
        return tuple([part.name for part in self.parts])

    def parts_named(self, names: tuple[str, ...]) -> tuple[SimilarityPart, ...]:
        """The parts in the order of these names."""
        if names == self.part_names:
            return self.parts
        parts = {part.name: part for part in self.parts}
        if missing := [name for name in names if name not in parts]:
            raise ValueError(f"The similarity has a part {missing[0]!r}, and this ItemSet has {', '.join(parts)}.")
        return tuple(parts[name] for name in names)

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
        encoding: Encoding | None = None,
    ) -> Any:
        """Item sets from a table with one row per item and a column that says which instance it is in.

        Columns hold numbers, booleans (0 and 1) or categories: texts, pandas categoricals, polars Categorical and Enum.

        - As a quality feature, a category has a column for each level except the most frequent one.
        - As similarity features, items of the same category are similar, and so are items whose booleans are all false.
          Numbers x and y are similar by their distance, exp(-(x - y)^2 / 2 sigma^2), with sigma their standard
          deviation. But a list of several numbers and nothing else holds the coordinates of a direction, as of an
          embedding.
        - A missing value counts as the average of its column; its further effect is the weight of, say, `tempo is
          unknown`. In similarities, unknown is a category. A category of new data that training did not have is unknown
          too, with a warning.

        Parameters
        ----------
        table : data frame or mapping of columns
            Anything whose `table[column]` is a sequence: pandas, polars, a dict of arrays.
        group : str or None
            Column of the instance; instances are in the order in which they first appear, and the rows of one need not
            be adjacent. None: the table is one instance.
        features, phi : sequences of str
            Columns of the quality features and of the similarity features; `phi` may be several lists by name. Without
            it items are independent of each other.
        cost : str, optional
            Column of the costs.
        chosen : str, optional
            Column that is true (or 1) for the items that were chosen.
        encoding : Encoding, optional
            For new data, instead of features and phi: `model.encoding_`, or that of an item set.

        Returns
        -------
        list of ItemSet, or with `chosen` also the list of chosen subsets

        Examples
        --------
        >>> table = {"query": ["a", "a", "b", "b"], "score": [0.1, 0.9, 0.5, None], "click": [0, 1, 1, 0]}
        >>> table["kind"] = ["shoe", "hat", "shoe", "shoe"]
        >>> X, y = ItemSet.from_long(table, group="query", features=["score", "kind"], phi=["kind"], chosen="click")
        >>> X, y
        ([<ItemSet of 2 items with 3 features>, <ItemSet of 2 items with 3 features>], [array([1]), array([0])])
        >>> X[1].names, X[1].features
        (('score', 'score is unknown', 'kind=hat'), array([[0.5, 0. , 0. ],
               [0.5, 1. , 0. ]]))
        """
        new = encoding is not None
        if encoding is None:
            if features is not None and chosen is not None and chosen in features:
                raise ValueError(f"{chosen!r} says which items were chosen: leave it out of features.")
            encoding = Encoding.of(table, features, phi)
        elif features is not None or phi is not None:
            raise TypeError("encoding says which columns are features: leave features and phi out, or encoding.")
        elif not isinstance(encoding, Encoding):
            raise TypeError(f"encoding must be an Encoding, found {type(encoding).__name__}. Pass model.encoding_.")
        n = column(table, encoding.features[0].name).size
        rows_of = [np.arange(n)] if group is None else group_rows(column(table, group, n), group)
        F = encoding.quality(raw_columns(table, encoding.features, n, new))
        directions = {part: directions_of(table, columns, rows_of, new) for part, columns in encoding.phi.items()}
        costs = None if cost is None else column(table, cost, n)
        flags = None if chosen is None else check_flags(column(table, chosen, n), chosen)
        item_sets = []
        for rows in rows_of:
            parts = {part: values[rows] for part, values in directions.items()}
            own_phi = parts[""] if set(parts) == {""} else parts or None
            own_cost = None if costs is None else costs[rows]
            item_sets.append(cls(F[rows], phi=own_phi, cost=own_cost, names=encoding.names, encoding=encoding))
        return item_sets if flags is None else (item_sets, [np.flatnonzero(flags[rows]) for rows in rows_of])


def check_names(names: Iterable[str] | None, m: int) -> tuple[str, ...] | None:
    """m different strings, or None."""
    if names is None:
        return None
    texts = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in texts):
        raise TypeError(f"names must be a sequence of {m} strings, found {names!r:.60}.")
    if len(texts) != m:
        raise ValueError(f"names must have one entry per feature ({m}), found {len(texts)}.")
    if twice := [name for k, name in enumerate(texts) if name in texts[:k]]:
        raise ValueError(f"names must differ, but {twice[0]!r} appears more than once.")
    return tuple(map(str, texts))


def default_names(m: int) -> tuple[str, ...]:
    """x0, x1, ... for features without names."""
    return tuple(f"x{j}" for j in range(m))


# Lists of item sets


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


def check_item_sets(
    X: Any, n_features: int | None = None, names: Sequence[str] | None = None, name: str = "X[{}]"
) -> Sequence[ItemSet]:
    """A list of item sets, all with the same features; if given, these must be n_features with these names."""
    if isinstance(X, ItemSet):
        raise TypeError("X must be a list of ItemSets, found a single one. Pass [item_set].")
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str | bytes):
        raise TypeError(f"X must be a list of ItemSets, found {type(X).__name__}.")
    encoding = None
    for t, items in enumerate(X):
        here = name.format(t)
        if not isinstance(items, ItemSet):
            raise TypeError(f"{here} must be an ItemSet, found {type(items).__name__}; ItemSet(features) makes one.")
        rule = "all instances must have the same features, in the same order."
        if items.encoding is not None:
            rule += " Read all tables in one way: ItemSet.from_long(table, ..., encoding=model.encoding_)."
        m = items.features.shape[1]
        if n_features is not None and m != n_features:
            raise ValueError(f"{here} has {m} features, and {n_features} were seen before: {rule}")
        if names is not None and items.names is not None and tuple(items.names) != tuple(names):
            k = next(k for k in range(m) if items.names[k] != names[k])
            raise ValueError(f"{here} names its feature {k} {items.names[k]!r}, where {names[k]!r} was seen: {rule}")
        if items.encoding is not encoding:
            check_encoding(items.encoding, encoding, here)
            encoding = encoding or items.encoding
        n_features, names = m, names if names is not None else items.names
    return X  # type: ignore[return-value]  # each entry was checked above


def check_encoding(new: Encoding | None, encoding: Encoding | None, name: str) -> None:
    """An error if a table was read in another way than before, so that its numbers mean something else."""
    if not (encoding is None or new is None or new is encoding or new == encoding):
        raise ValueError(
            f"{name} was read from its table in another way than before: categories, averages, scales or columns "
            "differ. Read it with ItemSet.from_long(table, ..., encoding=...), model.encoding_ or X[0].encoding."
        )


def check_examples(X: Any, y: Any, sample_weight: ArrayLike | None = None) -> tuple[list[IntArray], FloatArray]:
    """The targets as sorted index arrays, and the weights, of at least one item set."""
    X = check_item_sets(X)
    if y is None:
        raise TypeError("y must be a list with the chosen subset of each ItemSet, found None.")
    if len(X) != len(y):
        raise ValueError(f"X and y must have the same length, found {len(X)} item sets and {len(y)} subsets.")
    if len(X) == 0:
        raise ValueError("X has no instances: at least one is needed to learn from.")
    subsets = [np.sort(check_items(Y, items.n, f"y[{t}]")) for t, (items, Y) in enumerate(zip(X, y, strict=True))]
    if sample_weight is None:
        return subsets, np.ones(len(X))
    return subsets, check_vector(sample_weight, "sample_weight", len(X), low=0.0)
