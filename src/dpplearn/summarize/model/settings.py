"""The arguments of a summarizer, what training finds, and the file that keeps both: JSON with weights by name."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any, NamedTuple, Self

import numpy as np

from dpplearn._checks import check_choice, check_int, check_rho
from dpplearn._io.jsonfile import number, numbers, read_json, write_json
from dpplearn.decoding.limits import check_number
from dpplearn.decoding.registry import check_decoder
from dpplearn.learning.modelfile import read_covariance
from dpplearn.learning.predictor import ConditionalPredictor, fitted_from_weights
from dpplearn.summarize.model.features import FEATURE_SETS, SentenceFeatures
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.units import Unit, check_budget, check_unit
from dpplearn.summarize.text.words import normal_language

FORMAT, VERSION = "dpplearn.Summarizer", 2
ORACLES = ("pairs", "paper")
Path = str | os.PathLike[str]


@dataclass(eq=False, repr=False)
class SummarizerSettings:
    """The arguments of a `Summarizer`, with what scikit-learn asks of an estimator.

    scikit-learn is not imported for it: that takes longer than a summary.
    """

    features: str = "general"
    decoder: str = "consensus"
    budget: float = 665
    unit: Unit = "bytes"
    rho: float = 0.3
    prior_variance: float = 1.0
    language: str | None = None
    oracle: str = "pairs"
    random_state: int = 0

    @property
    def settings(self) -> SummarizerSettings:
        """The arguments, checked and in their usual form; an error says which is wrong."""
        variance = np.inf if self.prior_variance is None else check_number(self.prior_variance, "prior_variance")
        if not variance > 0.0:
            raise ValueError(f"prior_variance must be positive (numpy.inf or None for no prior), found {variance}.")
        return SummarizerSettings(
            features=check_choice(self.features, "features", tuple(FEATURE_SETS)),
            decoder=check_decoder(self.decoder),
            budget=check_budget(self.budget, check_unit(self.unit)),
            unit=self.unit,
            rho=check_rho(self.rho),
            prior_variance=variance,
            language=normal_language(self.language),
            oracle=check_choice(self.oracle, "oracle", ORACLES),
            random_state=check_int(self.random_state, "random_state", high=None),
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn's signature
        """The arguments by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change some of the arguments."""
        for name, value in params.items():
            if name not in SETTINGS:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(SETTINGS)}.")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def __repr__(self) -> str:
        arguments = ((field, getattr(self, field.name)) for field in fields(self))
        changed = [f"{field.name}={value!r}" for field, value in arguments if value != field.default]
        return f"{type(self).__name__}({', '.join(changed)})"


SETTINGS = tuple(field.name for field in fields(SummarizerSettings))


class Trained(NamedTuple):
    """What training found, or what a model file keeps of it."""

    features: SentenceFeatures
    model: ConditionalPredictor
    language: str | None
    training: dict[str, Any]


def save_summarizer(settings: SummarizerSettings, trained: Trained, path: Path) -> None:
    """Write a model file; the old one, if any, stays until the new one is whole."""
    if not isinstance(settings.unit, str):
        raise ValueError("A model file cannot hold a function: save a Summarizer whose unit is a name.")
    from dpplearn import __version__

    features, model = trained.features, trained.model
    weights = zip(features.names, zip(model.theta_, model.theta_std_, strict=True), strict=True)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"dpplearn {__version__}",
        "settings": settings.get_params() | {"features": features.features, "language": trained.language},
        "training": trained.training,
        "rho": model.rho_,
        "weights": dict(weights),
        **({} if model.covariance_ is None else {"covariance": model.covariance_}),
        "edges": features.edges,
        "idf": {"documents": features.idf.documents, "counts": dict(features.idf.counts)},
    }
    write_json(path, data)


def load_summarizer(path: Path | None) -> tuple[SummarizerSettings, Trained]:
    """Read a model file, or say what is wrong with it; without a path, the model that comes with dpplearn."""
    path = str(resources.files("dpplearn.summarize") / "data" / "general.json") if path is None else path
    data = read_json(path, FORMAT, VERSION)
    for name in ("settings", "rho", "weights", "edges", "idf"):
        if name not in data:
            raise ValueError(f"{path} has no {name!r}: it is not whole. Train or copy the model again.")
    arguments, weights, rho = data["settings"], data["weights"], number(data["rho"], "rho", path)
    if not isinstance(arguments, dict) or set(arguments) != set(SETTINGS):
        raise ValueError(f"settings in {path} must have exactly {', '.join(SETTINGS)}, found {arguments!r:.120}.")
    floats = {name: number(arguments[name], name, path) for name in ("budget", "rho", "prior_variance")}
    try:
        settings, _ = SummarizerSettings(**{**arguments, **floats}).settings, check_rho(rho)
    except (TypeError, ValueError) as error:
        raise ValueError(f"settings and rho in {path} are not those of a Summarizer: {error}") from None
    features = SentenceFeatures(settings.features)
    if not isinstance(weights, dict) or tuple(weights) != features.names:
        raise ValueError(f"weights in {path} must be named and ordered like the {settings.features!r} features.")
    features.edges, features.idf = read_edges(data["edges"], features, path), read_idf(data["idf"], path)
    theta, std = np.array([numbers(pair, f"weights[{name!r}]", path, 2) for name, pair in weights.items()]).T
    if not (np.isfinite(theta).all() and std.min() >= 0):  # without a prior, a standard error may be infinite
        raise ValueError(f"weights in {path} must be finite, and their standard errors not negative.")
    covariance = read_covariance(data.get("covariance"), std, path)
    model = ConditionalPredictor()._keep(fitted_from_weights(theta, rho, 0.0, None, features.names, covariance))
    model.theta_std_ = std
    training = data.get("training")
    return settings, Trained(features, model, settings.language, training if isinstance(training, dict) else {})


def read_edges(edges: Any, features: SentenceFeatures, path: Path) -> dict[str, Any]:
    """The inner ends of global bins, by feature."""
    bins = {entry.name: entry.bins for entry in features.entries if entry.bins}
    if not isinstance(edges, dict) or set(edges) != set(bins):
        raise ValueError(f"edges in {path} must be those of {', '.join(bins) or 'no feature'}, found {edges!r:.80}.")
    ends = {name: numbers(edges[name], f"edges.{name}", path, count - 1) for name, count in bins.items()}
    for name, values in ends.items():
        if not (np.isfinite(values).all() and (np.diff(values) >= 0).all()):
            raise ValueError(f"edges.{name} in {path} must be finite and ascending.")
    return ends


def read_idf(idf: Any, path: Path) -> Idf:
    """In how many of the training documents each word is."""
    if not isinstance(idf, dict) or not isinstance(idf.get("counts"), dict):
        raise ValueError(f"idf in {path} must hold documents and counts, found {idf!r:.80}.")
    documents: Any = idf.get("documents")
    if any(type(x) is not int or not 0 <= x < 2**53 for x in (documents, *idf["counts"].values())):
        raise ValueError(f"idf in {path} must hold whole numbers that are not negative, and below 2^53.")
    if documents < max(idf["counts"].values(), default=0):
        raise ValueError(f"idf in {path} has a word in more documents than there are ({documents}).")
    return Idf(documents, idf["counts"])
