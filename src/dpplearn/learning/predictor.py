"""What a model with weights can do: the DPP of an instance, marginals, predictions, scores, and a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpplearn._checks import FloatArray, IntArray, check_array, check_int, check_quality, check_vector
from dpplearn._run.blas import blas_threads
from dpplearn.decoding import Selection
from dpplearn.decoding.candidates import read_model
from dpplearn.decoding.greedy import greedy_choice
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.registry import check_decoder, run_decoder
from dpplearn.decoding.tilt import fill_tilt
from dpplearn.dpp import DPP
from dpplearn.learning.files import load_shard
from dpplearn.learning.itemset import (
    ItemSet,
    Shard,
    check_encoding,
    check_examples,
    check_item_sets,
    check_names,
    default_names,
)
from dpplearn.learning.likelihood import MAX_ETA, MAX_ETA_KERNEL, Instance, LikelihoodRequest, LogLinear, check_eta
from dpplearn.learning.normalizer import normalize
from dpplearn.learning.similarity import Similarity, errors_to_each_side, fixed_similarity
from dpplearn.learning.tables import Encoding
from dpplearn.learning.training_set import training_data
from dpplearn.lowrank import LowRankDPP

if TYPE_CHECKING:
    from dpplearn.learning.summary import ModelSummary

LIMITS = ("k", "include", "exclude", "groups", "max_per_group", "min_per_group")  # arguments of `check_limits`
KERNEL = ("diversity", "nugget")  # arguments of `read_model`; all other options are the decoder's


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit returns: a quality with standard errors, a similarity, and how they were reached."""

    quality: LogLinear
    theta_std: FloatArray
    similarity: Similarity
    log_likelihood: float
    gradient_norm: float
    n_iter: int
    converged: bool
    starts: FloatArray = field(default_factory=lambda: np.empty(0))  # log-posteriors that the starts reached
    encoding: Encoding | None = None
    covariance: FloatArray | None = None  # of the weights; None if unknown, or if some weight is undetermined
    n_sets: int = 0  # instances in the training data
    n_items: int = 0  # items of all of them


