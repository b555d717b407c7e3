"""ConditionalDPPCV: scikit-learn's GridSearchCV for the settings of a ConditionalDPP."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, ParameterGrid, check_cv

from dpplearn._checks import IntArray, check_jobs
from dpplearn._notebook import card, in_notebook, table
from dpplearn.learning.conditional import ConditionalDPP
from dpplearn.learning.fit import check_possible, check_settings
from dpplearn.learning.itemset import ItemSet, Shard, check_examples
from dpplearn.learning.training_set import survey_of

Scorer = Callable[[ConditionalDPP, Sequence[ItemSet], Sequence[Any]], float]
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


class ConditionalDPPCV(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A ConditionalDPP with the best of many settings, found by cross-validation.

    It follows `sklearn.model_selection.GridSearchCV`: each setting is fitted once for each fold, to the instances of
    the other folds, and scored on that fold. The best setting is then fitted to all instances. The search itself can do
    what a ConditionalDPP can: `predict`, `decode`, `summary`, `save` and so on.

    Parameters
    ----------
    estimator : ConditionalDPP, optional
        The model whose settings change, by default `ConditionalDPP()`.
    param_grid : mapping of str to list, or list of such mappings, optional
        Values to compare, by arguments of ConditionalDPP, such as {"prior_variance": [0.1, 1], "nugget": [0.01, 0.1]};
        by default five prior variances from 0.01 to 100. A mixture takes neither `rho` nor `nugget`: give it a mapping
        of its own, as in [{"nugget": [0.01, 0.1]}, {"similarity": ["mixture"]}].
    scoring : callable, optional
        scoring(model, X, y) -> float, larger is better; by default the mean log-likelihood of held-out subsets. To tune
        on ROUGE as the paper does, pass a function that decodes with model.predict and scores the result, and pass
        `references` to `fit` if it needs more than y.
    n_jobs : int, optional
        Fits made at the same time, in processes; None is 1, and -1 all cores.
    refit : bool
        Whether the best setting is fitted to all instances.
    cv : int or scikit-learn splitter
        Folds over instances; with a number of folds, those of one of the `groups` in `fit` stay together.
    progress : bool
        Whether to show on standard error how many settings are done, how long they took, and the best so far.

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
            One per instance: what `scoring` gets instead of y, for instance reference summaries.
        groups : array, optional
            A label per instance; instances with the same label, such as targets of the same items, stay in one fold.
        """
        subsets, weights = check_examples(X, y, sample_weight)
        for name, values in {"references": references, "groups": groups}.items():
            if values is not None and len(values) != len(X):  # type: ignore[arg-type]  # an array has a length
                raise ValueError(f"{name} must have one entry per instance ({len(X)}), found {len(values)}.")  # type: ignore[arg-type]
        if self.scoring is not None and not callable(self.scoring):
            raise TypeError(f"scoring must be None or a function (model, X, y) -> float, found {self.scoring!r}.")
        grid = {"prior_variance": PRIOR_VARIANCES} if self.param_grid is None else self.param_grid
        shard, counts = Shard(X, subsets, weights), weights.copy()
        for model in map(self._model, ParameterGrid(grid)):  # every setting is checked before any work
            if (similarity := check_settings(model)) is not None:
                survey = survey_of(shard, similarity)
                if survey.impossible and model.on_impossible == "error":
                    check_possible(survey, "error")
                counts[[t for t, _ in survey.impossible]] = 0.0  # all settings are compared on the same targets
        splitter = check_cv(self.cv)
        if groups is not None and (self.cv is None or isinstance(self.cv, Integral)):  # KFold would split groups
            splitter = GroupKFold(splitter.n_splits)
        truth: Sequence[Any] = subsets if references is None else references
        held = [HeldSet(*entry) for entry in zip(X, subsets, weights.tolist(), counts.tolist(), truth, strict=True)]
        trial, scoring = Trial(**self._model({}).get_params()), partial(score_held, scoring=self.scoring)
        n_jobs = None if self.n_jobs is None else check_jobs(self.n_jobs)
        options = {"scoring": scoring, "n_jobs": n_jobs, "cv": splitter, "verbose": int(self.progress)}
        search = Search(trial, grid, refit=False, error_score="raise", **options)
        search.fit(held, groups=None if groups is None else np.asarray(groups))
        self.cv_results_, self.n_splits_ = CVResults(search.cv_results_), search.n_splits_
        self.best_index_, self.best_params_ = int(search.best_index_), search.best_params_
        self.best_score_ = float(search.best_score_)
        if self.refit:
            self.best_estimator_ = self._model(self.best_params_).fit(X, subsets, weights)
        return self

    def __getattr__(self, name: str) -> Any:
        """Attributes of the best model; before `fit`, its methods raise NotFittedError."""
        if name.startswith("_") or name == "best_estimator_":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        return getattr(vars(self).get("best_estimator_", ConditionalDPP()), name)

    def _repr_html_(self) -> str:
        """What a notebook shows: the best model, if there is one."""
        best = vars(self).get("best_estimator_")
        return card(repr(self), facts={"state": "not fitted"}) if best is None else best._repr_html_()

    _repr_mimebundle_ = in_notebook

    def _model(self, params: Mapping[str, Any]) -> ConditionalDPP:
        """A new model with these settings."""
        return (ConditionalDPP() if self.estimator is None else clone(self.estimator)).set_params(**params)


class HeldSet(NamedTuple):
    """An instance, as scikit-learn distributes it over the folds."""

    items: ItemSet
    subset: IntArray
    weight: float
    counts: float  # its weight in scores: 0 if some setting makes it impossible
    truth: Any  # what `scoring` gets: the subset, or a reference


class Trial(ConditionalDPP):
    """A model that is fitted without one fold, and without warnings, which the last fit gives for all instances."""

    def fit(self, X: Sequence[HeldSet]) -> Self:  # type: ignore[override]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("default", ConvergenceWarning)
            return super().fit([x.items for x in X], [x.subset for x in X], [x.weight for x in X])


def score_held(model: Trial, X: Sequence[HeldSet], scoring: Scorer | None) -> float:
    """The score on the fold that was left out."""
    item_sets, subsets, _, counts, truth = map(list, zip(*X, strict=True))
    if scoring is None:
        return model.score(item_sets, subsets, counts)
    score = float(scoring(model, item_sets, truth))
    if np.isnan(score):
        raise ValueError("scoring must return a number, found nan.")
    return score


class Search(GridSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """GridSearchCV that tries about a tenth of the settings at a time, and shows its progress."""

    verbose: int

    def _run_search(self, evaluate_candidates: Callable[[list[dict[str, Any]]], dict[str, Any]]) -> None:
        settings, verbose, start = list(ParameterGrid(self.param_grid)), self.verbose, time.perf_counter()
        self.verbose = 0  # scikit-learn's own messages
        for block in np.array_split(np.arange(len(settings)), min(10, len(settings))):
            results = evaluate_candidates([settings[k] for k in block])
            if verbose:
                best, seconds = int(results["rank_test_score"].argmin()), time.perf_counter() - start
                params = ", ".join(f"{name}={value!r}" for name, value in results["params"][best].items())
                head = f"{len(results['params'])} of {len(settings)} settings, {seconds:.0f} s"
                score = results["mean_test_score"][best]
                print(f"{head}; best {score:.4g}: {params or 'the estimator as it is'}", file=sys.stderr, flush=True)
