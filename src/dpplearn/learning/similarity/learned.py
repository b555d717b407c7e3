"""Kinds whose parameters are any real numbers, learned together with the quality's, from several starts.

Weights that are not negative and sum to 1 are the softmax of their parameters. Each kind has a prior that keeps the
parameters finite, and keeps every S it can give possible for every target: what is particular to an item never is 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn.learning.parts import RESERVED, Shape
from dpplearn.learning.similarity.record import Derivative, Direction, Items, Parameter, Similarity

ALL = RESERVED.index("all")  # the place of the weight of 11^T in every kind


class Function(NamedTuple):
    """A function of the parameters, with its derivatives."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


class Linear(NamedTuple):
    """Of weights in which S is linear: <G, dS/dw> and dS/dw of each."""

    slopes: FloatArray
    directions: list[Direction]


class Learned(Similarity):
    """A kind that is learned. A record without parts is one to learn; `bound` gives it those of the data."""

    errors: FloatArray  # standard errors of the weights, in their order; nan where they are not known

    @property
    @abstractmethod
    def weights(self) -> dict[str, float]:
        """What of S is particular to each item ("own"), constant ("all"), of each part or feature; the sum is 1."""

    @property
    def std(self) -> dict[str, float]:
        """Standard errors of the weights, with those of theta; nan where a weight is at its bound 0, or given."""
        names = list(self.weights)
        errors = self.errors if self.errors.size == len(names) else np.full(len(names), np.nan)
        return dict(zip(names, errors.tolist(), strict=True))

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

    @abstractmethod
    def bound(self, parts: Sequence[Shape]) -> Self:
        """A record for data with these parts; an error where it cannot be."""

    @abstractmethod
    def starts(self) -> list[FloatArray]:
        """Parameters to start from, the best guess first."""

    @abstractmethod
    def log_prior(self, strength: float) -> Function:
        """The prior at these parameters."""

    @abstractmethod
    def weights_jacobian(self) -> FloatArray:
        """d weight / d parameter, for the standard errors."""

    def level(self) -> Function:
        """log(1 - w_all): what of S is not the same for all pairs. Its Hessian is 0 where `linear` does not answer."""
        w = np.array(list(self.weights.values()))
        at = (np.arange(w.size) == ALL).astype(np.float64)
        rest = max(float(w @ (1 - at)), np.finfo(np.float64).tiny)
        slope, n = -at / rest, self.parameters.size
        hessian = self.bend(slope, -np.outer(slope, slope)) if self.bends else np.zeros((n, n))
        return Function(float(np.log(rest)), self.weights_jacobian().T @ slope, hessian)

    @property
    def needs_moment(self) -> bool:
        """Whether it starts from the sum of phi^T phi over all items."""
        return False

    @property
    def bends(self) -> bool:
        """Whether `linear` answers: second derivatives are exact."""
        return type(self).linear is not Learned.linear

    def linear(self, items: Items, G: Derivative, subset: IntArray | None = None) -> Linear | None:  # noqa: ARG002  # for kinds that are linear
        """Slopes and directions dS/dw of the weights, if S is linear in them."""
        return None

    def bend(self, g: FloatArray, H: FloatArray) -> FloatArray:
        """The Hessian in the parameters, from gradient and Hessian in the weights, where S is linear in these."""
        raise NotImplementedError(f"{type(self).__name__} is not linear in its weights.")

    def with_errors(self, errors: FloatArray) -> Self:
        """The same with standard errors."""
        return replace(self, errors=errors)  # type: ignore[type-var]  # kinds are dataclasses

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # every kind is a dataclass
        return all(np.array_equal(getattr(self, a), getattr(other, a), equal_nan=a == "errors") for a in names)

    def __hash__(self) -> int:
        return hash((self.kind, self.parameters.tobytes()))


# Weights on a simplex


def softmax(z: FloatArray) -> FloatArray:
    """Positive numbers that sum to 1."""
    w = np.exp(z - z.max())
    return np.asarray(w / w.sum())


def logits(w: FloatArray) -> FloatArray:
    """Numbers with mean 0 whose softmax is w."""
    z = np.log(w)
    return np.asarray(z - z.mean())


def pull_simplex(w: FloatArray, g: FloatArray) -> FloatArray:
    """The gradient in the logits, from that in w: dw = (diag(w) - w w^T) dz."""
    return np.asarray(w * (g - w @ g))


def simplex_jacobian(w: FloatArray) -> FloatArray:
    """dw / dz."""
    return np.diag(w) - np.outer(w, w)


def bend_simplex(w: FloatArray, g: FloatArray, H: FloatArray) -> FloatArray:
    """The Hessian in the logits, from gradient and Hessian in w: J^T H J and what the softmax itself bends."""
    J, gw, mean = simplex_jacobian(w), g * w, float(g @ w)
    cross = np.outer(gw, w)
    return np.asarray(J @ H @ J + np.diag(gw - mean * w) - cross - cross.T + 2 * mean * np.outer(w, w))


def dirichlet(w: FloatArray, strength: float) -> Function:
    """Of Dirichlet(1 + strength) in w, as a function of the logits: strength times the sum of log w."""
    n = w.size
    return Function(
        strength * float(np.log(np.maximum(w, np.finfo(np.float64).tiny)).sum()),
        strength * (1 - n * w),
        -strength * n * simplex_jacobian(w),
    )


def check_weights(w: Any, n: int, name: str) -> FloatArray:
    """n positive numbers that sum to 1."""
    found = np.asarray(w, np.float64)
    if found.shape != (n,) or not (found > 0).all() or abs(found.sum() - 1) > 1e-6:
        raise ValueError(f"{name} must be {n} positive numbers that sum to 1, found {found.tolist()!r:.120}.")
    return found


def part_space(names: Sequence[str]) -> tuple[Parameter, ...]:
    """Parameters that may be any number."""
    return tuple(Parameter(name, -np.inf, np.inf, ()) for name in names)


def shares(G: Derivative, n: int, rows: float) -> FloatArray:
    """<G, I>, <G, 11^T> and what is known of the third part."""
    return np.array([G.trace(), float(G.quadratics(np.ones((n, 1)))[0]), rows])
