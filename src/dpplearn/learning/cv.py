"""ConditionalDPPCV: a grid search over the settings of a ConditionalDPP, with the conventions of GridSearchCV."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, ParameterGrid, check_cv

from dpplearn._checks import FloatArray, IntArray, check_jobs
from dpplearn._notebook import card, table
from dpplearn._run.progress import Progress
from dpplearn.learning.conditional import ConditionalDPP, ConditionalEstimator
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.learning.similarity import Mixture, make_similarity
from dpplearn.learning.training_set import check_examples, why_impossible

Scorer = Callable[[ConditionalPredictor, Sequence[ItemSet], Sequence[Any]], float]
PRIOR_VARIANCES = (0.01, 0.1, 1.0, 10.0, 100.0)


class CVResults(dict[str, Any]):
    """A dict of arrays as `GridSearchCV.cv_results_` is, one entry per setting; a notebook shows it as a table."""

    def _repr_html_(self) -> str:
        names = [name for name in self if name.startswith("param_")]
        head = ["rank", *(name.removeprefix("param_") for name in names), "score", "spread", "fit, seconds"]
        rows = [
            (
                self["rank_test_score"][i],
                *("" if self[name].mask[i] else self[name][i] for name in names),
                *(f"{self[name][i]:.4g}" for name in ("mean_test_score", "std_test_score", "mean_fit_time")),
            )
            for i in np.argsort(self["rank_test_score"], kind="stable")
        ]
        return card(f"{len(rows)} settings", table(head, rows, len(rows)))


class Trial(NamedTuple):
    """One setting, fitted and scored in every fold."""

    scores: list[float]
    fit_times: list[float]
    score_times: list[float]
    converged: bool


class ConditionalDPPCV(ConditionalEstimator):
    """A ConditionalDPP with the best of many settings, found by cross-validation.

    It follows `sklearn.model_selection.GridSearchCV`: each setting is fitted without one fold of the instances after
    the other and scored on that fold. The best is then fitted to all instances, and predicts.

    Parameters
    ----------
    estimator : ConditionalDPP, optional
        What the settings change; `ConditionalDPP()` if none is given.
    param_grid : mapping of str to list, or list of such mappings, optional
        Values to compare, by the names of the arguments of ConditionalDPP, such as {"prior_variance": [0.1, 1, 10],
        "nugget": [0.01, 0.1], "similarity": ["fixed", "mixture"], "quality": ["log-linear", "boosted"]}. A mixture
        learns what `rho` and `nugget` say of the fixed similarity, and is tried once for all of these. By default five
        prior variances from 0.01 to 100.
    scoring : callable, optional
        scoring(model, X, y) -> float, larger is better; by default the mean log-likelihood of held-out
        subsets. The paper tunes on ROUGE: pass a function that decodes with model.predict and scores the
        result, with `references` in `fit` where that needs more than y.
    n_jobs : int, optional
        Settings tried at the same time, in processes; None is 1, and -1 all cores.
    refit : bool
        Whether the best setting is fitted to all instances.
    cv : int or scikit-learn splitter
        Folds over instances; a number of folds keeps together what `groups` in `fit` says belongs together.
    progress : bool
        Whether standard error shows how many settings are done, how long they took, and the best so far.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As in scikit-learn, one entry per setting: `params`, `param_nugget`, `mean_test_score`, `std_test_score`,
        `rank_test_score`, `split0_test_score`, `mean_fit_time` and so on. A notebook shows it as a table, and
        `pandas.DataFrame(search.cv_results_)` makes one.
    best_params_ : dict
    best_score_ : float
    best_index_ : int
    best_estimator_ : ConditionalDPP
        Fitted to all instances; its `theta_`, `theta_std_` and so on are also here.
    n_splits_ : int
    refit_time_ : float

    Examples
    --------
    >>> items = ItemSet([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], phi=[[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> search = ConditionalDPPCV(param_grid={"prior_variance": [0.01, 1.0]}, cv=3, progress=False)
    >>> search = search.fit([items] * 6, [[1, 2], [2], [0, 2]] * 2)
    >>> search.best_params_, search.cv_results_["rank_test_score"].tolist()
    ({'prior_variance': 1.0}, [2, 1])
    """

    def __init__(
        self,
        estimator: ConditionalDPP | None = None,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
        *,
        scoring: Scorer | None = None,
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = 5,
        progress: bool = True,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.progress = progress

    def fit(
        self,
        X: Sequence[ItemSet],
        y: Sequence[ArrayLike],
        sample_weight: ArrayLike | None = None,
        *,
        references: Sequence[Any] | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Find the best setting, and fit it to all instances.

        Parameters
        ----------
        X : list of ItemSet
        y : list of index arrays
        sample_weight : array, optional
        references : sequence, optional
            One per instance: what `scoring` gets in place of y, for instance reference summaries.
        groups : array, optional
            A label per instance. Those of one label, such as several targets of the same items, stay in one fold.
        """
        subsets, weights = check_examples(X, y, sample_weight)
        if references is not None and len(references) != len(X):
            raise ValueError(f"references must have one entry per instance ({len(X)}), found {len(references)}.")
        if self.scoring is not None and not callable(self.scoring):
            raise TypeError(f"scoring must be None or a function (model, X, y) -> float, found {self.scoring!r}.")
        jobs = 1 if self.n_jobs is None else check_jobs(self.n_jobs)
        settings = self._settings()
        models = [self._model(params) for params in settings]
        counts = possible_weights(models, X, subsets, weights)
        folds = self._folds(len(X), groups, weights)
        truth: Sequence[Any] = subsets if references is None else references
        tasks = (
            delayed(try_setting)(model, X, subsets, weights, truth, counts, folds, self.scoring) for model in models
        )
        trials: list[Trial] = []
        shown, start = Report(self.progress, len(models), len(folds)), time.perf_counter()
        for params, trial in zip(settings, Parallel(jobs, return_as="generator")(tasks), strict=True):
            trials.append(trial)
            if np.isnan(trial.scores).any():
                why = "scoring must return a number" if self.scoring else "all its targets have probability 0"
                fold = int(np.isnan(trial.scores).argmax())
                raise ValueError(f"The score of fold {fold} with {in_words(params)} is not a number: {why}.")
            shown.add(params, float(np.mean(trial.scores)), time.perf_counter() - start)
        self.cv_results_ = results_of(settings, trials)
        if not all(trial.converged for trial in trials):
            n = sum(not trial.converged for trial in trials)
            warnings.warn(f"{n} of {len(trials)} settings did not converge.", ConvergenceWarning, stacklevel=2)
        self.best_index_ = int(self.cv_results_["mean_test_score"].argmax())
        self.best_params_, self.n_splits_ = settings[self.best_index_], len(folds)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = models[self.best_index_].fit(X, subsets, weights)
            self.refit_time_ = time.perf_counter() - start
            for name, value in vars(self.best_estimator_).items():
                if name.endswith("_"):
                    setattr(self, name, value)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the best model to a JSON file, which `ConditionalDPP.load` reads."""
        self._check_fitted()
        self.best_estimator_.save(path)

    @property
    def given_size(self) -> bool:  # type: ignore[override]  # an argument of the estimator
        return bool(hasattr(self, "best_estimator_") and self.best_estimator_.given_size)

    @property
    def prior_variance(self) -> Any:
        """That of the best model, for its summary."""
        return self.best_estimator_.prior_variance

    def _settings(self) -> list[dict[str, Any]]:
        """The settings to compare, without those that make the same model."""
        grid = {"prior_variance": PRIOR_VARIANCES} if self.param_grid is None else self.param_grid
        known = ConditionalDPP().get_params()
        found: dict[str, dict[str, Any]] = {}
        for params in ParameterGrid(grid):
            for name in params:
                if name not in known:
                    raise ValueError(f"ConditionalDPP has no argument {name!r}; it has {', '.join(known)}.")
            kind = params.get("similarity", getattr(self.estimator, "similarity", "fixed"))
            if isinstance(make_similarity(kind, 0.0, 0.0), Mixture):
                params = {name: value for name, value in params.items() if name not in ("rho", "nugget")}
            found.setdefault(in_words(params), params)
        return list(found.values())

    def _model(self, params: dict[str, Any]) -> ConditionalDPP:
        """The estimator with a setting."""
        model: ConditionalDPP = ConditionalDPP() if self.estimator is None else clone(self.estimator)
        model.set_params(**params)
        if isinstance(make_similarity(model.similarity, 0.0, 0.0), Mixture):
            model.set_params(rho=0.0, nugget=0.0)
        return model

    def _folds(self, n: int, groups: ArrayLike | None, weights: FloatArray) -> list[tuple[IntArray, IntArray]]:
        """Train and test indices."""
        if groups is not None and len(np.asarray(groups)) != n:
            raise ValueError(f"groups must have one label per instance ({n}), found {len(np.asarray(groups))}.")
        splitter = check_cv(self.cv)
        if groups is not None and (self.cv is None or isinstance(self.cv, Integral)):  # KFold would tear groups apart
            splitter = GroupKFold(splitter.n_splits)
        folds = list(splitter.split(np.empty((n, 0)), groups=groups))
        for f, fold in enumerate(folds):
            for name, part in zip(("train", "test"), fold, strict=True):
                if not weights[part].any():
                    raise ValueError(
                        f"All instances in the {name} part of fold {f} have sample_weight 0. Leave such instances out, "
                        "or pass a cv that shuffles, such as KFold(5, shuffle=True)."
                    )
        return folds


def possible_weights(
    models: Sequence[ConditionalDPP], X: Sequence[ItemSet], subsets: Sequence[IntArray], weights: FloatArray
) -> FloatArray:
    """The weights, but 0 for targets that are impossible under some setting: all are compared on the same targets."""
    similarities = {make_similarity(one.similarity, one.rho, one.nugget) for one in models}
    given = [S for S in similarities if not isinstance(S, Mixture)]  # under a mixture every target is possible
    reasons = [
        next((why for S in given if (why := why_impossible(x, Y, S))), "") for x, Y in zip(X, subsets, strict=True)
    ]
    bad = np.array([bool(why) for why in reasons]) & (weights > 0)
    if bad.any() and any(one.on_impossible != "drop" for one in models):
        t = int(bad.argmax())
        raise ValueError(
            f"{int(bad.sum())} of {len(X)} targets have probability 0 under some setting compared (instance {t}: "
            f'{reasons[t]}). Compare nuggets above 0 only, such as param_grid={{"nugget": [0.01, 0.1]}}; take an item '
            'out of the target; or leave these instances out: ConditionalDPP(on_impossible="drop").'
        )
    return np.where(bad, 0.0, weights)


def try_setting(
    model: ConditionalDPP,
    X: Sequence[ItemSet],
    subsets: Sequence[IntArray],
    weights: FloatArray,
    truth: Sequence[Any],
    counts: FloatArray,
    folds: Sequence[tuple[IntArray, IntArray]],
    scoring: Scorer | None,
) -> Trial:
    """Fit and score a model in every fold. What a fit warns of, the last one says of all instances."""
    scores, fit_times, score_times, converged = [], [], [], True
    for train, test in folds:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(pick(X, train), pick(subsets, train), weights[train])
        fitted = time.perf_counter()
        held, wanted = pick(X, test), pick(truth, test)
        if scoring is not None:
            scores.append(float(scoring(model, held, wanted)))
        else:
            scores.append(model.score(held, wanted, counts[test]) if counts[test].any() else np.nan)
        fit_times.append(fitted - start)
        score_times.append(time.perf_counter() - fitted)
        converged = converged and model.converged_
    return Trial(scores, fit_times, score_times, converged)


def results_of(settings: Sequence[dict[str, Any]], trials: Sequence[Trial]) -> CVResults:
    """`cv_results_` as scikit-learn has it."""
    found = CVResults()
    for name in ("fit_times", "score_times"):
        times = np.array([getattr(trial, name) for trial in trials])
        found[f"mean_{name[:-1]}"], found[f"std_{name[:-1]}"] = times.mean(axis=1), times.std(axis=1)
    for name in sorted({name for params in settings for name in params}):
        values = np.empty(len(settings), object)
        values[:] = [params.get(name) for params in settings]
        found[f"param_{name}"] = np.ma.array(values, mask=[name not in params for params in settings])
    found["params"] = list(settings)
    scores = np.array([trial.scores for trial in trials])
    found |= {f"split{f}_test_score": column for f, column in enumerate(scores.T)}
    mean = scores.mean(axis=1)
    rank = np.array([1 + int((mean > score).sum()) for score in mean], np.int32)
    found |= {"mean_test_score": mean, "std_test_score": scores.std(axis=1), "rank_test_score": rank}
    return found


class Report:
    """How far a search is, on standard error: one line that moves on a terminal, elsewhere about ten lines."""

    def __init__(self, shown: bool, total: int, folds: int) -> None:
        self.line, self.total, self.done = Progress(shown), total, 0
        self.best: tuple[float, str] = (-np.inf, "")
        if shown:
            print(f"{total} settings in {folds} folds: {total * folds} fits", file=sys.stderr)

    def add(self, params: dict[str, Any], score: float, seconds: float) -> None:
        """One more setting is done."""
        before, self.done = self.done, self.done + 1
        self.best = max(self.best, (score, in_words(params)))
        said = f"{self.done} of {self.total} settings, {seconds:.0f} s; best {self.best[0]:.4g}: {self.best[1]}"
        if self.line.moving:
            self.line.stage(said, self.done, self.total)
            if self.done == self.total:
                print(file=self.line.stream)
        elif self.line.verbose and 10 * self.done // self.total > 10 * before // self.total:
            print(said, file=sys.stderr, flush=True)


def in_words(params: Mapping[str, Any]) -> str:
    """A setting, for a message."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "the estimator as it is"


def pick(values: Sequence[Any], where: IntArray) -> list[Any]:
    return [values[int(t)] for t in where]
