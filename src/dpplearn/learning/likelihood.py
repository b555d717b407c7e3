"""log P(Y | X) of one instance for a quality and a similarity, with its derivatives.

With eta_i = 2 log q_i, L = diag(q) S diag(q) and K = I - (I + L)^-1:

    value        sum of eta_i over Y  +  log det S_Y  -  log det(I + L)                     (18)
    in eta       1[i in Y] - K_ii, and so in theta  sum of f_i over Y  -  F^T diag(K)        (19)
    Hessian      minus the covariance of the sums of d eta / d theta over Y
    in S         scatter(S_Y^-1, Y) - G, and so in the weights of a mixture

`dpplearn.learning.normalizer` computes log det(I + L) and its derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import lapack

from dpplearn._checks import FloatArray, IntArray, check_subset, check_vector
from dpplearn._linalg import logdet, reduced_rows, reduced_similarity
from dpplearn._notebook import short_repr
from dpplearn._precision import EPS
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.normalizer import normalize
from dpplearn.learning.similarity import ALL, Similarity, fixed_similarity

SMALL_SET = 64  # items up to which S is kept in memory even if phi is sparse
MAX_ETA = 1200.0  # q = e^600 is a float with room to spare
MAX_ETA_KERNEL = 705.0  # L_ii, exp of it, is a float too
MAX_SLOPE_ERROR = 0.01  # relative error beyond which a derivative in the similarity's parameters counts as unknown


@dataclass(frozen=True, eq=False)
class LogLinear:
    """log q_i = theta . f_i / 2, equation (16): the log-likelihood is concave in theta (Proposition 1).

    With `constant`, the first weight is that of a constant 1, for which the item sets have no column. A `center` is
    subtracted from the features: a fit uses it together with a constant.

    Examples
    --------
    >>> items = ItemSet([[1.0, 0.5], [1.0, 2.0]], S=[[1.0, 0.0], [0.0, 1.0]])
    >>> LogLinear(np.array([-1.0, 2.0])).contributions(items)
    array([[-1.,  1.],
           [-1.,  4.]])
    """

    __repr__ = short_repr

    theta: FloatArray
    names: tuple[str, ...] = ()
    constant: bool = False
    center: FloatArray | None = None

    @property
    def n_features(self) -> int:
        return self.theta.size - self.constant

    def jacobian(self, items: ItemSet) -> FloatArray:
        """d eta_i / d theta_j for eta = 2 log q, (n, weights)."""
        F = items.features if self.center is None else items.features - self.center
        return np.column_stack([np.ones(items.n), F]) if self.constant else F

    def eta(self, items: ItemSet) -> FloatArray:
        """2 log q_i of every item."""
        return self.jacobian(items) @ self.theta

    def log_q(self, items: ItemSet) -> FloatArray:
        return self.eta(items) / 2

    def contributions(self, items: ItemSet) -> FloatArray:
        """What each weight adds to 2 log q_i."""
        return self.jacobian(items) * self.theta


def check_eta(eta: FloatArray, limit: float = MAX_ETA) -> FloatArray:
    """2 log q_i of every item; an error if one is above the limit."""
    if np.isfinite(eta).all() and eta.max() <= limit:
        return eta
    i = int(np.where(np.isfinite(eta), eta, np.inf).argmax())
    rule = f"must be at most {limit:g}, and is {eta[i]:.4g} for item {i}"
    raise ValueError(f"2 log q (theta . f) {rule}. Scale the features down, or fit with a smaller prior_variance.")


class Terms(NamedTuple):
    """Value, gradient and Hessian of a log-likelihood in theta, and the gradient in the parameters of a mixture."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    similarity_gradient: FloatArray | None = None

    def __repr__(self) -> str:
        return short_repr(self)


class LikelihoodRequest(NamedTuple):
    """The model at which instances are evaluated, and the derivatives that are needed."""

    quality: LogLinear
    similarity: Similarity
    order: int = 2  # 1 leaves out the Hessian
    with_similarity: bool = False  # the gradient in a mixture's parameters too
    given_size: bool = False  # the likelihood of Y given |Y|
    sample: bool = False  # of about a third of the instances, by which starts are compared

    def impossible(self) -> Terms:
        """The answer if no float holds the likelihood: the solver then takes a shorter step."""
        m = self.quality.theta.size
        return Terms(-np.inf, np.full(m, np.nan), np.full((m, m), np.nan), np.full(self.similarity.w.size, np.nan))

    def total(self, weighted: Iterable[tuple[float, Terms]]) -> Terms:
        """The sum of w times the terms, added in their order, so that every backend gets the same sum."""
        m = self.quality.theta.size
        sums: list[Any] = [0.0, np.zeros(m), np.zeros((m, m)) if self.order == 2 else None]
        sums.append(np.zeros(self.similarity.w.size) if self.with_similarity else None)
        for w, terms in weighted:
            sums = [s if s is None or x is None else s + w * x for s, x in zip(sums, terms, strict=True)]
        return Terms(float(sums[0]), *sums[1:])


