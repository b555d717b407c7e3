"""How alike items are: a mixture of parts, whose weights are given or learned.

    S = w_own I + w_all 11^T + sum of w_m C_m,    w >= 0 with sum 1,

where C_m has the cosines of the m-th part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from dpplearn._checks import MAX_RHO, Features, FloatArray, IntArray, check_between, check_directions, read_only
from dpplearn._linalg import to_dense
from dpplearn._notebook import brief
from dpplearn.dpp import check_similarity

if TYPE_CHECKING:
    from dpplearn.learning.itemset import ItemSet

INDEPENDENT = "independent"  # the part of items that nothing makes alike: C = I
RESERVED = ("own", "all")  # the names of the weights of I and of 11^T
ALL = RESERVED.index("all")  # the place of the weight of 11^T
NONE = np.empty(0)
ROWS_AT_ONCE = 1_000  # rows of sparse cosines that are found at once
SMALLEST = 1e-150  # of a weight; the square of its inverse is a float


class SimilarityPart(NamedTuple):
    """One part of S: C_m = phi phi^T, or the matrix given; where both are known, the matrix is that product."""

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
        for start in range(0, len(C), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            (X[some] @ by_column).toarray(out=C[some])
    else:
        C = np.asarray(phi @ phi.T)
    C.flat[:: len(C) + 1] = 1.0
    return C


def read_parts(phi: Any, S: Any, n: int) -> tuple[SimilarityPart, ...]:
    """The parts that two arguments ask for, each an array or several by name; of n items, all checked."""
    parts, named = dict[str, SimilarityPart](), False
    for what, given, default in (("phi", phi, "phi"), ("S", S, "similarity")):
        several = isinstance(given, Mapping) and not sparse.issparse(given)  # a sparse array may be a Mapping too
        named |= several
        if several and not given:
            raise ValueError(f"{what} has no parts: found an empty mapping. Pass an array, or at least one by name.")
        for name, x in given.items() if several else () if given is None else ((default, given),):
            if several and (not isinstance(name, str) or name in ("", *RESERVED)):  # these are in every similarity
                raise ValueError(f"The parts of {what} must have names, and none can be called {name!r}. Rename it.")
            if name in parts:
                raise ValueError(f"phi and S both have a part {name!r}: give each part a name of its own.")
            label = f"{what}[{name!r}]" if several else what
            found = check_directions(x, label) if what == "phi" else check_similarity(x, label)
            if found.shape[0] != n:
                raise ValueError(f"{label} must have one row per item: features has {n} rows, it has {found.shape[0]}.")
            if what == "S":
                read_only(found)
            parts[name] = SimilarityPart(name, found) if what == "phi" else SimilarityPart(name, matrix=found)
    if phi is not None and S is not None and not named:
        raise ValueError('Pass either S or phi, or name the parts: phi={"text": A}, S={"given": M}; found both.')
    return tuple(parts.values()) or (SimilarityPart(INDEPENDENT, phi=sparse.csr_array(sparse.eye_array(n))),)


def shared_names(item_sets: Sequence[tuple[str, ...]], what: str = "X[{}]") -> tuple[str, ...]:
    """The names of the parts, which must be the same in all, in any order."""
    first = item_sets[0]
    for t, here in enumerate(item_sets):
        if sorted(here) != sorted(first):
            said = f"{', '.join(here)}, and {', '.join(first)} were seen before"
            raise ValueError(f"{what.format(t)} has the similarity parts {said}: all must have the same.")
    return first


@dataclass(frozen=True, eq=False)
class Similarity:
    """S = w_own I + w_all 11^T + sum of w_m C_m, with w >= 0 and sum 1; C_m the cosines of the m-th part.

    Without names, the last weight is shared by all parts of an item set alike: `fixed_similarity` makes such a record.

    Where weights are learned, their prior is Dirichlet(1 + strength): weak, and enough to keep every weight above 0.
    The parameters are then the log-odds of w_all, and logits of the shares of the others in what it leaves. How many
    items are expected depends on the first and on theta, and hardly on the shares, so that these cause no curved ridge
    of the posterior.

    Examples
    --------
    >>> Similarity(("text",), [0.2, 0.3, 0.5])
    Similarity(weights={'own': 0.2, 'all': 0.3, 'text': 0.5})
    """

    names: tuple[str, ...] = ()
    w: FloatArray = field(default_factory=NONE.copy)  # without any: equal weights of the names, or C alone
    errors: FloatArray = field(default_factory=NONE.copy)  # standard errors of w; nan where one is not known

    def __post_init__(self) -> None:
        n = max(len(self.names), 1) + len(RESERVED)
        usual = np.full(n, 1 / n) if self.names else np.array([0.0, 0.0, 1.0])
        w = np.asarray(self.w, np.float64) if np.size(self.w) else usual
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
        """The weight of I: what is particular to each item."""
        return float(self.w[0])

    @property
    def rho(self) -> float:
        """The constant similarity feature that gives the same S, with C the mean of the parts by their weights."""
        return float(np.sqrt(self.w[ALL] / max(self.w[2:].sum(), SMALLEST)))

    @property
    def weights(self) -> dict[str, float]:
        """Of what is particular to each item ("own"), of a constant ("all"), and of each part; the sum is 1."""
        return dict(zip((*RESERVED, *(self.names or ("cosines",))), self.w.tolist(), strict=True))

    @property
    def std(self) -> dict[str, float]:
        """Standard errors of the weights, joint with those of theta; nan where a weight is at its bound 0, or given."""
        return dict(zip(self.weights, self.errors.tolist(), strict=True))

    def intervals(self, width: float = 1.96) -> dict[str, tuple[float, float]]:
        """Ends of an interval for each weight, `width` standard errors to either side of its logit.

        A weight is between 0 and 1 and its estimate skew near either: on the logit's scale intervals hold the truth
        about as often as they say, on that of the weight itself less often. nan where the standard error is.
        """
        found = {}
        for (name, w), error in zip(self.weights.items(), self.std.values(), strict=True):
            odds, half = w / max(1 - w, 1e-300), np.exp(width * error / max(w * (1 - w), 1e-300))
            found[name] = (float(1 / (1 + half / odds)), float(1 / (1 + 1 / (half * odds))))
        return found

    # What an item set makes of it

    def parts_of(self, items: ItemSet) -> tuple[FloatArray, tuple[SimilarityPart, ...]]:
        """The parts of an item set, and the weight of each."""
        if self.names:
            return self.w[2:], items.parts_named(self.names)
        return np.full(len(items.parts), self.w[2] / len(items.parts)), items.parts

    def matrix(self, items: ItemSet, subset: IntArray | None = None) -> FloatArray:
        """S, or S_Y without the rest of it: a new array."""
        weights, parts = self.parts_of(items)
        S = weights[0] * parts[0].cosines(subset)
        for w, part in zip(weights[1:], parts[1:], strict=True):
            S += w * part.cosines(subset)
        if self.w[ALL] > 0:
            S += self.w[ALL]
        S.flat[:: len(S) + 1] = 1.0
        return S

    def rank(self, items: ItemSet) -> int | None:
        """How many columns `rows` has; None where a part is a matrix."""
        _, parts = self.parts_of(items)
        widths = [part.phi.shape[1] for part in parts if part.phi is not None]
        return sum(widths) + bool(self.w[ALL] > 0) if len(widths) == len(parts) else None

    def rows(self, items: ItemSet) -> FloatArray | None:
        """Rows with S = rows rows^T + nugget I; None where a part is a matrix."""
        weights, parts = self.parts_of(items)
        if any(part.phi is None for part in parts):
            return None
        blocks = [root * to_dense(part.phi) for root, part in zip(np.sqrt(weights), parts, strict=True)]
        every = self.w[ALL]
        return np.hstack([*blocks, np.full((items.n, 1), np.sqrt(every))] if every > 0 else blocks)

    # What a fit needs

    @property
    def parameters(self) -> FloatArray:
        """Any real numbers; the logits of the shares have mean 0."""
        found, rest = np.log(self.w), np.arange(self.w.size) != ALL
        found[rest] -= found[rest].mean()
        found[ALL] -= np.log(self.w[rest].sum())
        return found

    def with_parameters(self, vector: FloatArray) -> Self:
        """The same parts with other weights."""
        rest = softmax(np.delete(vector, ALL)) * expit(-vector[ALL])
        return replace(self, w=np.maximum(np.insert(rest, ALL, expit(vector[ALL])), SMALLEST), errors=NONE)

    def slopes(self) -> FloatArray:
        """d log w_k / dz_i in the parameters z, with w_all = a = expit(z_all) and the others (1 - a) softmax(z)."""
        a, here = float(self.w[ALL]), np.arange(self.w.size) == ALL
        D = np.eye(self.w.size) - np.where(here, 0.0, self.w / np.delete(self.w, ALL).sum())
        D[:, ALL], D[ALL] = -a, np.where(here, 1 - a, 0.0)
        return D

    @property
    def log_rest(self) -> float:
        """log(1 - w_all): what of S is not the same for all pairs. In the parameters only that of w_all changes it."""
        return float(np.log(max(float(np.delete(self.w, ALL).sum()), SMALLEST)))

    def starts(self, rng: np.random.Generator) -> list[FloatArray]:
        """Parameters that a climb may start from.

        These weights; nearly no constant; most of the weight on one of I, 11^T and the parts; and two by chance.
        """
        n = self.w.size
        light = np.where(np.arange(n) == ALL, 0.02, 0.98 / (n - 1))
        heavy = [np.where(np.arange(n) == j, 0.8, 0.2 / (n - 1)) for j in range(n)]
        found = [self.parameters, *(replace(self, w=w).parameters for w in (light, *heavy))]
        return found + [found[0] + rng.standard_normal(n) for _ in range(2)]


def fixed_similarity(rho: float = 0.0, nugget: float = 0.0) -> Similarity:
    """S = nugget I + (1 - nugget) (C + rho^2 11^T) / (1 + rho^2), C the mean of the parts' cosines.

    `rho` is the paper's constant similarity feature (section 7.2), which makes all items more alike. The `nugget` is
    particular to an item: with it every subset is possible, that of two equal items too.

    Examples
    --------
    >>> fixed_similarity(rho=1.0, nugget=0.2)
    Similarity(weights={'own': 0.2, 'all': 0.4, 'cosines': 0.4})
    """
    u, left = check_between(rho, "rho", 0.0, MAX_RHO) ** 2, 1 - check_between(nugget, "nugget", 0.0, 1.0)
    return Similarity((), np.array([nugget, left * u / (1 + u), left / (1 + u)]))
