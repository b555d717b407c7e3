"""What a summarizer is told, checked in one place; its parameters are as scikit-learn has them."""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np

from dpplearn._checks import check_choice, check_int, check_rho
from dpplearn.decoding.limits import check_number
from dpplearn.decoding.registry import check_decoder
from dpplearn.learning.predictor import ConditionalPredictor
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.quality_features import FEATURE_SETS
from dpplearn.summarize.text.units import Unit, check_budget, check_unit
from dpplearn.summarize.text.words import normal_language

ORACLES = ("pairs", "paper")


@dataclass(frozen=True)
class SummarizerSettings:
    """The checked arguments of a `Summarizer`; names in their usual form."""

    features: str
    decoder: str
    budget: float
    unit: Unit
    rho: float
    prior_variance: float
    language: str | None
    oracle: str
    random_state: int

    def __post_init__(self) -> None:
        variance = np.inf if self.prior_variance is None else check_number(self.prior_variance, "prior_variance")
        if not variance > 0.0:
            raise ValueError(f"prior_variance must be positive (numpy.inf or None for no prior), found {variance}.")
        checked = {
            "features": check_choice(self.features, "features", tuple(FEATURE_SETS)),
            "decoder": check_decoder(self.decoder),
            "budget": check_budget(self.budget, check_unit(self.unit)),
            "rho": check_rho(self.rho),
            "prior_variance": variance,
            "language": normal_language(self.language),
            "oracle": check_choice(self.oracle, "oracle", ORACLES),
            "random_state": check_int(self.random_state, "random_state", high=None),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


class Trained(NamedTuple):
    """What training found, or what a model file keeps of it."""

    features: SentenceFeatures
    model: ConditionalPredictor
    language: str | None
    training: dict[str, Any]


class Parameters:
    """`get_params`, `set_params` and `sklearn.base.clone` for a class whose constructor only stores its arguments.

    They do not import scikit-learn: that takes longer than a summary.

    Examples
    --------
    >>> class Cut(Parameters):
    ...     def __init__(self, budget=665, unit="bytes"):
    ...         self.budget, self.unit = budget, unit
    >>> Cut(100).set_params(unit="words")
    Cut(budget=100, unit='words')
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's signature
        """The constructor's arguments by name, as they are now."""
        kind: Any = type(self)  # which mypy does not know to be hashable
        return {name: getattr(self, name) for name in usual_of(kind)}

    def set_params(self, **params: Any) -> Self:
        """Change some of them; a name that is none is an error."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        return type(self)(**copy.deepcopy(self.get_params()))

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def __repr__(self) -> str:
        kind: Any = type(self)
        usual = usual_of(kind)
        changed = {name: value for name, value in self.get_params().items() if value is not usual[name]}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items() if v != usual[k])})"


@cache
def usual_of(kind: type) -> dict[str, Any]:
    """The arguments of a class, and what they are if they are not given."""
    return {name: p.default for name, p in inspect.signature(kind).parameters.items()}
