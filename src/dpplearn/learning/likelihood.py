"""log P(Y | X) of one instance under a quality and a similarity, with its derivatives.

With eta_i = 2 log q_i, L = diag(q) S diag(q) and K = I - (I + L)^-1:

    value        sum of eta_i over Y  +  log det S_Y  -  log det(I + L)                     (18)
    in eta       1[i in Y] - K_ii, which the quality pulls back to its parameters:
                 for theta it is  sum of f_i over Y  -  F^T diag(K)                          (19)
    Hessian      minus the covariance of the sums of d eta / d parameters over Y
    in S         scatter(S_Y^-1, Y) - G, which a mixture pulls back to its parameters

`dpplearn.learning.normalizer` has log det(I + L) and its derivatives.
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

from dpplearn._checks import FloatArray, IntArray, check_choice, check_subset, check_vector
from dpplearn._linalg import logdet, reduced_rows, reduced_similarity
from dpplearn._notebook import short_repr
from dpplearn._precision import EPS
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.normalizer import normalize
from dpplearn.learning.similarity import ALL, Similarity, fixed_similarity

FEW_ITEMS = 64  # items whose S is kept whatever it is made of
MAX_ETA = 1200.0  # q = e^600 is a float with room to spare
MAX_ETA_KERNEL = 705.0  # exp of it, L_ii, still is one
SLOPES = 0.01  # error of a derivative in the similarity's parameters, relative, beyond which it is not known


@dataclass(frozen=True, eq=False)
class LogLinear:
    """log q_i = theta . f_i / 2, equation (16): the log-likelihood is concave in theta (Proposition 1).

    With `constant`, the first weight is that of a constant 1, which the item sets have no column for. With a `center`,
    features are taken less it: a fit works so where it has a constant.

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
    """2 log q_i of every item, none above the limit."""
    if np.isfinite(eta).all() and eta.max() <= limit:
        return eta
    i = int(np.where(np.isfinite(eta), eta, np.inf).argmax())
    said = f"must be at most {limit:g}, and is {eta[i]:.4g} for item {i}"
    raise ValueError(f"2 log q (theta . f) {said}. Scale the features down, or fit with a smaller prior_variance.")