class ConditionalPredictor:
    """What a conditional DPP with known weights can do. It is made without importing scikit-learn, which takes long."""

    quality_: LogLinear
    similarity_: Similarity
    theta_std_: FloatArray
    feature_names_in_: np.ndarray
    n_features_in_: int
    covariance_: FloatArray | None = None
    encoding_: Encoding | None = None
    given_size: bool = False  # an estimator's argument

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {getattr(self, 'n_features_in_', 0)} features>"

    def _keep(self, fitted: Fitted) -> Self:
        for name, value in vars(fitted).items():
            setattr(self, f"{name}_", value)
        self.feature_names_in_ = np.array(fitted.quality.names, dtype=object)
        self.n_features_in_ = fitted.quality.n_features
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An error for what only a fit sets."""
            if name.startswith("_") or not name.endswith("_"):
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
            from sklearn.exceptions import NotFittedError  # which is an AttributeError too

            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit, or load a model.")

    @property
    def theta_(self) -> FloatArray:
        """The weights of a log-linear quality."""
        return self.quality_.theta

    @property
    def rho_(self) -> float:
        """The constant similarity feature; for a mixture, the one that gives its S from the mean of its parts."""
        return self.similarity_.rho

    @property
    def nugget_(self) -> float:
        """The share of S that is particular to each item."""
        return self.similarity_.nugget

    def qualities(self, x: ItemSet) -> FloatArray:
        """q_i of every item: exp(theta . f_i / 2), equation (16)."""
        return np.exp(self._eta(x) / 2)

    def dpp(self, x: ItemSet) -> DPP | LowRankDPP:
        """The DPP of an instance, L_ij = q_i S_ij q_j, equation (15).

        Low-rank if there is only phi, with fewer columns than rows, and no nugget.
        """
        q, S = np.exp(self._eta(x, MAX_ETA_KERNEL) / 2), self.similarity_
        given = any(part.matrix is not None for part in x.parts)
        if S.nugget == 0 and not given and (S.rank(x) or x.n) < x.n:
            return LowRankDPP.from_quality(q, S.rows(x))
        return DPP._of_quality(check_quality(q, x.n), S.matrix(x))  # the item set has checked the parts of S

    def marginals(self, x: ItemSet, k: int | None = None) -> FloatArray:
        """P(i in Y | X) = K_ii of every item; with `given_size`, given that k are chosen, by default the instance's."""
        eta = self._eta(x)
        size = self._size(x, k) if self.given_size or k is not None else None
        z = normalize(eta, Instance(x, [], [], self.similarity_), k=size)
        if z is None:
            raise ValueError(f"No set of {size} items is possible: similarity features allow fewer. Give S a nugget.")
        return z.marginals

    def _size(self, x: ItemSet, k: Any) -> int:
        """The number of items to choose: the caller's, or the instance's."""
        k = x.k if k is None else k
        if k is None:
            raise ValueError("With given_size=True the size must be known: pass k=..., or make the ItemSet with k=...")
        return check_int(k, "k", high=x.n)

    def decode(self, x: ItemSet, budget: float | None = None, *, decoder: str = "greedy", **options: Any) -> Selection:
        """The best subset of one instance under a budget, with its cost, its gains and why it is not larger.

        Parameters
        ----------
        x : ItemSet
            Its `cost` counts against the budget; 1 for each item where it has none.
        budget : float, optional
        decoder : {"greedy", "sampled", "consensus", "exact", "local"}
            `greedy_map` (Algorithm 2), `sampled_map` (the best of many samples) and the others of `dpplearn.decoding`.
        **options
            For the decoder: k, gain, include, exclude, groups, diversity, n_samples, rng and so on. A model with
            `given_size` takes k from here or from the instance, unless there is a budget.
        """
        k, own = options.get("k"), {name: value for name, value in options.items() if name not in (*LIMITS, *KERNEL)}
        candidates = read_model(self.dpp(x), **{name: options[name] for name in KERNEL if name in options})
        of_size = self.given_size and (budget is None or k is not None or x.k is not None)
        if of_size:
            options["k"] = self._size(x, k)
        limits = check_limits(x.n, x.cost, budget, **{name: options[name] for name in LIMITS if name in options})
        aim = candidates
        if of_size and check_decoder(decoder) not in ("greedy", "consensus"):  # other decoders may prefer a smaller set
            aim = replace(candidates, tilt=fill_tilt(candidates, limits, sized=True))
            own = {"tilt": True} | own if decoder == "sampled" else own
        chosen = run_decoder(decoder, aim, limits, **own)
        if of_size and limits.could_take(chosen.subset):  # no random draw may have had this size
            return greedy_choice(candidates, replace(limits, include=chosen.sorted_subset))
        return chosen

    def predict(
        self, X: Sequence[ItemSet], budget: float | None = None, *, decoder: str = "greedy", **options: Any
    ) -> list[IntArray]:
        """The best subset of each instance under a budget (section 6), as sorted indices; options as in `decode`."""
        for t, x in enumerate(check_item_sets(X)):
            self._check(x, f"X[{t}]")
        return [self.decode(x, budget, decoder=decoder, **options).sorted_subset for x in X]

    def log_prob(self, X: Sequence[ItemSet], y: Sequence[ArrayLike]) -> FloatArray:
        """log P(Y | X) of each instance, equation (18), or given |Y|; -inf if the subset is impossible."""
        if len(X) == 0 and len(y) == 0:
            return np.empty(0)
        subsets, _ = check_examples(X, y)
        request = LikelihoodRequest(self.quality_, self.similarity_, 1, given_size=self.given_size)
        values = np.empty(len(subsets))
        with blas_threads(max(x.n for x in X)):
            for t, (x, Y) in enumerate(zip(X, subsets, strict=True)):
                self._eta(x)  # an error for wrong features, or for too large a quality
                values[t] = Instance(x, [Y], [1.0], self.similarity_).evaluate(request).value
        return values

    def score(self, X: Any, y: Sequence[ArrayLike] | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Mean log-likelihood of the subsets y, or of the targets in shards."""
        data = training_data(X, y, sample_weight)
        shards = [data] if isinstance(data, Shard) else map(load_shard, data)  # one at a time
        parts = [(self.log_prob(shard.item_sets, shard.subsets), shard.weights) for shard in shards]
        values, weights = (np.concatenate(p) for p in zip(*parts, strict=True))
        kept = weights > 0
        if not kept.any():
            raise ValueError("All sample_weight are 0: there is no instance to score.")
        return float(np.average(values[kept], weights=weights[kept]))

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Lower and upper ends of the Laplace intervals theta +- z theta_std, of shape (m, 2)."""
        half = errors_to_each_side(level) * self.theta_std_
        return np.column_stack([self.theta_ - half, self.theta_ + half])

    def summary(self) -> ModelSummary:
        """Tables of the weights and of the similarity, with standard errors: to print, or for a notebook."""
        from dpplearn.learning.summary import conditional_summary

        return conditional_summary(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights to a JSON file, exact to the bit; `ConditionalDPP.load` reads it."""
        from dpplearn.learning.modelfile import save_model

        save_model(self, path)

    def _eta(self, x: Any, limit: float = MAX_ETA) -> FloatArray:
        """2 log q_i of an item set, which must have the features of training."""
        x = self._check(x)
        return check_eta(self.quality_.eta(x), limit)

    def _check(self, x: Any, name: str = "x") -> ItemSet:
        m = self.quality_.n_features
        names = tuple(self.feature_names_in_[-m:])  # without an added constant, which comes first
        if isinstance(x, ItemSet):
            check_encoding(x.encoding, self.encoding_, name)
        check_item_sets([x], m, None if names == default_names(m) else names, name)
        return x


def fitted_from_weights(
    theta: ArrayLike, rho: float, nugget: float, theta_std: ArrayLike | None, names: Sequence[str] | None,
    covariance: FloatArray | None = None,
) -> Fitted:  # fmt: skip
    """The fitted values of a model whose weights are given, with standard errors if those are known."""
    weights = check_array(theta, "theta", 1).copy()
    m = weights.size
    std = np.full(m, np.nan) if theta_std is None else check_vector(theta_std, "theta_std", m).copy()
    quality = LogLinear(weights, check_names(names, m) or default_names(m))
    return Fitted(quality, std, fixed_similarity(rho, nugget), np.nan, np.nan, 0, True, covariance=covariance)
