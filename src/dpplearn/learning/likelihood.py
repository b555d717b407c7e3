"""log P(Y | X) of one instance under a quality and a similarity, with its derivatives.

With eta_i = 2 log q_i, L = diag(q) S diag(q) and K = I - (I + L)^-1:

    value        sum of eta_i over Y  +  log det S_Y  -  log det(I + L)                     (18)
    in eta       1[i in Y] - K_ii, which the quality pulls back to its parameters:
                 for theta it is  sum of f_i over Y  -  F^T diag(K)                          (19)
    Hessian      minus the covariance of the sums of d eta / d parameters over Y
    in S         scatter(S_Y^-1, Y) - G, which the similarity pulls back to its parameters

`dpplearn.learning.normalizer` has log det(I + L) and its derivatives; `dpplearn.learning.algorithm1` Algorithm 1 of the
paper, by eigendecomposition, which the tests compare with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from dpplearn._checks import FloatArray, IntArray, check_choice, check_subset, check_vector
from dpplearn._linalg import logdet
from dpplearn._notebook import short_repr
from dpplearn._precision import EPS
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.normalizer import Inverse, Normalizer, Operand, normalize
from dpplearn.learning.quality import MAX_ETA, LogLinear, Quality, check_eta
from dpplearn.learning.similarity.fixed import Fixed
from dpplearn.learning.similarity.learned import Learned
from dpplearn.learning.similarity.record import Similarity
from dpplearn.learning.sized import normalize_sized

SLOPES = 0.01  # error of a derivative in the similarity's parameters, relative, beyond which it is not known


class Slopes(NamedTuple):
    """The value of each instance, and of each item the derivative in eta_i and minus the second one."""

    values: FloatArray
    slope: FloatArray
    curvature: FloatArray


class Terms(NamedTuple):
    """Value, gradient and Hessian of a log-likelihood in the quality's parameters, and its gradient in S's own."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    similarity_gradient: FloatArray | None = None
    similarity_hessian: FloatArray | None = None  # where S is linear in weights: in its parameters,
    cross: FloatArray | None = None  # and in the quality's (rows) and its own (columns)
    items: Slopes | None = None

    def __repr__(self) -> str:
        return short_repr(self)


class Request(NamedTuple):
    """What is asked of an instance, or of many: the model, and which derivatives."""

    quality: Quality
    similarity: Similarity
    order: int = 2  # 1 leaves out the Hessian
    with_similarity: bool = False
    given_size: bool = False  # the likelihood of Y given |Y|
    per_item: bool = False  # what trees are grown on

    def nothing(self) -> Terms:
        """The answer where there is none: a step that came here is turned back."""
        m, p = self.quality.parameters.size, self.similarity.parameters.size
        return Terms(-np.inf, np.full(m, np.nan), np.full((m, m), np.nan), np.full(p, np.nan))

    def total(self, weighted: Iterable[tuple[float, Terms]]) -> Terms:
        """The sum of w times the terms, in the order given: the same sums whoever made them."""
        m, p = self.quality.parameters.size, self.similarity.parameters.size
        value, gradient = 0.0, np.zeros(m)
        hessian = np.zeros((m, m)) if self.order == 2 else None
        slopes = np.zeros(p) if self.with_similarity else None
        each: list[Slopes] = []
        bends: FloatArray | None = None
        cross: FloatArray | None = None
        for w, terms in weighted:
            value += w * terms.value
            gradient += w * terms.gradient
            if hessian is not None and terms.hessian is not None:
                hessian += w * terms.hessian
            if slopes is not None and terms.similarity_gradient is not None:
                slopes += w * terms.similarity_gradient
            if terms.similarity_hessian is not None and terms.cross is not None:
                bends = w * terms.similarity_hessian + (0.0 if bends is None else bends)
                cross = w * terms.cross + (0.0 if cross is None else cross)
            if terms.items is not None:
                each.append(Slopes(*(w * x for x in terms.items)))
        items = Slopes(*map(np.concatenate, zip(*each, strict=True))) if each else None
        return Terms(value, gradient, hessian, slopes, bends, cross, items)


class Common(NamedTuple):
    """What targets of the same items share at a request: all but the blocks of Y."""

    z: Normalizer | None
    pulled: FloatArray | None = None  # the derivative in the similarity's parameters, or in weights, if linear in them,
    bends: tuple[FloatArray, FloatArray] | None = None  # and then how it, and the marginals, change with these


