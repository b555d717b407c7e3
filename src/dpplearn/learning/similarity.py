"""How alike items are: S fixed, or a mixture of named parts whose weights are learned.

    S = w_own I + w_all 11^T + sum of w_m C_m,    w >= 0 with sum 1,

where C_m has the cosines of the m-th part. A fixed similarity has these weights from rho and a nugget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from dpplearn._cached import cached_property
from dpplearn._checks import Features, FloatArray, IntArray, check_choice, check_directions, check_rho, read_only
from dpplearn._linalg import check_similarity, to_dense
from dpplearn._notebook import brief
from dpplearn.learning._loops import gram

if TYPE_CHECKING:
    from dpplearn.learning.itemset import ItemSet

INDEPENDENT = "independent"  # the part of items that nothing makes alike: C = I
RESERVED = ("own", "all")  # the names of the weights of I and of 11^T
ALL = RESERVED.index("all")  # the place of the weight of 11^T
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
        X = sparse.csc_array(phi)
        C = gram(X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data, phi.shape[0])
    else:
        C = phi @ phi.T
    C.flat[:: len(C) + 1] = 1.0
    return np.asarray(C)


def read_parts(phi: Any, S: Any, n: int) -> tuple[SimilarityPart, ...]:
    """The parts that two arguments ask for, each an array or several by name; of n items, all checked."""
    parts, named = dict[str, SimilarityPart](), False
    for what, given, default in (("phi", phi, "phi"), ("S", S, "similarity")):
        several = isinstance(given, Mapping) and not sparse.issparse(given)  # a sparse array may be a Mapping too
        named |= several
        if several and not given:
            raise ValueError(f"{what} has no parts: found an empty mapping. Pass an array, or at least one by name.")
        for name, x in given.items() if several else () if given is None else ((default, given),):
            if several:
                check_part_name(name, what)
            if name in parts:
                raise ValueError(f"phi and S both have a part {name!r}: give each part a name of its own.")
            label = f"{what}[{name!r}]" if several else what
            found = check_directions(x, label) if what == "phi" else check_similarity(x, label)
            if found.shape[0] != n:
                raise ValueError(
                    f"{label} must have one row per item: features has {n} rows, {label} has {found.shape[0]}."
                )
            if what == "S":
                read_only(found)
            parts[name] = SimilarityPart(name, found) if what == "phi" else SimilarityPart(name, matrix=found)
    if phi is not None and S is not None and not named:
        raise ValueError(
            "Pass either S (n x n) or phi (similarity features, one row per item); found both. Where S has "
            'several parts, name them: phi={"text": A}, S={"given": M}.'
        )
    return tuple(parts.values()) or (SimilarityPart(INDEPENDENT, phi=sparse.csr_array(sparse.eye_array(n))),)


def check_part_name(name: Any, what: str) -> None:
    """A text that is not the name of a weight that every similarity has."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"The parts of {what} must have names that are strings, found {name!r}.")
    if name in RESERVED:
        raise ValueError(
            f"A part of {what} cannot be called {name!r}: that is the weight of "
            f"{'I' if name == 'own' else 'the constant 11^T'} in every similarity. Give it another name."
        )


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


class Shares(NamedTuple):
    """The weights of 11^T and of each part in the S of one item set."""

    every: float
    weights: FloatArray
    parts: tuple[SimilarityPart, ...]


@dataclass(frozen=True, eq=False)
class Blend:
    """What an item set makes of a similarity: S = w_own I + w_all 11^T + sum of w_m C_m."""

    kind: ClassVar[str]

    def shares(self, items: ItemSet) -> Shares:
        """The weights for the parts of an item set."""
        raise NotImplementedError

    def matrix(self, items: ItemSet, subset: IntArray | None = None) -> FloatArray:
        """S, or S_Y without the rest of it: a new array."""
        every, weights, parts = self.shares(items)
        S = weights[0] * parts[0].cosines(subset)
        for w, part in zip(weights[1:], parts[1:], strict=True):
            S += w * part.cosines(subset)
        if every > 0:
            S += every
        S.flat[:: len(S) + 1] = 1.0
        return S

    def rank(self, items: ItemSet) -> int | None:
        """How many columns `rows` has; None where a part is a matrix."""
        every, _, parts = self.shares(items)
        widths = [part.phi.shape[1] for part in parts if part.phi is not None]
        return sum(widths) + (every > 0) if len(widths) == len(parts) else None

    def rows(self, items: ItemSet) -> FloatArray | None:
        """Rows with S = rows rows^T + nugget I; None where a part is a matrix."""
        every, weights, parts = self.shares(items)
        if any(part.phi is None for part in parts):
            return None
        blocks = [root * to_dense(part.phi) for root, part in zip(np.sqrt(weights), parts, strict=True)]
        return np.hstack([*blocks, np.full((items.n, 1), np.sqrt(every))] if every > 0 else blocks)

    def state(self) -> dict[str, Any]:
        """What a model file says of it: the kind, and the fields to make it from."""
        return {"kind": self.kind, **asdict(self)}


