"""From training data to a model: maximize the posterior over theta and the similarity, and report how it went.

For a fixed S the posterior is concave in theta. Where a mixture is learned with it, it is not, and the ascent begins at
several starts. In L = diag(q) (w_all 11^T + R) diag(q), the data determine q^2 R well and w_all badly. R is in
proportion to 1 - w_all. So if some c has F c = 1, the posterior has a ridge, along which q^2 grows while R falls. The
coordinates x are theta + c log(1 - w_all), which is constant along the ridge, and the parameters of the mixture.

Without a constant, only the features can set the size of a set, and their weights may take the wrong sign. So a fit
adds a constant unless the caller says not to, or the features span one. Its weight depends on where the other features
have their zero. If one is a year such as 2000, the constant is about -2000 times the weight of the year, and a prior on
it would shrink that weight too. So a fit subtracts the mean of each feature: the constant is then log q^2 of the
average item, and its prior is wide. The weights that a fit returns are those of the features as they were given.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dpplearn._checks import FloatArray, check_choice, check_int, warn_user
from dpplearn._run.progress import Progress
from dpplearn.learning import solve
from dpplearn.learning.files import Checkpoint
from dpplearn.learning.itemset import Shard, default_names
from dpplearn.learning.likelihood import LogLinear
from dpplearn.learning.predictor import Fitted
from dpplearn.learning.similarity import ALL, EMPTY, Similarity, fixed_similarity, shared_names
from dpplearn.learning.solve import DIRICHLET_STRENGTH, HESSIAN_LIMIT, Optimum, Posterior, covariance, unit_diagonal
from dpplearn.learning.training_set import Backend, PreparedShard, Survey, make_backend

EVALUATORS = ("numpy", "torch")  # by name; any object with `prepare` will do
AVERAGE_VARIANCE = 100.0  # of the prior on log q^2 of the average item: e^20 and e^-20 are 2 deviations away
SAMPLE_INSTANCES, SAMPLE_ITEMS = 24, 5000  # from these sizes on, starts are compared on a sample of the instances
START_GAIN = 0.01  # the ascent from a start ends when a step would gain less in the log-posterior
N_CLIMBED = 3  # starts of a mixture that are climbed
RUNAWAY = 5.0, 30.0  # how much a weight, and its error, change log-qualities if only separable data determine it
SAME_MAXIMUM = 1.0  # the data do not tell maxima apart whose log-posteriors differ by less
REMEDY = (
    "A nugget, which is particular to each item, makes every target possible: fit with nugget=0.01, say, or "
    'with similarity="mixture", which learns the nugget.'
)


def check_settings(model: Any) -> Similarity | None:
    """The similarity that an estimator's arguments ask for, None if it is to be learned; all arguments are checked."""
    check_choice(model.similarity, "similarity", ("fixed", "mixture"))
    check_choice(model.on_impossible, "on_impossible", ("error", "drop"))
    check_int(model.max_iter, "max_iter", low=0)
    check_int(model.random_state, "random_state", high=None)
    if not (isinstance(model.tol, int | float | np.number) and 0 < model.tol < np.inf):
        raise ValueError(f"tol must be a positive number, found {model.tol!r}.")
    fixed = fixed_similarity(model.rho, model.nugget)
    if model.similarity == "fixed":
        return fixed
    if fixed.w[0] or fixed.w[ALL]:
        raise ValueError(
            f'rho={model.rho:g} and nugget={model.nugget:g} are those of similarity="fixed": a mixture learns them. '
            'Leave them out, or in a mapping of its own: [{"nugget": [0.01, 0.1]}, {"similarity": ["mixture"]}].'
        )
    return None


