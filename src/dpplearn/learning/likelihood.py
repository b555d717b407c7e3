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
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from dpplearn._checks import FloatArray, IntArray, check_choice, check_subset, check_vector
from dpplearn._linalg import logdet
from dpplearn._notebook import short_repr
from dpplearn._precision import EPS
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.normalizer import ItemSimilarity, Normalizer, normalize
from dpplearn.learning.quality import MAX_ETA, LogLinear, Quality, check_eta
from dpplearn.learning.similarity import Fixed, Mixture, Similarity
from dpplearn.learning.sized import normalize_sized

SLOPES = 0.01  # error of a derivative in the similarity's parameters, relative, beyond which it is not known


class Terms(NamedTuple):
    """Value, gradient and Hessian of a log-likelihood in the quality's parameters, and in those of a mixture."""

    value: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    similarity_gradient: FloatArray | None = None
    similarity_hessian: FloatArray | None = None
    cross: FloatArray | None = None  # second derivatives in the quality's parameters (rows) and the mixture's

    def __repr__(self) -> str:
        return short_repr(self)


class LikelihoodRequest(NamedTuple):
    """The model at which instances are evaluated, and which derivatives they give."""

    quality: Quality
    similarity: Similarity
    order: int = 2  # 1 leaves out the Hessian
    with_similarity: bool = False  # the derivatives in a mixture's parameters too
    given_size: bool = False  # the likelihood of Y given |Y|
    sample: bool = False  # of about a third of the instances, by which starts are compared

    def impossible(self) -> Terms:
        """The answer where no float holds the likelihood: the solver turns a step back that came here."""
        m = self.quality.parameters.size
        p = self.similarity.w.size if isinstance(self.similarity, Mixture) else 0
        return Terms(-np.inf, np.full(m, np.nan), np.full((m, m), np.nan), np.full(p, np.nan))

    def total(self, weighted: Iterable[tuple[float, Terms]]) -> Terms:
        """The sum of w times the terms, in the order given, so that every backend adds the same numbers."""
        m = self.quality.parameters.size
        sums: list[FloatArray | None] = [np.zeros(()), np.zeros(m), np.zeros((m, m)) if self.order == 2 else None]
        learned = self.with_similarity and isinstance(self.similarity, Mixture)
        sums += [np.zeros(self.similarity.w.size) if learned else None, None, None]  # type: ignore[union-attr]  # learned
        for w, terms in weighted:
            for j, x in enumerate(terms):
                if x is not None:
                    sums[j] = np.asarray(w * x if (s := sums[j]) is None else s + w * x)
        return Terms(float(sums[0]), *sums[1:])  # type: ignore[arg-type]  # the first two are never None


class Target(NamedTuple):
    """A chosen subset, how often it counts, and what does not depend on the quality: log det S_Y."""

    weight: float
    Y: IntArray
    log_det: float
    slopes: FloatArray | None = None  # of it in the weights of a mixture,
    curvature: FloatArray | None = None  # its second derivatives,
    error: float = 0.0  # and the relative error to be expected of them


