"""ConditionalDPPCV: prior variance and kinds of similarity and quality, chosen by cross-validation on a warm path."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold, check_cv

from dpplearn._checks import FloatArray
from dpplearn.learning.conditional import ConditionalDPP, ConditionalEstimator
from dpplearn.learning.evaluators import why_impossible
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.learning.quality import LogLinear, check_quality
from dpplearn.learning.similarity import Fixed, Mixture, Similarity, make_similarity
from dpplearn.learning.training_set import check_examples

KEPT = (
    "quality similarity theta_std starts log_likelihood gradient_norm n_iter converged feature_names_in n_features_in "
    "encoding covariance"
)
Scorer = Callable[[ConditionalPredictor, Sequence[ItemSet], Sequence[Any]], float]


class ConditionalDPPCV(ConditionalEstimator):
    """ConditionalDPP with the prior variance chosen by cross-validation.

    In each fold, theta is followed from the strongest prior to the weakest, each fit starting from the one
    before, and scored on the instances left out. The best setting is then fitted to all instances.

    Parameters
    ----------
    prior_variances : sequence of float
        The variances to compare.
    rhos : sequence of float
        The similarity constants to compare (section 7.2).
    cv : int or scikit-learn splitter
        Folds over instances; a number of folds keeps together what `groups` in `fit` says belongs together.
    scoring : callable, optional
        scoring(model, X, y) -> float, larger is better; by default the mean log-likelihood of held-out
        subsets. The paper tunes on ROUGE: pass a function that decodes with model.predict and scores the
        result, with `references` in `fit` where that needs more than y.
    nuggets : sequence of float
        The nuggets to compare, each with every rho.
    similarity : str, or a list
        The kinds to compare by held-out likelihood, such as ["fixed", "mixture"]; "fixed" with every rho and nugget.
    quality : str, or a list
        The kinds to compare by held-out likelihood, such as ["linear", "boosted"], each with every similarity.
    similarity_prior, n_starts, given_size, constant
        As in ConditionalDPP.
    n_trees, depth, learning_rate, early_stopping, random_state
        As in ConditionalDPP.
    tol, max_iter, n_jobs, on_impossible, backend, evaluator, device, verbose
        As in ConditionalDPP. There is no `checkpoint`: a search is many fits, and a file is for one.
        With on_impossible="drop", all settings are compared on the targets that each rho and nugget makes possible.

    Attributes
    ----------
    prior_variance_, rho_, nugget_ : float
        The best ones.
    best_score_ : float
    similarities_ : list of Similarity
        What was compared, in the order of `cv_scores_`: of "fixed" all values of rho with the first nugget come first.
    qualities_ : list of str
        The kind of quality that went with each; all similarities with the first kind come first.
    cv_scores_ : array of shape (len(similarities_), len(prior_variances), folds)
    best_estimator_ : ConditionalDPP
        Fitted to all instances; its `theta_`, `theta_std_` and so on are also here.

    Examples
    --------
    >>> items = ItemSet([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], phi=[[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> search = ConditionalDPPCV(prior_variances=[0.01, 1.0], cv=3).fit([items] * 6, [[1, 2], [2], [0, 2]] * 2)
    >>> search.prior_variance_, search.cv_scores_.shape
    (1.0, (1, 2, 3))
    """

    def __init__(
        self,
        prior_variances: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0),
        rhos: Sequence[float] = (0.0,),
        cv: Any = 5,
        scoring: Scorer | None = None,
        *,
        nuggets: Sequence[float] = (0.0,),
        similarity: str | Similarity | Sequence[str | Similarity] = "fixed",
        similarity_prior: float = 0.1,
        n_starts: int = 3,
        given_size: bool = False,
        constant: bool = True,
        quality: str | Sequence[str] = "log-linear",
        n_trees: int = 60,
        depth: int = 4,
        learning_rate: float = 0.1,
        early_stopping: bool = True,
        random_state: int = 0,
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_jobs: int | None = 1,
        on_impossible: str = "error",
        backend: Any = None,
        evaluator: Any = "numpy",
        device: Any = None,
        verbose: bool = False,
    ) -> None:
        self.prior_variances = prior_variances
        self.rhos = rhos
        self.cv = cv
        self.scoring = scoring
        self.nuggets = nuggets
        self.similarity = similarity
        self.similarity_prior = similarity_prior
        self.n_starts = n_starts
        self.given_size = given_size
        self.constant = constant
        self.quality = quality
        self.n_trees = n_trees
        self.depth = depth
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.on_impossible = on_impossible
        self.backend = backend
        self.evaluator = evaluator
        self.device = device
        self.verbose = verbose

    def fit(
        self,
        X: Sequence[ItemSet],
        y: Sequence[ArrayLike],
        sample_weight: ArrayLike | None = None,
        references: Sequence[Any] | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the prior variance, rho and the nugget, and learn theta with them.

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
        truth: Sequence[Any] = subsets if references is None else references
        variances, rhos = check_grid(self.prior_variances, "prior_variances"), check_grid(self.rhos, "rhos")
        nuggets = check_grid(self.nuggets, "nuggets")
        kinds = [self.similarity] if isinstance(self.similarity, str | Similarity) else list(self.similarity)
        if not kinds:
            raise ValueError("similarity must be a kind, or a list of at least one, found an empty list.")
        similarities: list[Similarity] = []
        for kind in kinds:  # rho and nugget are those of the fixed one
            if kind == Fixed.kind:
                similarities += [Fixed(rho, nugget) for nugget, rho in product(nuggets.tolist(), rhos.tolist())]
            else:
                similarities.append(make_similarity(kind, 0.0, 0.0))
        qualities = [self.quality] if isinstance(self.quality, str) else list(self.quality)
        if not qualities:
            raise ValueError("quality must be a kind, or a list of at least one, found an empty list.")
        settings = list(product([check_quality(quality) for quality in qualities], similarities))
        pairs = list(zip(X, subsets, strict=True))
        given = [S for S in similarities if not isinstance(S, Mixture)]  # under a mixture, all is possible
        bad = [next((w for S in given if (w := why_impossible(x, Y, S))), "") for x, Y in pairs]
        counts = weights * [not w for w in bad]  # all are compared on the targets that each of them makes possible
        if self.on_impossible != "drop" and (counts < weights).any():
            t = int((counts < weights).argmax())
            raise ValueError(
                f"{int((counts < weights).sum())} of {len(X)} targets have probability 0 under some setting compared "
                f"(instance {t}: {bad[t]}). Compare nuggets above 0 only, such as nuggets=[0.01, 0.1]; take an item "
                'out of the target; or pass on_impossible="drop" to leave these instances out.'
            )
        folds = self._folds(len(X), groups)
        scores = np.empty((len(settings), variances.size, len(folds)))
        for f, (train, test) in enumerate(folds):
            for name, part in (("train", train), ("test", test)):
                if not weights[part].any():
                    raise ValueError(
                        f"All instances in the {name} part of fold {f} have sample_weight 0. Leave such instances out, "
                        "or pass a cv that shuffles, such as KFold(5, shuffle=True)."
                    )
            for r, (quality, S) in enumerate(settings):
                model = self._model(similarity=S, quality=quality, warm_start=quality == LogLinear.kind)
                # From the strongest prior on: theta grows from 0, and each fit is near the last.
                for v in np.argsort(variances, kind="stable"):
                    model.set_params(prior_variance=float(variances[v]))
                    with warnings.catch_warnings():
                        for said in ("Left out", "The learned similarity", ".*starts end"):
                            warnings.filterwarnings("ignore", message=said)  # the last fit says it of all instances
                        model.fit(pick(X, train), pick(subsets, train), weights[train])
                    score = self._score(model, pick(X, test), pick(truth, test), counts[test])
                    if np.isnan(score):
                        why = "scoring must return a number" if self.scoring else "all its targets have probability 0"
                        setting = described(float(variances[v]), S, quality)
                        raise ValueError(f"The score of fold {f} with {setting} is not a number: {why}.")
                    scores[r, v, f] = score
        mean = scores.mean(axis=2)
        best_r, best_v = np.unravel_index(int(mean.argmax()), mean.shape)
        (quality, S), self.prior_variance_ = settings[int(best_r)], float(variances[best_v])
        how = {"rho": S.rho, "nugget": S.nugget} if isinstance(S, Fixed) else {"similarity": S}
        best = self._model(**how, quality=quality, prior_variance=self.prior_variance_)
        self.best_estimator_ = best.fit(X, subsets, weights)
        self.cv_scores_, self.best_score_ = scores, float(mean[best_r, best_v])
        self.qualities_, self.similarities_ = (list(column) for column in zip(*settings, strict=True))
        for name in KEPT.split():
            setattr(self, f"{name}_", getattr(best, f"{name}_"))
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the best model to a JSON file, which `ConditionalDPP.load` reads."""
        self._check_fitted()
        self.best_estimator_.save(path)

    def _folds(self, n: int, groups: ArrayLike | None) -> list[tuple[np.ndarray, np.ndarray]]:
        """Train and test indices."""
        if groups is not None and len(np.asarray(groups)) != n:
            raise ValueError(f"groups must have one label per instance ({n}), found {len(np.asarray(groups))}.")
        splitter = check_cv(self.cv)
        if groups is not None and (self.cv is None or isinstance(self.cv, Integral)):  # KFold would tear groups apart
            splitter = GroupKFold(splitter.n_splits)
        return list(splitter.split(np.empty((n, 0)), groups=groups))

    def _model(self, **params: Any) -> ConditionalDPP:
        common = (
            "similarity_prior",
            "n_starts",
            "given_size",
            "constant",
            "n_trees",
            "depth",
            "learning_rate",
            "early_stopping",
            "random_state",
            "tol",
            "max_iter",
            "n_jobs",
            "on_impossible",
            "backend",
            "evaluator",
            "device",
            "verbose",
        )
        return ConditionalDPP(**{name: getattr(self, name) for name in common}, **params)

    def _score(self, model: ConditionalDPP, X: list[Any], truth: list[Any], counts: FloatArray) -> float:
        if self.scoring is not None:
            return float(self.scoring(model, X, truth))
        return model.score(X, truth, counts) if counts.any() else np.nan


def described(variance: float, S: Similarity, quality: str) -> str:
    """A setting, for a message."""
    prior = f"quality={quality!r}, prior_variance={variance:g}"
    if isinstance(S, Fixed):
        return f"{prior}, rho={S.rho:g} and nugget={S.nugget:g}"
    return f"{prior} and similarity={S.kind!r}"


def check_grid(values: Sequence[float], name: str) -> FloatArray:
    """At least one number."""
    try:
        grid = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a list of numbers, found {values!r}.") from None
    if grid.ndim != 1 or grid.size == 0 or np.isnan(grid).any():
        raise ValueError(f"{name} must be a list of at least one number, found {values!r}.")
    return grid


def pick(values: Sequence[Any], where: np.ndarray) -> list[Any]:
    return [values[int(t)] for t in where]
