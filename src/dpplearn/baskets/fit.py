"""A fit from beginning to end: the kernel's shape, the prior chosen on held-out baskets, one solver, one record."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, check_choice, check_int
from dpplearn._run.progress import Progress, as_progress
from dpplearn.baskets.baskets import Baskets, cut
from dpplearn.baskets.factors import KernelFactors
from dpplearn.baskets.likelihood import DENSE, BasketShard, ManyBaskets, log_likelihood
from dpplearn.baskets.modelfile import load_state, save_state
from dpplearn.baskets.solvers import SolverOptions, lbfgs, stochastic
from dpplearn.baskets.start import start_factors

ALPHAS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0)
HELD_OUT = 0.2  # share of the baskets on which alpha is chosen
STARTS, FEW = 4, 30  # starts that are tried, and for how many iterations
SEVERAL = 200_000  # parameters up to which several starts are tried
IMPOSSIBLE = -1e3  # log-probability that counts for a held-out basket of probability 0
LARGE = 3_000_000  # parameters from which batches take over from L-BFGS, whose memory is 40 times as many
MANY = 300_000  # baskets from which they take over
WHOLE_COLUMNS = (30, 100)  # of U and B beside the identity; more did not help on held-out baskets


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

    @property
    def columns(self) -> int:
        return 1 + self.symmetric_rank + self.skew_rank


@dataclass(frozen=True, eq=False)
class FitPlan:
    """What a fit is told."""

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
    work: Path | None = None


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """Where a fit ended."""

    factors: KernelFactors
    alpha: float
    alphas: dict[float, float]  # held-out log-likelihood per basket of each alpha that was tried
    log_likelihood: float  # of the baskets it was fitted on
    n_iter: int
    converged: bool
    history: tuple[Step, ...]


def choose_shape(n: int, largest: int, rank: int | None, nonsymmetric: bool) -> KernelShape:
    """Columns for the rank given, or for none; no basket may be larger than the rank."""
    if rank is not None:
        rank = check_int(rank, "rank", low=1)
        if rank < largest and rank < n:
            raise ValueError(
                f"rank must be at least {largest}, the size of the largest basket: a kernel of rank {rank} gives "
                f"baskets of more than {rank} items probability 0. Pass rank={largest}, or leave larger baskets out."
            )
    if nonsymmetric and n <= DENSE and (rank is None or rank >= n):
        U, B = WHOLE_COLUMNS
        return KernelShape(min(n, U), min(n // 2, B // 2) * 2, True)
    if rank is None:
        rank = n if n <= DENSE else max(50, largest)
    rank = min(rank, n)
    return KernelShape(rank, 2 * max(rank // 2, 1) if nonsymmetric and n > 1 else 0, False)


def choose_solver(solver: str, shape: KernelShape, n: int, baskets: int) -> str:
    """The solver asked for, or the one that suits the size."""
    check_choice(solver, "solver", ("auto", "lbfgs", "stochastic"))
    if solver == "auto":
        return "stochastic" if n * shape.columns > LARGE or baskets > MANY else "lbfgs"
    return solver


def fit_kernel(baskets: Baskets, weights: FloatArray, plan: FitPlan) -> FittedKernel:
    """Fit to all baskets, after alpha was chosen on some of them."""
    if plan.work is not None and not plan.work.parent.is_dir():
        folder = plan.work.parent
        raise FileNotFoundError(f"work={str(plan.work)!r} cannot be written: there is no folder {folder}.")
    counted = baskets.distinct(weights)
    alpha = plan.alpha
    alphas: dict[float, float] = {}
    try:
        plan = replace(plan, seed=choose_seed(counted, baskets.n, plan))
        if alpha is None:
            alpha, alphas = choose_alpha(baskets, weights, plan)
        factors = start_factors(counted, baskets.n, *plan.shape, plan.phi, plan.seed)
        return replace(fit_once(counted, factors, replace(plan, alpha=alpha)), alphas=alphas)
    except KeyboardInterrupt:
        message = stop_message(plan, alpha)
        plan.progress.clear()
        raise KeyboardInterrupt(message) from None


def stop_message(plan: FitPlan, alpha: float | None) -> str:
    """Where a fit was stopped, what is kept of it, and how to go on."""
    where = f"in iteration {plan.progress.iteration + 1} of at most {plan.max_iter}"
    kept = "Nothing is kept: with work=FILE, a fit that was stopped goes on where it was."
    if alpha is None:
        where = "while the prior was being chosen"
        kept = "Nothing is kept of that: with alpha=1, or another number, there is nothing to choose."
    if plan.work is not None and plan.work.exists():  # there is none yet while alpha is chosen
        kept = f"{plan.work} holds the kernel so far: fit again with it to go on."
    elif plan.work is not None and alpha is not None:
        kept = f"{plan.work} was not written yet: fit again."
    return f"Stopped {where}. {kept}"


def choose_seed(counted: BasketShard, n: int, plan: FitPlan) -> int:
    """Try a few starts with different signs, and keep the one that leads highest in a few iterations.

    Large kernels have one start.
    """
    if plan.solver != "lbfgs" or plan.shape.skew_rank == 0 or n * plan.shape.columns > SEVERAL:
        return plan.seed
    quick = replace(plan, alpha=1.0, work=None, max_iter=FEW, progress=as_progress(False))
    seeds = [plan.seed + k for k in range(STARTS)]
    starts = (start_factors(counted, n, *plan.shape, plan.phi, seed) for seed in seeds)
    reached = [fit_once(counted, start, quick).history for start in starts]
    return seeds[int(np.argmax([history[-1].objective if history else -np.inf for history in reached]))]


def choose_alpha(baskets: Baskets, weights: FloatArray, plan: FitPlan) -> tuple[float, dict[float, float]]:
    """The largest alpha that is as good as the best on a fifth of the baskets, to one standard error of the difference.

    They are tried from small to large, each from the same start; two in a row below the best end the search. Fewer
    than ten baskets say nothing about alpha: it is 1.
    """
    order = np.random.default_rng(plan.seed).permutation(len(baskets))
    held, rest = np.split(order, [int(len(baskets) * HELD_OUT)])
    if held.size < 2 or weights[held].sum() == 0 or weights[rest].sum() == 0:
        return 1.0, {}
    here, there = baskets.take(rest).distinct(weights[rest]), baskets.take(held).subsets
    start = start_factors(here, baskets.n, *plan.shape, plan.phi, plan.seed)
    share = weights[held] / weights[held].sum()
    found: dict[float, FloatArray] = {}
    quick = replace(plan, work=None, max_iter=max(plan.max_iter // 3, 1), progress=as_progress(False))
    for k, alpha in enumerate(ALPHAS):
        plan.progress.stage("Choosing alpha", k, len(ALPHAS))
        factors = fit_once(here, start, replace(quick, alpha=alpha)).factors
        found[alpha] = np.maximum(factors.distribution().log_prob(there), IMPOSSIBLE)
        best = max(found, key=lambda a: float(share @ found[a]))
        if k - ALPHAS.index(best) >= 2:
            break

    def as_good(alpha: float) -> bool:
        worse = found[best] - found[alpha]
        mean = float(share @ worse)
        return mean <= np.sqrt(float(share**2 @ (worse - mean) ** 2))

    return max(filter(as_good, found)), {alpha: float(share @ values) for alpha, values in found.items()}


def fit_once(counted: BasketShard, factors: KernelFactors, plan: FitPlan) -> FittedKernel:
    """One fit with alpha given, from where `work` left off if there is such a file."""
    assert plan.alpha is not None
    weight, n, batches = counted.total, factors.n, plan.solver == "stochastic"
    begin = factors.parameters
    if batches:  # and Adam's two moments, and how many steps it took
        begin = np.append(begin, np.zeros(2 * begin.size + 1))
    problem = {
        "items": n,
        "baskets": weight,
        "counts": counted.item_counts(n)[:1000],
        "shape": list(plan.shape),
        "solver": plan.solver,
        "alpha": plan.alpha,
        "seed": plan.seed,
    }
    done, x = load_state(plan.work, problem, begin.size)
    begin = begin if x is None else x
    history: list[Step] = []
    saver = Saver(plan.work, problem)
    plan.progress.iteration = done

    def report(x: FloatArray, value: float, gradient: float) -> None:
        history.append(Step(done + len(history) + 1, value, gradient))
        saver.keep(x, history[-1].iteration)
        plan.progress.finish(history[-1].iteration, value * weight, gradient)

    options = SolverOptions(plan.alpha, plan.tol, plan.max_iter if batches else max(plan.max_iter - done, 0), report)
    try:
        if batches:
            factors, converged = stochastic(counted, factors, options, plan.batch, plan.seed, begin, done), True
        else:
            with ThreadPoolExecutor(plan.n_jobs) as pool:
                shards = ManyBaskets(cut(counted), pool.map if plan.n_jobs > 1 else map)
                factors, converged = lbfgs(shards, factors.with_parameters(begin), options)
        value = log_likelihood(counted, factors.kernel())[0]
    finally:
        saver.write()
    plan.progress.clear()
    return FittedKernel(factors, plan.alpha, {}, value, done + len(history), converged, tuple(history))


class Saver:
    """Writes the state of a fit to a file, so seldom that it takes at most a twentieth of the time."""

    def __init__(self, path: Path | None, problem: dict[str, Any]) -> None:
        self.path, self.problem, self.next = path, problem, time.monotonic() + 1.0
        self.state: tuple[FloatArray, int] | None = None

    def keep(self, x: FloatArray, n_iter: int) -> None:
        """Take a copy, which the solver does not go on writing to, and write it if it is time."""
        if self.path is None:
            return
        self.state = x.copy(), n_iter
        if (start := time.monotonic()) > self.next:
            self.write()
            self.next = time.monotonic() + max(1.0, 20 * (time.monotonic() - start))

    def write(self) -> None:
        """Write what was kept last."""
        if self.path is not None and self.state is not None:
            save_state(self.path, self.problem, *self.state)
            self.state = None