class Instance:
    """Items with a chosen subset, or several that share S and the normalizer, made ready for many evaluations.

    Parameters
    ----------
    items : ItemSet
    subsets, weights : sequences
        The targets Y, and how often each counts.
    similarity : Similarity
        What is prepared; a request may come with another.
    method : {"auto", "primal", "dual"}
        Factor the n x n matrix I + L, or the d x d matrix I + B^T B with B = diag(q) rows; by cost.
    """

    def __init__(
        self,
        items: ItemSet,
        subsets: Sequence[IntArray],
        weights: Sequence[float],
        similarity: Similarity,
        method: str = "auto",
    ) -> None:
        self.items, self.subsets, self.weights = items, subsets, weights
        rank = similarity.rank(items)
        if method == "dual" and rank is None:
            raise ValueError('method="dual" needs similarity features phi; this ItemSet was given similarity.')
        self.dual = method == "dual" or (method == "auto" and prefers_dual(items.n, rank))
        self.prepare(similarity)

    def prepare(self, similarity: Similarity) -> None:
        """What depends on S alone."""
        self.S = ItemSimilarity(self.items, similarity)
        by_rows = similarity.nugget == 0 and self.items.similarity is None
        self.targets = []
        for w, Y in zip(self.weights, self.subsets, strict=True):
            S_Y = similarity.block(self.items, Y)
            log_det = logdet(S_Y, partial(self.rows_of, Y) if by_rows else None)
            derivatives = block_derivatives(self.items, similarity, Y, S_Y) if isinstance(similarity, Mixture) else ()
            self.targets.append(Target(w, Y, log_det, *derivatives))

    def rows_of(self, Y: IntArray) -> FloatArray:
        """Rows with S_Y = rows rows^T, where there is no nugget."""
        return self.S.rows()[Y]

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        """The sum over the targets, each times its weight."""
        quality, similarity, order, with_similarity, given_size, _ = request
        if similarity is not self.S.similarity and similarity != self.S.similarity:
            self.prepare(similarity)
        eta = quality.eta(self.items)
        if not (np.isfinite(eta).all() and eta.max() <= MAX_ETA):
            return request.impossible()  # no float holds this quality
        J = quality.jacobian(self.items) if order == 2 else None
        normalizers: dict[int | None, Normalizer] = {}  # one for all targets, or for those of each size
        value, d_eta, counts = 0.0, np.zeros(eta.size), dict[int | None, float]()
        for target in self.targets:
            w, Y, k = target.weight, target.Y, target.Y.size if given_size else None
            if k not in normalizers:
                z = self.normalizer(eta, J, with_similarity, k)
                if z is None or (with_similarity and target.slopes is None):
                    return request.impossible()
                normalizers[k] = z
            z, counts[k] = normalizers[k], counts.get(k, 0.0) + w
            value += w * float(eta[Y].sum() + target.log_det - z.log_z)
            d_eta -= w * z.marginals
            d_eta[Y] += w
        terms = Terms(value, quality.pull_back(self.items, d_eta))
        if J is not None:
            hessian = np.zeros((J.shape[1],) * 2)
            for k, c in counts.items():
                hessian -= c * normalizers[k].covariance  # type: ignore[operator]  # with J it is there
            terms = terms._replace(hessian=hessian)
        return self.with_weights(terms, normalizers, counts, J) if with_similarity else terms

    def with_weights(
        self,
        terms: Terms,
        normalizers: dict[int | None, Normalizer],
        counts: dict[int | None, float],
        J: FloatArray | None,
    ) -> Terms:
        """The terms with derivatives in the parameters of the mixture, from those in its weights."""
        similarity = self.S.similarity
        assert isinstance(similarity, Mixture)
        p = similarity.w.size
        slopes, second, error, moved = np.zeros(p), np.zeros((p, p)), np.zeros(p), np.zeros((self.items.n, p))
        known: list[tuple[float, Any]] = [(target.weight, target) for target in self.targets]
        for c, part in known + [(-c, normalizers[k]) for k, c in counts.items()]:
            slopes += c * part.slopes
            error += abs(c) * part.error * np.abs(part.slopes)
            if J is not None:
                second += c * part.curvature
                moved += c * getattr(part, "moved", 0.0)
        jacobian = similarity.jacobians[0]
        gradient = jacobian.T @ slopes
        if (np.abs(jacobian.T) @ error > SLOPES * (1 + np.abs(gradient))).any():
            gradient = np.full(p, np.nan)  # two large numbers, the same but for rounding
        if J is None:
            return terms._replace(similarity_gradient=gradient)
        hessian = similarity.chain(slopes, second)[1]
        return terms._replace(similarity_gradient=gradient, similarity_hessian=hessian, cross=(J.T @ moved) @ jacobian)

    def normalizer(
        self, eta: FloatArray, J: FloatArray | None = None, weights: bool = False, k: int | None = None
    ) -> Normalizer | None:
        """log Z with its derivatives; given |Y| = k, that of the k-DPP, and None where no set of k is possible."""
        if k is None:
            return normalize(eta, self.S, J, weights, self.dual)
        return normalize_sized(eta, self.S, k, J, weights)

    @property
    def nbytes(self) -> int:
        """About what it holds."""
        kept = 0 if self.S.kept is None else self.S.kept.nbytes
        return int(self.items.features.nbytes + kept + getattr(self.items.phi, "nnz", self.items.n) * 12)


