"""From training data to weights: survey the shards, maximize the posterior, warn about what did not settle."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray, check_choice, check_int, check_rho
from dpplearn._run.progress import Progress, as_progress
from dpplearn.learning.checkpoint import Checkpoint
from dpplearn.learning.examples import check_examples
from dpplearn.learning.likelihood import Terms
from dpplearn.learning.parallel import Backend, Request, Survey, make_backend
from dpplearn.learning.rho import Point, maximize_over_rho
from dpplearn.learning.shards import Shard
from dpplearn.learning.solvers import RUNAWAY, Objective, Optimum, largest, lbfgs, newton, standard_errors

FAR = 50.0  # a start with log-qualities beyond this is compared with 0
SOLVERS = {"newton": newton, "lbfgs": lbfgs}


@dataclass(frozen=True, eq=False)
class Fitted:
    """Weights with their standard errors, and how they were reached."""

    theta: FloatArray
    theta_std: FloatArray
    rho: float
    log_likelihood: float
    gradient_norm: float
    n_iter: int
    converged: bool
    names: tuple[str, ...]
    n_instances: int


@dataclass(frozen=True)
class Settings:
    """The checked settings of a fit."""

    prior_variance: Any
    solver: str
    tol: float
    max_iter: int
    rho: float
    learn_rho: bool
    on_impossible: str

    def __post_init__(self) -> None:
        check_choice(self.solver, "solver", tuple(SOLVERS))
        check_choice(self.on_impossible, "on_impossible", ("error", "drop"))
        check_int(self.max_iter, "max_iter", low=0)
        check_rho(self.rho)
        if not (isinstance(self.tol, int | float | np.number) and 0 < self.tol < np.inf):
            raise ValueError(f"tol must be a positive number, found {self.tol!r}.")


def training_data(X: Any, y: Any, sample_weight: ArrayLike | None) -> Shard | list[str]:
    """Instances in memory, or the paths of shards that hold them."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"X must be a list of ItemSets or of paths of shards, found a single path. Pass [{str(X)!r}].")
    if is_paths(X):
        if y is not None or sample_weight is not None:
            raise TypeError("Shards hold their own targets and weights: with paths, leave y and sample_weight out.")
        paths = [os.fspath(path) for path in X]
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            raise FileNotFoundError(
                f"There is no shard file {missing[0]} ({len(missing)} of {len(paths)} are missing)."
            )
        return paths
    return Shard(X, *check_examples(X, y, sample_weight))


def is_paths(X: Any) -> bool:
    return isinstance(X, Sequence) and len(X) > 0 and all(isinstance(x, str | os.PathLike) for x in X)


def check_precision(prior_variance: Any, m: int) -> FloatArray:
    """1 / variance of the Gaussian prior of each weight; 0 where the variance is infinite or None."""
    if prior_variance is None:
        return np.zeros(m)
    try:
        variance = np.asarray(prior_variance, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"prior_variance must be a positive number, one per feature, or None; found {prior_variance!r}."
        ) from None
    if variance.ndim > 1 or (variance.ndim == 1 and variance.size != m):
        raise ValueError(
            f"prior_variance must be a number or have one entry per feature ({m}), found shape {variance.shape}."
        )
    if np.isnan(variance).any() or (variance < 1e-300).any():  # 1 / variance must be a float
        raise ValueError(f"prior_variance must be positive (numpy.inf or None for no prior), found {prior_variance!r}.")
    return np.broadcast_to(1 / variance, (m,)).copy()


