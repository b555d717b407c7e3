"""From training data to a model: maximize the posterior over quality and similarity, and say how it went.

For a fixed S the posterior is concave in theta. Where a mixture is learned with it, it is not. Of
L = diag(q) (w_all 11^T + R) diag(q) the data know q^2 R well and w_all little, so that where some c has F c = 1 the
posterior is a ridge along which q^2 grows as R, 1 - w_all of S, falls. So x is theta + c log(1 - w_all), which is
constant along the ridge, and the parameters of the mixture. It is climbed from several starts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, check_choice, check_int
from dpplearn._run.progress import Progress, as_progress
from dpplearn.learning.backends import Backend, make_backend
from dpplearn.learning.diagnosis import (
    check_possible,
    warn_about_size,
    warn_about_starts,
    warn_about_weights,
    warn_unless_settled,
)
from dpplearn.learning.evaluators import PreparedShard, Survey, make_evaluator
from dpplearn.learning.fitted import Fitted, default_names
from dpplearn.learning.likelihood import LikelihoodRequest
from dpplearn.learning.parts import shared_names
from dpplearn.learning.prior import (
    center_of,
    check_precision,
    constant_of,
    log_linear,
    prior_precision,
    uncentered,
)
from dpplearn.learning.quality import LogLinear, Quality
from dpplearn.learning.similarity import Mixture, Similarity
from dpplearn.learning.solve import (
    MANY,
    Optimum,
    Point,
    covariance,
    largest,
    lbfgs,
    maximize,
    newton_step,
    trust_region,
)
from dpplearn.learning.storage.checkpoint import Checkpoint, Climb, SavedState
from dpplearn.learning.training_set import Shard

MANY_INSTANCES, MANY_ITEMS = 24, 5000  # from which on starts are compared on a sample of the instances
ROUGH = 0.3  # a gain in the log-posterior below which a sample has no more to say
FAR = 50.0  # a start with log-qualities beyond this is compared with 0


@dataclass(frozen=True)
class FitSettings:
    """The checked settings of a fit."""

    prior_variance: Any
    tol: float
    max_iter: int
    similarity: Similarity
    on_impossible: str
    given_size: bool = False
    similarity_prior: float = 0.1
    n_starts: int = 3
    random_state: Any = 0  # of the starts after the third
    warm: bool = False  # the similarity is that of an earlier fit: one start, from there
    constant: bool = True  # of a log-linear quality, unless the features span one

    def __post_init__(self) -> None:
        check_int(self.n_starts, "n_starts", low=1)
        if not (isinstance(self.similarity_prior, int | float | np.number) and 0 < self.similarity_prior < np.inf):
            raise ValueError(f"similarity_prior must be a positive number, found {self.similarity_prior!r}.")
        check_choice(self.on_impossible, "on_impossible", ("error", "drop"))
        check_int(self.max_iter, "max_iter", low=0)
        if not (isinstance(self.tol, int | float | np.number) and 0 < self.tol < np.inf):
            raise ValueError(f"tol must be a positive number, found {self.tol!r}.")


def fit_weights(
    data: Shard | list[str],
    settings: FitSettings,
    *,
    start: FloatArray | None = None,
    backend: Any = None,
    n_jobs: int | None = 1,
    evaluator: Any = "numpy",
    device: Any = None,
    verbose: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Fitted:
    """Maximize sum of w_t log P(Y_t | X_t) - sum of theta_j^2 / (2 variance_j), over a mixture too if asked to."""
    if isinstance(data, Shard) and isinstance(settings.similarity, Mixture):  # here, where instances have their numbers
        settings.similarity.bind(shared_names([items.part_names for items in data.item_sets]))
    progress = as_progress(verbose)
    prepare = partial(PreparedShard.of, evaluator=make_evaluator(evaluator, device), similarity=settings.similarity)
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


@dataclass(frozen=True, eq=False)
class Posterior:
    """The log-posterior of quality and similarity as a function of one vector x, where the instances live."""

    engine: Backend
    progress: Progress
    quality: Quality
    similarity: Similarity
    precision: FloatArray  # of the Gaussian prior on theta
    scale: FloatArray  # largest |f_ij| of each feature
    constant: FloatArray  # c with F c = 1, or 0 where there is none
    settings: FitSettings
    checkpoint: Checkpoint | None = None
    learned: bool = False  # whether x has the parameters of the similarity
    counts: float = 1.0  # how often each instance counts: more than once where they are a sample
    silent: bool = False
    finished: list[Climb] = field(default_factory=list)  # where earlier starts have led

    @property
    def m(self) -> int:
        return self.precision.size

    def join(self, theta: FloatArray, parameters: FloatArray) -> FloatArray:
        """x at a theta and parameters of the mixture."""
        if not isinstance(self.similarity, Mixture):
            return theta
        rest = self.similarity.with_parameters(parameters).log_rest().value
        return np.concatenate([theta + self.constant * rest, parameters])

    def split(self, x: FloatArray) -> tuple[FloatArray, Similarity]:
        """theta and the similarity at x."""
        S = self.similarity
        if not isinstance(S, Mixture):
            return x, S
        S = S.with_parameters(x[self.m :]) if self.learned else S
        return x[: self.m] - self.constant * S.log_rest().value, S

    def at(self, x: FloatArray, order: int, with_similarity: bool = True) -> Point:
        """Value and derivatives, those in the similarity's parameters where these are learned."""
        theta, S = self.split(x)
        quality, sized = self.quality.with_parameters(theta), self.settings.given_size
        request = LikelihoodRequest(quality, S, order, self.learned and with_similarity, sized, sample=self.counts > 1)
        terms = self.engine.evaluate(request, self.progress.tick)
        if not np.isfinite(terms.value):  # beyond every float: a step that came here is turned back
            return Point(-np.inf, np.full(x.size, np.nan))
        value = self.counts * terms.value - float(self.precision @ theta**2) / 2
        gradient, hessian = self.counts * terms.gradient - self.precision * theta, None
        if terms.hessian is not None:
            hessian = self.counts * terms.hessian - np.diag(self.precision)
        if not isinstance(S, Mixture):
            return Point(value, gradient, hessian, terms.value)
        prior, rest = S.log_prior(self.settings.similarity_prior * self.counts), S.log_rest()
        value += prior.value
        if terms.similarity_gradient is None:
            return Point(value, gradient, hessian, terms.value)
        slopes = self.counts * terms.similarity_gradient + prior.gradient
        along = float(self.constant @ gradient)
        gradient = np.concatenate([gradient, slopes - along * rest.gradient])
        if hessian is not None and terms.similarity_hessian is not None and terms.cross is not None:
            second = self.counts * terms.similarity_hessian + prior.hessian - along * rest.hessian
            cross, T = self.counts * terms.cross, self.jacobian(x)
            hessian = T.T @ np.block([[hessian, cross], [cross.T, second]]) @ T
        return Point(value, gradient, hessian, terms.value)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """d (theta, parameters of the similarity) / dx."""
        T, S = np.eye(x.size), self.split(x)[1]
        if self.learned and isinstance(S, Mixture):
            T[: self.m, self.m :] -= np.outer(self.constant, S.log_rest().gradient)
        return T

    def report(self, n_iter: int, x: FloatArray, point: Point) -> None:
        """Show how far it is, and keep it in the checkpoint."""
        if self.silent:
            return
        self.progress.finish(n_iter, point.log_likelihood, largest(point.gradient))
        if self.checkpoint is not None:
            self.checkpoint.save(self.climb(x, point), n_iter, point.log_likelihood, self.finished)

    def climb(self, x: FloatArray, point: Point) -> Climb:
        """What a checkpoint has of a point."""
        return Climb(self.split(x)[0], x[self.m :], point.value)


