"""The fit of a kernel: its shape, the prior chosen on held-out baskets, and the ascent.

L-BFGS uses all baskets in each iteration, and stops when ten iterations together raise the objective per basket by less
than ten times `tol`. Adam takes batches, for large catalogues and many baskets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, check_int
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.stop import check_stop
from dpplearn.baskets.baskets import Baskets
from dpplearn.baskets.factors import KernelFactors
from dpplearn.baskets.likelihood import MAX_DENSE_ITEMS, BasketShard, pick, total_log_prob
from dpplearn.learning.solve import lbfgs_ascent

ALPHAS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0)
HELD_OUT = 0.2  # share of the baskets on which alpha is chosen
LENGTHS = 0.7, 1.2  # of the rows of U beside the identity, and of B, at the start: at 0 the gradient is 0
IMPOSSIBLE = -1e3  # log-probability of a held-out basket of probability 0
LARGE, MANY_BASKETS = 3_000_000, 300_000  # parameters, and baskets, beyond which batches replace L-BFGS
WHOLE_COLUMNS = (30, 100)  # of U and B beside the identity; more did not help on held-out baskets
WINDOW = 10  # iterations whose gains are taken together: single steps of L-BFGS may gain nothing
EPOCHS, ITERATIONS = 10, 1000  # of Adam and of L-BFGS, by default
RATE, BATCH = 0.05, (256, 16_384)  # of Adam: the first rate, which falls to 0; least and most baskets in a batch


@dataclass(frozen=True, eq=False)
class FitPlan:
    """The settings of a fit."""

    shape: tuple[int, int, bool]  # columns of U and of B, and whether the identity is beside them
    in_batches: bool  # by Adam, in place of L-BFGS
    alpha: float | None  # None: chosen on held-out baskets
    tol: float
    max_iter: int
    seed: int
    progress: Progress


class FittedKernel(NamedTuple):
    """Where a fit ended."""

    factors: KernelFactors
    log_likelihood: float  # of all baskets
    n_iter: int
    converged: bool
    alpha: float
    alphas: dict[float, float]  # held-out log-likelihood per basket of each alpha that was tried


def choose_shape(n: int, largest: int, rank: int | None, nonsymmetric: bool) -> tuple[int, int, bool]:
    """The shape of `FitPlan` for a rank, or for the default; no basket may be larger than the rank."""
    if rank is not None and check_int(rank, "rank", low=1) < min(largest, n):
        least = f"{largest}, the size of the largest basket, found {rank}"
        raise ValueError(f"rank must be at least {least}. Pass rank={largest}, or leave larger baskets out.")
    if nonsymmetric and n <= MAX_DENSE_ITEMS and (rank is None or rank >= n):
        U, B = WHOLE_COLUMNS
        return min(n, U), min(n // 2, B // 2) * 2, True
    rank = min(n if n <= MAX_DENSE_ITEMS else max(50, largest), n) if rank is None else min(rank, n)
    return rank, 2 * max(rank // 2, 1) if nonsymmetric and n > 1 else 0, False


def fit_kernel(baskets: Baskets, plan: FitPlan) -> FittedKernel:
    """Choose alpha on some of the baskets, and fit to all of them."""
    try:
        alpha, alphas = choose_alpha(baskets, plan) if plan.alpha is None else (plan.alpha, {})
        return fit_once(baskets, replace(plan, alpha=alpha))._replace(alphas=alphas)
    except KeyboardInterrupt:
        plan.progress.clear()
        raise KeyboardInterrupt("The fit was stopped, and nothing is kept.") from None


def start_factors(baskets: Baskets, symmetric_rank: int, skew_rank: int, identity: bool, seed: int) -> KernelFactors:
    """The start of an ascent: qualities of independent items, and random directions."""
    rng = np.random.default_rng(seed)
    n, least = baskets.n, 0.5 / (len(baskets) + 1)
    p = np.clip(baskets.subsets.inclusion_counts() / len(baskets), least, 1 - least)
    length, attraction = LENGTHS if identity else (1.0, LENGTHS[1])
    U = rng.normal(size=(n, symmetric_rank))
    U *= length / np.sqrt((U**2).sum(axis=1, keepdims=True))
    B = attraction * rng.normal(size=(n, skew_rank)) / np.sqrt(max(skew_rank, 1))
    log_q = (np.log(p / (1 - p)) - np.log1p(length**2 if identity else 0.0)) / 2
    return KernelFactors(np.column_stack([log_q, U, B]), symmetric_rank, skew_rank, identity)


def choose_alpha(baskets: Baskets, plan: FitPlan) -> tuple[float, dict[float, float]]:
    """The largest alpha that is as good as the best on a fifth of the baskets, to one standard error of the difference.

    Also the held-out log-likelihood per basket of each. They are tried from small to large, each from the same start;
    two in a row below the best end the search. With fewer than ten baskets alpha is 1.
    """
    order = np.random.default_rng(plan.seed).permutation(len(baskets))
    held, rest = np.split(order, [int(len(baskets) * HELD_OUT)])
    if held.size < 2:
        return 1.0, {}
    train, test = baskets.take(rest), baskets.take(held).subsets
    quick = replace(plan, max_iter=max(plan.max_iter // 3, 1), progress=as_progress(False))
    values: dict[float, FloatArray] = {}
    for k, alpha in enumerate(ALPHAS):
        plan.progress.stage("Choosing alpha", k, len(ALPHAS))
        fitted = fit_once(train, replace(quick, alpha=alpha))
        values[alpha] = np.maximum(fitted.factors.distribution().log_prob(test), IMPOSSIBLE)
        best = max(values, key=lambda a: float(values[a].mean()))
        if k - ALPHAS.index(best) >= 2:
            break
    worse = {alpha: values[best] - held_out for alpha, held_out in values.items()}
    as_good = [alpha for alpha, lost in worse.items() if lost.mean() <= lost.std() / np.sqrt(held.size)]
    return max(as_good), {alpha: float(held_out.mean()) for alpha, held_out in values.items()}


def fit_once(baskets: Baskets, plan: FitPlan) -> FittedKernel:
    """Fit with a given alpha."""
    shard, start = baskets.distinct, start_factors(baskets, *plan.shape, plan.seed)
    factors, n_iter, converged = (adam if plan.in_batches else whole_batch)(shard, start, plan)
    plan.progress.clear()
    value = total_log_prob(shard, factors.kernel())[0]
    return FittedKernel(factors, value, n_iter, converged, plan.alpha or 0.0, {})


def objective(shard: BasketShard, factors: KernelFactors, alpha: float, total: float) -> tuple[float, FloatArray]:
    """The objective per basket and its gradient, which are not finite where a basket is impossible.

    The prior is that of `total` baskets, of which these may be only some.
    """
    kernel = factors.kernel()
    value, left, right, diagonal = total_log_prob(shard, kernel)
    penalty, drag = factors.penalty(alpha)
    gradient = factors.pull_back(kernel, left, right, diagonal) / shard.total - drag / total
    return value / shard.total - penalty / total, gradient


def whole_batch(shard: BasketShard, start: KernelFactors, plan: FitPlan) -> tuple[KernelFactors, int, bool]:
    """L-BFGS; the factors reached, the iterations, and whether the objective stopped rising."""
    values, slope = [-np.inf], np.nan

    def at(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal slope
        value, gradient = objective(shard, start.with_parameters(x), plan.alpha or 0.0, shard.total)
        slope = float(np.abs(gradient).max())
        return value, gradient

    def after_step(_x: FloatArray, value: float) -> None:
        check_stop()
        values.append(value)
        plan.progress.finish(len(values) - 1, value * shard.total, slope)
        if stalled():
            raise StopIteration

    def stalled() -> bool:
        return values[-1] <= max(values[:-WINDOW], default=-np.inf) + WINDOW * plan.tol

    x = start.W.ravel()
    while (left := plan.max_iter + 1 - len(values)) > 0:
        before = values[-1]
        x = lbfgs_ascent(at, x, after_step, left, 1e-9)
        if stalled() or values[-1] <= before + WINDOW * plan.tol:
            break  # otherwise a line search failed: start again from there
    return start.with_parameters(x), len(values) - 1, left > 0


def adam(shard: BasketShard, start: KernelFactors, plan: FitPlan) -> tuple[KernelFactors, int, bool]:
    """Adam on batches drawn by weight; an iteration has as many draws as there are different baskets.

    A batch takes about as long as det(L + I): k^2 columns for a basket of k items, against n columns^2.
    """
    x, ends, n, t = start.W.ravel().copy(), np.cumsum(shard.weights), shard.weights.size, 0
    squares = float(shard.weights @ np.diff(shard.indptr) ** 2.0) / shard.total
    size = int(np.clip(start.W.size / max(squares, 1.0), *BATCH))
    first, second = np.zeros(x.size), np.zeros(x.size)
    steps = plan.max_iter * -(-n // size)
    for epoch in range(plan.max_iter):
        rng = np.random.default_rng([plan.seed, epoch])
        values: list[float] = []
        for _ in range(0, n, size):
            check_stop()
            places = np.searchsorted(ends, shard.total * rng.random(size), "right")
            drawn, times = np.unique(np.minimum(places, n - 1), return_counts=True)
            batch = BasketShard(*pick(shard.indptr, shard.indices, drawn), times.astype(np.float64))
            value, gradient = objective(batch, start.with_parameters(x), plan.alpha or 0.0, shard.total)
            if not (np.isfinite(value) and np.isfinite(gradient).all()):
                continue  # rounding makes one of these baskets impossible
            t += 1
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient**2 - second)
            rate = RATE * (1 - t / (steps + 1)) * np.sqrt(1 - 0.99**t) / (1 - 0.9**t)
            x += rate * first / (np.sqrt(second) + 1e-10)
            values.append(value)
        mean = float(np.mean(values)) * shard.total if values else -np.inf
        plan.progress.finish(epoch + 1, mean, float(np.abs(first).max()))
    return start.with_parameters(x), plan.max_iter, True