def fit_weights(
    model: Any, data: Shard | list[str], evaluator: Any, work: str | os.PathLike[str] | None = None
) -> Fitted:
    """Maximize sum of w_t log P(Y_t | X_t) - sum of theta_j^2 / (2 variance_j), over a mixture too if asked to."""
    similarity = check_settings(model)
    progress = model.progress if isinstance(model.progress, Progress) else Progress(model.progress)
    if isinstance(data, Shard) and similarity is None:  # checked here, where instances have their numbers
        shared_names([items.part_names for items in data.item_sets])
    if not callable(getattr(evaluator, "prepare", None)):
        check_choice(evaluator, "evaluator", EVALUATORS)
        evaluator = import_module("dpplearn.torch.evaluator").Batches() if evaluator == "torch" else evaluator
    prepare = partial(PreparedShard.of, evaluator=evaluator, similarity=similarity)
    try:
        with make_backend(model.backend, model.n_jobs, data, prepare, progress.tick) as backend:
            survey = backend.survey()
            check_possible(survey, model.on_impossible)
            posterior = posterior_of(backend, survey, model, similarity, progress)
            saved = None if work is None else Checkpoint(work, problem_of(posterior))
            posterior = replace(posterior, checkpoint=saved)
            learned, n_iter = posterior.learned, 0
            x, hessian, gaps = climb_starts(posterior) if learned else (np.zeros(posterior.m), None, EMPTY)
            if saved is not None and saved.x is not None:  # a fit that was interrupted goes on from where it was
                further = not learned or posterior.at(saved.x, 1).value >= posterior.at(x, 1).value
                x, n_iter = (saved.x, saved.n_iter) if further else (x, 0)
            best = ascend(posterior, x, model.tol, model.max_iter, n_iter, hessian)
    except KeyboardInterrupt:
        progress.clear()
        advice = "Nothing is kept: with work=FILE, a fit that was stopped goes on where it was."
        if work is not None:
            advice = f"{work} holds the weights so far: fit again with it to go on."
        raise KeyboardInterrupt(f"Stopped in iteration {progress.iteration + 1}. {advice}") from None
    progress.clear()
    return conclude(posterior, best, best.point.value - gaps)


def ascend(
    posterior: Posterior,
    x: FloatArray,
    tol: float,
    max_iter: int,
    n_iter: int = 0,
    hessian: FloatArray | None = None,
) -> Optimum:
    """The best theta for a given similarity, or a maximum over both; `hessian` is one near x."""
    limits: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "n_iter": n_iter}
    scale = np.where(posterior.scale > 1e-150, posterior.scale, 1.0)  # whose squares are floats
    if posterior.m > HESSIAN_LIMIT:  # in units in which a change of 1 matters about the same
        scale = np.append(scale * np.sqrt(1 + posterior.survey.n_chosen), np.ones(x.size - scale.size))
        return solve.lbfgs(posterior, x, scale, **limits)
    enough = START_GAIN if posterior.exploring and posterior.learned else -np.inf
    return solve.newton(posterior, x, scale, posterior.m, hessian, **limits, enough=enough)


def posterior_of(
    backend: Backend, survey: Survey, settings: Any, similarity: Similarity | None, progress: Progress
) -> Posterior:
    """The posterior to maximize; with a constant that is added, features are centered."""
    n_features = survey.low.size
    names = survey.names or default_names(n_features)
    missing = settings.constant and not settings.given_size
    missing = missing and not ((survey.low == survey.high) & (survey.low != 0)).any()
    constant, center = np.zeros(n_features), np.zeros(n_features)
    if missing or n_features <= HESSIAN_LIMIT:
        constant = constant_of(survey.products)
    precision = check_precision(settings.prior_variance, n_features)
    added = bool(missing and not constant.any())
    if added:
        name = next(name for name in ("constant", "added constant", *default_names(1)) if name not in names)
        center = survey.products[-1, :-1] / survey.products[-1, -1]  # the mean of each feature over all items
        names, constant = (name, *names), np.append(1.0, constant)
        precision = np.append(1 / AVERAGE_VARIANCE if precision.any() else 0.0, precision)
    quality = LogLinear(np.zeros(precision.size), names, added, center if added else None)
    spread = np.maximum(np.abs(survey.low - center), np.abs(survey.high - center))
    scale = np.append(np.ones(int(added)), spread)
    S, learned = similarity or Similarity(survey.parts), similarity is None
    return Posterior(
        backend, survey, progress, quality, S, precision, scale, constant, precision.size, settings, learned
    )


def constant_of(products: FloatArray) -> FloatArray:
    """c with F c = 1 for all items, from [F 1]^T [F 1]; 0 where no combination of features is constant."""
    gram, sums, n = products[:-1, :-1], products[:-1, -1], float(products[-1, -1])
    scale, A = unit_diagonal(gram)
    lam, U = np.linalg.eigh(A)
    root = U[:, lam > 1e-10 * lam.size] / np.sqrt(lam[lam > 1e-10 * lam.size])
    c = scale * (root @ (root.T @ (scale * sums)))
    # The error is squared: a feature that differs from a constant by a millionth of its mean, a time say, is not one.
    return np.asarray(c if abs(n - c @ sums) <= 1e-13 * n else np.zeros_like(c))