def maximize_posterior(
    engine: Backend,
    settings: FitSettings,
    start: FloatArray | None,
    progress: Progress,
    checkpoint: str | os.PathLike[str] | None = None,
    quality: Quality | None = None,
    warn: bool = True,
) -> Fitted:
    """Over the parameters of a quality, by default the weights of all features, and of a mixture."""
    survey = engine.survey()
    check_possible(survey, settings.on_impossible)
    posterior = posterior_of(engine, survey, settings, progress, quality)
    quality, m = posterior.quality, posterior.m
    if start is not None and start.size != m:
        raise ValueError(
            f"warm_start=True goes on from {start.size} weights, and these data have {m} features. Fit a new "
            "estimator, or set warm_start=False."
        )
    theta, saved = quality.parameters if start is None else centered(start, quality), None
    if checkpoint is not None:
        posterior = replace(posterior, checkpoint=Checkpoint(checkpoint, problem_of(survey, posterior)))
        parameters = posterior.similarity.w.size if isinstance(posterior.similarity, Mixture) else 0
        saved = posterior.checkpoint.load(parameters)  # type: ignore[union-attr]  # made above
    starts = np.empty(0)
    if posterior.learned:
        best, starts = climb_starts(posterior, survey, theta, saved)
    else:
        theta = theta if saved is None else saved.latest.quality
        progress.iteration = done = 0 if saved is None else saved.n_iter
        if largest(theta * posterior.scale) > FAR and posterior.at(theta, 1).value < posterior.at(0 * theta, 1).value:
            theta = 0 * theta  # a warm start from other data may be worse than none
        # without Hessians, units in which a change of 1 matters about the same
        unit = posterior.scale * (1.0 if m <= MANY else np.sqrt(1 + survey.n_chosen))
        best = maximize(posterior, theta, unit, tol=settings.tol, max_iter=settings.max_iter, n_iter=done)
    progress.clear()
    return concluded(posterior, survey, best, starts, warn)


