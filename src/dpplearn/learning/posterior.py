"""From training data to a model: maximize the posterior over quality and similarity, and say how it went."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, check_choice, check_int
from dpplearn._run.progress import Progress, as_progress
from dpplearn.learning.backends import Backend, make_backend
from dpplearn.learning.diagnosis import (
    check_possible,
    is_settled,
    warn_about_bounds,
    warn_about_size,
    warn_about_starts,
)
from dpplearn.learning.evaluators import Part, Survey, make_evaluator
from dpplearn.learning.fitted import Fitted, default_names
from dpplearn.learning.joint import Problem
from dpplearn.learning.likelihood import Request, Terms
from dpplearn.learning.outcome import covariance_of
from dpplearn.learning.parts import shared_shapes
from dpplearn.learning.prior import (
    center_of,
    check_precision,
    constant_of,
    needs_constant,
    own_constant,
    prior_precision,
)
from dpplearn.learning.profile import Known, Profile, maximize_profile
from dpplearn.learning.quality import LogLinear, Quality
from dpplearn.learning.similarity import Fixed, Learned, Mixture, Projected, Similarity
from dpplearn.learning.solvers import Objective, Optimum, largest, lbfgs, newton, newton_step, standard_errors
from dpplearn.learning.starts import Interrupted, climb_learned
from dpplearn.learning.storage.checkpoint import Checkpoint
from dpplearn.learning.training_set import Shard

FAR = 50.0  # a start with log-qualities beyond this is compared with 0
SOLVERS = {"newton": newton, "lbfgs": lbfgs}


@dataclass(frozen=True)
class Settings:
    """The checked settings of a fit; `free` has the places of the similarity's parameters that are learned."""

    prior_variance: Any
    solver: str
    tol: float
    max_iter: int
    similarity: Similarity
    free: tuple[int, ...]
    on_impossible: str
    given_size: bool = False
    similarity_prior: float = 0.1
    n_starts: int = 3
    warm: bool = False  # the similarity is that of an earlier fit: one start, from there
    constant: bool = True  # of a log-linear quality, unless the features span one

    def __post_init__(self) -> None:
        check_int(self.n_starts, "n_starts", low=1)
        if not (isinstance(self.similarity_prior, int | float | np.number) and 0 < self.similarity_prior < np.inf):
            raise ValueError(f"similarity_prior must be a positive number, found {self.similarity_prior!r}.")
        check_choice(self.solver, "solver", tuple(SOLVERS))
        check_choice(self.on_impossible, "on_impossible", ("error", "drop"))
        check_int(self.max_iter, "max_iter", low=0)
        if not (isinstance(self.tol, int | float | np.number) and 0 < self.tol < np.inf):
            raise ValueError(f"tol must be a positive number, found {self.tol!r}.")

    @property
    def possible(self) -> Similarity:
        """A similarity that makes as many targets possible as any: free parameters are inside their bounds."""
        if isinstance(self.similarity, Learned):
            return self.similarity
        w = self.similarity.parameters.copy()
        for j in self.free:
            starts = self.similarity.space[j].starts
            w[j] = max(w[j], starts[len(starts) // 2])
        return self.similarity.with_parameters(w) if self.free else self.similarity


def free_parameters(similarity: Similarity, learn_rho: bool, learn_nugget: bool) -> tuple[int, ...]:
    """Places of what is learned: of "fixed" what is asked for, of every other kind all."""
    fixed = isinstance(similarity, Fixed)
    if not fixed and (learn_rho or learn_nugget):
        raise ValueError(
            f"learn_rho and learn_nugget are for similarity='fixed'; of {similarity.kind!r} every parameter is "
            "learned. Leave them out."
        )
    learned = [learn_rho, learn_nugget] if fixed else [True] * len(similarity.space)
    return tuple(j for j, learn in enumerate(learned) if learn)


def fit_weights(
    data: Shard | list[str],
    settings: Settings,
    *,
    start: FloatArray | None = None,
    backend: Any = None,
    n_jobs: int | None = 1,
    evaluator: Any = "numpy",
    device: Any = None,
    verbose: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Fitted:
    """Maximize sum of w_t log P(Y_t | X_t) - sum of theta_j^2 / (2 variance_j), over the similarity too if asked to."""
    if isinstance(data, Shard) and isinstance(settings.similarity, Learned):  # here, where instances have their numbers
        settings.similarity.bound(shared_shapes([tuple(p.shape for p in items.parts) for items in data.item_sets]))
    progress = as_progress(verbose)
    prepare = partial(Part.of, evaluator=make_evaluator(evaluator, device), similarity=settings.possible)
    try:
        with make_backend(backend, n_jobs, data, prepare) as engine:
            return maximize_posterior(engine, settings, start, progress, checkpoint)
    except KeyboardInterrupt:
        stopped = f"Stopped in iteration {progress.iteration + 1}."
        progress.clear()
        kept = "Nothing is kept: with checkpoint=FILE, a fit that was stopped goes on where it was."
        if checkpoint is not None:
            kept = f"{checkpoint} holds the weights so far: fit again with it to go on."
        raise KeyboardInterrupt(f"{stopped} {kept}") from None


def maximize_posterior(
    engine: Backend,
    settings: Settings,
    start: FloatArray | None,
    progress: Progress,
    checkpoint: str | os.PathLike[str] | None,
    quality: Quality | None = None,
) -> Fitted:
    """Over the parameters of a quality, by default the weights of all features, and of the similarity."""
    survey = engine.survey()
    check_possible(survey, settings.on_impossible)
    features = survey.names or default_names(survey.n_features)
    if quality is None:
        quality = log_linear(survey, settings, features)
    m, linear = quality.parameters.size, isinstance(quality, LogLinear)
    if isinstance(quality, LogLinear):
        added, features = quality.constant, quality.names
        ours = own_constant(survey, settings.prior_variance, added, settings.given_size)
        center = center_of(survey, added) if ours else np.zeros(survey.n_features)
        quality = replace(quality, center=center if ours else None)
        scale = np.concatenate(
            [np.ones(int(added)), np.maximum(np.abs(survey.low - center), np.abs(survey.high - center))]
        )
        precision = prior_precision(settings.prior_variance, survey, added, ours)
    else:
        scale, precision = np.ones(m), check_precision(settings.prior_variance, m)
    names = quality.names[:m]
    similarity, free = settings.similarity, settings.free
    if start is not None and start.size != m:
        raise ValueError(
            f"warm_start=True goes on from {start.size} weights, and these data have {m} features. Fit a new "
            "estimator, or set warm_start=False."
        )
    theta, done, known = quality.parameters if start is None else centered(start, quality), 0, Known()
    if isinstance(similarity, Learned):
        similarity = similarity.bound(survey.parts)
        if survey.moment is not None and isinstance(similarity, Projected) and not settings.warm:
            similarity = similarity.centred(survey.moment)
    state = Checkpoint(checkpoint, problem_of(survey, names, precision, settings))
    first, interrupted = theta, None
    if (saved := state.load(similarity)) is not None:
        theta, done, known, where = saved
        interrupted = Interrupted(theta, where, first=not known)
        known = {w: point for w, point in known.items() if point.converged}  # with more iterations, others may
    progress.iteration = done

    def posterior(similarity: Similarity) -> Objective:
        def objective(theta: FloatArray, order: int) -> Terms:
            request = Request(quality.with_parameters(theta), similarity, order, bool(free), settings.given_size)
            return penalized(engine.evaluate(request, progress.tick), theta, precision)

        return objective

    def likelihood(terms: Terms, theta: FloatArray) -> float:
        return terms.value + float(precision @ theta**2) / 2

    def maximize(similarity: Similarity, theta: FloatArray, n_iter: int) -> Optimum:
        objective = posterior(similarity)

        def report(n_iter: int, theta: FloatArray, terms: Terms) -> None:
            progress.finish(n_iter, likelihood(terms, theta), largest(terms.gradient))
            state.save(theta, similarity, n_iter, likelihood(terms, theta), known)

        last = settings.max_iter + (n_iter if free else 0)  # for each similarity, where there are several
        if largest(theta * scale) > FAR and objective(theta, 1).value < objective(np.zeros(m), 1).value:
            theta = np.zeros(m)  # a warm start from other data may be worse than none
        return SOLVERS[settings.solver](
            objective, theta, tol=settings.tol, max_iter=last, report=report, n_iter=n_iter, scale=scale
        )

    def check_size(theta: FloatArray, similarity: Similarity) -> None:
        """Without a constant, say what one would change: by the Newton step from here with one."""
        if settings.given_size or not linear or direction_of_constant(survey, quality).any():
            return
        center = center_of(survey, True)
        with_one = LogLinear(np.concatenate([[center @ theta], theta]), constant=True, center=center)
        terms = engine.evaluate(Request(with_one, similarity), progress.tick)
        missing = float(terms.gradient[0])  # sum of |Y| - E|Y|
        terms = penalized(terms, np.concatenate([[0.0], theta]), np.concatenate([[0.0], precision]))
        step = newton_step(terms)
        warn_about_size(survey, missing, float(terms.gradient @ step) / 2, names, theta, theta + step[1:])

    if isinstance(similarity, Learned):
        problem = Problem(
            lambda request: engine.evaluate(request, progress.tick),
            quality,
            similarity,
            precision,
            settings.similarity_prior,
            settings.given_size,
            scale,
            direction_of_constant(survey, quality),
        )
        found = climb_learned(problem, first, interrupted, done, known, settings, state, progress)
        progress.clear()
        warn_about_starts(found)
        check_size(found.optimum.theta, found.similarity)
        final, std, covariance = uncentered(quality, found.optimum.theta, found.std, found.covariance)
        return Fitted(
            final,
            std,
            found.similarity,
            found.log_likelihood,
            largest(found.optimum.terms.gradient),
            found.optimum.n_iter,
            is_settled(found.optimum, found.std, precision == 0, scale, names, settings.tol, settings.max_iter),
            features,
            found.starts,
            survey.encoding,
            covariance,
        )
    if free:
        for w, point in list(known.items())[-1:]:  # of the same data, or none of them would be of use
            at = similarity.with_parameters(np.array(w))
            here = posterior(at)(point.parameters, 1).value
            if not np.isclose(here, point.value, rtol=1e-6, atol=1e-6):
                there = ", ".join(f"{name}={x:g}" for name, x in at.named().items())
                raise ValueError(
                    f"The checkpoint {checkpoint} is of another fit: at {there} it has the value {point.value:.8g}, "
                    f"here it is {here:.8g}. Delete the file to start anew, or pass another path."
                )
        profile = Profile(maximize, similarity, theta, done, known)
        similarity, best = maximize_profile(profile, free)
        state.save(best.theta, similarity, best.n_iter, likelihood(best.terms, best.theta), known)
        warn_about_bounds(profile, free)
    else:
        best = maximize(similarity, theta, done)
    progress.clear()
    assert best.terms.hessian is not None
    known_covariance, undetermined = covariance_of(best.terms.hessian)
    with np.errstate(divide="ignore"):
        std = np.minimum(standard_errors(best.terms.hessian), 1 / np.sqrt(precision))  # the prior's at most
    check_size(best.theta, similarity)
    settled = is_settled(best, std, precision == 0, scale, names, settings.tol, settings.max_iter)
    final, std, covariance = uncentered(quality, best.theta, std, None if undetermined.any() else known_covariance)
    return Fitted(
        final,
        std,
        similarity,
        likelihood(best.terms, best.theta),
        largest(best.terms.gradient),
        best.n_iter,
        settled,
        features,
        encoding=survey.encoding,
        covariance=covariance,
    )


def penalized(terms: Terms, theta: FloatArray, precision: FloatArray) -> Terms:
    """With the Gaussian prior's part added."""
    return terms._replace(
        value=terms.value - float(precision @ theta**2) / 2,
        gradient=terms.gradient - precision * theta,
        hessian=None if terms.hessian is None else terms.hessian - np.diag(precision),
    )


def centered(theta: FloatArray, quality: Quality) -> FloatArray:
    """Weights of features as they are, as those of features less their center: the first takes up the difference."""
    theta = theta.copy()
    if isinstance(quality, LogLinear) and quality.center is not None:
        theta[0] += float(quality.center @ theta[-quality.center.size :])
    return theta


def uncentered(
    quality: Quality, theta: FloatArray, std: FloatArray, covariance: FloatArray | None
) -> tuple[Quality, FloatArray, FloatArray | None]:
    """The quality at theta, for features as they are, with the standard errors and the covariance of its weights."""
    if not isinstance(quality, LogLinear):
        return quality.with_parameters(theta), std, None
    if quality.center is None:
        return quality.with_parameters(theta), std, covariance
    A = np.eye(theta.size)
    A[0, -quality.center.size :] -= quality.center
    std = std.copy()
    if covariance is not None:
        covariance = A @ covariance @ A.T
        std[0] = np.sqrt(max(covariance[0, 0], 0.0))
    elif np.isinf(std[A[0] != 0]).any():
        std[0] = np.inf
    else:
        std[0] = np.abs(A[0]) @ std  # at most
    return replace(quality, theta=A @ theta, center=None), std, covariance


def log_linear(survey: Survey, settings: Settings, features: tuple[str, ...]) -> LogLinear:
    """A weight of 0 for each feature and, where none is spanned and the size is to be learned, for a constant."""
    if not settings.constant and survey.encoding is not None and survey.encoding.constant:
        raise ValueError(
            "constant=False asks for a model without a constant, and these item sets have a column of ones, which "
            "ItemSet.from_long added. Leave it out there: ItemSet.from_long(..., constant=False)."
        )
    if not settings.constant or settings.given_size or not needs_constant(survey):
        return LogLinear(np.zeros(survey.n_features), features)
    name = next(name for name in ("constant", "added constant", *default_names(1)) if name not in features)
    return LogLinear(np.zeros(survey.n_features + 1), (name, *features), constant=True)


def direction_of_constant(survey: Survey, quality: Quality) -> FloatArray:
    """c for which parameters + c add 1 to every 2 log q_i; 0 where there is none."""
    c = np.zeros(quality.parameters.size)
    if not isinstance(quality, LogLinear):
        return c
    if quality.constant or quality.center is not None:
        c[0] = 1.0
        return c
    return constant_of(survey.products)


def problem_of(survey: Survey, names: Sequence[str], precision: FloatArray, settings: Settings) -> dict[str, Any]:
    """What tells one fit from another."""
    return {
        "n_instances": survey.n_instances,
        "n_features": survey.n_features,
        "feature_names": list(names),
        "largest_features": survey.scale,
        "precision": precision,
        "similarity": settings.similarity.state(),
        "learned": [settings.similarity.space[j].name for j in settings.free],
        **({"tol": settings.tol} if settings.free else {}),  # of every similarity that is done
        **({"given_size": True} if settings.given_size else {}),
        **({"coordinates": "odds"} if isinstance(settings.similarity, Mixture) else {}),  # they were logits before
    }