def check_precision(prior_variance: Any, m: int) -> FloatArray:
    """1 / variance of the Gaussian prior of each weight; 0 where the variance is infinite or None."""
    try:
        variance = np.broadcast_to(np.asarray(np.inf if prior_variance is None else prior_variance, np.float64), (m,))
    except (TypeError, ValueError):
        variance = np.full(m, np.nan)
    if not (variance >= 1e-300).all():  # 1 / variance must be a float
        rule = f"a number or one entry per feature ({m}), numpy.inf or None for no prior"
        raise ValueError(f"prior_variance must be positive, {rule}; found {prior_variance!r:.60}.")
    return np.asarray(1 / variance)


# The starts of a mixture


def climb_starts(posterior: Posterior) -> tuple[FloatArray, FloatArray | None, FloatArray]:
    """The best end of several starts, a Hessian near it, and how far below it each end is, best first.

    Of many possible starts, those with the highest log-posterior are climbed until a step gains little. With many items
    they are climbed on a sample of the instances; their ends are then compared on all instances.
    """
    m, share, survey, S = posterior.m, 1.0, posterior.survey, posterior.similarity
    large = survey.n_items >= SAMPLE_ITEMS and survey.n_instances >= SAMPLE_INSTANCES and m <= HESSIAN_LIMIT
    if large and 16 * survey.sampled >= survey.weight:
        share = survey.sampled / survey.weight
    trial = replace(posterior, repeats=1 / share, exploring=True)
    starts: list[tuple[float, FloatArray]] = []
    x = posterior.join(np.zeros(m), S.parameters)[:m]
    for vector in S.starts(np.random.default_rng(posterior.settings.random_state)):
        # each start has a theta that is about right for its similarity
        given = replace(trial, similarity=S.with_parameters(vector), learned=False)
        end = ascend(given, x, tol=0.1, max_iter=1 if starts else 3)
        x = end.x
        starts.append((end.point.value, np.concatenate([x, vector])))
    starts.sort(key=lambda start: -start[0])
    ends, hessian = list[Optimum](), None
    for _, x in starts[:N_CLIMBED]:
        ends.append(ascend(trial, x, posterior.settings.tol, posterior.settings.max_iter, hessian=hessian))
        hessian = ends[-1].point.hessian  # which serves the next start as well
    values = np.array([end.point.value if share == 1 else posterior.at(end.x, 1).value for end in ends])
    best = ends[values.argmax()]
    return best.x, best.point.hessian, np.sort(values.max() - values)


# The model at the maximum


def conclude(posterior: Posterior, best: Optimum, starts: FloatArray) -> Fitted:
    """The model at a maximum, with standard errors by Laplace's method, and with warnings if something is wrong."""
    quality, survey, m, precision = posterior.quality, posterior.survey, posterior.m, posterior.precision
    (theta, S), hessian = posterior.split(best.x), best.point.hessian
    std, spread, at_bound = np.full(m, np.nan), None, list[str]()
    if hessian is not None:
        cov, undetermined = covariance(hessian, posterior.jacobian(best.x) if posterior.learned else None)
        std = np.where(undetermined[:m], np.inf, np.sqrt(np.maximum(cov.diagonal()[:m], 0.0)))
        with np.errstate(divide="ignore"):
            std = np.minimum(std, 1 / np.sqrt(precision))  # no more than the prior's
        spread = None if undetermined[:m].any() else cov[:m, :m]
        if posterior.learned:
            J = S.w[:, None] * S.slopes()  # dw / dz
            errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", J, cov[m:, m:], J), 0.0))
            # A weight far below its share counts as 0 if only the prior limits its logarithm.
            low = (S.w < 0.25 / S.w.size) & (errors > S.w / np.sqrt(2.5 * DIRICHLET_STRENGTH))
            S = replace(S, errors=np.where(low, np.nan, errors))
            at_bound = [name for name, at in zip(S.weights, low.tolist(), strict=True) if at]
    if posterior.learned:
        warn_about_mixture(at_bound, starts)
    converged = warn_unless_settled(posterior, best, theta, std)
    if quality.center is not None:  # the constant, which comes first, takes up the center of the other features
        A = np.eye(m)
        A[0, -quality.center.size :] -= quality.center
        theta, std = A @ theta, std.copy()
        if spread is not None:
            spread = A @ spread @ A.T
            std[0] = np.sqrt(max(spread[0, 0], 0.0))
        else:
            std[0] = np.inf if np.isinf(std[A[0] != 0]).any() else np.abs(A[0]) @ std  # an upper bound
    return Fitted(
        replace(quality, theta=theta, center=None), std, S, best.point.log_likelihood, best.point.size, best.n_iter,
        converged, starts, survey.encoding, spread, len(survey.kept), survey.n_counted,
    )  # fmt: skip


