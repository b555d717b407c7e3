"""What weights are good for: the DPP of an instance, marginals, predictions, scores, and a file."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dpplearn._checks import FloatArray, IntArray
from dpplearn._run.blas import blas_threads
from dpplearn.decoding import Selection, registry
from dpplearn.dpp import DPP
from dpplearn.learning.examples import check_examples, check_item_set, check_item_sets
from dpplearn.learning.fitting import default_names, is_paths, training_data
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import MAX_LOG_KERNEL, Example, check_log_quality
from dpplearn.learning.shards import load_shard
from dpplearn.lowrank import LowRankDPP


class ConditionalPredictor(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A conditional DPP with weights `theta_` and similarity constant `rho_`."""

    theta_: FloatArray
    theta_std_: FloatArray
    rho_: float
    feature_names_in_: np.ndarray
    n_features_in_: int

    def __sklearn_clone__(self) -> Self:
        """A new estimator with the same parameters; a cluster's client is shared, for it cannot be copied."""
        params = self.get_params(deep=False)
        new = type(self)(**{k: v if k == "backend" else copy.deepcopy(v) for k, v in params.items()})
        for name in ("_metadata_request", "_sklearn_output_config"):  # as scikit-learn's own clone does
            if hasattr(self, name):  # they may refer back to the estimator, whose copy is `new`
                setattr(new, name, copy.deepcopy(getattr(self, name), {id(self): new}))
        return new

    def quality(self, x: ItemSet) -> FloatArray:
        """q_i = exp(theta . f_i / 2), equation (16)."""
        return np.exp(check_log_quality(self._check(x).features @ self.theta_) / 2)

    def dpp(self, x: ItemSet) -> DPP | LowRankDPP:
        """The DPP of an instance, L_ij = q_i S_ij q_j, equation (15).

        Low-rank where phi alone is known, and has fewer columns than rows.
        """
        check_log_quality(self._check(x).features @ self.theta_, MAX_LOG_KERNEL)
        q = self.quality(x)
        if x.similarity is None and x.phi is not None and x.phi.shape[1] + (self.rho_ > 0) < x.n:
            return LowRankDPP.from_quality(q, x.similarity_rows(self.rho_))
        return DPP.from_quality(q, x.similarity_matrix(self.rho_))

    def marginals(self, x: ItemSet) -> FloatArray:
        """P(i in Y | X) = K_ii of every item."""
        example = Example(self._check(x), np.empty(0, np.int64), self.rho_)
        return example.normalizer(check_log_quality(example.F @ self.theta_), self.rho_, 1, False).marginals

    def decode(
        self,
        x: ItemSet,
        budget: float | None = None,
        *,
        decoder: str | Callable[..., Selection] = "greedy",
        **options: Any,
    ) -> Selection:
        """The best subset of one instance under a budget, with its cost, its gains and why it ended there.

        Parameters
        ----------
        x : ItemSet
            Its `cost` counts against the budget; 1 for each item where it has none.
        budget : float, optional
        decoder : {"greedy", "sampled", "consensus", "exact", "local"} or callable
            `greedy_map` (Algorithm 2), `sampled_map` (the best of many samples) and the others of
            `dpplearn.decoding`, or any function with the same signature.
        **options
            For the decoder: k, gain, include, exclude, diversity, n_samples, rng and so on.
        """
        if isinstance(decoder, str):
            decoder = registry.decoder(decoder)
        return decoder(self.dpp(self._check(x)), cost=x.cost, budget=budget, **options)

    def predict(
        self,
        X: Sequence[ItemSet],
        budget: float | None = None,
        *,
        decoder: str | Callable[..., Selection] = "greedy",
        **options: Any,
    ) -> list[IntArray]:
        """The best subset of each instance under a budget (section 6), as sorted indices; options as in `decode`."""
        self._check_fitted()
        check_item_sets(X)
        for t, x in enumerate(X):
            self._check(x, f"X[{t}]")
        return [self.decode(x, budget, decoder=decoder, **options).sorted_subset for x in X]

    def log_prob(self, X: Sequence[ItemSet], y: Sequence[ArrayLike]) -> FloatArray:
        """log P(Y | X) of each instance, equation (18); -inf where the subset cannot be."""
        self._check_fitted()
        if len(X) == 0 and len(y) == 0:
            return np.empty(0)
        subsets, _ = check_examples(X, y)
        values = np.empty(len(subsets))
        with blas_threads(max(x.n for x in X)):
            for t, (x, Y) in enumerate(zip(X, subsets, strict=True)):
                check_log_quality(self._check(x).features @ self.theta_)
                values[t] = Example(self._check(x), Y, self.rho_).evaluate(self.theta_, order=1).value
        return values

    def score(self, X: Any, y: Sequence[ArrayLike] | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Mean log-likelihood of the subsets y, or of those in shards."""
        self._check_fitted()
        if is_paths(X):
            parts = []
            for path in training_data(X, y, sample_weight):  # type: ignore[union-attr]  # paths give paths
                shard = load_shard(path)
                parts.append((self.log_prob(shard.item_sets, shard.subsets), shard.weights))
            values, weights = (np.concatenate(p) for p in zip(*parts, strict=True))
        else:
            _, weights = check_examples(X, y, sample_weight)
            values = self.log_prob(X, y)  # type: ignore[arg-type]  # y was checked above
        kept = weights > 0
        if not kept.any():
            raise ValueError("All sample_weight are 0: there is no instance to score.")
        return float(np.average(values[kept], weights=weights[kept]))

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Lower and upper ends of the Laplace intervals theta +- z theta_std, of shape (m, 2)."""
        self._check_fitted()
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, found {level!r}.")
        half = ndtri((1 + level) / 2) * self.theta_std_
        return np.column_stack([self.theta_ - half, self.theta_ + half])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights to a JSON file, exact to the bit; `ConditionalDPP.load` reads it."""
        from dpplearn.learning.modelfile import save_model

        self._check_fitted()
        save_model(self, path)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "theta_")

    def _check(self, x: Any, name: str = "x") -> ItemSet:
        self._check_fitted()
        known = tuple(self.feature_names_in_)
        return check_item_set(x, self.theta_.size, None if known == default_names(len(known)) else known, name)
