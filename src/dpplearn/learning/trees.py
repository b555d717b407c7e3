"""Quality by LightGBM's trees, grown on the likelihood of the DPP itself (`pip install "dpplearn[trees]"`).

With eta_i = 2 log q_i, d log P / d eta_i = 1[i in Y] - K_ii, and minus the diagonal of the Hessian is K_ii (1 - K_ii):
this is all that Newton boosting needs. The entries off the diagonal, -K_ij^2, make the likelihood less curved, so a
step of gradient over curvature does not go too far.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import root_scalar

from dpplearn._checks import FloatArray, warn_user
from dpplearn._io.jsonfile import number, numbers
from dpplearn._notebook import short_repr
from dpplearn.learning.fit import FitSettings
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.likelihood import Instance
from dpplearn.learning.quality import Fitted, check_eta
from dpplearn.learning.similarity import Similarity
from dpplearn.learning.training_set import Shard

FOLDS = 3  # each holds instances out in turn, to find the number of trees
PATIENCE = 10  # trees without a gain on the instances held out
DEFAULTS: dict[str, Any] = {
    "n_estimators": 100, "max_depth": 4, "num_leaves": 16, "learning_rate": 0.1, "cat_smooth": 1.0,
    "min_data_per_group": 1, "min_data_in_leaf": 1,
    "min_sum_hessian_in_leaf": 1.0,  # about as many items as might as well be chosen as not
    "deterministic": True, "force_row_wise": True, "num_threads": 1, "verbose": -1,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Boosted:
    """2 log q_i = base + the sum of the trees at item i.

    `names` are "constant" and the columns that the trees split. `model` is LightGBM's text, "" without trees.
    `importance` has for each column the mean over the training items of |what it adds to 2 log q|.
    """

    __repr__ = short_repr

    kind: ClassVar[str] = "boosted"

    base: float
    names: tuple[str, ...]
    n_features: int
    model: str
    importance: FloatArray

    @cached_property
    def booster(self) -> Any:
        return import_lightgbm().Booster(model_str=self.model)

    def eta(self, items: ItemSet) -> FloatArray:
        X = self.columns(items)
        return self.base + (self.booster.predict(X, raw_score=True) if self.model else np.zeros(items.n))

    def log_q(self, items: ItemSet) -> FloatArray:
        return self.eta(items) / 2

    def contributions(self, items: ItemSet) -> FloatArray:
        """What the constant and each column add to 2 log q_i: Shapley values, whose sum is `eta`."""
        X, added = self.columns(items), np.zeros((items.n, len(self.names)))
        if self.model:
            added = np.roll(self.booster.predict(X, pred_contrib=True), 1, axis=1)
        added[:, 0] += self.base
        return added

    def columns(self, items: ItemSet) -> FloatArray:
        """The columns of an item set that the trees split."""
        X = items.columns
        if X.shape[1] != len(self.names) - 1:
            raise ValueError(
                f"The trees were grown on {len(self.names) - 1} columns ({', '.join(self.names[1:])}), and the item "
                f"set has {X.shape[1]}. Make it of a table by ItemSet.from_long(table, ..., encoding=model.encoding_)."
            )
        return X

    def state(self) -> dict[str, Any]:
        """For a model file: LightGBM's own text, with a checksum, since LightGBM does not check what it reads."""
        rest = {"base": self.base, "columns": self.names[1:], "importance": self.importance, "model": self.model}
        return {"kind": self.kind, "n_features": self.n_features, **rest, "sha256": checksum(self.model)}


def checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def import_lightgbm() -> Any:
    """LightGBM, or an error that says how to install it."""
    try:
        import lightgbm
    except ImportError:
        raise ImportError('quality="boosted" needs the package lightgbm: pip install "dpplearn[trees]".') from None
    return lightgbm


def read_boosted(record: dict[str, Any], path: str | os.PathLike[str]) -> Boosted:
    """The record in a model file."""
    columns, n_features, text = (record.get(name) for name in ("columns", "n_features", "model"))
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns) or not columns:
        raise ValueError(f"columns in {path} must be a list of names, found {columns!r:.60}.")
    if type(n_features) is not int or not isinstance(text, str) or checksum(text) != record.get("sha256"):
        raise ValueError(f"The trees in {path} are not as they were written. Save the model again.")
    importance = numbers(record.get("importance"), "importance", path, len(columns))
    return Boosted(number(record.get("base"), "base", path), ("constant", *columns), n_features, text, importance)