class Example:
    """One instance (X, Y) made ready for many evaluations.

    Parameters
    ----------
    item_set : ItemSet
    subset : sorted int64 array
        The target Y.
    similarity : Similarity
        What is prepared; a request may come with another.
    method : {"auto", "primal", "dual"}
        Factor the n x n matrix I + L, or the d x d matrix I + B^T B with B = diag(q) rows; by cost.
    before : Example, optional
        One that is evaluated before it. Where it has the same items, as targets of several people have, S and the
        normalizer are its own.
    """

    def __init__(
        self,
        item_set: ItemSet,
        subset: IntArray,
        similarity: Similarity,
        method: str = "auto",
        before: Example | None = None,
    ) -> None:
        self.items, self.Y = item_set, subset
        self.S: Operand
        self.twin = before if before is not None and before.items is item_set else None
        self.known: tuple[Request, int | None, Common] | None = None  # for the next with the same items, of this size
        self.followed = False
        if self.twin is not None:
            self.twin.followed = True
        rank = similarity.rank(item_set)
        if method == "dual" and rank is None:
            raise ValueError('method="dual" needs similarity features phi; this ItemSet was given similarity.')
        self.dual = method == "dual" or (method == "auto" and prefers_dual(item_set.n, rank))
        self._block: FloatArray | None = None
        self._prepare(similarity)

    def _prepare(self, similarity: Similarity) -> None:
        """What depends on S alone."""
        if self.twin is not None and same(similarity, self.twin.S.similarity):
            self.S = self.twin.S
        else:
            self.S = Operand(self.items, similarity)
        self._block = None
        S_Y = similarity.block(self.items, self.Y)
        self.S_Y = S_Y if isinstance(similarity, Learned) else None  # its inverse will be asked for
        by_rows = similarity.own == 0 and self.items.similarity is None
        rows = (lambda: self.S.rows()[self.Y]) if by_rows else None
        self.log_det_Y = logdet(S_Y, rows)

    def evaluate(self, request: Request) -> Terms:
        """The terms at a quality and a similarity."""
        quality, similarity, order, with_similarity, given_size, per_item = request
        if not same(similarity, self.S.similarity):
            self._prepare(similarity)
        p = similarity.parameters.size
        nothing = request.nothing()
        eta = quality.eta(self.items)
        if not (np.isfinite(eta).all() and eta.max() <= MAX_ETA):
            return nothing  # no float holds this quality: a step that came here is turned back
        J = quality.jacobian(self.items) if order == 2 else None
        k, before = self.Y.size if given_size else None, None if self.twin is None else self.twin.known
        if self.twin is not None:
            self.twin.known = None  # of use to this one alone
        if before is not None and before[0] is request and before[1] == k:
            common = before[2]
        else:
            common = self._common(request, eta, J, k)
        if self.followed:
            self.known = request, k, common
        z = common.z
        if z is None:
            return nothing
        d_eta = -z.marginals
        d_eta[self.Y] += 1.0
        value = float(eta[self.Y].sum() + self.log_det_Y - z.log_z)
        slopes, bends, cross = None, None, None
        if with_similarity and self.log_det_Y == -np.inf:
            slopes = np.full(p, np.inf)  # impossible here, and perhaps not for larger parameters
        elif common.pulled is not None and common.bends is not None and J is not None:
            slopes, bends, cross = self._bends(common.pulled, common.bends, J)
        elif common.pulled is not None:
            block = self.block_slopes()
            slopes = block - common.pulled
            error = z.error * np.abs(common.pulled) + self.block_error * np.abs(block)
            if (error > SLOPES * (1 + np.abs(slopes))).any():
                slopes = np.full(p, np.nan)  # two large numbers, the same but for rounding
        hessian = None if z.covariance is None else -z.covariance
        each = Slopes(np.array([value]), d_eta, z.marginals * (1 - z.marginals)) if per_item else None
        return Terms(value, quality.pull_back(self.items, d_eta), hessian, slopes, bends, cross, each)

    def _common(self, request: Request, eta: FloatArray, J: FloatArray | None, k: int | None) -> Common:
        """What does not depend on Y but for its size, if that is given."""
        z, similarity = self.normalizer(eta, J, request.with_similarity, k), request.similarity
        if z is None or z.G is None:
            return Common(z)
        linear = similarity.linear(self.items, z.G) if J is not None and isinstance(similarity, Learned) else None
        small = z._replace(G=None)  # which is as large as S
        if linear is None:
            return Common(small, similarity.pull_back(self.items, z.G))
        return Common(small, linear.slopes, z.G.curvature(linear.directions, eta))

    def normalizer(
        self, eta: FloatArray, J: FloatArray | None = None, with_G: bool = False, k: int | None = None
    ) -> Normalizer | None:
        """log det(I + L), the marginals, and with J = d eta / d parameters the covariance; given |Y| = k, of log e_k.

        None where no set of k items is possible.
        """
        if k is not None:
            return normalize_sized(eta, self.S, k, J, with_G)
        return normalize(eta, self.S, J, with_G, self.dual)

    def _inverse(self) -> Inverse:
        """S_Y^-1."""
        S, k = self.S.similarity, self.Y.size
        X = S.block(self.items, self.Y) if self.S_Y is None else self.S_Y
        if k > 0:
            X, _ = lapack.dpotri(lapack.dpotrf(X, lower=1)[0], lower=1)
        return Inverse(X, np.ones(k), k - S.own * float(X.trace()))

    @property
    def block_error(self) -> float:
        """The relative error to be expected of S_Y^-1."""
        S_Y = self.S.similarity.block(self.items, self.Y)
        return float(EPS / max(float(np.linalg.eigvalsh(S_Y)[0]), EPS)) if self.Y.size else 0.0

    def block_slopes(self) -> FloatArray:
        """d log det S_Y = <S_Y^-1, dS_Y>, pulled back."""
        if self._block is None:
            S = self.S.similarity
            k = self.Y.size
            self._block = S.pull_back(self.items, self._inverse(), self.Y) if k > 0 else np.zeros(S.parameters.size)
        return self._block

    def _bends(
        self, outer: FloatArray, bends: tuple[FloatArray, FloatArray], J: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives in the similarity's parameters, where S is linear in weights.

        d^2 log det S_Y = -<S_Y^-1 C_a, C_b S_Y^-1>, and `bends` has how the normalizer and the marginals change.
        """
        similarity, (bent, moved) = self.S.similarity, bends
        assert isinstance(similarity, Learned)
        slopes, second = -outer, -bent
        if self.Y.size > 0:
            X = self._inverse()
            inner = similarity.linear(self.items, X, self.Y)
            assert inner is not None
            slopes, second = slopes + inner.slopes, second + X.curvature(inner.directions, np.zeros(self.Y.size))[0]
        J_w = similarity.weights_jacobian()
        return J_w.T @ slopes, similarity.bend(slopes, second), -(J.T @ moved) @ J_w

    @property
    def nbytes(self) -> int:
        """About what it holds."""
        return int(self.items.features.nbytes + self.S.nbytes + getattr(self.items.phi, "nnz", self.items.n) * 12)


def same(a: Similarity, b: Similarity) -> bool:
    """Whether two records give the same S."""
    return a is b or (type(a) is type(b) and np.array_equal(a.parameters, b.parameters))


def prefers_dual(n: int, d: int | None) -> bool:
    """Whether 2 n d^2 + d^3 / 3 + n^2 d operations are fewer than n^3."""
    return d is not None and bool(2 * n * d**2 + d**3 / 3 + n**2 * d < n**3)


def log_likelihood(
    theta: ArrayLike,
    item_set: ItemSet,
    subset: ArrayLike,
    *,
    rho: float = 0.0,
    nugget: float = 0.0,
    order: int = 2,
    method: str = "auto",
    with_similarity: bool = False,
    similarity: Similarity | None = None,
    given_size: bool = False,
) -> Terms:
    """log P(Y | X) of one instance, equation (18), its gradient (19) and its Hessian.

    Parameters
    ----------
    theta : array of shape (m,)
    item_set : ItemSet
    subset : item numbers or a boolean mask
        The target Y; may be empty.
    rho, nugget : float
        Value of a constant similarity feature (section 7.2), and what of S is particular to each item.
    order : {1, 2}
        1 leaves out the Hessian.
    method : {"auto", "primal", "dual", "algorithm1"}
        "primal" factors I + L (n x n), "dual" I + B^T B (d x d, needs `phi`), "auto" the cheaper of the
        two; "algorithm1" is the paper's, by eigendecomposition.
    with_similarity : bool
        Also the derivatives in rho^2 and the nugget, or in the parameters of `similarity`; "algorithm1" has none.
    similarity : Similarity, optional
        Another record than the fixed one with `rho` and `nugget`.
    given_size : bool
        The likelihood of Y given |Y|, of a k-DPP, in place of that of Y.

    Returns
    -------
    Terms
        value, gradient, hessian (None for order 1), similarity_gradient (None unless asked for).

    Examples
    --------
    >>> items = ItemSet([[1.0], [1.0]], S=[[1.0, 0.6], [0.6, 1.0]])
    >>> terms = log_likelihood([0.0], items, [0])  # P = 1 / (1 + 1 + 1 + 0.64)
    >>> round(terms.value, 4), terms.gradient.round(4)
    (-1.292, array([0.0989]))
    """
    from dpplearn.learning.algorithm1 import algorithm1

    check_choice(method, "method", ("auto", "primal", "dual", "algorithm1"))
    if order not in (1, 2):
        raise ValueError(f"order must be 1 (value and gradient) or 2 (and Hessian), found {order!r}.")
    theta, Y = check_vector(theta, "theta", item_set.n_features), check_subset(subset, item_set.n)
    record = Fixed(rho, nugget) if similarity is None else similarity
    request = Request(LogLinear(theta), record, order, with_similarity, given_size)
    check_eta(request.quality.eta(item_set))
    if method == "algorithm1":
        if similarity is not None or given_size:
            raise ValueError('method="algorithm1" is the paper\'s: it has no `similarity` and no `given_size`.')
        return algorithm1(theta, item_set, Y, rho=rho, nugget=nugget, order=order)
    found = Example(item_set, Y, request.similarity, method).evaluate(request)
    slopes = found.similarity_gradient
    if slopes is not None and np.isfinite(found.value) and np.isnan(slopes).any():
        raise ValueError(
            "The derivatives in the similarity's parameters are not known here: given the size they are the difference "
            "of two large numbers, which is lost in rounding. Take a larger nugget, such as 1e-4."
        )
    return found
