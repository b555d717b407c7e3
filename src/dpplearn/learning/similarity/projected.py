"""A projection: similarity features go through a learned linear map to a few components; cosines are taken there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_int
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
from dpplearn.learning.similarity.scaled import START, feature_names, features_of

FAINT = 0.01  # a constant beside the components: items that the map sends to 0 have a direction too
MOST = 2000  # features: their second moment, for the principal components, is a square matrix


@dataclass(frozen=True, eq=False)
class Projected(Learned):
    """S = w_own I + w_all 11^T + left C(A), C the cosines of phi A for a map A (d, n_components).

    The prior on A is Gaussian around the principal components of the features, which also settles the length and the
    rotation of A, of which cosines know nothing: N(A_0, 1 / (d strength)) for each entry. That on the weights is
    Dirichlet(1 + strength). The weight of feature j is left |a_j|^2 / |A|^2.
    """

    __repr__ = short_repr

    kind = "projected"

    names: tuple[str, ...] = ()
    w: FloatArray = field(default_factory=lambda: START)
    n_components: int = 2
    map: FloatArray = field(default_factory=lambda: np.empty(0))
    centre: FloatArray = field(default_factory=lambda: np.empty(0))
    errors: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        d, r = len(self.names), check_int(int(self.n_components), "n_components", low=1)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "n_components", r)
        object.__setattr__(self, "w", check_weights(self.w, 3, "The weights of own, all and the features"))
        start = np.eye(d, r)
        for name in ("map", "centre"):
            found = np.asarray(getattr(self, name), np.float64)
            object.__setattr__(self, name, found.reshape(d, r) if found.size else start)
        object.__setattr__(self, "errors", np.asarray(self.errors, np.float64))

    @property
    def space(self) -> tuple[Parameter, ...]:
        r = range(self.n_components)
        return part_space(("own", "all", "features", *(f"{name} -> {c}" for name in self.names for c in r)))

    @property
    def own(self) -> float:
        return float(self.w[0])

    @property
    def weights(self) -> dict[str, float]:
        size = (self.map**2).sum(axis=1)
        each = (self.w[2] * size / size.sum()).tolist()
        return {"own": float(self.w[0]), "all": float(self.w[1]), **dict(zip(self.names, each, strict=True))}

    @property
    def parameters(self) -> FloatArray:
        return np.concatenate([logits(self.w), self.map.ravel()])

    def with_parameters(self, vector: FloatArray) -> Self:
        w = np.maximum(softmax(vector[:3]), 1e-300)
        return replace(self, w=w, map=vector[3:].reshape(self.map.shape).copy(), errors=np.empty(0))

    def bound(self, parts: Sequence[Shape]) -> Self:
        names, r = feature_names(parts, self.kind), self.n_components
        if self.names and self.names != names:
            raise ValueError(
                f"This similarity has {len(self.names)} features, these item sets {len(names)}: they must be the same."
            )
        if r > len(names):
            raise ValueError(
                f"n_components must be at most the number of similarity features ({len(names)}), found {r}."
            )
        if len(names) > MOST:
            raise ValueError(
                f'similarity="projected" takes up to {MOST:,} similarity features, found {len(names):,}. Bring them to '
                "fewer columns first, for instance by sklearn.decomposition.TruncatedSVD."
            )
        return self if self.names else type(self)(names, self.w, r)

    @property
    def needs_moment(self) -> bool:
        return True

    def centred(self, moment: FloatArray) -> Self:
        """With the principal components of the features in the middle of the prior, and as the map."""
        V = np.linalg.eigh(moment)[1][:, ::-1][:, : self.n_components]
        V = V * np.where(V[np.abs(V).argmax(axis=0), range(V.shape[1])] < 0, -1.0, 1.0)  # the sign is eigh's whim
        return replace(self, map=V, centre=V)

    def starts(self) -> list[FloatArray]:
        rng = np.random.default_rng(0)
        spread = 1 / np.sqrt(max(len(self.names), 1))
        others = [
            np.concatenate([logits(w), (self.centre + spread * rng.standard_normal(self.map.shape)).ravel()])
            for w in (START[[1, 2, 0]], START)
        ]
        return [self.parameters, *others]

    def log_prior(self, strength: float) -> Function:
        a, precision = dirichlet(self.w, strength), strength * max(len(self.names), 1)
        off = (self.map - self.centre).ravel()
        hessian = np.zeros((3 + off.size,) * 2)
        hessian[:3, :3] = a.hessian
        hessian[3:, 3:].flat[:: off.size + 1] = -precision
        value = a.value - precision * float(off @ off) / 2
        return Function(value, np.concatenate([a.gradient, -precision * off]), hessian)

    def weights_jacobian(self) -> FloatArray:
        J, A = simplex_jacobian(self.w), self.map
        (d, r), size, total = A.shape, (A**2).sum(axis=1), float((A**2).sum())
        out = np.zeros((2 + d, 3 + d * r))
        out[:2, :3] = J[:2]
        out[2:, :3] = np.outer(size / total, J[2])
        # d (|a_j|^2 / |A|^2) = 2 a_j da_j / |A|^2 - |a_j|^2 2 <A, dA> / |A|^4
        own = np.zeros((d, d, r))
        own[range(d), range(d)] = 2 * A / total
        out[2:, 3:] = self.w[2] * (own.reshape(d, d * r) - np.outer(size, 2 * A.ravel()) / total**2)
        return out

    def rank(self, items: Items) -> int | None:
        return None if items.phi is None else self.n_components + 2

    def _unit(self, items: Items, subset: IntArray | None) -> tuple[FloatArray, FloatArray]:
        """Rows of length 1 after the map, with the faint constant last, and the lengths before."""
        phi = features_of(items, len(self.names), self.kind)
        there = np.asarray((phi if subset is None else phi[subset]) @ self.map)
        U = np.hstack([there, np.full((len(there), 1), FAINT)])
        length = np.linalg.norm(U, axis=1)
        return U / length[:, None], length

    def rows(self, items: Items) -> FloatArray | None:
        if items.phi is None:
            return None
        U = np.sqrt(self.w[2]) * self._unit(items, None)[0]
        return np.hstack([U, np.full((items.n, 1), np.sqrt(self.w[1]))])

    def block(self, items: Items, subset: IntArray) -> FloatArray:
        U = self._unit(items, subset)[0]
        S = self.w[2] * (U @ U.T) + self.w[1]
        np.fill_diagonal(S, 1.0)
        return np.asarray(S)

    def pull_back(self, items: Items, G: Derivative, subset: IntArray | None = None) -> FloatArray:
        U, length = self._unit(items, subset)
        B = G.times(U)
        each = np.einsum("ij,ij->i", B, U)
        # du_i = (I - u_i u_i^T) (x_i dA) / |x_i A|, and <G, d(U U^T)> = 2 <G U, dU>
        inward = ((B - each[:, None] * U) / length[:, None])[:, :-1]
        phi = features_of(items, len(self.names), self.kind)
        phi = phi if subset is None else phi[subset]
        d_map = 2 * self.w[2] * np.asarray(phi.T @ inward)
        return np.concatenate([pull_simplex(self.w, shares(G, len(U), float(each.sum()))), d_map.ravel()])