def posterior_of(
    engine: Backend, survey: Survey, settings: FitSettings, progress: Progress, quality: Quality | None
) -> Posterior:
    """What is to be maximized; by default over a weight for each feature, and for a constant where none is spanned."""
    if quality is None:
        quality = log_linear(survey, settings.constant, settings.given_size)
    m = quality.parameters.size
    scale, precision, constant = np.ones(m), np.zeros(m), np.zeros(m)
    if isinstance(quality, LogLinear):
        added = quality.constant
        center = center_of(survey) if added else np.zeros(survey.n_features)
        quality = replace(quality, center=center if added else None)
        spread = np.maximum(np.abs(survey.low - center), np.abs(survey.high - center))
        scale = np.append(np.ones(int(added)), spread)
        precision = prior_precision(settings.prior_variance, survey, added)
        if added:
            constant[0] = 1.0
        elif m <= MANY:
            constant = constant_of(survey.products)
    else:
        precision = check_precision(settings.prior_variance, m)
    similarity, learned = settings.similarity, isinstance(settings.similarity, Mixture)
    if isinstance(similarity, Mixture):
        similarity = similarity.bind(survey.parts)
    return Posterior(engine, progress, quality, similarity, precision, scale, constant, settings, learned=learned)


def climb_starts(
    posterior: Posterior, survey: Survey, theta: FloatArray, saved: SavedState | None
) -> tuple[Optimum, FloatArray]:
    """The best of the maxima to which several starts lead, and the log-posterior that each start reached.

    Of many possible starts, those with the highest log-posterior are climbed. Where there are many items, they are
    climbed on a sample of the instances first, and from where that led on all.
    """
    settings, m, S = posterior.settings, posterior.m, posterior.similarity
    assert isinstance(S, Mixture)
    first = posterior
    many = survey.n_items >= MANY_ITEMS and 16 * survey.sampled >= survey.weight and m <= MANY
    if many and survey.n_instances >= MANY_INSTANCES and not settings.warm:
        counts = survey.weight / survey.sampled
        # `finished` of its own: a checkpoint holds where climbs on all instances have led
        first = replace(posterior, counts=counts, finished=[], checkpoint=None, silent=True)
    vectors = [S.parameters]
    if not settings.warm and settings.n_starts > 1:
        vectors = S.starts(settings.n_starts, np.random.default_rng(settings.random_state))
    starts: list[Optimum] = []
    for vector in vectors:  # with a theta that is about right for it
        x = starts[-1].x[:m] if starts else posterior.join(theta, vector)[:m]
        given = replace(first, similarity=S.with_parameters(vector), learned=False, silent=True)
        best = maximize(given, x, posterior.scale, tol=0.1, max_iter=1 if starts else 3)
        starts.append(replace(best, x=np.concatenate([best.x, vector]), n_iter=0))
    starts.sort(key=lambda start: -start.point.value)  # the best first
    if first is posterior:
        reached = climb_each(posterior, survey, starts, saved)
        ends, places = reached, list(range(len(reached)))
    else:
        rough = climb_each(first, survey, starts, None)
        ends = sorted(set(rough), key=lambda led: -led.point.value)
        places = [ends.index(led) for led in rough]
        hessian = first.at(ends[0].x, 2).hessian  # about that of the others, too
        unknown = Point(np.nan, np.zeros(0), hessian)  # on all instances
        ends = climb_each(posterior, survey, [replace(led, point=unknown, n_iter=0) for led in ends], saved)
    best = max(ends, key=lambda led: led.point.value)
    if best.point.hessian is None and m <= MANY:
        best = replace(best, point=posterior.at(best.x, 2))
    best = replace(best, n_iter=max(led.n_iter for led in ends))
    return best, np.array([ends[k].point.value for k in places if k < len(ends)])


