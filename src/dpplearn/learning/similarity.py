"""How similar items are: a mixture of parts, whose weights are given or learned.

    S = w_own I + w_all 11^T + sum of w_m C_m,    w >= 0 with sum 1,

where C_m has the cosines of the m-th part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, ndtri, softmax

from dpplearn._checks import MAX_RHO, Features, FloatArray, IntArray, check_between, check_directions, read_only
from dpplearn._linalg import to_dense
from dpplearn._notebook import brief
from dpplearn.dpp import check_similarity

if TYPE_CHECKING:
    from dpplearn.learning.itemset import ItemSet

INDEPENDENT = "independent"  # the part of item sets without similarities: C = I
RESERVED = ("own", "all")  # names of the weights of I and of 11^T
ALL = RESERVED.index("all")
EMPTY = np.empty(0)
BLOCK_ROWS = 1_000  # rows of sparse cosines that are computed together
MIN_WEIGHT = 1e-150  # the square of its inverse is a float


class SimilarityPart(NamedTuple):
    """One part of S: C_m = phi phi^T, or a matrix that is given; if both are there, the matrix is that product."""

    name: str
    phi: Features | None = None
    matrix: FloatArray | None = None

    def cosines(self, subset: IntArray | None = None) -> FloatArray:
        """C_m, or its block for a subset of the items."""
        if self.matrix is None:
            return cosines(self.phi, subset)
        return self.matrix if subset is None else self.matrix[np.ix_(subset, subset)]


def cosines(phi: Features | None, subset: IntArray | None = None) -> FloatArray:
    """phi phi^T, or its block for a subset: a new array."""
    assert phi is not None
    if subset is not None:
        rows = to_dense(phi[subset])
        return np.asarray(rows @ rows.T)
    if sparse.issparse(phi):
        X, C = sparse.csr_array(phi), np.empty((phi.shape[0],) * 2)
        by_column = X.T.tocsr()
        for start in range(0, len(C), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            (X[block] @ by_column).toarray(out=C[block])
    else:
        C = np.asarray(phi @ phi.T)
    C.flat[:: len(C) + 1] = 1.0
    return C


def read_parts(phi: Any, S: Any, n: int) -> tuple[SimilarityPart, ...]:
    """The parts in two arguments, each an array or several by name, checked for n items."""
    parts, any_names = dict[str, SimilarityPart](), False
    for what, given, default in (("phi", phi, "phi"), ("S", S, "similarity")):
        several = isinstance(given, Mapping) and not sparse.issparse(given)  # a sparse array may be a Mapping too
        any_names |= several
        if several and not given:
            raise ValueError(f"{what} has no parts: found an empty mapping. Pass an array, or at least one by name.")
        for name, x in given.items() if several else () if given is None else ((default, given),):
            if several and (not isinstance(name, str) or name in ("", *RESERVED)):
                raise ValueError(f"The parts of {what} must have names, and none can be called {name!r}. Rename it.")
            if name in parts:
                raise ValueError(f"phi and S both have a part {name!r}: give each part a name of its own.")
            label = f"{what}[{name!r}]" if several else what
            values = check_directions(x, label) if what == "phi" else check_similarity(x, label)
            if values.shape[0] != n:
                raise ValueError(
                    f"{label} must have one row per item: features has {n} rows, it has {values.shape[0]}."
                )
            if what == "S":
                read_only(values)
            parts[name] = SimilarityPart(name, values) if what == "phi" else SimilarityPart(name, matrix=values)
    if phi is not None and S is not None and not any_names:
        raise ValueError('Pass either S or phi, or name the parts: phi={"text": A}, S={"given": M}; found both.')
    return tuple(parts.values()) or (SimilarityPart(INDEPENDENT, phi=sparse.csr_array(sparse.eye_array(n))),)


def shared_names(item_sets: Sequence[tuple[str, ...]], what: str = "X[{}]") -> tuple[str, ...]:
    """The names of the parts, which must be the same in all item sets, in any order."""
    first = item_sets[0]
    for t, names in enumerate(item_sets):
        if sorted(names) != sorted(first):
            found = f"{', '.join(names)}, and {', '.join(first)} were seen before"
            raise ValueError(f"{what.format(t)} has the similarity parts {found}: all must have the same.")
    return first


@dataclass(frozen=True, eq=False)
class Similarity:
    """S = w_own I + w_all 11^T + sum of w_m C_m, with w >= 0 and sum 1; C_m the cosines of the m-th part.

    Without names, as from `fixed_similarity`, all parts of an item set have equal shares of the last weight.

    Weights that are learned have a Dirichlet prior, weak but strong enough to keep each above 0. Their parameters are
    the log-odds of w_all, and logits of the shares of the others in the rest. The expected number of items depends on
    theta and w_all, and hardly on the shares. So the shares make no ridge in the posterior.

    Examples
    --------
    >>> Similarity(("text",), [0.2, 0.3, 0.5])
    Similarity(weights={'own': 0.2, 'all': 0.3, 'text': 0.5})
    """

    names: tuple[str, ...] = ()
    w: FloatArray = field(default_factory=EMPTY.copy)  # by default equal for all names, or C alone
    errors: FloatArray = field(default_factory=EMPTY.copy)  # standard errors of w; nan if unknown

    def __post_init__(self) -> None:
        n = max(len(self.names), 1) + len(RESERVED)
        default = np.full(n, 1 / n) if self.names else np.array([0.0, 0.0, 1.0])
        w = np.asarray(self.w, np.float64) if np.size(self.w) else default
        if w.shape != (n,) or not (w >= 0).all() or abs(w.sum() - 1) > 1e-6 or (self.names and w.min() == 0):
            raise ValueError(f"A mixture has {n} weights, positive numbers that sum to 1; found {w.tolist()!r:.80}.")
        errors = np.asarray(self.errors, np.float64) if np.size(self.errors) else np.full(n, np.nan)
        if errors.shape != (n,):
            raise ValueError(f"A mixture of {n} weights must have as many standard errors, found {errors.size}.")
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "errors", errors)

    def __repr__(self) -> str:
        return f"Similarity(weights={brief(self.weights)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Similarity) and self.names == other.names and np.array_equal(self.w, other.w)

    @property
    def nugget(self) -> float:
        """The weight of I, which is particular to each item."""
        return float(self.w[0])

    @property
    def rho(self) -> float:
        """The constant similarity feature that gives the same S, with C the mean of the parts by their weights."""
        return float(np.sqrt(self.w[ALL] / max(self.w[2:].sum(), MIN_WEIGHT)))

    @property
    def weights(self) -> dict[str, float]:
        """The weights of I ("own"), of 11^T ("all") and of each part, by name; their sum is 1."""
        return dict(zip((*RESERVED, *(self.names or ("cosines",))), self.w.tolist(), strict=True))

    @property
    def std(self) -> dict[str, float]:
        """Standard errors of the weights, joint with those of theta; nan if a weight is at its bound 0, or given."""
        return dict(zip(self.weights, self.errors.tolist(), strict=True))

    def intervals(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Lower and upper end of the Laplace interval of each weight, made for its logit.

        A weight lies between 0 and 1, and near either its estimate is skew: intervals of the logit hold the truth about
        as often as they should, those of the weight itself less often. nan if the standard error is.
        """
        intervals, width = {}, errors_to_each_side(level)
        for (name, w), error in zip(self.weights.items(), self.std.values(), strict=True):
            odds, half = w / max(1 - w, 1e-300), np.exp(width * error / max(w * (1 - w), 1e-300))
            intervals[name] = (float(1 / (1 + half / odds)), float(1 / (1 + 1 / (half * odds))))
        return intervals

    # For one item set

    def parts_of(self, items: ItemSet) -> tuple[FloatArray, tuple[SimilarityPart, ...]]:
        """The parts of an item set, and the weight of each."""
        if self.names:
            return self.w[2:], items.parts_named(self.names)
        return np.full(len(items.parts), self.w[2] / len(items.parts)), items.parts

    def matrix(self, items: ItemSet, subset: IntArray | None = None) -> FloatArray:
        """S, or S_Y alone: a new array."""
        weights, parts = self.parts_of(items)
        S = weights[0] * parts[0].cosines(subset)
        for w, part in zip(weights[1:], parts[1:], strict=True):
            S += w * part.cosines(subset)
        if self.w[ALL] > 0:
            S += self.w[ALL]
        S.flat[:: len(S) + 1] = 1.0
        return S

    def rank(self, items: ItemSet) -> int | None:
        """The number of columns of `rows`; None if a part is a matrix."""
        _, parts = self.parts_of(items)
        widths = [part.phi.shape[1] for part in parts if part.phi is not None]
        return sum(widths) + bool(self.w[ALL] > 0) if len(widths) == len(parts) else None

    def rows(self, items: ItemSet) -> FloatArray | None:
        """Rows with S = rows rows^T + nugget I; None if a part is a matrix."""
        weights, parts = self.parts_of(items)
        if any(part.phi is None for part in parts):
            return None
        blocks = [root * to_dense(part.phi) for root, part in zip(np.sqrt(weights), parts, strict=True)]
        if self.w[ALL] > 0:
            blocks.append(np.full((items.n, 1), np.sqrt(self.w[ALL])))
        return np.hstack(blocks)

    # For a fit

    @property
    def parameters(self) -> FloatArray:
        """The log-odds of w_all, and logits of the other shares, with mean 0; each may be any real number."""
        z, rest = np.log(self.w), np.arange(self.w.size) != ALL
        z[rest] -= z[rest].mean()
        z[ALL] -= np.log(self.w[rest].sum())
        return z

    def with_parameters(self, vector: FloatArray) -> Self:
        """The same parts with other weights."""
        rest = softmax(np.delete(vector, ALL)) * expit(-vector[ALL])
        return replace(self, w=np.maximum(np.insert(rest, ALL, expit(vector[ALL])), MIN_WEIGHT), errors=EMPTY)

    def slopes(self) -> FloatArray:
        """d log w_k / dz_i in the parameters z, with w_all = a = expit(z_all) and the others (1 - a) softmax(z)."""
        a, is_all = float(self.w[ALL]), np.arange(self.w.size) == ALL
        D = np.eye(self.w.size) - np.where(is_all, 0.0, self.w / np.delete(self.w, ALL).sum())
        D[:, ALL], D[ALL] = -a, np.where(is_all, 1 - a, 0.0)
        return D

    @property
    def log_rest(self) -> float:
        """log(1 - w_all), which depends on one parameter only."""
        return float(np.log(max(float(np.delete(self.w, ALL).sum()), MIN_WEIGHT)))

    def starts(self, rng: np.random.Generator) -> list[FloatArray]:
        """Parameters at which a fit may start.

        These weights; nearly no constant; most of the weight on I, on 11^T or on one part; and two random ones.
        """
        n = self.w.size
        light = np.where(np.arange(n) == ALL, 0.02, 0.98 / (n - 1))
        heavy = [np.where(np.arange(n) == j, 0.8, 0.2 / (n - 1)) for j in range(n)]
        starts = [self.parameters, *(replace(self, w=w).parameters for w in (light, *heavy))]
        return starts + [starts[0] + rng.standard_normal(n) for _ in range(2)]


def errors_to_each_side(level: float) -> float:
    """How many standard errors a Laplace interval of this level reaches to each side."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, found {level!r}.")
    return float(ndtri((1 + level) / 2))


def fixed_similarity(rho: float = 0.0, nugget: float = 0.0) -> Similarity:
    """S = nugget I + (1 - nugget) (C + rho^2 11^T) / (1 + rho^2), C the mean of the parts' cosines.

    `rho` is the paper's constant similarity feature (section 7.2), which makes all items more similar. The `nugget` is
    particular to each item: with it every subset is possible, even one with two equal items.

    Examples
    --------
    >>> fixed_similarity(rho=1.0, nugget=0.2)
    Similarity(weights={'own': 0.2, 'all': 0.4, 'cosines': 0.4})
    """
    u, left = check_between(rho, "rho", 0.0, MAX_RHO) ** 2, 1 - check_between(nugget, "nugget", 0.0, 1.0)
    return Similarity((), np.array([nugget, left * u / (1 + u), left / (1 + u)]))
