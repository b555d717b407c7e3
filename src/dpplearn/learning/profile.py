"""The similarity's parameters by maximum likelihood: the profile p(w) = max of the posterior over the quality's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import optimize

from dpplearn._checks import FloatArray
from dpplearn.learning.similarity.record import Similarity
from dpplearn.learning.solvers import Optimum

SMALLEST = 1e-6  # square root of a parameter that is within rounding of 0
# A similarity, a start and the iterations so far -> the best parameters of the quality for this similarity.
Maximize: TypeAlias = Callable[[Similarity, FloatArray, int], Optimum]


class Point(NamedTuple):
    """A finished point of the profile: the quality's parameters, the value, and its slopes in the similarity's."""

    parameters: FloatArray
    value: float
    slopes: FloatArray
    converged: bool


Known: TypeAlias = dict[tuple[float, ...], Point]  # by the similarity's parameters


class Profile:
    """p at any parameters of the similarity; every point is kept in `known`, which may hold those of an earlier run.

    For a fixed similarity the problem is concave in theta. By the envelope theorem the slopes of p are the partial
    derivatives at the best theta, which are exact. What is looked for next depends on the points `seen` in this run
    alone, so that a run that goes on from an earlier one takes the same way.
    """

    def __init__(
        self, maximize: Maximize, similarity: Similarity, start: FloatArray, n_iter: int, known: Known
    ) -> None:
        self.maximize, self.similarity, self.known, self.n_iter = maximize, similarity, known, n_iter
        self.latest, self.here = start, dict[tuple[float, ...], Optimum]()
        self.seen: Known = {}

    def at(self, w: FloatArray) -> Point:
        """A point of p, from the latest theta on."""
        key = tuple(w.tolist())
        if key not in self.known:
            best = self.maximize(self.similarity.with_parameters(w), self.latest, self.n_iter)
            assert best.terms.similarity_gradient is not None
            self.here[key], self.n_iter = best, best.n_iter
            self.known[key] = Point(best.theta, best.terms.value, best.terms.similarity_gradient, best.converged)
        point = self.seen[key] = self.known[key]
        if np.isfinite(point.value):
            self.latest = point.parameters
        return point

    @property
    def best(self) -> FloatArray:
        """The parameters of the highest point so far."""
        return np.array(max(self.seen, key=lambda key: self.seen[key].value))

    def rises(self, j: int) -> bool:
        """Whether p still rises in parameter j at its upper bound, as far as was looked along the line of the best."""
        w = self.best
        w[j] = self.similarity.space[j].high
        end = self.seen.get(tuple(w.tolist()))
        return end is not None and end.converged and bool(end.slopes[j] > 0)

    def search_line(self, w: FloatArray, j: int) -> None:
        """Look along parameter j, which is not negative, from w.

        p is not concave in w, so it is followed over a grid of starts, in square roots, where small values have
        room. Where its slope falls through 0 from one start to the next there is a local maximum, found by Brent's
        method. Two maxima between neighbouring starts would pass for one.
        """
        starts = np.sqrt(self.similarity.space[j].starts).tolist()
        exact = dict(zip(starts, self.similarity.space[j].starts, strict=True))

        def slope(t: float) -> float:
            v = w.copy()
            v[j] = exact.get(t, t * t)
            return float(self.at(v).slopes[j])

        if not np.isfinite(slope(starts[0])):  # a target that 0 makes impossible: p rises from -inf at some t > 0
            starts[0] = starts[1] / 2
            while starts[0] > SMALLEST and slope(starts[0]) <= 0:
                starts.insert(0, starts[0] / 2)
        for a, b in pairwise(starts):
            if np.isfinite([slope(a), slope(b)]).all() and slope(a) > 0 >= slope(b):
                optimize.brentq(slope, a, b, xtol=1e-9, rtol=1e-12)

    def climb(self, free: Sequence[int]) -> None:
        """All free parameters together from the best point, by their gradient."""
        w = self.best

        def loss(x: FloatArray) -> tuple[float, FloatArray]:
            v = w.copy()
            v[free] = x
            here = self.at(v)
            if not np.isfinite(here.value):  # impossible targets, at a bound
                return 1e6 + abs(self.at(w).value), np.zeros(len(free))
            return -here.value, -here.slopes[free]

        bounds = [(self.similarity.space[j].low, self.similarity.space[j].high) for j in free]
        options = {"gtol": 1e-6, "ftol": 1e-14, "maxiter": 100}
        optimize.minimize(loss, w[free], jac=True, method="L-BFGS-B", bounds=bounds, options=options)


def maximize_profile(profile: Profile, free: Sequence[int]) -> tuple[Similarity, Optimum]:
    """The similarity with the highest profile over its free parameters, and the optimum of the quality there.

    One line for each, the last parameter first, and then all of them together; the best point found is returned.
    """
    w = profile.similarity.parameters
    for j in reversed(free):
        profile.search_line(w, j)
        w = profile.best
    if len(free) > 1:
        profile.climb(list(free))
    w = profile.best
    key, similarity = tuple(w.tolist()), profile.similarity.with_parameters(w)
    best = profile.here.get(key) or profile.maximize(similarity, profile.known[key].parameters, profile.n_iter)
    settled = all(point.converged for point in profile.seen.values() if np.isfinite(point.value))
    n_iter = max(profile.n_iter, best.n_iter)
    return similarity, Optimum(best.theta, best.terms, best.step, n_iter, best.converged and settled)
