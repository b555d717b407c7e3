"""Similarity S as a record with parameters: what every kind answers.

S is what items share and what each has of its own, with ones on its diagonal:

    S = own I + shared,    shared = rows rows^T where there are similarity features.

A kind of similarity answers five questions: its parameters, the matrix of an item set, a block of it, rows, and the
pull-back of a derivative G = d/dS to its parameters. The likelihood asks nothing else, so a new kind is one file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from scipy.linalg import lapack

from dpplearn._checks import Features, FloatArray, IntArray
from dpplearn._notebook import short_repr
from dpplearn.learning.parts import Part


class Items(Protocol):
    """What a similarity asks of an item set; n items, with features phi or without."""

    @property
    def n(self) -> int: ...
    @property
    def phi(self) -> Features | None: ...
    @property
    def parts(self) -> tuple[Part, ...]: ...
    @property
    def part_names(self) -> tuple[str, ...]: ...
    @property
    def part_ends(self) -> IntArray: ...  # where the features of each part begin and end in phi
    def cosines(self, subset: IntArray | None = None) -> FloatArray: ...  # C, or its block: a new array
    def part_blocks(self, subset: IntArray) -> FloatArray: ...  # of all parts: (parts, k, k)
    @property
    def packed_cosines(self) -> FloatArray: ...  # upper triangles of all parts, row by row


class Direction(NamedTuple):
    """dS/dw of a weight in which S is linear: rows rows^T, a matrix, its upper triangle, or none: the identity."""

    rows: FloatArray | None = None
    matrix: FloatArray | None = None
    packed: FloatArray | None = None  # row by row

    def triangle(self, n: int) -> FloatArray:
        """An n x n array with the lower triangle of a matrix, in the order that LAPACK wants."""
        if self.matrix is not None:
            return np.asfortranarray(self.matrix)
        assert self.packed is not None
        return np.asarray(lapack.dtpttr(n, self.packed, uplo="L")[0])  # rows above are columns below


class Derivative(ABC):
    """A symmetric matrix G = d/dS, known by what it answers: with features, it is never an n x n array."""

    shared: float  # <G, S - own I>

    @abstractmethod
    def times(self, V: FloatArray) -> FloatArray:
        """G V."""

    @abstractmethod
    def trace(self) -> float:
        """<G, I>."""

    def quadratics(self, V: FloatArray) -> FloatArray:
        """v^T G v of each column v of V; their sum is <G, V V^T>."""
        return np.einsum("ij,ij->j", V, self.times(V))

    def inner(self, C: FloatArray) -> float:
        """<G, C> for a symmetric n x n matrix C."""
        return float(self.times(C).trace())

    def packed(self) -> FloatArray | None:
        """The upper triangle row by row, twice what is off the diagonal; None where G is known by rows."""
        return None

    def curvature(self, directions: Sequence[Direction], eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of what G is the derivative of: its second derivatives in the weights, and those of the marginals, (n, w)."""
        raise NotImplementedError(f"{type(self).__name__} knows first derivatives alone.")


class Parameter(NamedTuple):
    """One entry of the parameter vector: where it may be, where to look for the best one, and what its ends mean."""

    name: str
    low: float
    high: float
    starts: tuple[float, ...]
    at_low: str = ""  # said as a warning where the best is there, unless that is nothing to speak of
    at_high: str = ""

    def __repr__(self) -> str:
        return short_repr(self)


class Similarity(ABC):
    """A kind of similarity with its parameters. Frozen: another vector of parameters makes another record."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def space(self) -> Sequence[Parameter]:
        """What each parameter is; a tuple in the body of the class where they are always the same."""

    @property
    def own(self) -> float:
        """What is particular to each item: the weight of I in S."""
        return 0.0

    @property
    @abstractmethod
    def parameters(self) -> FloatArray:
        """One number for each entry of `space`."""

    @abstractmethod
    def with_parameters(self, vector: FloatArray) -> Self:
        """The same kind with other parameters."""

    @abstractmethod
    def rows(self, items: Items) -> FloatArray | None:
        """Rows with S = rows rows^T + own I; None where only a matrix was given."""

    @abstractmethod
    def pull_back(self, items: Items, G: Derivative, subset: IntArray | None = None) -> FloatArray:
        """<G, dS/dp> for each parameter p; with a subset, G is of the block S_Y."""

    def rank(self, items: Items) -> int | None:
        """How many columns `rows` has."""
        found = self.rows(items)
        return None if found is None else found.shape[1]

    def matrix(self, items: Items) -> FloatArray:
        """S, a new n x n array."""
        return self.block(items, np.arange(items.n))

    def block(self, items: Items, subset: IntArray) -> FloatArray:
        """S_Y, without the rest of S."""
        found = self.rows(items)
        if found is None:
            raise ValueError(
                f"similarity {self.kind!r} needs similarity features phi; this ItemSet was given a matrix."
            )
        S = found[subset] @ found[subset].T
        np.fill_diagonal(S, 1.0)
        return S

    def state(self) -> dict[str, Any]:
        """What a model file says of it: the kind, and the fields to make it from."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]  # kinds are dataclasses

    def named(self) -> dict[str, float]:
        """The parameters by name."""
        return {p.name: float(x) for p, x in zip(self.space, self.parameters, strict=True)}