def climb_each(
    posterior: Posterior, survey: Survey, starts: Sequence[Optimum], saved: SavedState | None
) -> list[Optimum]:
    """Where each start leads, until `n_starts` of them were climbed.

    One from which the posterior rises all along the straight way to a maximum that is known is not climbed. The second
    is in any case: a straight way may rise to a maximum from a start that would lead to another.
    """
    settings, n_iter = posterior.settings, 0
    on_sample = posterior.counts > 1
    hessian = starts[0].point.hessian if np.isnan(starts[0].point.value) else None
    maxima, reached, climbs = list[Optimum](), list[Optimum](), 0
    for k, start in enumerate(starts):
        if climbs == settings.n_starts:
            break
        led = leads_to(posterior, start, maxima) if k != 1 or not on_sample else None
        if led is not None:
            reached.append(led)
            continue
        x, earlier = start.x, [] if saved is None else saved.finished
        beat = max((to.point.value for to in maxima), default=-np.inf)
        if saved is not None and climbs < len(earlier):
            point = Point(earlier[climbs].value, np.zeros(x.size))
            x = posterior.join(earlier[climbs].quality, earlier[climbs].similarity)
            led = Optimum(x, point, saved.n_iter, True)
        else:
            if saved is not None and climbs == len(earlier):
                x, n_iter = posterior.join(saved.latest.quality, saved.latest.similarity), saved.n_iter
            hessian = posterior.at(x, 2).hessian if hessian is None and on_sample else hessian
            led = climbed(posterior, survey, x, hessian, n_iter, beat)
        climbs += 1
        left = not led.converged and led.n_iter < settings.max_iter + n_iter  # it would not beat the best
        n_iter = led.n_iter
        if led.converged or left:
            posterior.finished.append(posterior.climb(led.x, led.point))
            posterior.report(n_iter, led.x, led.point)
        if left:
            led = leads_to(posterior, led, maxima) or led
        if led not in maxima and (on_sample or not left):
            maxima.append(led)
        reached.append(led)
    return reached


def climbed(
    posterior: Posterior, survey: Survey, x: FloatArray, hessian: FloatArray | None, n_iter: int, beat: float
) -> Optimum:
    """From one start to a maximum, or on a sample as near to it as that can tell.

    One that will not `beat` the best so far is left half-way.
    """
    settings, m = posterior.settings, posterior.m
    last = settings.max_iter + n_iter
    if m > MANY:
        unit = np.append(posterior.scale * np.sqrt(1 + survey.n_chosen), np.ones(x.size - m))
        return lbfgs(posterior, x, unit, tol=settings.tol, max_iter=last, n_iter=n_iter)
    enough, beat = (ROUGH, -np.inf) if posterior.counts > 1 else (0.0, beat)
    return trust_region(
        posterior, x, m, hessian, tol=settings.tol, max_iter=last, n_iter=n_iter, enough=enough, beat=beat
    )


def leads_to(posterior: Posterior, start: Optimum, maxima: Sequence[Optimum]) -> Optimum | None:
    """A maximum to which the posterior rises all along the straight way from a start, as far as three steps show."""
    x, value = start.x, start.point.value
    for to in maxima:
        if np.isnan(value):
            value = posterior.at(x, 1, with_similarity=False).value
        before = value
        for t in (1 / 3, 2 / 3, 1.0):
            here = to.point.value if t == 1 else posterior.at(x + t * (to.x - x), 1, with_similarity=False).value
            if not here > before:
                break
            before = here
        else:
            return to
    return None


