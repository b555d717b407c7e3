"""How alike items are: S fixed, or a mixture of named parts whose weights are learned.

    S = w_own I + w_all 11^T + sum of w_m C_m,    w >= 0 with sum 1,

where C_m has the cosines of the m-th part. A fixed similarity has these weights from rho and a nugget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from dpplearn._cached import cached_property
from dpplearn._checks import Features, FloatArray, IntArray, check_choice, check_directions, check_rho, read_only
from dpplearn._linalg import check_similarity, to_dense, with_constant
from dpplearn._notebook import brief
from dpplearn.learning._loops import gram, unpack

if TYPE_CHECKING:
    from dpplearn.learning.itemset import ItemSet

INDEPENDENT = "independent"  # the part of items that nothing makes alike: C = I
RESERVED = ("own", "all")  # the names of the weights of I and of 11^T
ALL = RESERVED.index("all")  # the place of the weight of 11^T
SMALLEST = 1e-150  # of a weight; the square of its inverse is a float

Columns: TypeAlias = tuple[IntArray, IntArray, FloatArray]


class SimilarityPart(NamedTuple):
    """One part of S: C_m = phi phi^T, or the matrix given."""

    name: str
    phi: Features | None = None
    matrix: FloatArray | None = None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.matrix) if self.matrix is not None else int(self.phi.shape[0])  # type: ignore[union-attr]  # one of the two is there

    @property
    def width(self) -> int | None:
        """How many features it has; None for a matrix."""
        return None if self.phi is None else int(self.phi.shape[1])


def read_parts(phi: Any, similarity: Any, n: int) -> tuple[SimilarityPart, ...]:
    """The parts that two arguments ask for, each an array or several by name; of n items, all checked."""
    features = by_name(phi, "phi")
    given = by_name(similarity, "similarity")
    if not features and not given:
        return (SimilarityPart(INDEPENDENT, phi=sparse.csr_array(sparse.eye_array(n))),)
    if features and given and not (is_named(phi) or is_named(similarity)):
        raise ValueError(
            "Pass either S (n x n) or phi (similarity features, one row per item); found both. Where S has "
            'several parts, name them: phi={"text": A}, S={"given": M}.'
        )
    twice = sorted(set(features) & set(given))
    if twice:
        raise ValueError(f"phi and S both have a part {twice[0]!r}: give each part a name of its own.")
    parts = [
        SimilarityPart(name, check_directions(x, "phi" if phi is x else f"phi[{name!r}]"))
        for name, x in features.items()
    ]
    for name, x in given.items():
        label = "S" if similarity is x else f"S[{name!r}]"
        matrix = check_similarity(x, label)
        read_only(matrix)
        parts.append(SimilarityPart(name, matrix=matrix))
    for part in parts:
        if part.n != n:
            what = "phi" if part.matrix is None else "S"
            label = f"{what}[{part.name!r}]" if is_named(phi if what == "phi" else similarity) else what
            raise ValueError(f"{label} must have one row per item: features has {n} rows, {label} has {part.n}.")
    return tuple(parts)


def is_named(given: Any) -> bool:
    """Whether these are arrays by name; a sparse array of format dok is a Mapping too."""
    return isinstance(given, Mapping) and not sparse.issparse(given)


def by_name(given: Any, default: str) -> dict[str, Any]:
    """Arrays by name; a single one has the name of the argument."""
    if given is None:
        return {}
    if not is_named(given):
        return {default: given}
    for name in given:
        if not isinstance(name, str) or not name:
            raise TypeError(f"The parts of {default} must have names that are strings, found {name!r}.")
        if name in RESERVED:
            raise ValueError(
                f"A part of {default} cannot be called {name!r}: that is the weight of "
                f"{'I' if name == 'own' else 'the constant 11^T'} in every similarity. Give it another name."
            )
    if not given:
        raise ValueError(f"{default} has no parts: found an empty mapping. Pass an array, or at least one by name.")
    return dict(given)


def column_names(table: Any) -> tuple[str, ...] | None:
    """Those of a data frame, if they are names: a frame made from an array numbers its columns."""
    found = getattr(table, "columns", None)
    return None if found is None or not all(isinstance(name, str) for name in found) else tuple(found)


def shared_columns(phi: sparse.sparray) -> tuple[IntArray, IntArray, FloatArray]:
    """phi by columns, for the loop `gram`: those that two items share, for no other makes any two alike."""
    X = sparse.csc_array(phi)
    X.sort_indices()
    X = X[:, np.diff(X.indptr) > 1]
    return X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data


def shared_names(item_sets: Sequence[tuple[str, ...]], what: str = "X[{}]") -> tuple[str, ...]:
    """The names of the parts, which must be the same in all, in any order."""
    first = item_sets[0]
    for t, here in enumerate(item_sets):
        if sorted(here) != sorted(first):
            raise ValueError(
                f"{what.format(t)} has the similarity parts {', '.join(here)}, and {', '.join(first)} were seen "
                "before: all instances must have the same parts."
            )
    return first


def cosines(
    phi: Features | None,
    matrix: FloatArray | None,
    subset: IntArray | None = None,
    columns: Callable[[], Columns] | None = None,
) -> FloatArray:
    """phi phi^T or the matrix, or the block of a subset: a new array. `columns` gives the `shared_columns` of phi."""
    if matrix is not None:
        return matrix.copy() if subset is None else matrix[np.ix_(subset, subset)]
    assert phi is not None  # one of the two was given
    if subset is not None:
        rows = to_dense(phi[subset])
        return np.asarray(rows @ rows.T)
    n = phi.shape[0]
    C = gram(*(columns() if columns else shared_columns(phi)), n) if sparse.issparse(phi) else phi @ phi.T
    C.flat[:: n + 1] = 1.0
    return np.asarray(C)


def joined(parts: tuple[SimilarityPart, ...]) -> Features | None:
    """Features of all parts side by side, in equal shares: rows of length 1. None where one is a matrix."""
    if any(part.phi is None for part in parts):
        return None
    if len(parts) == 1:
        return parts[0].phi
    share = 1 / np.sqrt(len(parts))
    if any(sparse.issparse(part.phi) for part in parts):
        return sparse.csr_array(sparse.hstack([part.phi for part in parts], format="csr") * share)
    rows: list[FloatArray] = [to_dense(part.phi) for part in parts]
    return np.hstack(rows) * share


@dataclass(frozen=True)
class Fixed:
    """S = nugget I + (1 - nugget) (C + rho^2 11^T) / (1 + rho^2), C the cosines of phi or the matrix given.

    `rho` is the paper's constant similarity feature (section 7.2), which makes all items more alike. The `nugget` is
    particular to an item: with it every subset is possible, that of two equal items too.

    Examples
    --------
    >>> {name: round(w, 2) for name, w in Fixed(rho=1.0, nugget=0.2).weights.items()}
    {'own': 0.2, 'all': 0.4, 'cosines': 0.4}
    """

    kind = "fixed"

    rho: float = 0.0
    nugget: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", check_rho(self.rho))
        object.__setattr__(self, "nugget", check_nugget(self.nugget))

    @property
    def weights(self) -> dict[str, float]:
        """Of I, of 11^T and of C in S: they sum to 1."""
        left, u = 1 - self.nugget, self.rho**2
        return {"own": self.nugget, "all": left * u / (1 + u), "cosines": left / (1 + u)}

    def matrix(self, items: ItemSet) -> FloatArray:
        """S, a new n x n array."""
        return self.block(items, None)

    def block(self, items: ItemSet, subset: IntArray | None) -> FloatArray:
        """S_Y, without the rest of S."""
        S = items.cosines(subset)
        with_constant(S, self.rho)
        if self.nugget > 0:
            S *= 1 - self.nugget
        S.flat[:: len(S) + 1] = 1.0
        return S

    def rank(self, items: ItemSet) -> int | None:
        """How many columns `rows` has."""
        return None if items.phi is None else int(items.phi.shape[1]) + (self.rho > 0)

    def rows(self, items: ItemSet) -> FloatArray | None:
        """Rows with S = rows rows^T + nugget I; None where only a matrix was given."""
        if items.phi is None:
            return None
        u, rows = self.rho**2, to_dense(items.phi)
        if u > 0:
            rows = np.hstack([rows, np.full((items.n, 1), np.sqrt(u))]) / np.sqrt(1 + u)
        return rows * np.sqrt(1 - self.nugget) if self.nugget > 0 else rows

    def state(self) -> dict[str, Any]:
        """What a model file says of it: the kind, and the fields to make it from."""
        return {"kind": self.kind, **asdict(self)}


class Derivatives(NamedTuple):
    """A function of a mixture's parameters, with its gradient and Hessian in them."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


