"""The mixture: weights of I, of 11^T and of every named part, learned from the sets that were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Self

import numpy as np
from scipy.special import expit

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn._linalg import to_dense
from dpplearn._notebook import brief
from dpplearn.learning._packed_loops import pack, unpack
from dpplearn.learning.parts import RESERVED, Shape
from dpplearn.learning.similarity.learned import (
    ALL,
    Function,
    Learned,
    Linear,
    bend_simplex,
    check_weights,
    dirichlet,
    part_space,
    simplex_jacobian,
    softmax,
)
from dpplearn.learning.similarity.record import Derivative, Direction, Items, Parameter

ROWS = 0.7  # products with features take less than with matrices where they are fewer than this share of all columns


@dataclass(frozen=True, eq=False)
class Mixture(Learned):
    """S = w_own I + w_all 11^T + sum of w_m C_m, with w >= 0 and sum 1; C_m the cosines of the m-th part.

    The prior on w is Dirichlet(1 + strength): weak, and enough to keep every weight above 0. The parameters are the
    log-odds of w_all, and logits of the shares of the others in what it leaves: how many items are expected depends on
    the first and on theta, and hardly on the shares: no curved ridge of the posterior comes from that.

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
    errors: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        n = len(self.names) + len(RESERVED)
        w = np.full(n, 1 / n) if np.size(self.w) == 0 else check_weights(self.w, n, "The weights of a mixture")
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "errors", np.asarray(self.errors, np.float64))

    def __repr__(self) -> str:
        """Without parts and errors, it is one to be learned: there are no weights to show."""
        return f"Mixture(weights={brief(self.weights)})" if self.names or self.errors.size else "Mixture()"

    @property
    def space(self) -> tuple[Parameter, ...]:
        return part_space((*RESERVED, *self.names))

    @property
    def own(self) -> float:
        return float(self.w[0])

    @property
    def weights(self) -> dict[str, float]:
        return dict(zip((*RESERVED, *self.names), self.w.tolist(), strict=True))

    @property
    def parameters(self) -> FloatArray:
        return self._parameters

    @cached_property
    def _parameters(self) -> FloatArray:
        found = np.log(self.w)
        rest = np.arange(found.size) != ALL
        found[rest] -= found[rest].mean()
        found[ALL] -= np.log(self.w[rest].sum())
        return found

    def with_parameters(self, vector: FloatArray) -> Self:
        odds, rest = float(expit(vector[ALL])), softmax(np.delete(vector, ALL))
        w = np.insert(rest * float(expit(-vector[ALL])), ALL, odds)
        return replace(self, w=np.maximum(w, 1e-300), errors=np.empty(0))

    def bound(self, parts: Sequence[Shape]) -> Self:
        names = tuple(part.name for part in parts)
        if not self.names:
            return type(self)(names)
        if sorted(self.names) != sorted(names):
            raise ValueError(
                f"This mixture has the parts {', '.join(self.names)}; these item sets have {', '.join(names)}."
            )
        return self

    def starts(self) -> list[FloatArray]:
        n = self.w.size
        # The same weights; nearly constant, where the likelihood of sizes draws it; mostly particular to the items.
        heavy = [np.where(np.arange(n) == j, 0.8, 0.2 / (n - 1)) for j in (ALL, 0)]
        return [self.parameters, *(replace(self, w=w).parameters for w in heavy)]

    def _split(self) -> tuple[float, float, FloatArray]:
        """The weight of 11^T, what it leaves, and the shares of the rest in that."""
        rest = np.delete(self.w, ALL)
        left = float(rest.sum())
        return float(self.w[ALL]), left, rest / left

    def log_prior(self, strength: float) -> Function:
        w, left, share = self._split()
        inner, n = dirichlet(share, strength), self.w.size
        value = inner.value + strength * float(np.log(w) + (n - 1) * np.log(left))
        gradient = np.insert(inner.gradient, ALL, strength * (left - (n - 1) * w))
        hessian = self._inside(inner.hessian)
        hessian[ALL, ALL] = -strength * n * w * left
        return Function(value, gradient, hessian)

    def weights_jacobian(self) -> FloatArray:
        return self._jacobian

    @cached_property
    def _jacobian(self) -> FloatArray:
        w, left, share = self._split()
        J = self._inside(left * simplex_jacobian(share))
        J[:, ALL] = np.insert(-w * left * share, ALL, w * left)
        return J

    def _inside(self, block: FloatArray) -> FloatArray:
        """A matrix with this block for all parameters but the odds."""
        n = len(block) + 1
        out, rest = np.zeros((n, n)), np.arange(n) != ALL
        out[np.ix_(rest, rest)] = block
        return out

    def bend(self, g: FloatArray, H: FloatArray) -> FloatArray:
        w, left, share = self._split()
        J, rest = self.weights_jacobian(), np.delete(g, ALL)
        mean = float(share @ rest)
        inner = left * bend_simplex(share, rest, np.zeros((rest.size, rest.size)))
        own = self._inside(inner)
        corner = w * left * (1 - 2 * w) * (g[ALL] - mean)
        own[ALL] = own[:, ALL] = np.insert(-w * left * share * (rest - mean), ALL, corner)
        return np.asarray(J.T @ H @ J + own)

    def places(self, items: Items) -> IntArray | None:
        """Where the item set has each part; None where it has them in the same order."""
        if items.part_names == self.names:
            return None
        known = list(items.part_names)
        missing = [name for name in self.names if name not in known]
        if missing:
            raise ValueError(
                f"The similarity has a part {missing[0]!r}, and this ItemSet has {', '.join(known)}. Give every "
                "ItemSet the parts that the model was fitted with, by their names."
            )
        return np.array([known.index(name) for name in self.names])

    def matrix(self, items: Items) -> FloatArray:
        return self._mixed(items, None)

    def block(self, items: Items, subset: IntArray) -> FloatArray:
        return self._mixed(items, subset)

    def _mixed(self, items: Items, subset: IntArray | None) -> FloatArray:
        if subset is None:
            return np.asarray(unpack(self._shares(items) @ items.packed_cosines, self.w[1], items.n))
        k, blocks = subset.size, items.part_blocks(subset)
        S = (self._shares(items) @ blocks.reshape(len(blocks), k * k) + self.w[1]).reshape(k, k)
        S.flat[:: k + 1] = 1.0
        return np.asarray(S)

    def _shares(self, items: Items) -> FloatArray:
        """Weights in the order of the item set's parts."""
        places = self.places(items)
        return self.w[2:] if places is None else self.w[2:][np.argsort(places)]

    def rank(self, items: Items) -> int | None:
        self.places(items)
        return None if any(part.phi is None for part in items.parts) else int(items.part_ends[-1]) + 1

    def rows(self, items: Items) -> FloatArray | None:
        if items.phi is None:
            return None
        root = np.repeat(np.sqrt(self._shares(items) * len(self.names)), np.diff(items.part_ends))
        rows = np.empty((items.n, root.size + 1))
        np.multiply(to_dense(items.phi), root, out=rows[:, :-1])  # phi has equal shares
        rows[:, -1] = np.sqrt(self.w[1])
        return rows

    def linear(self, items: Items, G: Derivative, subset: IntArray | None = None) -> Linear:
        n, ends = items.n if subset is None else subset.size, items.part_ends
        by_rows = items.phi is not None and subset is None and ends[-1] < ROWS * n * len(self.names)
        ways: list[Direction] = []
        if by_rows:
            U = to_dense(items.phi) * np.sqrt(len(self.names))
            ways = [Direction(rows=U[:, low:high]) for low, high in pairwise(ends.tolist())]
        elif subset is None:
            ways = [Direction(packed=one) for one in items.packed_cosines]
        else:
            ways = [Direction(matrix=one) for one in items.part_blocks(subset)]
        places = self.places(items)
        ways = ways if places is None else [ways[place] for place in places]
        return Linear(self.slopes(items, G, subset), [Direction(), Direction(rows=np.ones((n, 1))), *ways])

    def slopes(self, items: Items, G: Derivative, subset: IntArray | None) -> FloatArray:
        """<G, dS/dw> of each weight."""
        n, packed = items.n if subset is None else subset.size, G.packed() if subset is None else None
        if subset is not None:
            D, C = G.times(np.eye(n)), items.part_blocks(subset)
            whole, sums = float(D.sum()), C.reshape(len(C), n * n) @ D.ravel()
        elif packed is None and items.phi is not None:
            each = G.quadratics(np.column_stack([to_dense(items.phi), np.ones(n)]))
            whole, sums = float(each[-1]), len(self.names) * np.add.reduceat(each[:-1], items.part_ends[:-1])
        else:
            if packed is None:  # a G that is known by rows, of very large qualities
                packed = np.asarray(pack(G.times(np.eye(n)), np.ones(n)))
            whole, sums = float(packed.sum()), items.packed_cosines @ packed
        places = self.places(items)
        return np.concatenate([[G.trace(), whole], sums if places is None else sums[places]])

    def pull_back(self, items: Items, G: Derivative, subset: IntArray | None = None) -> FloatArray:
        return np.asarray(self.weights_jacobian().T @ self.slopes(items, G, subset))
