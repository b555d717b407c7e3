"""A fit from beginning to end: the kernel's shape, the prior chosen on held-out baskets, and the ascent.

L-BFGS uses all baskets in each iteration, and stops when ten iterations together raise the objective per basket by less
than ten times `tol`. Adam takes batches, for large catalogues and many baskets.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import optimize

from dpplearn._checks import FloatArray, check_int
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.stop import check_stop
from dpplearn.baskets.baskets import Baskets
from dpplearn.baskets.factors import KernelFactors
from dpplearn.baskets.likelihood import DENSE, BasketShard, Spread, log_likelihood, total_weight
from dpplearn.baskets.start import start_factors

ALPHAS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0)
HELD_OUT = 0.2  # share of the baskets on which alpha is chosen
STARTS, FEW = 4, 30  # starts that are tried, and for how many iterations
SEVERAL = 200_000  # parameters up to which several starts are tried
IMPOSSIBLE = -1e3  # log-probability that counts for a held-out basket of probability 0
LARGE, MANY = 3_000_000, 300_000  # parameters, and baskets, from which batches take over from L-BFGS
WHOLE_COLUMNS = (30, 100)  # of U and B beside the identity; more did not help on held-out baskets
LOOK_BACK = 10  # iterations whose gains are looked at together: single steps of L-BFGS may gain nothing
RATE = 0.05  # of Adam, falling to 0


class Step(NamedTuple):
    """One iteration: the objective and the largest entry of its gradient, per basket."""

    iteration: int
    objective: float
    gradient: float


class KernelShape(NamedTuple):
    """Columns of the factors, and whether the identity is beside them."""

    symmetric_rank: int
    skew_rank: int
    identity: bool


@dataclass(frozen=True, eq=False)
class FitPlan:
    """The settings of a fit."""

    shape: KernelShape
    solver: str
    alpha: float | None  # None: chosen on held-out baskets
    tol: float
    max_iter: int
    seed: int
    phi: FloatArray | None
    batch: int
    n_jobs: int = 1
    progress: Progress = field(default_factory=lambda: as_progress(False))


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """Where a fit ended."""

    factors: KernelFactors
    alpha: float
    alphas: dict[float, float]  # held-out log-likelihood per basket of each alpha that was tried
    log_likelihood: float  # of the baskets it was fitted on
    converged: bool
    history: tuple[Step, ...]


def choose_shape(n: int, largest: int, rank: int | None, nonsymmetric: bool) -> KernelShape:
    """Columns for the rank given, or for none; no basket may be larger than the rank."""
    if rank is not None and check_int(rank, "rank", low=1) < min(largest, n):
        raise ValueError(
            f"rank must be at least {largest}, the size of the largest basket: a kernel of rank {rank} gives "
            f"baskets of more than {rank} items probability 0. Pass rank={largest}, or leave larger baskets out."
        )
    if nonsymmetric and n <= DENSE and (rank is None or rank >= n):
        U, B = WHOLE_COLUMNS
        return KernelShape(min(n, U), min(n // 2, B // 2) * 2, True)
    rank = min(n if n <= DENSE else max(50, largest), n) if rank is None else min(rank, n)
    return KernelShape(rank, 2 * max(rank // 2, 1) if nonsymmetric and n > 1 else 0, False)


def fit_kernel(baskets: Baskets, weights: FloatArray, plan: FitPlan) -> FittedKernel:
    """Fit to all baskets, after alpha was chosen on some of them."""
    shard = baskets.distinct(weights)
    alpha = plan.alpha
    alphas: dict[float, float] = {}
    try:
        plan = replace(plan, seed=choose_seed(shard, baskets.n, plan))
        if alpha is None:
            alpha, alphas = choose_alpha(baskets, weights, plan)
        factors = start_factors(shard, baskets.n, *plan.shape, plan.phi, plan.seed)
        return replace(fit_once(shard, factors, replace(plan, alpha=alpha)), alphas=alphas)
    except KeyboardInterrupt:
        where = f"in iteration {plan.progress.iteration + 1} of at most {plan.max_iter}"
        if alpha is None:
            where = "while the prior was being chosen; with alpha=1, or another number, there is nothing to choose"
        plan.progress.clear()
        raise KeyboardInterrupt(f"Stopped {where}. Nothing is kept.") from None


def choose_seed(shard: BasketShard, n: int, plan: FitPlan) -> int:
    """Try a few starts with different signs, and keep the one that leads highest in a few iterations.

    Large kernels have one start.
    """
    if plan.solver != "lbfgs" or plan.shape.skew_rank == 0 or n * (1 + sum(plan.shape[:2])) > SEVERAL:
        return plan.seed
    quick = replace(plan, alpha=1.0, max_iter=FEW, progress=as_progress(False))
    seeds = [plan.seed + k for k in range(STARTS)]
    starts = (start_factors(shard, n, *plan.shape, plan.phi, seed) for seed in seeds)
    histories = [fit_once(shard, start, quick).history for start in starts]
    return seeds[int(np.argmax([history[-1].objective if history else -np.inf for history in histories]))]


def choose_alpha(baskets: Baskets, weights: FloatArray, plan: FitPlan) -> tuple[float, dict[float, float]]:
    """The largest alpha that is as good as the best on a fifth of the baskets, to one standard error of the difference.

    They are tried from small to large, each from the same start; two in a row below the best end the search. Fewer
    than ten baskets say nothing about alpha: it is 1.
    """
    order = np.random.default_rng(plan.seed).permutation(len(baskets))
    held, rest = np.split(order, [int(len(baskets) * HELD_OUT)])
    if held.size < 2 or weights[held].sum() == 0 or weights[rest].sum() == 0:
        return 1.0, {}
    train, test = baskets.take(rest).distinct(weights[rest]), baskets.take(held).subsets
    start = start_factors(train, baskets.n, *plan.shape, plan.phi, plan.seed)
    share = weights[held] / weights[held].sum()
    values: dict[float, FloatArray] = {}
    quick = replace(plan, max_iter=max(plan.max_iter // 3, 1), progress=as_progress(False))
    for k, alpha in enumerate(ALPHAS):
        plan.progress.stage("Choosing alpha", k, len(ALPHAS))
        dpp = fit_once(train, start, replace(quick, alpha=alpha)).factors.distribution()
        values[alpha] = np.maximum(dpp.log_prob(test), IMPOSSIBLE)
        best = max(values, key=lambda a: float(share @ values[a]))
        if k - ALPHAS.index(best) >= 2:
            break

    def as_good(alpha: float) -> bool:
        worse = values[best] - values[alpha]
        mean = float(share @ worse)
        return mean <= np.sqrt(float(share**2 @ (worse - mean) ** 2))

    return max(filter(as_good, values)), {alpha: float(share @ found) for alpha, found in values.items()}


def fit_once(shard: BasketShard, factors: KernelFactors, plan: FitPlan) -> FittedKernel:
    """One fit with alpha given."""
    assert plan.alpha is not None
    ascent = Ascent(factors.parameters, total_weight([shard]), plan)
    if plan.solver == "stochastic":
        factors, converged = adam(shard, factors, plan, ascent), True
    else:
        with ThreadPoolExecutor(plan.n_jobs) as pool:
            spread = pool.map if plan.n_jobs > 1 else map
            factors, converged = lbfgs(shard.pieces(), factors, plan, ascent, spread)
    value = log_likelihood([shard], factors.kernel())[0]
    plan.progress.clear()
    return FittedKernel(factors, plan.alpha, {}, value, converged, tuple(ascent.history))


class Ascent:
    """The iterations so far, and where they are."""

    def __init__(self, x: FloatArray, weight: float, plan: FitPlan) -> None:
        self.x, self.weight, self.plan = x, weight, plan
        self.history: list[Step] = []
        plan.progress.iteration = 0

    def add(self, x: FloatArray, value: float, gradient: float) -> None:
        """Note an iteration that is done."""
        check_stop()
        self.x = x
        self.history.append(Step(len(self.history) + 1, value, gradient))
        self.plan.progress.finish(len(self.history), value * self.weight, gradient)

    @property
    def value(self) -> float:
        return self.history[-1].objective if self.history else -np.inf

    @property
    def stalled(self) -> bool:
        """Whether the last iterations together gained too little."""
        before = self.history[-1 - LOOK_BACK].objective if len(self.history) > LOOK_BACK else -np.inf
        return self.value - before <= LOOK_BACK * self.plan.tol


def objective(
    shards: Sequence[BasketShard], factors: KernelFactors, alpha: float, total: float, spread: Spread = map
) -> tuple[float, FloatArray]:
    """The objective per basket and its gradient; the prior is that of `total` baskets, of which these may be some."""
    kernel, weight = factors.kernel(), total_weight(shards)
    value, left, right, diagonal = log_likelihood(shards, kernel, spread)
    penalty, drag = factors.penalty(alpha)
    return value / weight - penalty / total, factors.pull_back(kernel, left, right, diagonal) / weight - drag / total


def lbfgs(
    shards: Sequence[BasketShard], factors: KernelFactors, plan: FitPlan, ascent: Ascent, spread: Spread
) -> tuple[KernelFactors, bool]:
    """scipy's L-BFGS-B; the factors reached, and whether the objective stopped rising."""
    worst, slope = 0.0, np.nan

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal worst, slope
        value, gradient = objective(shards, factors.with_parameters(x), plan.alpha or 0.0, ascent.weight, spread)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):  # a step too far: a slope that leads back
            slope = np.nan
            return worst + 1e3 + float(x @ x), 2 * x
        worst, slope = max(worst, -value), float(np.abs(gradient).max())
        return -value, -gradient

    def callback(intermediate_result: optimize.OptimizeResult) -> None:
        if np.isfinite(slope):
            ascent.add(intermediate_result.x.copy(), -float(intermediate_result.fun), slope)
            if ascent.stalled:
                raise StopIteration

    while (left := plan.max_iter - len(ascent.history)) > 0:
        before = ascent.value
        limits = {"maxiter": left, "maxfun": 20 * left, "maxcor": 20, "ftol": 0.0, "gtol": 1e-9}
        optimize.minimize(loss, ascent.x, jac=True, method="L-BFGS-B", callback=callback, options=limits)
        if ascent.stalled or ascent.value <= before + LOOK_BACK * plan.tol:
            break  # else a line search failed: start again from there
    return factors.with_parameters(ascent.x), left > 0


