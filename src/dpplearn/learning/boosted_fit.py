"""From training data to a model with trees for a quality, wherever the instances live."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._run.progress import Progress, as_progress
from dpplearn.learning.backends import make_backend
from dpplearn.learning.boosted import Boosted
from dpplearn.learning.boosting import Boosting, Columns, boost
from dpplearn.learning.diagnosis import check_possible, warn_user
from dpplearn.learning.evaluators import PreparedShard, Survey, make_evaluator
from dpplearn.learning.fit import FitSettings, maximize_posterior
from dpplearn.learning.fitted import Fitted, default_names
from dpplearn.learning.growing import Binned, Growth
from dpplearn.learning.likelihood import LikelihoodRequest, Slopes
from dpplearn.learning.prior import check_precision
from dpplearn.learning.similarity import Mixture
from dpplearn.learning.training_set import Shard


def fit_boosted(
    data: Shard | list[str],
    settings: FitSettings,
    boosting: Boosting,
    *,
    backend: Any = None,
    n_jobs: int | None = 1,
    evaluator: Any = "numpy",
    device: Any = None,
    verbose: bool | Progress = False,
) -> Fitted:
    """Trees on the likelihood, given the similarity; one that is learned is that of a log-linear quality at first.

    It is learned again, with the constant, when the trees are there.
    """
    progress = as_progress(verbose)
    evaluated = make_evaluator(evaluator, device)
    prepare = partial(PreparedShard.of, evaluator=evaluated, similarity=settings.similarity, with_columns=True)
    with make_backend(backend, n_jobs, data, prepare) as engine:
        survey = engine.survey()
        check_possible(survey, settings.on_impossible)
        ridge = float(check_precision(settings.prior_variance, 1)[0])
        learned, first = isinstance(settings.similarity, Mixture), None
        if learned:
            first = maximize_posterior(engine, settings, None, progress, warn=False)
        similarity = settings.similarity if first is None else first.similarity

        def evaluate(quality: Boosted) -> Slopes:
            request = LikelihoodRequest(quality, similarity, 1, False, settings.given_size, per_item=True)
            found = engine.evaluate(request, progress.tick).items
            if found is None:
                raise TypeError(f"The evaluator {evaluator!r} says nothing of single items, on which trees are grown.")
            return found

        def report(value: float) -> None:
            progress.finish(progress.iteration + 1, value, 0.0)

        start = Boosted.start(column_names(survey), survey.n_features)
        if not settings.given_size:  # given the size, a constant changes nothing
            free = replace(settings, prior_variance=None, similarity=similarity, warm=learned, max_iter=100)
            constant = maximize_posterior(engine, free, start.parameters, Progress(False), None, start, warn=False)
            start = start.with_parameters(constant.quality.parameters)
        growth = Growth(boosting.depth, ridge, boosting.learning_rate)
        quality = boost(evaluate, start, columns_of(survey), growth, boosting, report, warn_user)
        if quality.n_trees == 0:
            warn_user("Trees raise the likelihood of held-out instances by nothing: the quality is a constant.")
        last = replace(
            settings,
            similarity=similarity,
            warm=learned,
            prior_variance=1.0 if settings.given_size else None,  # of the constant
            max_iter=max(settings.max_iter, 100),
        )
        fitted = maximize_posterior(engine, last, quality.parameters, progress, None, quality)
    starts = fitted.starts if first is None else first.starts
    return replace(fitted, n_iter=quality.n_trees, starts=starts)


def column_names(survey: Survey) -> tuple[str, ...]:
    """What the columns of the table are called, or the features."""
    if survey.encoding is not None:
        return tuple(one.name for one in survey.encoding.features)
    return survey.names or default_names(survey.n_features)


def columns_of(survey: Survey) -> Columns:
    """The columns of all items that count, in bins."""
    assert survey.raw is not None
    raw: FloatArray = survey.raw
    n_levels = np.zeros(raw.shape[1], np.int64)
    if survey.encoding is not None:  # an order is one of numbers
        n_levels[:] = [len(one.levels) if one.kind == "category" else 0 for one in survey.encoding.features]
    instance = np.repeat(np.arange(survey.sizes.size), survey.sizes)
    return Columns(raw, Binned.of(raw, n_levels), instance)
