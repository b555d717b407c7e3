"""A fit from beginning to end: the kernel's shape, the prior chosen on held-out baskets, one solver, one record."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, check_choice, check_int
from dpplearn._run.memory import memory_limit
from dpplearn._run.progress import Progress, as_progress
from dpplearn.learning.backends import make_backend
from dpplearn.learning.baskets.counted import Baskets, cut
from dpplearn.learning.baskets.factors import Factors
from dpplearn.learning.baskets.likelihood import DENSE, BasketShard, log_likelihood
from dpplearn.learning.baskets.modelfile import load_state, save_state
from dpplearn.learning.baskets.solvers import Settings, em, fixed_point, lbfgs, stochastic
from dpplearn.learning.baskets.start import start_factors

SOLVERS = ("auto", "lbfgs", "stochastic", "em", "fixed-point")
ALPHAS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0)
HELD_OUT = 0.2  # of the baskets, for alpha
STARTS, FEW = 4, 30  # starts that are tried, for as many iterations
SEVERAL = 200_000  # parameters up to which they are
IMPOSSIBLE = -1e3  # what counts for a held-out basket of probability 0
LARGE = 3_000_000  # parameters from which batches take over from L-BFGS, whose memory is 40 times as many
MANY = 300_000  # baskets from which they do
OWN_COLUMNS = (30, 100)  # of U and B where each item has its own part; more did not help on held-out baskets


class Step(NamedTuple):
    """One iteration: the objective and the largest entry of its gradient, per basket."""

    iteration: int
    objective: float
    gradient: float


class Shape(NamedTuple):
    """Columns of the factors, and whether each item has its own part."""

    repelling: int
    attracting: int
    own: bool

    @property
    def columns(self) -> int:
        return 1 + self.repelling + self.attracting


@dataclass(frozen=True, eq=False)
class Plan:
    """What a fit is told."""

    shape: Shape
    solver: str
    alpha: float | None  # None: chosen on held-out baskets
    tol: float
    max_iter: int
    seed: int
    phi: FloatArray | None
    batch: int
    backend: Any = None
    n_jobs: int | None = 1
    progress: Progress = field(default_factory=lambda: as_progress(False))
    checkpoint: Path | None = None


@dataclass(frozen=True, eq=False)
class FittedKernel:
    """Where a fit ended."""

    factors: Factors
    alpha: float
    alphas: dict[float, float]  # held-out log-likelihood per basket of each that was tried
    log_likelihood: float  # of the baskets it was fitted on
    n_iter: int
    converged: bool
    history: tuple[Step, ...]


def choose_shape(n: int, largest: int, rank: int | None, nonsymmetric: bool) -> Shape:
    """Columns for a rank, or for none given; no basket may be larger than the rank."""
    if rank is not None:
        rank = check_int(rank, "rank", low=1)
        if rank < largest and rank < n:
            raise ValueError(
                f"rank must be at least {largest}, the size of the largest basket: a kernel of rank {rank} gives "
                f"baskets of more than {rank} items probability 0. Pass rank={largest}, or leave larger baskets out."
            )
    if nonsymmetric and n <= DENSE and (rank is None or rank >= n):
        U, B = OWN_COLUMNS
        return Shape(min(n, U), min(n // 2, B // 2) * 2, True)
    if rank is None:
        rank = n if n <= DENSE else max(50, largest)
    rank = min(rank, n)
    return Shape(rank, 2 * max(rank // 2, 1) if nonsymmetric and n > 1 else 0, False)


def choose_solver(solver: str, shape: Shape, n: int, baskets: int, nonsymmetric: bool, alpha: float | None) -> str:
    """The solver asked for, if it can do it, or the one that suits the size."""
    check_choice(solver, "solver", SOLVERS)
    if solver == "auto":
        return "stochastic" if n * shape.columns > LARGE or baskets > MANY else "lbfgs"
    if solver in ("em", "fixed-point"):
        if nonsymmetric or shape.repelling < n or n > DENSE:
            raise ValueError(
                f"solver={solver!r} is for whole symmetric kernels of at most {DENSE} items: pass rank=None and "
                'nonsymmetric=False, or solver="lbfgs".'
            )
        if alpha:
            raise ValueError(f'solver={solver!r} has no prior: pass alpha=0, or "cv", which means 0 here.')
    return solver


def check_memory(n: int, shape: Shape, solver: str) -> None:
    """Raise where the parameters, and what the solver keeps beside them, do not fit; say what would."""
    copies = 12 if solver == "stochastic" else 54
    each = 8 * n * copies
    available = memory_limit()
    if available is not None and each * shape.columns > available:
        per_rank = max((shape.columns - 1) / max(shape.repelling, 1), 1.0)
        fits = int((available / each - 1) / per_rank)
        advice = f"Pass rank={fits} or less." if fits >= 1 else "Take a smaller catalogue."
        raise ValueError(
            f"rank={shape.repelling} for {n:,} items takes about {each * shape.columns / 1e9:.0f} GB with "
            f"solver={solver!r}, and there are {available / 1e9:.0f} GB here. {advice}"
        )


def fit_kernel(baskets: Baskets, weights: FloatArray, plan: Plan) -> FittedKernel:
    """Fit to all baskets, after alpha was chosen on some of them."""
    if plan.checkpoint is not None and not plan.checkpoint.parent.is_dir():
        folder = plan.checkpoint.parent
        raise FileNotFoundError(f"checkpoint={str(plan.checkpoint)!r} cannot be written: there is no folder {folder}.")
    counted = baskets.distinct(weights)
    alpha: float | None = plan.alpha
    alphas: dict[float, float] = {}
    try:
        if plan.solver in ("em", "fixed-point"):
            alpha = 0.0
        plan = replace(plan, seed=choose_seed(counted, baskets.n, plan))
        if alpha is None:
            alpha, alphas = choose_alpha(baskets, weights, plan)
        factors = start_factors(counted, baskets.n, *plan.shape, plan.phi, plan.seed)
        return replace(_fit(counted, factors, replace(plan, alpha=alpha)), alphas=alphas)
    except KeyboardInterrupt:
        told = stopped(plan, alpha)
        plan.progress.clear()
        raise KeyboardInterrupt(told) from None


def stopped(plan: Plan, alpha: float | None) -> str:
    """Where a fit was stopped, what is kept of it, and how to go on."""
    where = f"in iteration {plan.progress.iteration + 1} of at most {plan.max_iter}"
    kept = "Nothing is kept: with checkpoint=FILE, a fit that was stopped goes on where it was."
    if alpha is None:
        where = "while the prior was being chosen"
        kept = "Nothing is kept of that: with alpha=1, or another number, there is nothing to choose."
    if plan.checkpoint is not None and plan.checkpoint.exists():  # none yet, while alpha is chosen
        kept = f"{plan.checkpoint} holds the kernel so far: fit again with it to go on."
    elif plan.checkpoint is not None and alpha is not None:
        kept = f"{plan.checkpoint} was not written yet: fit again."
    return f"Stopped {where}. {kept}"


def choose_seed(counted: BasketShard, n: int, plan: Plan) -> int:
    """Of some starts, whose signs differ, the one that leads highest in a few iterations; of large kernels one."""
    if plan.solver != "lbfgs" or plan.shape.attracting == 0 or n * plan.shape.columns > SEVERAL:
        return plan.seed
    quick = replace(plan, alpha=1.0, checkpoint=None, max_iter=FEW)
    quick = replace(quick, progress=as_progress(False), backend=None, n_jobs=1)  # less work than to start others
    seeds = [plan.seed + k for k in range(STARTS)]
    starts = (start_factors(counted, n, *plan.shape, plan.phi, seed) for seed in seeds)
    reached = [_fit(counted, start, quick).history for start in starts]
    return seeds[int(np.argmax([history[-1].objective if history else -np.inf for history in reached]))]


def choose_alpha(baskets: Baskets, weights: FloatArray, plan: Plan) -> tuple[float, dict[float, float]]:
    """The largest alpha that is as good as the best on a fifth of the baskets, to one standard error of the difference.

    From small to large, each from the same start as the fit that follows; two in a row below the best end the search.
    Fewer than ten baskets tell nothing: 1.
    """
    order = np.random.default_rng(plan.seed).permutation(len(baskets))
    held, rest = np.split(order, [int(len(baskets) * HELD_OUT)])
    if held.size < 2 or weights[held].sum() == 0 or weights[rest].sum() == 0:
        return 1.0, {}
    here, there = baskets.take(rest).distinct(weights[rest]), baskets.take(held).subsets
    start = start_factors(here, baskets.n, *plan.shape, plan.phi, plan.seed)
    share = weights[held] / weights[held].sum()
    found: dict[float, FloatArray] = {}
    quick = replace(plan, checkpoint=None, max_iter=max(plan.max_iter // 3, 1), progress=as_progress(False))
    for k, alpha in enumerate(ALPHAS):
        plan.progress.stage("Choosing alpha", k, len(ALPHAS))
        factors = _fit(here, start, replace(quick, alpha=alpha)).factors
        found[alpha] = np.maximum(factors.distribution().log_prob(there), IMPOSSIBLE)
        best = max(found, key=lambda a: float(share @ found[a]))
        if k - ALPHAS.index(best) >= 2:
            break

    def as_good(alpha: float) -> bool:
        worse = found[best] - found[alpha]
        mean = float(share @ worse)
        return mean <= np.sqrt(float(share**2 @ (worse - mean) ** 2))

    return max(filter(as_good, found)), {alpha: float(share @ values) for alpha, values in found.items()}


def _fit(counted: BasketShard, factors: Factors, plan: Plan) -> FittedKernel:
    """One fit with alpha given."""
    assert plan.alpha is not None
    weight, n = float(counted.weights.sum()), factors.n
    whole, batches = plan.solver in ("em", "fixed-point"), plan.solver == "stochastic"
    if whole:
        begin = kernel_with_own(factors)
    else:  # Adam's moments, and how many steps it took
        begin = np.append(factors.parameters, np.zeros(2 * factors.parameters.size + 1 if batches else 0))
    problem = {
        "items": n,
        "baskets": weight,
        "counts": np.bincount(counted.indices, np.repeat(counted.weights, np.diff(counted.indptr)), minlength=n)[:1000],
        "shape": list(plan.shape),
        "solver": plan.solver,
        "alpha": plan.alpha,
        "seed": plan.seed,
    }
    done, x = load_state(plan.checkpoint, problem, begin.size)
    begin = begin if x is None else x.reshape(begin.shape)
    history: list[Step] = []
    saved = Saver(plan.checkpoint, problem)
    plan.progress.iteration = done

    def report(x: FloatArray, value: float, gradient: float) -> None:
        history.append(Step(done + len(history) + 1, value, gradient))
        saved(x, history[-1].iteration)
        plan.progress.finish(history[-1].iteration, value * weight, gradient)

    settings = Settings(plan.alpha, plan.tol, plan.max_iter if batches else max(plan.max_iter - done, 0), report)
    try:
        if batches:
            factors, converged = stochastic(counted, factors, settings, plan.batch, plan.seed, begin, done)
            value = log_likelihood(counted.evaluate, weight, factors.kernel())[0]
        else:
            with make_backend(plan.backend, plan.n_jobs, cut(counted), ready) as engine:
                ask = partial(engine.evaluate, tick=plan.progress.tick)
                if whole:
                    L, converged = (em if plan.solver == "em" else fixed_point)(ask, weight, begin, settings)
                    factors = factors_of(L)
                else:
                    factors, converged = lbfgs(ask, weight, factors.with_parameters(begin), settings)
                value = log_likelihood(ask, weight, factors.kernel())[0]
    except KeyboardInterrupt:
        saved.now()
        raise
    saved.now()
    plan.progress.clear()
    return FittedKernel(factors, plan.alpha, {}, value, done + len(history), converged, tuple(history))


class Saver:
    """Writes the state at most so often that it takes a twentieth of the time."""

    def __init__(self, path: Path | None, problem: dict[str, Any]) -> None:
        self.path, self.problem, self.next = path, problem, time.monotonic() + 1.0
        self.state: tuple[FloatArray, int] | None = None

    def __call__(self, x: FloatArray, n_iter: int) -> None:
        if self.path is None:
            return
        self.state = x.copy(), n_iter  # what the solver goes on writing to is no state to go on from
        if (start := time.monotonic()) > self.next:
            self.now()
            self.next = time.monotonic() + max(1.0, 20 * (time.monotonic() - start))

    def now(self) -> None:
        """Write what came last."""
        if self.path is not None and self.state is not None:
            save_state(self.path, self.problem, *self.state)
            self.state = None


def ready(shard: BasketShard) -> BasketShard:
    """A shard of baskets needs no preparing."""
    return shard


def kernel_with_own(factors: Factors) -> FloatArray:
    """A positive definite kernel to begin with."""
    L = factors.kernel().L
    return 0.9 * L + 0.1 * np.diag(L.diagonal())


def factors_of(L: FloatArray) -> Factors:
    """Factors of a symmetric kernel, of which rows of U have length 1."""
    lam, V = np.linalg.eigh(L)
    rows = V * np.sqrt(np.maximum(lam, 0.0))
    lengths = np.maximum(np.sqrt((rows**2).sum(axis=1)), 1e-100)
    return Factors(np.column_stack([np.log(lengths), rows / lengths[:, None]]), len(L), 0, False)