def mixed(shares: Shares, C: FloatArray) -> FloatArray:
    """S from the cosines of the parts, or S_Y from theirs: the first of the three axes is that of the parts."""
    S = np.asarray((shares.weights @ C.reshape(len(C), -1)).reshape(C.shape[1:]) + shares.every)
    S.flat[:: len(S) + 1] = 1.0
    return S


@dataclass(frozen=True)
class Fixed(Blend):
    """S = nugget I + (1 - nugget) (C + rho^2 11^T) / (1 + rho^2), C the cosines of phi or the matrix given.

    `rho` is the paper's constant similarity feature (section 7.2), which makes all items more alike. The `nugget` is
    particular to an item: with it every subset is possible, that of two equal items too. C is the mean of the parts.

    Examples
    --------
    >>> {name: round(w, 2) for name, w in Fixed(rho=1.0, nugget=0.2).weights.items()}
    {'own': 0.2, 'all': 0.4, 'cosines': 0.4}
    """

    kind: ClassVar[str] = "fixed"

    rho: float = 0.0
    nugget: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", check_rho(self.rho))
        if not isinstance(self.nugget, int | float | np.number) or self.nugget is True or not 0 <= self.nugget <= 1:
            raise ValueError(f"nugget must be a number from 0 to 1, found {self.nugget!r}.")
        object.__setattr__(self, "nugget", float(self.nugget))

    @property
    def weights(self) -> dict[str, float]:
        """Of I, of 11^T and of C in S: they sum to 1."""
        left, u = 1 - self.nugget, self.rho**2
        return {"own": self.nugget, "all": left * u / (1 + u), "cosines": left / (1 + u)}

    def shares(self, items: ItemSet) -> Shares:
        """The parts of the item set in equal shares."""
        left, u, parts = 1 - self.nugget, self.rho**2, items.parts
        return Shares(left * u / (1 + u), np.full(len(parts), left / (1 + u) / len(parts)), parts)


@dataclass(frozen=True, eq=False)
class Mixture(Blend):
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

    kind: ClassVar[str] = "mixture"

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
    def jacobian(self) -> FloatArray:
        """dw_k / dz_i in the parameters z."""
        return self.w[:, None] * self._slopes

    @cached_property
    def _slopes(self) -> FloatArray:
        """d log w_k / dz_i, with w_all = a = expit(z_all) and the others (1 - a) softmax(z)."""
        a, here = float(self.w[ALL]), np.arange(self.w.size) == ALL
        D = np.eye(self.w.size) - np.where(here, 0.0, self.w / np.delete(self.w, ALL).sum())
        D[:, ALL], D[ALL] = -a, np.where(here, 1 - a, 0.0)
        return D

    def log_prior(self, strength: float) -> tuple[float, FloatArray]:
        """Of Dirichlet(1 + strength), strength times the sum of log w, with its gradient in the parameters."""
        return strength * float(np.log(self.w).sum()), strength * self._slopes.sum(axis=0)

    @property
    def log_rest(self) -> float:
        """log(1 - w_all): what of S is not the same for all pairs. In the parameters only that of w_all changes it."""
        return float(np.log(max(float(np.delete(self.w, ALL).sum()), SMALLEST)))

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

    def shares(self, items: ItemSet) -> Shares:
        """These parts of the item set, with their weights."""
        return Shares(float(self.w[ALL]), self.w[2:], items.parts_named(self.names))


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