def problem_of(posterior: Posterior) -> dict[str, Any]:
    """What a checkpoint must have in common with the fit that goes on from it."""
    survey = posterior.survey
    return {
        "n_instances": survey.n_instances,
        "n_features": survey.low.size,
        "feature_names": list(posterior.quality.names),
        "largest_features": np.maximum(np.abs(survey.low), np.abs(survey.high)),
        "precision": posterior.precision,
        "similarity": posterior.similarity.weights,
        "given_size": posterior.settings.given_size,
    }


# Errors and warnings


def check_possible(survey: Survey, on_impossible: str) -> None:
    """Raise an error for impossible targets, or warn that they are left out; warn of data that cannot be right."""
    bad, n = survey.impossible, survey.n_instances
    first = "; ".join(f"instance {t}: {why}" for t, why in bad[:3]) + ("; ..." if len(bad) > 3 else "")
    if bad and on_impossible == "error":
        raise ValueError(
            f"{len(bad)} of {n} targets have probability 0 whatever the weights are ({first}). {REMEDY} Or take one of "
            'the items out of the target, or leave these instances out: on_impossible="drop".'
        )
    if survey.weight == 0:
        if bad:
            raise ValueError(f"All targets that count have probability 0 ({first}): nothing is left. {REMEDY}")
        raise ValueError("All sample_weight are 0: at least one instance must count.")
    if survey.n_chosen in (0.0, survey.n_items):
        which = "No item is chosen in any" if survey.n_chosen == 0 else "All items are chosen in each"
        warn_user(f"{which} of the {n} instances, so that nothing tells a good item from a bad one. Check y.")
    reserved = {"own": "what is particular to each item", "all": "the constant 11^T"}
    for a, b in sorted(survey.same_parts):
        like = reserved.get(a, f"the part {a!r}")
        warn_user(f"The similarity part {b!r} is the same matrix as {like} in every instance: leave it out.")
    if bad:
        warn_user(f"Left out {len(bad)} of {n} instances, whose targets have probability 0 ({first}). {REMEDY}")


def warn_about_mixture(at_bound: Sequence[str], starts: FloatArray) -> None:
    """Warn of weights at 0, and if most starts ended below the best one, so that a better maximum may exist."""
    if at_bound:
        named = ", ".join(at_bound[:5]) + f" and {len(at_bound) - 5} more" * (len(at_bound) > 5)
        warn_user(
            f"The learned similarity has weights so near 0 that the data do not tell them from 0: {named}. Their "
            "standard errors are not known. The weights may really be 0, or there are too few instances."
        )
    gap = starts.max(initial=-np.inf) - starts
    if 2 * (lower := int((gap > SAME_MAXIMUM).sum())) > gap.size:
        warn_user(
            f"{lower} of {gap.size} starts end in a lower maximum, or were left on their way to one, by up to "
            f"{gap.max():.3g} in the log-posterior. The best of them is kept, and there may be a better one: learn "
            'from more data, or with similarity="fixed".'
        )


def warn_unless_settled(posterior: Posterior, best: Optimum, theta: FloatArray, std: FloatArray) -> bool:
    """Whether theta is a maximum; if not, a warning names the weights that have not settled, and the remedy."""
    names, scale, settings = posterior.quality.names, posterior.scale, posterior.settings
    running = (np.abs(theta) * scale > RUNAWAY[0]) & (std > RUNAWAY[1] / np.maximum(scale, 1e-300))
    running &= posterior.precision == 0
    if running.any():
        named = ", ".join(
            f"{names[j]} ({theta[j]:+.1f} and {'rising' if theta[j] > 0 else 'falling'})"
            for j in np.flatnonzero(running).tolist()
        )
        warn_user(
            f"These weights run away to infinity, because the data separate on them and they have no prior: {named}. "
            "Give them a finite prior_variance, or leave the features out.",
            ConvergenceWarning,
        )
        return False
    if not best.converged:
        warn_user(
            f"fit stopped after {best.n_iter} iterations with a gradient of {best.point.size:.2g}, "
            f"above tol={settings.tol:g}. Raise max_iter ({settings.max_iter}), or tol.",
            ConvergenceWarning,
        )
    elif np.isinf(std).any():
        named = ", ".join(names[j] for j in np.flatnonzero(np.isinf(std)).tolist())
        warn_user(
            f"The data do not determine the weights of {named}: the columns are zero or collinear, and without a prior "
            "other weights fit as well. Their standard errors are infinite; give them a finite prior_variance."
        )
    return best.converged