class Target(NamedTuple):
    """A chosen subset, how often it counts, and log det S_Y, which does not depend on the quality."""

    weight: float
    Y: IntArray
    log_det: float
    slopes: FloatArray | None = None  # derivatives of log_det in the weights of a mixture
    error: float = 0.0  # their relative error


class Instance:
    """Items with a chosen subset, or several that share S and the normalizer, prepared for many evaluations.

    `subsets` are the targets Y, `weights` how often each counts; a request may come with another `similarity` than the
    one prepared. S and the parts of a mixture stay in memory, unless phi is sparse and far smaller than S: then S is
    made for each evaluation. By cost, either the n x n matrix I + L is factored, or (`dual`) the d x d matrix I + B^T B
    with B = diag(q) rows.
    """

    def __init__(
        self, items: ItemSet, subsets: Sequence[IntArray], weights: Sequence[float], similarity: Similarity
    ) -> None:
        self.items, self.subsets, self.weights, self.names = items, subsets, weights, list[str]()
        self.S: FloatArray | None = None  # of a fixed similarity
        self.C: FloatArray | None = None  # of the parts of a mixture
        n, rank = items.n, similarity.rank(items)
        d = rank or 0
        self.dual = rank is not None and bool(2 * n * d**2 + d**3 / 3 + n**2 * d < n**3)
        self.few_columns = rank is not None and d <= 4 * n
        self.prepare(similarity)

    def prepare(self, similarity: Similarity) -> None:
        """Compute what depends on S alone."""
        self.similarity, self.nugget, self.S = similarity, float(similarity.w[0]), None
        self.shares, self.parts = similarity.parts_of(self.items)
        has_sparse = any(part.matrix is None and sparse.issparse(part.phi) for part in self.parts)
        self.keep = not has_sparse or self.items.n <= SMALL_SET
        if (names := [part.name for part in self.parts]) != self.names:
            self.names, self.C = names, None
            self.blocks = [np.array([part.cosines(Y) for part in self.parts]) for Y in self.subsets]
        by_rows = self.nugget == 0 and all(part.matrix is None for part in self.parts)
        self.targets = []
        for w, Y, C in zip(self.weights, self.subsets, self.blocks, strict=True):
            S_Y = self.mixed(C)
            log_det = logdet(S_Y, partial(self.rows, Y) if by_rows else None)
            self.targets.append(Target(w, Y, log_det, *(block_slopes(C, S_Y) if similarity.names else ())))

    def mixed(self, C: FloatArray) -> FloatArray:
        """S, or S_Y, from the cosines of the parts, (parts, n, n)."""
        S = np.asarray((self.shares @ C.reshape(len(C), -1)).reshape(C.shape[1:]) + self.similarity.w[ALL])
        S.flat[:: len(S) + 1] = 1.0
        return S

    def cosines(self) -> FloatArray:
        """The cosines of the parts of a mixture, (parts, n, n)."""
        if self.C is None:
            self.C = np.array([part.cosines() for part in self.parts])
        return self.C

    def matrix(self) -> FloatArray:
        """S."""
        if self.similarity.names:
            return self.mixed(self.cosines())
        S = self.similarity.matrix(self.items) if self.S is None else self.S
        self.S = S if self.keep else None
        return S

    def rows(self, subset: IntArray | slice = slice(None)) -> FloatArray:
        """Rows with S - nugget I = rows rows^T, where every part has features; of all items or of some."""
        return np.asarray(self.similarity.rows(self.items))[subset]

    def factor(self, log_q: FloatArray) -> FloatArray:
        """Columns with S - nugget I = U U^T in which what depends on better items is exactly 0."""
        scale = np.sqrt(1 - self.nugget)  # rows must have length 1 to be reduced
        if self.few_columns:
            return np.asarray(scale * reduced_rows(self.rows() / scale, log_q).rows)
        M = self.matrix()
        if self.nugget > 0:
            M = M / (1 - self.nugget)
            M.flat[:: len(M) + 1] = 1.0
        return np.asarray(scale * reduced_similarity(M, log_q).rows)

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        """The sum over the targets, each times its weight."""
        quality, similarity, order, with_similarity, given_size, _ = request
        if similarity is not self.similarity and similarity != self.similarity:
            self.prepare(similarity)
        J = quality.jacobian(self.items)
        eta = J @ quality.theta
        if not (np.isfinite(eta).all() and eta.max() <= MAX_ETA):
            return request.impossible()  # no float holds this quality
        value, d_eta = 0.0, np.zeros(eta.size)
        counts = dict[int | None, float]()  # of targets, by size if it is given
        hessian = np.zeros((J.shape[1],) * 2) if order == 2 else None
        terms: list[tuple[float, Any]] = []  # with slopes in the weights of a mixture
        for target in self.targets:
            w, Y, k = target.weight, target.Y, target.Y.size if given_size else None
            value += w * float(eta[Y].sum() + target.log_det)
            d_eta[Y] += w
            counts[k] = counts.get(k, 0.0) + w
            terms.append((w, target))
        for k, w in counts.items():
            z = normalize(eta, self, J if order == 2 else None, with_similarity, k)
            if z is None:
                return request.impossible()
            value -= w * z.log_z
            d_eta -= w * z.marginals
            hessian = None if hessian is None else hessian - w * z.covariance  # type: ignore[operator]  # with J there is one
            terms.append((-w, z))
        if hessian is not None:
            hessian = (hessian + hessian.T) / 2
        if not with_similarity:
            return Terms(value, d_eta @ J, hessian)
        if any(term.slopes is None for _, term in terms):
            return request.impossible()
        T = (similarity.w[:, None] * similarity.slopes()).T  # dw / dz
        gradient = T @ sum(w * term.slopes for w, term in terms)
        error = np.abs(T) @ sum(abs(w) * term.error * np.abs(term.slopes) for w, term in terms)
        if (error > MAX_SLOPE_ERROR * (1 + np.abs(gradient))).any():
            gradient = np.full(gradient.size, np.nan)  # the difference of two large numbers: only rounding is left
        return Terms(value, d_eta @ J, hessian, gradient)