class Instances:
    """Instances that count, with the items of all in one vector."""

    def __init__(self, shard: Shard, similarity: Similarity, given_size: bool) -> None:
        every = zip(shard.item_sets, shard.subsets, shard.weights.tolist(), strict=True)
        ready = [Instance(x, [Y], [w], similarity) for x, Y, w in every if w > 0]
        # Impossible targets were refused, or are left out.
        self.examples = [one for one in ready if one.targets[0].log_det > -np.inf]
        self.given_size = given_size
        self.raw = np.concatenate([one.items.columns for one in self.examples])
        sizes = [one.items.n for one in self.examples]
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.weight = np.repeat([float(one.weights[0]) for one in self.examples], sizes)
        self.chosen = np.concatenate([np.isin(np.arange(one.items.n), one.subsets[0]) for one in self.examples]) * 1.0
        encoding = self.examples[0].items.encoding
        columns = () if encoding is None else encoding.features
        self.names = tuple(one.name for one in columns)
        self.categories = [j for j, one in enumerate(columns) if one.kind == "category"]

    def evaluate(self, eta: FloatArray, which: np.ndarray) -> tuple[float, FloatArray]:
        """The log-likelihood of the instances `which`, and K_ii of their items."""
        value, marginals, first = 0.0, np.empty(eta.size), 0
        for t in np.flatnonzero(which).tolist():
            one = self.examples[t]
            last = first + one.items.n
            log_prob, marginals[first:last] = one.log_prob(check_eta(eta[first:last]), self.given_size)
            value, first = value + one.weights[0] * log_prob, last
        return value, marginals

    def base(self) -> float:
        """The constant under which as many items are expected as were chosen; given the size, it changes nothing."""
        every = np.ones(len(self.examples), np.bool_)
        share = float(np.average(self.chosen, weights=self.weight))
        if self.given_size or not 0 < share < 1:
            return 0.0

        def surplus(eta: float) -> float:
            return float(self.weight @ (self.chosen - self.evaluate(np.full(self.owner.size, eta), every)[1]))

        start = float(np.log(share / (1 - share)))  # right for independent items
        found = root_scalar(surplus, x0=start, x1=start + 0.5, xtol=1e-3, maxiter=20)
        return float(found.root) if abs(found.root - start) < 20 else start

    def folds(self, random_state: int) -> list[np.ndarray]:
        """Which instances are held out, fold by fold; those with the same items stay together."""
        known: dict[bytes, int] = {}
        groups = [known.setdefault(one.items.columns.tobytes(), len(known)) for one in self.examples]
        fold = (np.random.default_rng(random_state).permutation(len(known)) % FOLDS)[groups]
        return [fold == f for f in range(min(FOLDS, len(known)))] if len(known) > 1 else []

    def grow(self, params: Mapping[str, Any], n_trees: int, base: float, held: np.ndarray) -> tuple[Any, list[float]]:
        """LightGBM's model without the instances held out, and their log-likelihood before and after each tree.

        The model is None where no column has two values.
        """
        lightgbm, train, curve = import_lightgbm(), ~held[self.owner], []
        weight, chosen = self.weight[train], self.chosen[train]

        def objective(eta: FloatArray, _: Any) -> tuple[FloatArray, FloatArray]:
            K = self.evaluate(eta, ~held)[1]
            return weight * (K - chosen), weight * np.maximum(K * (1 - K), 1e-6)

        def measure(eta: FloatArray, _: Any) -> tuple[str, float, bool]:
            curve.append(self.evaluate(eta, held)[0])
            return "log-likelihood", curve[-1], True

        def dataset(rows: np.ndarray, reference: Any = None) -> Any:
            known = {"init_score": np.full(int(rows.sum()), base), "categorical_feature": self.categories}
            return lightgbm.Dataset(self.raw[rows], self.chosen[rows], reference=reference, **known)

        measure(np.full(int((~train).sum()), base), None)
        if (self.raw[train] == self.raw[train][0]).all():
            return None, curve
        learned, options = dataset(train), {}
        if held.any():
            stop = lightgbm.early_stopping(PATIENCE, verbose=False)
            options = {"valid_sets": [dataset(~train, learned)], "feval": measure, "callbacks": [stop]}
        return lightgbm.train({**params, "objective": objective}, learned, n_trees, **options), curve


def fit_trees(data: Any, linear: Fitted, quality: str | Mapping[str, Any], settings: FitSettings) -> Fitted:
    """Trees in place of the weights of a log-linear fit, whose similarity they keep.

    `quality` may have parameters of LightGBM, by its names; `n_estimators` is the most trees that there may be.
    """
    prior_variance, random_state = settings.prior_variance, settings.random_state
    if prior_variance is not None and np.ndim(prior_variance) > 0:
        raise ValueError("With trees, prior_variance must be one number, that of the leaves; found several.")
    ridge = 0.0 if prior_variance is None else 1 / float(prior_variance)
    instances = Instances(data, linear.similarity, settings.given_size)
    every = np.ones(len(instances.examples), np.bool_)
    base = instances.base()
    params = {**DEFAULTS, "lambda_l2": ridge, "cat_l2": ridge, "seed": random_state}
    params |= {} if isinstance(quality, str) else quality
    n_trees = most = int(params.pop("n_estimators"))
    if folds := instances.folds(random_state):
        curves = [instances.grow(params, most, base, held)[1] for held in folds]
        n_trees = int(np.sum([np.pad(one, (0, most + 1 - len(one)), "edge") for one in curves], axis=0).argmax())
        if n_trees == most:
            warn_user(f"Held-out instances still gain from more trees than n_estimators={most}. Allow more of them.")
    model = instances.grow(params, n_trees, base, ~every)[0] if n_trees else None
    eta, text, importance = np.full(instances.owner.size, base), "", np.zeros(instances.raw.shape[1])
    if model is None:
        n_trees = 0
        warn_user("Trees do not raise the likelihood of held-out instances, so the quality is a constant.")
    else:
        eta, text = eta + model.predict(instances.raw, raw_score=True), model.model_to_string()
        importance = np.abs(model.predict(instances.raw, pred_contrib=True)[:, :-1]).mean(axis=0)
    features = linear.names[-linear.quality.n_features :]
    trees = Boosted(base, ("constant", *(instances.names or features)), len(features), text, importance)
    weights: dict[str, Any] = {"quality": trees, "std": np.array([np.nan]), "covariance": None, "names": features}
    return replace(linear, **weights, n_iter=n_trees, log_likelihood=instances.evaluate(eta, every)[0])
