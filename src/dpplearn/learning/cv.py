"""ConditionalDPPCV: a grid search over the settings of a ConditionalDPP, with the conventions of GridSearchCV."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, ParameterGrid, check_cv

from dpplearn._checks import FloatArray, IntArray, check_jobs, warn_user
from dpplearn._notebook import card, in_notebook, table
from dpplearn._run.progress import Progress
from dpplearn.learning.conditional import ConditionalDPP
from dpplearn.learning.itemset import ItemSet, Shard, check_examples
from dpplearn.learning.similarity import fixed_similarity
from dpplearn.learning.training_set import why_impossible

Scorer = Callable[[ConditionalDPP, Sequence[ItemSet], Sequence[Any]], float]
PRIOR_VARIANCES = (0.01, 0.1, 1.0, 10.0, 100.0)
MEASURED = ("test_score", "fit_time", "score_time", "converged")  # of each setting in each fold


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


class ConditionalDPPCV(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A ConditionalDPP with the best of many settings, found by cross-validation.

    It follows `sklearn.model_selection.GridSearchCV`: each setting is fitted without one fold of the instances after
    the other and scored on that fold. The best is then fitted to all instances; all that a ConditionalDPP can do,
    such as `predict`, `decode`, `summary` and `save`, is then done by it.

    Parameters
    ----------
    estimator : ConditionalDPP, optional
        What the settings change; `ConditionalDPP()` if none is given.
    param_grid : mapping of str to list, or list of such mappings, optional
        Values to compare, by the names of the arguments of ConditionalDPP, such as {"prior_variance": [0.1, 1, 10],
        "nugget": [0.01, 0.1], "similarity": ["fixed", "mixture"]}. A mixture learns what `rho` and `nugget` say of the
        fixed similarity, and is tried once for all of these. By default five prior variances from 0.01 to 100.
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
        for name, values in {"references": references, "groups": groups}.items():
            if values is not None and len(values) != len(X):  # type: ignore[arg-type]  # an array has a length
                raise ValueError(f"{name} must have one entry per instance ({len(X)}), found {len(values)}.")  # type: ignore[arg-type]
        if self.scoring is not None and not callable(self.scoring):
            raise TypeError(f"scoring must be None or a function (model, X, y) -> float, found {self.scoring!r}.")
        jobs = 1 if self.n_jobs is None else check_jobs(self.n_jobs)
        settings, models = map(list, zip(*self._settings().values(), strict=True))
        data, counts = Shard(X, subsets, weights), possible_weights(models, X, subsets, weights)
        splitter = check_cv(self.cv)
        if groups is not None and (self.cv is None or isinstance(self.cv, Integral)):  # KFold would tear groups apart
            splitter = GroupKFold(splitter.n_splits)
        folds = list(splitter.split(np.empty((len(X), 0)), groups=None if groups is None else np.asarray(groups)))
        truth: Sequence[Any] = subsets if references is None else references
        tasks = (delayed(try_setting)(model, data, truth, counts, folds, self.scoring) for model in models)
        measured, total = np.empty((len(MEASURED), len(models), len(folds))), len(models)
        said, start = Progress(self.progress), time.perf_counter()
        if self.progress:
            print(f"{total} settings in {len(folds)} folds: {measured[0].size} fits", file=sys.stderr)
        for done, trial in enumerate(Parallel(jobs, return_as="generator")(tasks), 1):
            measured[:, done - 1] = trial
            if np.isnan(trial[0]).any():
                raise ValueError(
                    f"The score of fold {np.isnan(trial[0]).argmax()} with {in_words(settings[done - 1])} is not a "
                    "number: scoring must return one."
                )
            means, seconds = measured[0, :done].mean(axis=1), time.perf_counter() - start
            best = f"best {means.max():.4g}: {in_words(settings[int(means.argmax())])}"
            line = f"{done} of {total} settings, {seconds:.0f} s; {best}"
            if said.moving and done < total:  # one line that moves on a terminal, elsewhere about ten lines
                said.stage(line, done, total)
            elif said.verbose and 10 * done // total > 10 * (done - 1) // total:
                said.clear()
                print(line, file=said.stream, flush=True)
        self.cv_results_ = results_of(settings, measured)
        if failed := int((measured[-1] == 0).any(axis=1).sum()):
            warn_user(f"{failed} of {len(models)} settings did not converge.", ConvergenceWarning)
        self.best_index_ = int(self.cv_results_["mean_test_score"].argmax())
        self.best_params_, self.n_splits_ = settings[self.best_index_], len(folds)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = models[self.best_index_].fit(X, subsets, weights)
            self.refit_time_ = time.perf_counter() - start
        return self

    def __getattr__(self, name: str) -> Any:
        """What this class has not is that of the best model; before `fit` its methods raise NotFittedError."""
        if name.startswith("_") or name == "best_estimator_":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        return getattr(vars(self).get("best_estimator_", ConditionalDPP()), name)

    def _repr_html_(self) -> str:
        """What a notebook shows: what the best model says of itself, once there is one."""
        best = vars(self).get("best_estimator_")
        return card(repr(self), facts={"state": "not fitted"}) if best is None else best._repr_html_()

    _repr_mimebundle_ = in_notebook

    def _settings(self) -> dict[str, tuple[dict[str, Any], ConditionalDPP]]:
        """The settings to compare and the models that have them, by their words, so that none is there twice."""
        settings: dict[str, tuple[dict[str, Any], ConditionalDPP]] = {}
        for params in ParameterGrid(
            {"prior_variance": PRIOR_VARIANCES} if self.param_grid is None else self.param_grid
        ):
            model = ConditionalDPP() if self.estimator is None else clone(self.estimator)
            model.set_params(**params)
            if model.similarity == "mixture":
                model.set_params(rho=0.0, nugget=0.0)
                params = {name: value for name, value in params.items() if name not in ("rho", "nugget")}
            settings.setdefault(in_words(params), (params, model))
        return settings


def possible_weights(
    models: Sequence[ConditionalDPP], X: Sequence[ItemSet], subsets: Sequence[IntArray], weights: FloatArray
) -> FloatArray:
    """The weights, but 0 for targets that are impossible under some setting: all are compared on the same targets."""
    fixed = {(one.rho, one.nugget) for one in models if one.similarity != "mixture"}  # which has no impossible targets
    given = [fixed_similarity(rho, nugget) for rho, nugget in fixed]
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
    data: Shard,
    truth: Sequence[Any],
    counts: FloatArray,
    folds: Sequence[tuple[IntArray, IntArray]],
    scoring: Scorer | None,
) -> FloatArray:
    """What was measured of a model in every fold. What a fit warns of, the last one says of all instances."""
    measured = []
    for train, test in folds:
        seen, held = data.pick(train.tolist()), data.pick(test.tolist())
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(seen.item_sets, seen.subsets, seen.weights)
        fitted = time.perf_counter()
        if scoring is None:
            score = model.score(held.item_sets, held.subsets, counts[test])
        else:
            score = float(scoring(model, held.item_sets, [truth[t] for t in test.tolist()]))
        measured.append((score, fitted - start, time.perf_counter() - fitted, model.converged_))
    return np.array(measured, float).T


def results_of(settings: Sequence[dict[str, Any]], measured: FloatArray) -> CVResults:
    """`cv_results_` as scikit-learn has it."""
    results = CVResults()
    for name, values in zip(MEASURED[:3], measured, strict=False):
        results |= {f"mean_{name}": values.mean(axis=1), f"std_{name}": values.std(axis=1)}
    for name in sorted({name for params in settings for name in params}):
        column = np.empty(len(settings), object)
        column[:] = [params.get(name) for params in settings]
        results[f"param_{name}"] = np.ma.array(column, mask=[name not in params for params in settings])
    results["params"] = list(settings)
    results |= {f"split{f}_test_score": column for f, column in enumerate(measured[0].T)}
    mean = results["mean_test_score"]
    results["rank_test_score"] = np.array([1 + (mean > score).sum() for score in mean], np.int32)
    return results


def in_words(params: Mapping[str, Any]) -> str:
    """A setting, for a message."""
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "the estimator as it is"
