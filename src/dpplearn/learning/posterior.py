"""From training data to a model: survey the shards, and maximize the posterior over quality and similarity."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, check_choice, check_int
from dpplearn._run.progress import Progress, as_progress
from dpplearn.learning.backends import make_backend
from dpplearn.learning.backends.protocol import Backend
from dpplearn.learning.evaluators import Survey, make_evaluator
from dpplearn.learning.likelihood import Request, Terms
from dpplearn.learning.outcome import report_impossible, warn_about_bounds, warn_unless_settled
from dpplearn.learning.profile import Known, Profile, maximize_profile
from dpplearn.learning.quality import LogLinear, Quality
from dpplearn.learning.similarity import Fixed, Similarity
from dpplearn.learning.solvers import Objective, Optimum, largest, lbfgs, newton, standard_errors
from dpplearn.learning.storage.checkpoint import Checkpoint
from dpplearn.learning.training_set import Shard

FAR = 50.0  # a start with log-qualities beyond this is compared with 0
SOLVERS = {"newton": newton, "lbfgs": lbfgs}


@dataclass(frozen=True, eq=False)
class Fitted:
    """A quality with the standard errors of its parameters, a similarity, and how they were reached."""

    quality: Quality
    std: FloatArray
    similarity: Similarity
    log_likelihood: float
    gradient_norm: float
    n_iter: int
    converged: bool
    names: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """The checked settings of a fit; `free` has the names of the similarity's parameters that are learned."""

    prior_variance: Any
    solver: str
    tol: float
    max_iter: int
    similarity: Similarity
    free: tuple[str, ...]
    on_impossible: str

    def __post_init__(self) -> None:
        check_choice(self.solver, "solver", tuple(SOLVERS))
        check_choice(self.on_impossible, "on_impossible", ("error", "drop"))
        check_int(self.max_iter, "max_iter", low=0)
        if not (isinstance(self.tol, int | float | np.number) and 0 < self.tol < np.inf):
            raise ValueError(f"tol must be a positive number, found {self.tol!r}.")

    @property
    def free_indices(self) -> list[int]:
        """Places of the free parameters in the similarity's vector."""
        return [j for j, parameter in enumerate(self.similarity.space) if parameter.name in self.free]

    @property
    def possible(self) -> Similarity:
        """A similarity that makes as many targets possible as any: free parameters are inside their bounds."""
        w = self.similarity.parameters.copy()
        for j in self.free_indices:
            parameter = self.similarity.space[j]
            w[j] = max(w[j], parameter.starts[len(parameter.starts) // 2])
        return self.similarity.with_parameters(w) if self.free else self.similarity


def free_parameters(similarity: Similarity, learn_rho: bool, learn_nugget: bool) -> tuple[str, ...]:
    """What is learned: of "fixed" what is asked for, of every other kind all."""
    if isinstance(similarity, Fixed):
        return ("rho^2",) * bool(learn_rho) + ("nugget",) * bool(learn_nugget)
    return tuple(parameter.name for parameter in similarity.space)


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
    evaluator: Any = "numpy",
    verbose: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Fitted:
    """Maximize sum of w_t log P(Y_t | X_t) - sum of theta_j^2 / (2 variance_j), over the similarity too if asked to."""
    progress = as_progress(verbose)
    prepare = partial(make_evaluator(evaluator).prepare, similarity=settings.possible)
    try:
        with make_backend(backend, n_jobs, data, prepare) as engine:
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
    quality, free = LogLinear(np.zeros(m), names), settings.free_indices
    state = Checkpoint(checkpoint, problem_of(survey, names, precision, settings))
    theta, done = np.zeros(m), 0
    known: Known = {}
    if start is not None:
        if start.size != m:
            raise ValueError(
                f"warm_start=True goes on from {start.size} weights, and these data have {m} features. Fit a new "
                "estimator, or set warm_start=False."
            )
        theta = start.copy()
    if (saved := state.load(settings.similarity)) is not None:
        theta, done, known = saved.quality, saved.n_iter, saved.known
        known = {w: point for w, point in known.items() if point.converged}  # with more iterations, others may
    progress.iteration = done

    def posterior(similarity: Similarity) -> Objective:
        def objective(theta: FloatArray, order: int) -> Terms:
            request = Request(quality.with_parameters(theta), similarity, order, bool(free))
            return penalized(engine.evaluate(request, progress.tick), theta, precision)

        return objective

    def likelihood(best: Terms, theta: FloatArray) -> float:
        return best.value + float(precision @ theta**2) / 2

    def maximize(similarity: Similarity, theta: FloatArray, n_iter: int) -> Optimum:
        objective = posterior(similarity)

        def report(n_iter: int, theta: FloatArray, terms: Terms) -> None:
            progress.finish(n_iter, likelihood(terms, theta), largest(terms.gradient))
            state.save(theta, similarity, n_iter, likelihood(terms, theta), known)

        last = settings.max_iter + (n_iter if free else 0)  # for each similarity, where there are several
        if largest(theta * survey.scale) > FAR and objective(theta, 1).value < objective(np.zeros(m), 1).value:
            theta = np.zeros(m)  # a warm start from other data may be worse than none
        return SOLVERS[settings.solver](
            objective, theta, tol=settings.tol, max_iter=last, report=report, n_iter=n_iter, scale=survey.scale
        )

    similarity = settings.similarity
    if free:
        for w, point in list(known.items())[-1:]:  # of the same data, or none of them would be of use
            at = similarity.with_parameters(np.array(w))
            here = posterior(at)(point.parameters, 1).value
            if not np.isclose(here, point.value, rtol=1e-6, atol=1e-6):
                where = ", ".join(f"{name}={x:g}" for name, x in at.named().items())
                raise ValueError(
                    f"The checkpoint {checkpoint} is of another fit: at {where} it has the value {point.value:.8g}, "
                    f"here it is {here:.8g}. Delete the file to start anew, or pass another path."
                )
        profile = Profile(maximize, similarity, theta, done, known)
        similarity, best = maximize_profile(profile, free)
        state.save(best.theta, similarity, best.n_iter, likelihood(best.terms, best.theta), known)
        warn_about_bounds(similarity, free, profile.rising)
    else:
        best = maximize(similarity, theta, done)
    progress.clear()
    assert best.terms.hessian is not None
    with np.errstate(divide="ignore"):
        std = np.minimum(standard_errors(best.terms.hessian), 1 / np.sqrt(precision))  # the prior's at most
    settled = warn_unless_settled(best, precision, survey, names, std, tol=settings.tol, max_iter=settings.max_iter)
    return Fitted(
        quality.with_parameters(best.theta),
        std,
        similarity,
        likelihood(best.terms, best.theta),
        largest(best.terms.gradient),
        best.n_iter,
        settled,
        names,
    )


def penalized(terms: Terms, theta: FloatArray, precision: FloatArray) -> Terms:
    """With the Gaussian prior's part added."""
    return terms._replace(
        value=terms.value - float(precision @ theta**2) / 2,
        gradient=terms.gradient - precision * theta,
        hessian=None if terms.hessian is None else terms.hessian - np.diag(precision),
    )


def problem_of(survey: Survey, names: Sequence[str], precision: FloatArray, settings: Settings) -> dict[str, Any]:
    """What tells one fit from another."""
    return {
        "n_instances": survey.n_instances,
        "n_features": survey.n_features,
        "feature_names": list(names),
        "largest_features": survey.scale,
        "precision": precision,
        "similarity": settings.similarity.state(),
        "learned": list(settings.free),
        **({"tol": settings.tol} if settings.free else {}),  # of every similarity that is done
    }


def default_names(m: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(m))