def fit_weights(
    data: Shard | list[str],
    settings: Settings,
    *,
    start: FloatArray | None = None,
    backend: Any = None,
    n_jobs: int | None = 1,
    verbose: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Fitted:
    """Maximize sum of w_t log P(Y_t | X_t) - sum of theta_j^2 / (2 variance_j) over theta, and over rho if asked to."""
    progress = as_progress(verbose)
    try:
        # With rho to be learned, what is possible is asked at a rho > 0, which may make more targets so.
        rho = max(settings.rho, 0.3) if settings.learn_rho else settings.rho
        with make_backend(backend, n_jobs, data, rho) as engine:
            return _fit(engine, settings, start, progress, checkpoint)
    except KeyboardInterrupt:
        stopped = f"Stopped in iteration {progress.iteration + 1}."
        progress.clear()
        kept = f" {checkpoint} holds the weights so far: fit again with it to go on." if checkpoint is not None else ""
        raise KeyboardInterrupt(stopped + kept) from None


def _fit(
    engine: Backend,
    settings: Settings,
    start: FloatArray | None,
    progress: Progress,
    checkpoint: str | os.PathLike[str] | None,
) -> Fitted:
    survey = engine.survey()
    m = survey.n_features
    names = survey.names or default_names(m)
    if survey.weight == 0:
        raise ValueError("All sample_weight are 0: at least one instance must count.")
    report_impossible(survey, settings.on_impossible)
    precision = check_precision(settings.prior_variance, m)
    state = Checkpoint(checkpoint, problem_of(survey, names, precision, settings))
    theta, rho, done = np.zeros(m), settings.rho, 0
    known: dict[float, Point] = {}
    if start is not None:
        if start.size != m:
            raise ValueError(
                f"warm_start=True goes on from {start.size} weights, and these data have {m} features. Fit a new "
                "estimator, or set warm_start=False."
            )
        theta = start.copy()
    if (saved := state.load()) is not None:
        theta, rho, done, known = saved
        known = {r: point for r, point in known.items() if point.converged}  # with more iterations, others may
    progress.iteration = done

    def posterior(rho: float) -> Objective:
        def objective(theta: FloatArray, order: int) -> Terms:
            terms = engine.evaluate(Request(theta, rho, order, settings.learn_rho), progress.tick)
            return penalized(terms, theta, precision)

        return objective

    def maximize(rho: float, theta: FloatArray, n_iter: int) -> Optimum:
        objective = posterior(rho)

        def report(n_iter: int, theta: FloatArray, terms: Terms) -> None:
            log_likelihood = terms.value + float(precision @ theta**2) / 2
            progress.finish(n_iter, log_likelihood, largest(terms.gradient))
            state.save(theta, rho, n_iter, log_likelihood, known)

        last = settings.max_iter + (n_iter if settings.learn_rho else 0)  # for each rho, where there are several
        if largest(theta * survey.scale) > FAR and objective(theta, 1).value < objective(np.zeros(m), 1).value:
            theta = np.zeros(m)  # a warm start from other data may be worse than none
        return SOLVERS[settings.solver](
            objective, theta, tol=settings.tol, max_iter=last, report=report, n_iter=n_iter, scale=survey.scale
        )

    if settings.learn_rho:
        for r, point in list(known.items())[-1:]:  # of the same data, or none of them would be of use
            here = posterior(r)(point.theta, 1).value
            if not np.isclose(here, point.value, rtol=1e-6, atol=1e-6):
                raise ValueError(
                    f"The checkpoint {checkpoint} is of another fit: at rho={r:g} it has the value {point.value:.8g}, "
                    f"here it is {here:.8g}. Delete the file to start anew, or pass another path."
                )
        rho, best = maximize_over_rho(maximize, theta, done, known)
        if state.path is not None:
            value = best.terms.value + float(precision @ best.theta**2) / 2
            state.save(best.theta, rho, best.n_iter, value, known)
    else:
        best = maximize(rho, theta, done)
    progress.clear()
    assert best.terms.hessian is not None
    with np.errstate(divide="ignore"):
        theta_std = np.minimum(standard_errors(best.terms.hessian), 1 / np.sqrt(precision))  # the prior's at most
    settled = warn_unless_settled(best, precision, survey, names, theta_std, settings)
    log_likelihood = best.terms.value + float(precision @ best.theta**2) / 2
    n_used = survey.n_instances - len(survey.impossible)
    norm = largest(best.terms.gradient)
    return Fitted(best.theta, theta_std, rho, log_likelihood, norm, best.n_iter, settled, names, n_used)


def penalized(terms: Terms, theta: FloatArray, precision: FloatArray) -> Terms:
    """With the Gaussian prior's part added."""
    return Terms(
        terms.value - float(precision @ theta**2) / 2,
        terms.gradient - precision * theta,
        None if terms.hessian is None else terms.hessian - np.diag(precision),
        terms.d_u,
    )


def problem_of(survey: Survey, names: Sequence[str], precision: FloatArray, settings: Settings) -> dict[str, Any]:
    """What tells one fit from another."""
    return {
        "n_instances": survey.n_instances,
        "n_features": survey.n_features,
        "feature_names": list(names),
        "largest_features": survey.scale,
        "precision": precision,
        "rho": settings.rho,
        "learn_rho": settings.learn_rho,
        **({"tol": settings.tol} if settings.learn_rho else {}),  # of every rho that is done
    }


def default_names(m: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(m))


def report_impossible(survey: Survey, on_impossible: str) -> None:
    """Raise, or say what is left out."""
    bad = survey.impossible
    if not bad:
        return
    first = "; ".join(f"instance {t}: {why}" for t, why in bad[:3]) + ("; ..." if len(bad) > 3 else "")
    if on_impossible == "error":
        raise ValueError(
            f"{len(bad)} of {survey.n_instances} targets have probability 0 whatever the weights are ({first}). "
            'Take one of the items out of the target, or fit with on_impossible="drop" to leave these instances out.'
        )
    if len(bad) == survey.n_instances:
        raise ValueError(
            f"All {survey.n_instances} targets have probability 0 ({first}): no instance is left to learn from."
        )
    warnings.warn(
        f"Left out {len(bad)} of {survey.n_instances} instances, whose targets have probability 0 ({first}).",
        stacklevel=5,
    )


def warn_unless_settled(
    best: Optimum, precision: FloatArray, survey: Survey, names: Sequence[str], std: FloatArray, settings: Settings
) -> bool:
    """Whether theta is a maximum; if not, warn which weights are not settled and what to do."""
    free = precision == 0
    # A large step from small weights only says that the solver was stopped, or told to be content, too soon.
    free &= np.abs(best.theta) * survey.scale > (5.0 if best.converged else 15.0)
    running = free & (np.abs(best.step) * survey.scale > RUNAWAY) & (best.theta * best.step > 0)
    if running.any():
        found = ", ".join(
            f"{names[j]} ({best.theta[j]:+.1f} and {'rising' if best.step[j] > 0 else 'falling'})"
            for j in np.flatnonzero(running).tolist()
        )
        message = (
            f"These weights run away to infinity, because the data separate on them and they have no prior: {found}. "
            "Give them a finite prior_variance, or leave the features out."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=5)
        return False
    if not best.converged:
        message = (
            f"fit stopped after {best.n_iter} iterations with a gradient of {largest(best.terms.gradient):.2g}, "
            f"above tol={settings.tol:g}. Raise max_iter ({settings.max_iter}), or tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=5)
        return False
    if np.isinf(std).any():
        found = ", ".join(names[j] for j in np.flatnonzero(np.isinf(std)).tolist())
        message = (
            f"The data do not determine the weights of {found}: the columns are zero or collinear, and without a prior "
            "other weights fit as well. Their standard errors are infinite; give them a finite prior_variance."
        )
        warnings.warn(message, stacklevel=5)
    return True