def block_slopes(C: FloatArray, S_Y: FloatArray) -> tuple[FloatArray, float] | tuple[()]:
    """Derivatives <S_Y^-1, C_a> of log det S_Y in the weights, with their relative error; empty if S_Y is singular."""
    k = len(S_Y)
    if k == 0:
        return np.zeros(len(C) + 2), 0.0
    factor, info = lapack.dpotrf(S_Y, lower=1)
    if info != 0:
        return ()
    inverse = lapack.dpotrs(factor, np.eye(k), lower=1)[0]
    slopes = np.concatenate([[inverse.trace(), inverse.sum()], C.reshape(len(C), -1) @ inverse.ravel()])
    return slopes, EPS / float(factor.diagonal().min()) ** 2


def log_likelihood(
    theta: ArrayLike,
    item_set: ItemSet,
    subset: ArrayLike,
    *,
    rho: float = 0.0,
    nugget: float = 0.0,
    order: int = 2,
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
        Value of a constant similarity feature (section 7.2), and the share of S that is particular to each item.
    order : {1, 2}
        1 leaves out the Hessian.
    similarity : Similarity, optional
        Weights of the named parts, instead of `rho` and `nugget`.
    given_size : bool
        Whether to condition on |Y|, which makes it the likelihood of a k-DPP.

    Returns
    -------
    Terms
        value, gradient, hessian (None for order 1), similarity_gradient (in the parameters of `similarity`: None if
        it has no names, nan if rounding leaves no digits).

    Examples
    --------
    >>> items = ItemSet([[1.0], [1.0]], S=[[1.0, 0.6], [0.6, 1.0]])
    >>> terms = log_likelihood([0.0], items, [0])  # P = 1 / (1 + 1 + 1 + 0.64)
    >>> round(terms.value, 4), terms.gradient.round(4)
    (-1.292, array([0.0989]))
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 (value and gradient) or 2 (and Hessian), found {order!r}.")
    theta, Y = check_vector(theta, "theta", item_set.n_features), check_subset(subset, item_set.n)
    similarity = fixed_similarity(rho, nugget) if similarity is None else similarity
    request = LikelihoodRequest(LogLinear(theta), similarity, order, bool(similarity.names), given_size)
    check_eta(request.quality.eta(item_set))
    return Instance(item_set, [Y], [1.0], similarity).evaluate(request)


def algorithm1(theta: FloatArray, item_set: ItemSet, Y: IntArray, rho: float = 0.0, nugget: float = 0.0) -> Terms:
    """Algorithm 1 of the paper, by eigendecomposition; tests and benchmarks compare the faster likelihood with it."""
    F, S = item_set.features, item_set.similarity_matrix(rho, nugget)
    q = np.exp(F @ theta / 2)
    lam, V = np.linalg.eigh(q[:, None] * S * q)
    lam = np.maximum(lam, 0.0)
    K = (V * (lam / (1 + lam))) @ V.T  # its diagonal is step 4: K_ii = sum over eigenpairs of lam / (1 + lam) v_i^2
    value = F[Y].sum(axis=0) @ theta + logdet(S[np.ix_(Y, Y)]) - np.log1p(lam).sum()
    return Terms(float(value), F[Y].sum(axis=0) - K.diagonal() @ F, -F.T @ (np.diag(K.diagonal()) - K**2) @ F)
