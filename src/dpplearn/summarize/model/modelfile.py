"""Summarizer model files: JSON with weights by name, bins and document frequencies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpplearn._io.jsonfile import number, numbers, read_json, write_json
from dpplearn.summarize.experiments.baselines import Logistic
from dpplearn.summarize.model.features import GLOBAL
from dpplearn.summarize.model.tfidf import Idf

if TYPE_CHECKING:
    from dpplearn.summarize.summarizer import Summarizer

FORMAT, VERSION = "dpplearn.Summarizer", 1
S = TypeVar("S", bound="Summarizer")
SETTINGS = (
    "features",
    "decoder",
    "budget",
    "unit",
    "rho",
    "prior_variance",
    "language",
    "oracle",
    "targets",
    "bigrams",
    "random_state",
)


def save_summarizer(summarizer: Summarizer, path: str | os.PathLike[str]) -> None:
    """Write a trained summarizer; the old file, if any, stays until the new one is whole."""
    if not isinstance(summarizer.unit, str):
        raise ValueError("A model file cannot hold a function: save a Summarizer whose unit is a name.")
    from dpplearn import __version__

    features = summarizer.features_
    write_json(
        path,
        {
            "format": FORMAT,
            "version": VERSION,
            "written_by": f"dpplearn {__version__}",
            "settings": {name: getattr(summarizer, name) for name in SETTINGS},
            "training": summarizer.training_,
            "rho": summarizer.rho_,
            "weights": {
                name: [float(theta), float(std)]
                for name, theta, std in zip(features.names, summarizer.theta_, summarizer.theta_std_, strict=True)
            },
            "logistic": None
            if summarizer.logistic_ is None
            else {
                "weights": summarizer.logistic_.w,
                "mmr_lambda": summarizer.logistic_.tradeoff,
            },
            "edges": features.edges,
            "idf": {"documents": features.idf.documents, "counts": dict(features.idf.counts)},
        },
    )


def load_summarizer(cls: type[S], path: str | os.PathLike[str]) -> S:
    """Read a file that `save_summarizer` wrote, or say what is wrong with it."""
    data = read_json(path, FORMAT, VERSION)
    for name in ("settings", "rho", "weights", "edges", "idf"):
        if name not in data:
            raise ValueError(f"{path} has no {name!r}: it is not whole. Train or copy the model again.")
    settings = data["settings"]
    if not isinstance(settings, dict) or set(settings) != set(SETTINGS):
        raise ValueError(f"settings in {path} must have exactly {', '.join(SETTINGS)}, found {settings!r:.120}.")
    try:
        summarizer = cls(**settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"settings in {path} are not those of a Summarizer: {error}") from None
    if isinstance(settings["random_state"], bool) or not isinstance(settings["random_state"], int):
        raise ValueError(f"random_state in {path} must be a whole number, found {settings['random_state']!r}.")
    summarizer.rho_ = number(data["rho"], "rho", path)
    if not 0 <= summarizer.rho_ <= 1e6:
        raise ValueError(f"rho in {path} must be a number from 0 to 1e6, found {summarizer.rho_}.")
    features = summarizer.features_
    features.edges = read_edges(data["edges"], path)
    features.idf = read_idf(data["idf"], path)
    weights = data["weights"]
    if not isinstance(weights, dict) or list(weights) != list(features.names):
        raise ValueError(f"weights in {path} must be named and ordered like the {settings['features']!r} features.")
    pairs = np.array([numbers(pair, f"weights[{name!r}]", path, 2) for name, pair in weights.items()])
    if not (np.isfinite(pairs).all() and pairs[:, 1].min() >= 0):
        raise ValueError(f"weights in {path} must be finite, and their standard errors not negative.")
    summarizer.theta_, summarizer.theta_std_ = pairs[:, 0].copy(), pairs[:, 1].copy()
    summarizer.logistic_ = read_logistic(data.get("logistic"), len(features.names), path)
    training = data.get("training")
    summarizer.training_ = training if isinstance(training, dict) else {}
    return summarizer


def read_logistic(logistic: Any, size: int, path: str | os.PathLike[str]) -> Logistic | None:
    """The baselines' weights; files from before there were any have none."""
    if logistic is None:
        return None
    if not isinstance(logistic, dict) or set(logistic) != {"weights", "mmr_lambda"}:
        raise ValueError(f"logistic in {path} must hold weights and mmr_lambda, found {logistic!r:.80}.")
    w = numbers(logistic["weights"], "logistic.weights", path, size)
    tradeoff = number(logistic["mmr_lambda"], "logistic.mmr_lambda", path)
    if not (np.isfinite(w).all() and 0.0 <= tradeoff <= 1.0):
        raise ValueError(f"logistic in {path} must hold finite weights and an mmr_lambda from 0 to 1.")
    return Logistic(w, tradeoff)


def read_edges(edges: Any, path: str | os.PathLike[str]) -> dict[str, Any]:
    if not isinstance(edges, dict) or set(edges) != {"length", "similarity", "lexrank"}:
        raise ValueError(f"edges in {path} must hold length, similarity and lexrank, found {edges!r:.80}.")
    out = {name: numbers(values, f"edges.{name}", path, GLOBAL - 1) for name, values in edges.items()}
    for name, values in out.items():
        if not (np.isfinite(values).all() and (np.diff(values) >= 0).all()):
            raise ValueError(f"edges.{name} in {path} must be finite and ascending.")
    return out


def read_idf(idf: Any, path: str | os.PathLike[str]) -> Idf:
    if not isinstance(idf, dict) or not isinstance(idf.get("counts"), dict):
        raise ValueError(f"idf in {path} must hold documents and counts, found {idf!r:.80}.")
    documents: Any = idf.get("documents")
    whole = [documents, *idf["counts"].values()]
    if not all(isinstance(x, int) and not isinstance(x, bool) and x >= 0 for x in whole):
        raise ValueError(f"idf in {path} must hold whole numbers that are not negative.")
    if idf["counts"] and max(idf["counts"].values()) > documents:
        raise ValueError(f"idf in {path} has a word in more documents than there are ({documents}).")
    return Idf(documents, idf["counts"])
