"""What a summarizer is told: checked in one place, kept in its model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

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
