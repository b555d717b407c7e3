"""Summarizer model files: JSON with weights by name, bins and document frequencies."""

from __future__ import annotations

import os
from dataclasses import fields
from importlib import resources
from typing import Any

import numpy as np

from dpplearn._checks import check_rho
from dpplearn._io.jsonfile import number, numbers, read_json, write_json
from dpplearn.learning.modelfile import read_covariance
from dpplearn.learning.predictor import ConditionalPredictor, known_weights
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.settings import SummarizerSettings, Trained
from dpplearn.summarize.model.tfidf import Idf

FORMAT, VERSION = "dpplearn.Summarizer", 2
SETTINGS = tuple(one.name for one in fields(SummarizerSettings))
Path = str | os.PathLike[str]


def save_summarizer(settings: SummarizerSettings, trained: Trained, path: Path) -> None:
    """Write what was trained; the old file, if any, stays until the new one is whole."""
    if not isinstance(settings.unit, str):
        raise ValueError("A model file cannot hold a function: save a Summarizer whose unit is a name.")
    from dpplearn import __version__

    features, model = trained.features, trained.model
    write_json(
        path,
        {
            "format": FORMAT,
            "version": VERSION,
            "written_by": f"dpplearn {__version__}",
            "settings": {name: getattr(settings, name) for name in SETTINGS}
            | {"features": features.features, "language": trained.language},
            "training": trained.training,
            "rho": model.rho_,
            "weights": dict(zip(features.names, zip(model.theta_, model.theta_std_, strict=True), strict=True)),
            **({} if model.covariance_ is None else {"covariance": model.covariance_}),
            "edges": features.edges,
            "idf": {"documents": features.idf.documents, "counts": dict(features.idf.counts)},
        },
    )


def read_model_file(path: Path | None) -> tuple[Path, dict[str, Any]]:
    """What a model file holds, and where it is; without a path, that of the model inside."""
    if path is not None:
        return path, read_json(path, FORMAT, VERSION)
    with resources.as_file(resources.files("dpplearn.summarize") / "data" / "general.json") as bundled:
        return bundled, read_json(bundled, FORMAT, VERSION)


def load_summarizer(path: Path | None) -> tuple[SummarizerSettings, Trained]:
    """Read a file that `save_summarizer` wrote, or say what is wrong with it."""
    path, data = read_model_file(path)
    for name in ("settings", "rho", "weights", "edges", "idf"):
        if name not in data:
            raise ValueError(f"{path} has no {name!r}: it is not whole. Train or copy the model again.")
    settings = read_settings(data["settings"], path)
    features = settings.sentence_features()
    weights = data["weights"]
    if not isinstance(weights, dict) or tuple(weights) != features.names:
        raise ValueError(f"weights in {path} must be named and ordered like the {settings.features!r} features.")
    features.edges = read_edges(data["edges"], features, path)
    features.idf = read_idf(data["idf"], path)
    rho = number(data["rho"], "rho", path)
    try:
        check_rho(rho)
    except ValueError as error:
        raise ValueError(f"{path} is no model: {error}") from None
    theta, std = np.array([numbers(pair, f"weights[{name!r}]", path, 2) for name, pair in weights.items()]).T
    if not (np.isfinite(theta).all() and std.min() >= 0):  # without a prior, a standard error may be infinite
        raise ValueError(f"weights in {path} must be finite, and their standard errors not negative.")
    model = ConditionalPredictor()._keep(known_weights(theta, rho, 0.0, None, features.names))
    model.theta_std_ = std
    model.covariance_ = read_covariance(data.get("covariance"), std, path)
    training = data.get("training")
    return settings, Trained(features, model, settings.language, training if isinstance(training, dict) else {})


def read_settings(settings: Any, path: Path) -> SummarizerSettings:
    if not isinstance(settings, dict) or set(settings) != set(SETTINGS):
        raise ValueError(f"settings in {path} must have exactly {', '.join(SETTINGS)}, found {settings!r:.120}.")
    floats = {name: number(settings[name], name, path) for name in ("budget", "rho", "prior_variance")}
    try:
        return SummarizerSettings(**{**settings, **floats})
    except (TypeError, ValueError) as error:
        raise ValueError(f"settings in {path} are not those of a Summarizer: {error}") from None


def read_edges(edges: Any, features: SentenceFeatures, path: Path) -> dict[str, Any]:
    bins = {entry.name: entry.bins for entry in features.entries if entry.bins}
    if not isinstance(edges, dict) or set(edges) != set(bins):
        raise ValueError(
            f"edges in {path} must hold those of its weights: {', '.join(bins) or 'none'}. Found {edges!r:.80}."
        )
    out = {name: numbers(values, f"edges.{name}", path, bins[name] - 1) for name, values in edges.items()}
    for name, values in out.items():
        if not (np.isfinite(values).all() and (np.diff(values) >= 0).all()):
            raise ValueError(f"edges.{name} in {path} must be finite and ascending.")
    return out


def read_idf(idf: Any, path: Path) -> Idf:
    if not isinstance(idf, dict) or not isinstance(idf.get("counts"), dict):
        raise ValueError(f"idf in {path} must hold documents and counts, found {idf!r:.80}.")
    documents: Any = idf.get("documents")
    whole = [documents, *idf["counts"].values()]
    if not all(isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 2**53 for x in whole):
        raise ValueError(f"idf in {path} must hold whole numbers that are not negative, and below 2^53.")
    if idf["counts"] and max(idf["counts"].values()) > documents:
        raise ValueError(f"idf in {path} has a word in more documents than there are ({documents}).")
    return Idf(documents, idf["counts"])