@dataclass(frozen=True, eq=False)
class Mixture:
    """S = w_own I + w_all 11^T + sum of w_m C_m, with w > 0 and sum 1; C_m the cosines of the m-th part.

    The prior on w is Dirichlet(1 + strength): weak, and enough to keep every weight above 0. The parameters are the
    log-odds of w_all, and logits of the shares of the others in what it leaves. How many items are expected depends on
    the first and on theta, and hardly on the shares, so that these cause no curved ridge of the posterior.

    A record without parts is one to learn; `bind` gives it those of the data.

    Examples
    --------
    >>> Mixture(("text",), np.array([0.2, 0.3, 0.5])).weights
    {'own': 0.2, 'all': 0.3, 'text': 0.5}
    >>> Mixture(), Mixture(("text",), np.array([0.2, 0.3, 0.5]))
    (Mixture(), Mixture(weights={'own': 0.2, 'all': 0.3, 'text': 0.5}))
    """

    kind = "mixture"

    names: tuple[str, ...] = ()
    w: FloatArray = field(default_factory=lambda: np.empty(0))
    errors: FloatArray = field(default_factory=lambda: np.empty(0))  # standard errors of w; nan where not known

    def __post_init__(self) -> None:
        n = len(self.names) + len(RESERVED)
        w = np.full(n, 1 / n) if np.size(self.w) == 0 else np.asarray(self.w, np.float64)
        if w.shape != (n,) or not (w > 0).all() or abs(w.sum() - 1) > 1e-6:
            raise ValueError(
                f"The weights of a mixture must be {n} positive numbers that sum to 1, found {w.tolist()!r:.120}."
            )
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "errors", np.asarray(self.errors, np.float64))

    def __repr__(self) -> str:
        """Without parts and errors, it is one to be learned: there are no weights to show."""
        return f"Mixture(weights={brief(self.weights)})" if self.names or self.errors.size else "Mixture()"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mixture):
            return NotImplemented
        fields = ("names", "w", "errors")
        return all(np.array_equal(getattr(self, f), getattr(other, f), equal_nan=f == "errors") for f in fields)

    def __hash__(self) -> int:
        return hash((self.names, self.w.tobytes()))

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
        return dict(zip((*RESERVED, *self.names), self.w.tolist(), strict=True))

    @property
    def std(self) -> dict[str, float]:
        """Standard errors of the weights, joint with those of theta; nan where a weight is at its bound 0, or given."""
        errors = self.errors if self.errors.size == self.w.size else np.full(self.w.size, np.nan)
        return dict(zip(self.weights, errors.tolist(), strict=True))

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
        return replace(self, w=np.maximum(np.insert(rest, ALL, expit(vector[ALL])), SMALLEST), errors=np.empty(0))

    @cached_property
    def jacobians(self) -> tuple[FloatArray, FloatArray]:
        """dw_k / dz_i, and d^2 w_k / dz_i dz_j, in the parameters z."""
        p, a = self.w.size, float(self.w[ALL])
        shares = np.where(np.arange(p) == ALL, 0.0, self.w / np.delete(self.w, ALL).sum())
        # D = d log w_k / dz_i, with w_all = a = expit(z_all) and the others (1 - a) softmax(z); E its derivatives
        D, E = np.eye(p) - shares, np.outer(shares, shares) - np.diag(shares)
        D[:, ALL], E[ALL, ALL] = -a, -a * (1 - a)
        D[ALL] = np.where(np.arange(p) == ALL, 1 - a, 0.0)
        T = self.w[:, None, None] * (D[:, :, None] * D[:, None, :] + E)
        T[ALL] = 0.0
        T[ALL, ALL, ALL] = a * (1 - a) * (1 - 2 * a)
        return self.w[:, None] * D, T

    def chain(self, g: FloatArray, H: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient and Hessian in the parameters, from those in the weights."""
        J, T = self.jacobians
        return J.T @ g, J.T @ H @ J + np.tensordot(g, T, 1)

    def log_prior(self, strength: float) -> Derivatives:
        """Of Dirichlet(1 + strength): strength times the sum of log w."""
        g = strength / self.w
        return Derivatives(strength * float(np.log(self.w).sum()), *self.chain(g, np.diag(-g / self.w)))

    def log_rest(self) -> Derivatives:
        """log(1 - w_all): what of S is not the same for all pairs."""
        rest = max(float(np.delete(self.w, ALL).sum()), SMALLEST)
        g = np.where(np.arange(self.w.size) == ALL, -1 / rest, 0.0)
        return Derivatives(float(np.log(rest)), *self.chain(g, -np.outer(g, g)))

    def bind(self, names: Sequence[str]) -> Self:
        """A record for data with these parts; an error where it has others."""
        if not self.names:
            return type(self)(tuple(names))
        if sorted(self.names) != sorted(names):
            raise ValueError(
                f"This mixture has the parts {', '.join(self.names)}; these item sets have {', '.join(names)}."
            )
        return self

    def starts(self, rng: np.random.Generator) -> list[FloatArray]:
        """Parameters that a climb may start from.

        These weights; nearly no constant; most of the weight on one of I, 11^T and the parts; and two by chance.
        """
        n = self.w.size
        light = np.where(np.arange(n) == ALL, 0.02, 0.98 / (n - 1))
        heavy = [np.where(np.arange(n) == j, 0.8, 0.2 / (n - 1)) for j in range(n)]
        found = [self.parameters, *(replace(self, w=w).parameters for w in (light, *heavy))]
        return found + [found[0] + rng.standard_normal(n) for _ in range(2)]

    # What an item set makes of it

    def places(self, items: ItemSet) -> IntArray | None:
        """Where the item set has each part; None where it has them in the same order."""
        known = items.part_names
        if known == self.names:
            return None
        missing = [name for name in self.names if name not in known]
        if missing:
            raise ValueError(
                f"The similarity has a part {missing[0]!r}, and this ItemSet has {', '.join(known)}. Give every "
                "ItemSet the parts that the model was fitted with, by their names."
            )
        return np.array([known.index(name) for name in self.names])

    def part_weights(self, items: ItemSet) -> FloatArray:
        """The weights of the parts, in the order of the item set's."""
        places = self.places(items)
        return self.w[2:] if places is None else self.w[2:][np.argsort(places)]

    def matrix(self, items: ItemSet) -> FloatArray:
        """S, a new n x n array."""
        return np.asarray(unpack(self.part_weights(items) @ items.packed_cosines, self.w[ALL], items.n))

    def block(self, items: ItemSet, subset: IntArray) -> FloatArray:
        """S_Y, without the rest of S."""
        k, blocks = subset.size, items.part_blocks(subset)
        S = (self.part_weights(items) @ blocks.reshape(len(blocks), k * k) + self.w[ALL]).reshape(k, k)
        S.flat[:: k + 1] = 1.0
        return np.asarray(S)

    def rank(self, items: ItemSet) -> int | None:
        """How many columns `rows` has."""
        self.places(items)
        return None if any(part.phi is None for part in items.parts) else int(items.part_ends[-1]) + 1

    def rows(self, items: ItemSet) -> FloatArray | None:
        """Rows with S = rows rows^T + nugget I; None where a part is a matrix."""
        if items.phi is None:
            return None
        root = np.repeat(np.sqrt(self.part_weights(items) * len(self.names)), np.diff(items.part_ends))
        rows = np.empty((items.n, root.size + 1))
        np.multiply(to_dense(items.phi), root, out=rows[:, :-1])  # phi has equal shares
        rows[:, -1] = np.sqrt(self.w[ALL])
        return rows

    def state(self) -> dict[str, Any]:
        """What a model file says of it: the kind, and the fields to make it from."""
        return {"kind": self.kind, **asdict(self)}


Similarity: TypeAlias = Fixed | Mixture
SIMILARITIES: dict[str, type[Fixed | Mixture]] = {"fixed": Fixed, "mixture": Mixture}  # names that `similarity=` takes


def make_similarity(similarity: str | Similarity, rho: float, nugget: float) -> Similarity:
    """The record that a name, with rho and nugget where it is "fixed", or a record itself asks for."""
    if not isinstance(similarity, str | Fixed | Mixture):
        raise TypeError(f"similarity must be one of {', '.join(SIMILARITIES)} or a record, found {similarity!r}.")
    fixed = Fixed(rho, nugget)
    if isinstance(similarity, str):
        check_choice(similarity, "similarity", tuple(SIMILARITIES))
        if similarity == fixed.kind:
            return fixed
    made = Mixture() if isinstance(similarity, str) else similarity
    if (rho or nugget) and made != fixed:
        raise ValueError(
            f'rho and nugget are those of similarity="fixed"; with {made.kind!r}, found rho={rho:g} and '
            f"nugget={nugget:g}. Leave them out, or put them into the record."
        )
    return made


def check_nugget(nugget: Any) -> float:
    """A number from 0 to 1."""
    if not isinstance(nugget, int | float | np.number) or isinstance(nugget, bool) or not 0 <= nugget <= 1:
        raise ValueError(f"nugget must be a number from 0 to 1, found {nugget!r}.")
    return float(nugget)