def block_derivatives(
    items: ItemSet, mixture: Mixture, Y: IntArray, S_Y: FloatArray
) -> tuple[FloatArray, FloatArray, float] | tuple[()]:
    """Of log det S_Y in the weights: <S_Y^-1, C_a> and -<S_Y^-1 C_a, C_b S_Y^-1>, with their relative error."""
    k, p, places = Y.size, mixture.w.size, mixture.places(items)
    if k == 0:
        return np.zeros(p), np.zeros((p, p)), 0.0
    factor, info = lapack.dpotrf(S_Y, lower=1)
    if info != 0:
        return ()
    blocks = items.part_blocks(Y) if places is None else items.part_blocks(Y)[places]
    A = np.empty((p, k, k))  # S_Y^-1 C_a
    A[0] = lapack.dpotrs(factor, np.eye(k), lower=1)[0]
    A[1] = A[0].sum(axis=1)[:, None]
    np.matmul(A[0], blocks, out=A[2:])
    turned = A.transpose(0, 2, 1).reshape(p, -1)
    return A.trace(axis1=1, axis2=2), -(A.reshape(p, -1) @ turned.T), EPS / float(factor.diagonal().min()) ** 2


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
        Also the derivatives in the parameters of `similarity`, which is then a Mixture; "algorithm1" has none.
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
    check_choice(method, "method", ("auto", "primal", "dual", "algorithm1"))
    if order not in (1, 2):
        raise ValueError(f"order must be 1 (value and gradient) or 2 (and Hessian), found {order!r}.")
    theta, Y = check_vector(theta, "theta", item_set.n_features), check_subset(subset, item_set.n)
    record = Fixed(rho, nugget) if similarity is None else similarity
    if with_similarity and not isinstance(record, Mixture):
        raise ValueError(
            "with_similarity=True asks for derivatives in the weights of a mixture: pass similarity=Mixture(...)."
        )
    request = LikelihoodRequest(LogLinear(theta), record, order, with_similarity, given_size)
    check_eta(request.quality.eta(item_set))
    if method == "algorithm1":
        if similarity is not None or given_size:
            raise ValueError('method="algorithm1" is the paper\'s: it has no `similarity` and no `given_size`.')
        return algorithm1(theta, item_set, Y, rho=rho, nugget=nugget, order=order)
    found = Instance(item_set, [Y], [1.0], record, method).evaluate(request)
    slopes = found.similarity_gradient
    if slopes is not None and np.isfinite(found.value) and np.isnan(slopes).any():
        raise ValueError(
            "The derivatives in the similarity's parameters are not known here: given the size they are the difference "
            "of two large numbers, which is lost in rounding. Take a larger nugget, such as 1e-4."
        )
    return found


def algorithm1(
    theta: FloatArray, item_set: ItemSet, Y: IntArray, *, rho: float = 0.0, nugget: float = 0.0, order: int = 1
) -> Terms:
    """Algorithm 1 of the paper, by eigendecomposition: what the faster likelihood is compared with."""
    F = item_set.features
    q = np.exp(F @ theta / 2)
    S = item_set.similarity_matrix(rho, nugget)
    lam, V = np.linalg.eigh(q[:, None] * S * q)
    lam = np.maximum(lam, 0.0)
    p = lam / (1 + lam)
    k = (V**2) @ p  # step 4: K_ii = sum over eigenpairs of lam / (1 + lam) v_i^2
    value = F[Y].sum(axis=0) @ theta + logdet(S[np.ix_(Y, Y)]) - np.log1p(lam).sum()
    gradient = F[Y].sum(axis=0) - k @ F
    hessian = None
    if order == 2:
        K = (V * p) @ V.T
        hessian = -F.T @ (np.diag(k) - K**2) @ F
    return Terms(float(value), gradient, hessian)
