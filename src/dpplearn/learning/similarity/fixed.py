"""The fixed similarity: the cosines given, a constant feature rho, and a nugget; both can be learned by a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpplearn._checks import FloatArray, IntArray, check_rho
from dpplearn._linalg import to_dense, with_constant
from dpplearn.learning.similarity.record import Derivative, Items, Parameter, Similarity


@dataclass(frozen=True)
class Fixed(Similarity):
    """S = nugget I + (1 - nugget) (C + rho^2 11^T) / (1 + rho^2), C the cosines of phi or the matrix given.

    `rho` is the paper's constant similarity feature (section 7.2), which makes all items more alike. The `nugget` is
    particular to an item: with it every subset is possible, that of two equal items too.

    Examples
    --------
    >>> {name: round(w, 2) for name, w in Fixed(rho=1.0, nugget=0.2).weights.items()}
    {'own': 0.2, 'all': 0.4, 'cosines': 0.4}
    """

    kind = "fixed"
    space = (
        Parameter(  # rho^2, because the likelihood is even in rho: its derivative in rho itself says nothing at 0
            "rho^2",
            0.0,
            6.4 * 6.4,
            tuple(r * r for r in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)),
            at_high="rho = 6.4, where all similarities are above 0.97",
        ),
        Parameter(
            "nugget",
            0.0,
            0.98,
            (0.0, 0.0025, 0.01, 0.04, 0.09, 0.2, 0.4, 0.7, 0.98),
            at_low="nugget = 0: the targets ask for none",
            at_high="nugget = 0.98, where items hardly repel each other",
        ),
    )

    rho: float = 0.0
    nugget: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", check_rho(self.rho))
        object.__setattr__(self, "nugget", check_nugget(self.nugget))

    @property
    def own(self) -> float:
        return self.nugget

    @property
    def weights(self) -> dict[str, float]:
        """Of I, of 11^T and of C in S: they sum to 1."""
        left, u = 1 - self.nugget, self.rho**2
        return {"own": self.nugget, "all": left * u / (1 + u), "cosines": left / (1 + u)}

    @property
    def parameters(self) -> FloatArray:
        return np.array([self.rho * self.rho, self.nugget])  # the square root of rho * rho is rho to the bit

    def with_parameters(self, vector: FloatArray) -> Self:
        u, nugget = vector.tolist()
        return type(self)(u**0.5, nugget)

    def matrix(self, items: Items) -> FloatArray:
        return self._mixed(items.cosines())

    def block(self, items: Items, subset: IntArray) -> FloatArray:
        S = self._mixed(items.cosines(subset))
        np.fill_diagonal(S, 1.0)
        return S

    def _mixed(self, S: FloatArray) -> FloatArray:
        """S from C, in place."""
        with_constant(S, self.rho)
        if self.nugget > 0:
            S *= 1 - self.nugget
        if self.rho > 0 or self.nugget > 0:
            S.flat[:: len(S) + 1] = 1.0
        return S

    def rank(self, items: Items) -> int | None:
        return None if items.phi is None else int(items.phi.shape[1]) + (self.rho > 0)

    def rows(self, items: Items) -> FloatArray | None:
        if items.phi is None:
            return None
        u, rows = self.rho**2, to_dense(items.phi)
        if u > 0:
            rows = np.hstack([rows, np.full((items.n, 1), np.sqrt(u))]) / np.sqrt(1 + u)
        return rows * np.sqrt(1 - self.nugget) if self.nugget > 0 else rows

    def pull_back(self, items: Items, G: Derivative, subset: IntArray | None = None) -> FloatArray:
        left, u = 1 - self.nugget, self.rho**2
        ones = np.ones((items.n if subset is None else subset.size, 1))
        # dS/du = ((1 - nugget) 11^T - shared) / (1 + u)  and  dS/dnugget = I - shared / (1 - nugget)
        d_u = (left * float(G.quadratics(ones)[0]) - G.shared) / (1 + u)
        d_nugget = G.trace() - G.shared / left if left > 0 else 0.0  # S = I: G is diagonal, and M has ones there
        return np.array([d_u, d_nugget])


def check_nugget(nugget: Any) -> float:
    """A number from 0 to 1."""
    if not isinstance(nugget, int | float | np.number) or isinstance(nugget, bool) or not 0 <= nugget <= 1:
        raise ValueError(f"nugget must be a number from 0 to 1, found {nugget!r}.")
    return float(nugget)