def concluded(posterior: Posterior, survey: Survey, best: Optimum, starts: FloatArray, warn: bool) -> Fitted:
    """The model at a maximum, with standard errors by Laplace's method; and warnings of what is not as it should be."""
    settings, m, precision = posterior.settings, posterior.m, posterior.precision
    (theta, S), hessian = posterior.split(best.x), best.point.hessian
    std, spread = np.full(m, np.nan), None
    at_bound: list[str] = []
    if hessian is not None:
        cov, undetermined = covariance(hessian, posterior.jacobian(best.x))
        std = np.where(undetermined[:m], np.inf, np.sqrt(np.maximum(cov.diagonal()[:m], 0.0)))
        with np.errstate(divide="ignore"):
            std = np.minimum(std, 1 / np.sqrt(precision))  # the prior's at most
        spread = None if undetermined[:m].any() else cov[:m, :m]
        if isinstance(S, Mixture) and posterior.learned:
            J = S.jacobians[0]
            errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", J, cov[m:, m:], J), 0.0))
            # A weight far below its share, of whose logarithm only the prior knows more than nothing, is at 0.
            low = (S.w < 0.25 / S.w.size) & (errors > S.w / np.sqrt(2.5 * settings.similarity_prior))
            S = replace(S, errors=np.where(low, np.nan, errors))
            at_bound = [name for name, at in zip(S.weights, low.tolist(), strict=True) if at]
    converged = best.converged
    if warn:
        warn_about_weights(at_bound)
        warn_about_starts(starts)
        check_size(posterior, survey, theta, S)
        names = posterior.quality.names[:m]
        converged = warn_unless_settled(best, theta, std, precision == 0, posterior.scale, names, settings)
    quality, std, spread = uncentered(posterior.quality, theta, std, spread)
    return Fitted(
        quality,
        std,
        S,
        best.point.log_likelihood,
        largest(best.point.gradient),
        best.n_iter,
        converged,
        posterior.quality.names if isinstance(quality, LogLinear) else survey.names or default_names(survey.n_features),
        starts,
        survey.encoding,
        spread,
    )


def check_size(posterior: Posterior, survey: Survey, theta: FloatArray, S: Similarity) -> None:
    """Where there is no constant, say what one would change: by the Newton step from here with one."""
    quality, settings = posterior.quality, posterior.settings
    if posterior.constant.any() or settings.given_size or not isinstance(quality, LogLinear) or theta.size > MANY:
        return
    center = center_of(survey)
    with_one = LogLinear(np.append(center @ theta, theta), constant=True, center=center)
    terms = posterior.engine.evaluate(LikelihoodRequest(with_one, S), posterior.progress.tick)
    missing = float(terms.gradient[0])  # sum of |Y| - E|Y|
    prior, x = np.append(0.0, posterior.precision), np.append(0.0, theta)
    assert terms.hessian is not None
    point = Point(terms.value, terms.gradient - prior * x, terms.hessian - np.diag(prior))
    step = newton_step(point)
    warn_about_size(survey, missing, float(point.gradient @ step) / 2, quality.names, theta, theta + step[1:])


def centered(theta: FloatArray, quality: Quality) -> FloatArray:
    """Weights of features as they are, as those of features less their center: the first takes up the difference."""
    theta = theta.copy()
    if isinstance(quality, LogLinear) and quality.center is not None:
        theta[0] += float(quality.center @ theta[-quality.center.size :])
    return theta


def problem_of(survey: Survey, posterior: Posterior) -> dict[str, Any]:
    """What tells one fit from another."""
    settings = posterior.settings
    return {
        "n_instances": survey.n_instances,
        "n_features": survey.n_features,
        "feature_names": list(posterior.quality.names[: posterior.m]),
        "largest_features": survey.scale,
        "precision": posterior.precision,
        "similarity": settings.similarity.state(),
        **({"given_size": True} if settings.given_size else {}),
    }
