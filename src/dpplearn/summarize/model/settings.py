"""What a summarizer is told: checked in one place, kept in its model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpplearn._checks import check_choice, check_rho
from dpplearn.decoding.registry import normal_name
from dpplearn.summarize.model.oracle import ORACLES
from dpplearn.summarize.model.quality_features import FEATURE_SETS
from dpplearn.summarize.text.matching import normal_language
from dpplearn.summarize.text.units import Unit, check_budget, check_unit

TARGETS = ("each", "all")


@dataclass(frozen=True)
class SummarizerSettings:
    """The checked arguments of a `Summarizer`; names in their usual form, `targets` as the decoder has it."""

    features: str
    decoder: str
    budget: float
    unit: Unit
    rho: float
    prior_variance: float
    language: str | None
    oracle: str
    targets: str | None
    bigrams: float
    splitter: Any
    random_state: int

    def __post_init__(self) -> None:
        decoder = normal_name(self.decoder)
        usual = "each" if decoder == "consensus" else "all"
        if not 0.0 <= self.bigrams <= 1.0:
            raise ValueError(f"bigrams must be a share from 0 to 1, found {self.bigrams}.")
        checked = {
            "features": check_choice(self.features, "features", FEATURE_SETS),
            "decoder": decoder,
            "budget": check_budget(self.budget, check_unit(self.unit)),
            "rho": check_rho(self.rho),
            "prior_variance": float(self.prior_variance),
            "language": normal_language(self.language),
            "oracle": check_choice(self.oracle, "oracle", tuple(ORACLES)),
            "targets": check_choice(usual if self.targets is None else self.targets, "targets", TARGETS),
            "bigrams": float(self.bigrams),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
