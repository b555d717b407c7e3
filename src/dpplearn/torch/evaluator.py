"""Evaluates the likelihood with torch: instances of similar size become one tensor, on any device, in float64.

The formulas are those of `dpplearn.learning.normalizer`, with triangular inverses of batches instead of LAPACK's. An
instance whose Cholesky factor is too inaccurate (items too similar, qualities too large) is evaluated by numpy, and so
are all instances for the likelihood given the size, and for derivatives in the weights of a mixture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dpplearn._precision import MIN_PIVOT
from dpplearn.learning.itemset import Shard
from dpplearn.learning.likelihood import MAX_ETA, Instance, LikelihoodRequest, Terms
from dpplearn.learning.normalizer import LOG_WIDE
from dpplearn.learning.similarity import Similarity
from dpplearn.torch.determinants import SHARE, free_bytes, in_batches, inverse_lower

WORK = 6  # an evaluation makes at most so many arrays of the size of S
STAGE = 2**28  # so many bytes are put together at a time and sent to the device


class Batches:
    """Evaluates shards in batches on a device, "cuda", "cuda:1" or "cpu"; the default is a GPU if there is one."""

    def __init__(self, device: Any = None) -> None:
        here = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = str(torch.device(here if device is None else device))
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise ValueError(f"device={self.device!r} needs a GPU, but torch finds none. Leave it out.")

    def prepare(self, shard: Shard, similarity: Similarity) -> Prepared:
        return Prepared(shard, similarity, torch.device(self.device))


class Tensors(NamedTuple):
    """Instances, padded with items of quality 0; S is a matrix, or rows whose products are the shared part of it."""

    S: Tensor  # (b, n, n), or (b, n, d)
    F: Tensor  # (b, n, m)
    there: Tensor  # (b, n) whether the item exists
    target: Tensor  # (b, n) whether it was chosen
    weight: Tensor  # (b,)
    log_det: Tensor  # (b,) log det S_Y


@dataclass
class Bucket:
    """Instances of similar size that take the same route; their tensors stay on the device if there is room."""

    dual: bool
    n: int
    d: int  # columns of S
    examples: list[Instance] = field(default_factory=list)
    kept: Tensors | None = None

    @property
    def each(self) -> int:
        """Bytes that the work on one instance takes."""
        return 8 * WORK * self.n * max(self.n, self.examples[0].items.n_features)

    def tensors(self, low: int, high: int, device: torch.device) -> Tensors:
        """The tensors of the instances from low to high - 1."""
        if self.kept is not None:
            return Tensors(*(x[low:high] for x in self.kept))
        step = max(1, STAGE // (8 * self.n * self.d))
        parts = [self._stacked(self.examples[a : min(a + step, high)], device) for a in range(low, high, step)]
        return Tensors(*map(torch.cat, zip(*parts, strict=True)))

    def keep(self, device: torch.device) -> None:
        """Keep all instances on a GPU if half of its free memory is enough; on a CPU, unless S is sparse."""
        examples = self.examples
        bytes_ = 8 * len(examples) * self.n * (self.d + examples[0].items.n_features)
        fits = examples[0].keep if device.type == "cpu" else bytes_ <= SHARE * free_bytes(device)
        self.kept = self.tensors(0, len(examples), device) if fits else None

    def _stacked(self, examples: list[Instance], device: torch.device) -> Tensors:
        shape = len(examples), self.n
        S, F = np.zeros((*shape, self.d)), np.zeros((*shape, examples[0].items.n_features))
        there, target = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        for t, example in enumerate(examples):
            rows, n = example.rows() if self.dual else example.similarity.matrix(example.items), example.items.n
            S[t, :n, : rows.shape[1]], F[t, :n] = rows, example.items.features
            there[t, :n] = target[t, example.subsets[0]] = True
        weight, log_det = np.array([(x.targets[0].weight, x.targets[0].log_det) for x in examples]).T.copy()
        return Tensors(*(torch.from_numpy(x).to(device) for x in (S, F, there, target, weight, log_det)))


class Normalized(NamedTuple):
    """log det(I + L'), P(i in Y) under L', and X: off the diagonal K'_ij^2 = h_i h_j X_ij^2."""

    log_z: Tensor
    k: Tensor
    h: Tensor
    X: Tensor | None  # None if only the marginals are needed
    good: Tensor  # whether the factor is accurate


class Prepared:
    """The instances of a shard, sorted into buckets."""

    def __init__(self, shard: Shard, similarity: Similarity, device: torch.device) -> None:
        self.shard, self.device = shard, device
        self._place(similarity)

    def _place(self, similarity: Similarity) -> None:
        """Sort instances into buckets; for another S the rank, and so the route, may be different."""
        self.similarity, self.in_order, buckets = similarity, list[Instance](), dict[tuple[int, ...], Bucket]()
        for w, items, Y in zip(self.shard.weights.tolist(), self.shard.item_sets, self.shard.subsets, strict=True):
            example = Instance(items, [Y], [w], similarity)
            n = rounded(items.n)
            d = rounded(similarity.rank(items) or 1) if example.dual else n
            buckets.setdefault((example.dual, n, d), Bucket(example.dual, n, d)).examples.append(example)
            self.in_order.append(example)
        self.buckets = [buckets[key] for key in sorted(buckets)]
        for bucket in self.buckets:
            bucket.keep(self.device)

    def evaluate(self, request: LikelihoodRequest) -> Terms:
        if request.similarity != self.similarity:
            self._place(request.similarity)
        if request.given_size or request.with_similarity:
            return request.total((1.0, example.evaluate(request)) for example in self.in_order)  # by numpy
        parts: list[tuple[float, Terms]] = []
        for bucket in self.buckets:
            work = partial(evaluate_batch, bucket, request, self.device)
            for batch in in_batches(len(bucket.examples), bucket.each, self.device, work):
                parts += batch
        return request.total(parts)


def rounded(n: int) -> int:
    """The size to which n is padded, at most an eighth more than n."""
    step = max(8, 2 ** (max(n, 1).bit_length() - 4))
    return -(-n // step) * step


def evaluate_batch(
    bucket: Bucket, request: LikelihoodRequest, device: torch.device, low: int, high: int
) -> list[tuple[float, Terms]]:
    """The weighted sum over a batch, followed by the instances that numpy evaluated."""
    quality, similarity, order = request[:3]
    data = bucket.tensors(low, high, device)
    F = data.F
    if quality.center is not None:
        F = torch.where(data.there.unsqueeze(-1), F - torch.tensor(quality.center, device=device), 0.0)
    if quality.constant:
        F = torch.cat([data.there.unsqueeze(-1).to(F.dtype), F], -1)
    eta = F @ torch.tensor(quality.theta, device=device)
    fine = (torch.isfinite(eta) & (eta <= MAX_ETA) | ~data.there).all(-1)
    eta = torch.where(data.there & fine.unsqueeze(-1), eta, -float("inf"))
    nugget = similarity.nugget
    log_D = torch.logaddexp(torch.zeros_like(eta), eta + np.log(nugget)) if nugget > 0 else torch.zeros_like(eta)
    z = shared(eta - log_D, data.S, nugget, bucket.dual, order == 2)
    good = z.good & fine
    s = torch.exp(-log_D)
    k = (1.0 - s * (1.0 - z.k)).clamp(0.0, 1.0)  # K_ii = 1 - s_i (1 - K'_ii)
    weight = torch.where(good, data.weight, 0.0)
    values = torch.where(data.target, eta, 0.0).sum(-1) + data.log_det - (z.log_z + log_D.sum(-1))
    value = torch.where(good, weight * values, 0.0).sum()
    d_eta = data.target.double() - k
    gradient = ((weight.unsqueeze(-1) * d_eta).flatten() @ F.flatten(0, 1)).cpu().numpy()
    hessian = None if z.X is None else -covariance(F, z.k, z.h, z.X, s, weight).cpu().numpy()
    total = Terms(float(value), gradient, hessian)
    others = torch.nonzero(~good).flatten().tolist()
    return [(1.0, total), *((1.0, bucket.examples[low + t].evaluate(request)) for t in others)]


def shared(eta: Tensor, S: Tensor, nugget: float, dual: bool, more: bool) -> Normalized:
    """The normalizer of L' = diag(q) (S - nugget I) diag(q); `dpplearn.learning.normalizer` explains the two routes."""
    if dual:
        q = torch.exp(eta / 2)
        B = q.unsqueeze(-1) * S
        A = B.mT @ B
        A.diagonal(dim1=-2, dim2=-1).add_(1.0)
        C, T, good = accurate(A, (eta <= LOG_WIDE).all(-1), 0.0)
        W = B @ T.mT  # K' = W W^T
        k = W.square().sum(-1).clamp(max=1.0)
        X = None
        if more:
            X = -(W @ W.mT)
            X.diagonal(dim1=-2, dim2=-1).add_(1.0)
        return Normalized(2 * C.diagonal(dim1=-2, dim2=-1).log().sum(-1), k, torch.ones_like(q), X, good)
    log_d = (eta / 2).clamp(min=0.0)
    r, g = torch.exp(eta / 2 - log_d), torch.exp(-2 * log_d)
    M = S * r.unsqueeze(-1)
    M *= r.unsqueeze(-2)
    M.diagonal(dim1=-2, dim2=-1).add_(g - nugget * r.square())
    C, T, good = accurate(M, torch.ones_like(eta[:, 0], dtype=torch.bool), MIN_PIVOT)
    log_z = 2 * (C.diagonal(dim1=-2, dim2=-1).log().sum(-1) + log_d.sum(-1))
    X = T.mT @ T if more else None
    out = g * (T.square().sum(-2) if X is None else X.diagonal(dim1=-2, dim2=-1))
    return Normalized(log_z, (1.0 - out).clamp(min=0.0), g, X, good)


def accurate(A: Tensor, good: Tensor, least: float) -> tuple[Tensor, Tensor, Tensor]:
    """The Cholesky factor (I if it is bad), its inverse, and whether pivots are at least this share of the diagonal."""
    C, info = torch.linalg.cholesky_ex(A)
    pivots = C.diagonal(dim1=-2, dim2=-1)
    good = good & (info == 0) & (pivots.square() >= least * A.diagonal(dim1=-2, dim2=-1)).all(-1)
    if not bool(good.all()):
        C = torch.where(good[:, None, None], C, torch.eye(C.shape[-1], dtype=C.dtype, device=C.device))
    return C, inverse_lower(C), good


def covariance(J: Tensor, k: Tensor, h: Tensor, X: Tensor, s: Tensor, weight: Tensor) -> Tensor:
    """The weighted sum of the covariances of the sum of J over Y; K_ij^2 = s_i s_j h_i h_j X_ij^2 for i != j."""
    squared = X.square()
    squared.diagonal(dim1=-2, dim2=-1).zero_()
    H = (h * s).unsqueeze(-1) * J
    diagonal = s * (1.0 - k) * (s * k + 1.0 - s)  # K_ii (1 - K_ii), K_ii = 1 - s_i (1 - K'_ii)
    spread = (weight.unsqueeze(-1) * diagonal).unsqueeze(-1) * J
    pairs = weight[:, None, None] * (squared @ H)
    C = J.flatten(0, 1).mT @ spread.flatten(0, 1) - H.flatten(0, 1).mT @ pairs.flatten(0, 1)
    return (C + C.mT) / 2