def adam(shard: BasketShard, factors: KernelFactors, plan: FitPlan, ascent: Ascent) -> KernelFactors:
    """Adam on batches drawn by weight; an iteration is as many draws as there are different baskets.

    The memory needed is a few times that of the parameters.
    """
    x, ends, n, t = factors.parameters.copy(), np.cumsum(shard.weights), shard.weights.size, 0
    first, second = np.zeros(x.size), np.zeros(x.size)
    total, steps = float(ends[-1]), plan.max_iter * -(-n // plan.batch)
    for epoch in range(plan.max_iter):
        rng = np.random.default_rng([plan.seed, epoch])
        values: list[float] = []
        for _ in range(0, n, plan.batch):
            check_stop()
            drawn, times = np.unique(np.searchsorted(ends, total * rng.random(plan.batch), "right"), return_counts=True)
            some = shard.take(np.minimum(drawn, n - 1), times.astype(np.float64))
            value, gradient = objective([some], factors.with_parameters(x), plan.alpha or 0.0, total)
            if not (np.isfinite(value) and np.isfinite(gradient).all()):
                continue  # a basket that rounding makes impossible here
            t += 1
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient**2 - second)
            rate = RATE * (1 - t / (steps + 1)) * np.sqrt(1 - 0.99**t) / (1 - 0.9**t)
            x += rate * first / (np.sqrt(second) + 1e-10)
            values.append(value)
        ascent.add(x, float(np.mean(values)) if values else -np.inf, float(np.abs(first).max()))
    return factors.with_parameters(x)
