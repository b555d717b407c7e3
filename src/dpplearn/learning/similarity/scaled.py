"""Scaled features: a weight for each similarity feature, learned from the sets that were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import to_dense
from dpplearn._notebook import short_repr
from dpplearn.learning.parts import Shape
from dpplearn.learning.similarity.learned import (
    Function,
    Learned,
    check_weights,
    dirichlet,
    logits,
    part_space,
    pull_simplex,
    shares,
    simplex_jacobian,
    softmax,
)
from dpplearn.learning.similarity.record import Derivative, Items, Parameter

START = np.array([0.1, 0.1, 0.8])  # of I, of 11^T and of the features, until something is known


@dataclass(frozen=True, eq=False)
class Scaled(Learned):
    """S = w_own I + w_all 11^T + left C(v), C the cosines after feature j was multiplied by sqrt(v_j).

    v >= 0 with sum 1: only ratios of v matter, for cosines do not change when all features are multiplied. The weight
    of feature j is left v_j. The priors on (w_own, w_all, left) and on v are Dirichlet(1 + strength).

    Examples
    --------
    >>> Scaled(("x", "y"), np.array([0.2, 0.0001, 0.7999]), np.array([0.75, 0.25])).weights["x"].__round__(2)
    0.6
    """

    __repr__ = short_repr

    kind = "scaled"

    names: tuple[str, ...] = ()
    w: FloatArray = field(default_factory=lambda: START)
    v: FloatArray = field(default_factory=lambda: np.empty(0))
    errors: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        d = len(self.names)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "w", check_weights(self.w, 3, "The weights of own, all and the features"))
        v = np.full(d, 1 / max(d, 1)) if np.size(self.v) == 0 else check_weights(self.v, d, "The scales of features")
        object.__setattr__(self, "v", v)
        object.__setattr__(self, "errors", np.asarray(self.errors, np.float64))

    @property
    def space(self) -> tuple[Parameter, ...]:
        return part_space(("own", "all", "features", *self.names))

    @property
    def own(self) -> float:
        return float(self.w[0])

    @property
    def weights(self) -> dict[str, float]:
        each = (self.w[2] * self.v).tolist()
        return {"own": float(self.w[0]), "all": float(self.w[1]), **dict(zip(self.names, each, strict=True))}

    @property
    def parameters(self) -> FloatArray:
        return np.concatenate([logits(self.w), logits(self.v)]) if self.names else logits(self.w)

    def with_parameters(self, vector: FloatArray) -> Self:
        w, v = (np.maximum(softmax(x), 1e-300) for x in (vector[:3], vector[3:]))
        return replace(self, w=w, v=v, errors=np.empty(0))

    def bound(self, parts: Sequence[Shape]) -> Self:
        names = feature_names(parts, self.kind)
        if self.names and self.names != names:
            raise ValueError(
                f"This similarity has {len(self.names)} features ({', '.join(self.names)[:60]}), these item sets "
                f"{len(names)} ({', '.join(names)[:60]}): they must be the same."
            )
        return self if self.names else type(self)(names, self.w)

    def starts(self) -> list[FloatArray]:
        rng, first = np.random.default_rng(0), self.parameters
        other = [np.concatenate([logits(w), rng.standard_normal(self.v.size)]) for w in (START[[1, 2, 0]], START)]
        return [first, *other]

    def log_prior(self, strength: float) -> Function:
        a, b = dirichlet(self.w, strength), dirichlet(self.v, strength)
        hessian = np.zeros((3 + b.gradient.size,) * 2)
        hessian[:3, :3], hessian[3:, 3:] = a.hessian, b.hessian
        return Function(a.value + b.value, np.concatenate([a.gradient, b.gradient]), hessian)

    def weights_jacobian(self) -> FloatArray:
        J, d = simplex_jacobian(self.w), self.v.size
        out = np.zeros((2 + d, 3 + d))
        out[:2, :3] = J[:2]
        out[2:, :3] = np.outer(self.v, J[2])
        out[2:, 3:] = self.w[2] * simplex_jacobian(self.v)
        return out

    def rank(self, items: Items) -> int | None:
        return None if items.phi is None else int(items.phi.shape[1]) + 1

    def rows(self, items: Items) -> FloatArray | None:
        if items.phi is None:
            return None
        U = np.sqrt(self.w[2]) * self._unit(items, None)
        return np.hstack([U, np.full((items.n, 1), np.sqrt(self.w[1]))])

    def _unit(self, items: Items, subset: IntArray | None) -> FloatArray:
        """Rows of length 1: the features times the roots of their scales."""
        phi = features_of(items, self.v.size, self.kind)
        U = to_dense(phi if subset is None else phi[subset]) * np.sqrt(self.v)
        return np.asarray(U / np.linalg.norm(U, axis=1)[:, None])

    def block(self, items: Items, subset: IntArray) -> FloatArray:
        U = self._unit(items, subset)
        S = self.w[2] * (U @ U.T) + self.w[1]
        np.fill_diagonal(S, 1.0)
        return np.asarray(S)

    def pull_back(self, items: Items, G: Derivative, subset: IntArray | None = None) -> FloatArray:
        U = self._unit(items, subset)
        B = G.times(U) * U
        each = B.sum(axis=1)
        # with t = log sqrt(v): d u_ij = u_ij (dt_j - sum of u_il^2 dt_l), and <G, d(U U^T)> = 2 <G U, dU>
        d_v = self.w[2] * (B.sum(axis=0) - each @ U**2)
        return np.concatenate([pull_simplex(self.w, shares(G, len(U), float(each.sum()))), d_v])


def feature_names(parts: Sequence[Shape], kind: str) -> tuple[str, ...]:
    """Of all similarity features, which must be known by number in every instance."""
    for part in parts:
        if part.width is None:
            raise ValueError(
                f"similarity={kind!r} needs similarity features phi, and the part {part.name!r} is a matrix. Give its "
                'features, or learn the weights of whole parts: similarity="mixture".'
            )
        if part.width < 0:
            raise ValueError(
                f"similarity={kind!r} needs the same similarity features in every instance, and those of {part.name!r} "
                'differ in number. For features that differ, such as words, use similarity="mixture".'
            )
    names = [name for part in parts for name in part.feature_names()]
    if len(set(names)) < len(names):  # columns of two parts with the same name
        names = [f"{part.name}: {name}" for part in parts for name in part.feature_names()]
    return tuple(names)


def features_of(items: Items, d: int, kind: str) -> FloatArray:
    """The similarity features of an item set, of which there must be d."""
    if items.phi is None or items.phi.shape[1] != d:
        found = "a matrix" if items.phi is None else f"{items.phi.shape[1]}"
        raise ValueError(f"similarity={kind!r} was made for {d} similarity features, and this ItemSet has {found}.")
    return items.phi  # dense or sparse