class Terms(NamedTuple):
    """Value, gradient and Hessian of a log-likelihood in theta, and the gradient in the parameters of a mixture."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    similarity_gradient: FloatArray | None = None

    def __repr__(self) -> str:
        return short_repr(self)


class LikelihoodRequest(NamedTuple):
    """The model at which instances are evaluated, and which derivatives they give."""

    quality: LogLinear
    similarity: Similarity
    order: int = 2  # 1 leaves out the Hessian
    with_similarity: bool = False  # the gradient in a mixture's parameters too
    given_size: bool = False  # the likelihood of Y given |Y|
    sample: bool = False  # of about a third of the instances, by which starts are compared

    def impossible(self) -> Terms:
        """The answer where no float holds the likelihood: the solver turns a step back that came here."""
        m = self.quality.theta.size
        return Terms(-np.inf, np.full(m, np.nan), np.full((m, m), np.nan), np.full(self.similarity.w.size, np.nan))

    def total(self, weighted: Iterable[tuple[float, Terms]]) -> Terms:
        """The sum of w times the terms, in the order given, so that every backend adds the same numbers."""
        m = self.quality.theta.size
        sums: list[Any] = [0.0, np.zeros(m), np.zeros((m, m)) if self.order == 2 else None]
        sums.append(np.zeros(self.similarity.w.size) if self.with_similarity else None)
        for w, terms in weighted:
            sums = [s if s is None or x is None else s + w * x for s, x in zip(sums, terms, strict=True)]
        return Terms(float(sums[0]), *sums[1:])


class Target(NamedTuple):
    """A chosen subset, how often it counts, and what does not depend on the quality: log det S_Y."""

    weight: float
    Y: IntArray
    log_det: float
    slopes: FloatArray | None = None  # of it in the weights of a mixture,
    error: float = 0.0  # and the relative error to be expected of them


class Instance:
    """Items with a chosen subset, or several that share S and the normalizer, made ready for many evaluations.

    S stays in memory, and so do the parts of a mixture; that of many items with sparse phi, which is far smaller, is
    made for each evaluation.

    `subsets` are the targets Y, `weights` how often each counts; a request may come with another `similarity` than the
    one prepared. By cost, or by `method`, the n x n matrix I + L is factored ("primal"), or the d x d matrix I + B^T B
    with B = diag(q) rows ("dual").
    """

    def __init__(
        self,
        items: ItemSet,
        subsets: Sequence[IntArray],
        weights: Sequence[float],
        similarity: Similarity,
        method: str = "auto",
    ) -> None:
        self.items, self.subsets, self.weights, self.names = items, subsets, weights, list[str]()
        self.S: FloatArray | None = None  # of a fixed similarity
        self.C: FloatArray | None = None  # of the parts of a mixture
        rank = similarity.rank(items)
        if method == "dual" and rank is None:
            raise ValueError('method="dual" needs similarity features phi; this ItemSet was given similarity.')
        n, d = items.n, rank or 0  # n^3 operations, or fewer by the dual
        few = rank is not None and bool(2 * n * d**2 + d**3 / 3 + n**2 * d < n**3)
        self.dual = method == "dual" or (method == "auto" and few)
        self.prepare(similarity)

    def prepare(self, similarity: Similarity) -> None:
        """What depends on S alone."""
        self.similarity, self.nugget, self.S = similarity, float(similarity.w[0]), None
        self.shares, self.parts = similarity.parts_of(self.items)
        rare = any(part.matrix is None and sparse.issparse(part.phi) for part in self.parts)
        self.keep = not rare or self.items.n <= FEW_ITEMS
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
        """S, or S_Y, from the cosines of the parts: the first of the three axes is that of the parts."""
        S = np.asarray((self.shares @ C.reshape(len(C), -1)).reshape(C.shape[1:]) + self.similarity.w[ALL])
        S.flat[:: len(S) + 1] = 1.0
        return S

    def cosines(self) -> FloatArray:
        """Those of the parts of a mixture: (parts, n, n)."""
        if self.C is None:
            self.C = np.array([part.cosines() for part in self.parts])
        return self.C

    def matrix(self) -> FloatArray:
        """S itself."""
        if self.similarity.names:
            return self.mixed(self.cosines())
        S = self.similarity.matrix(self.items) if self.S is None else self.S
        self.S = S if self.keep else None
        return S

    def rows(self, subset: IntArray | None = None) -> FloatArray:
        """Rows with S - nugget I = rows rows^T, of all items or of some."""
        rows = self.similarity.rows(self.items)
        assert rows is not None  # asked for where there are some
        return rows if subset is None else rows[subset]

    def factor(self, log_q: FloatArray) -> FloatArray:
        """Columns with S - nugget I = U U^T in which what depends on better items is exactly 0."""
        scale = np.sqrt(1 - self.nugget)  # rows of length 1 are reduced, and the kernel of qualities q scale
        rank = self.similarity.rank(self.items)
        if rank is not None and rank <= 4 * self.items.n:
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
        value, d_eta, counts = 0.0, np.zeros(eta.size), dict[int | None, float]()  # of all targets, or of each size
        hessian = np.zeros((J.shape[1],) * 2) if order == 2 else None
        known: list[tuple[float, Any]] = []  # what has slopes in the weights of a mixture
        for target in self.targets:
            w, Y, k = target.weight, target.Y, target.Y.size if given_size else None
            value += w * float(eta[Y].sum() + target.log_det)
            d_eta[Y] += w
            counts[k] = counts.get(k, 0.0) + w
            known.append((w, target))
        for k, w in counts.items():
            z = normalize(eta, self, J if order == 2 else None, with_similarity, k)
            if z is None:
                return request.impossible()
            value -= w * z.log_z
            d_eta -= w * z.marginals
            hessian = None if hessian is None else hessian - w * z.covariance  # type: ignore[operator]  # with J it is there
            known.append((-w, z))
        if hessian is not None:
            hessian = (hessian + hessian.T) / 2
        terms = Terms(value, d_eta @ J, hessian)
        if not with_similarity:
            return terms
        if any(part.slopes is None for _, part in known):
            return request.impossible()
        T = (similarity.w[:, None] * similarity.slopes()).T  # dw / dz
        gradient = T @ sum(w * part.slopes for w, part in known)
        error = np.abs(T) @ sum(abs(w) * part.error * np.abs(part.slopes) for w, part in known)
        if (error > SLOPES * (1 + np.abs(gradient))).any():
            gradient = np.full(gradient.size, np.nan)  # two large numbers, the same but for rounding
        return terms._replace(similarity_gradient=gradient)


def block_slopes(C: FloatArray, S_Y: FloatArray) -> tuple[FloatArray, float] | tuple[()]:
    """Of log det S_Y in the weights: <S_Y^-1, C_a>, with their relative error."""
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
    method: str = "auto",
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
    method : {"auto", "primal", "dual"}
        "primal" factors I + L (n x n), "dual" I + B^T B (d x d, needs `phi`), "auto" the cheaper of the two.
    similarity : Similarity, optional
        Weights of the named parts, in place of `rho` and `nugget`.
    given_size : bool
        The likelihood of Y given |Y|, of a k-DPP, in place of that of Y.

    Returns
    -------
    Terms
        value, gradient, hessian (None for order 1), similarity_gradient (in the parameters of `similarity`, None
        without names; nan where it is lost in rounding, as the difference of two large numbers).

    Examples
    --------
    >>> items = ItemSet([[1.0], [1.0]], S=[[1.0, 0.6], [0.6, 1.0]])
    >>> terms = log_likelihood([0.0], items, [0])  # P = 1 / (1 + 1 + 1 + 0.64)
    >>> round(terms.value, 4), terms.gradient.round(4)
    (-1.292, array([0.0989]))
    """
    check_choice(method, "method", ("auto", "primal", "dual"))
    if order not in (1, 2):
        raise ValueError(f"order must be 1 (value and gradient) or 2 (and Hessian), found {order!r}.")
    theta, Y = check_vector(theta, "theta", item_set.n_features), check_subset(subset, item_set.n)
    record = fixed_similarity(rho, nugget) if similarity is None else similarity
    request = LikelihoodRequest(LogLinear(theta), record, order, bool(record.names), given_size)
    check_eta(request.quality.eta(item_set))
    return Instance(item_set, [Y], [1.0], record, method).evaluate(request)


def algorithm1(theta: FloatArray, item_set: ItemSet, Y: IntArray, rho: float = 0.0, nugget: float = 0.0) -> Terms:
    """Algorithm 1 of the paper, by eigendecomposition: what the faster likelihood is compared with."""
    F, S = item_set.features, item_set.similarity_matrix(rho, nugget)
    q = np.exp(F @ theta / 2)
    lam, V = np.linalg.eigh(q[:, None] * S * q)
    lam = np.maximum(lam, 0.0)
    K = (V * (lam / (1 + lam))) @ V.T  # its diagonal is step 4: K_ii = sum over eigenpairs of lam / (1 + lam) v_i^2
    value = F[Y].sum(axis=0) @ theta + logdet(S[np.ix_(Y, Y)]) - np.log1p(lam).sum()
    return Terms(float(value), F[Y].sum(axis=0) - K.diagonal() @ F, -F.T @ (np.diag(K.diagonal()) - K**2) @ F)
