"""Model files: quality and similarity as records, in JSON. Reading one can run no code."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.jsonfile import number, numbers, read_json, whole_number, write_json
from dpplearn.learning.itemset import check_names
from dpplearn.learning.likelihood import LogLinear
from dpplearn.learning.predictor import Fitted
from dpplearn.learning.similarity import Similarity
from dpplearn.learning.tables import Encoding

FORMAT, VERSION = "dpplearn.ConditionalDPP", 7
MOST_SHARED = 500  # weights up to which a file holds their covariance
PARAMS = (
    "prior_variance", "tol", "rho", "nugget", "similarity", "on_impossible", "max_iter", "random_state",
    "given_size", "constant",
)  # fmt: skip
FITTED = ("theta_std", "log_likelihood", "gradient_norm", "n_iter", "converged", "n_sets", "n_items")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the old file, if any, stays until the new one is whole."""
    from dpplearn import __version__

    params = {name: getattr(model, name) for name in PARAMS}
    head = {"format": FORMAT, "version": VERSION, "written_by": f"dpplearn {__version__}", "params": params}
    records = {
        "quality": {"theta": model.quality_.theta, "constant": bool(model.quality_.constant)},
        "similarity": vars(model.similarity_),
    }
    fitted = {name: getattr(model, f"{name}_") for name in FITTED} | {"starts": getattr(model, "starts_", ())}
    known = getattr(model, "covariance_", None)
    shared = {"covariance": known} if known is not None and len(known) <= MOST_SHARED else {}
    table = {} if model.encoding_ is None else {"encoding": model.encoding_.state()}
    write_json(path, {**head, "feature_names": list(model.feature_names_in_), **records, **fitted, **shared, **table})


def load_model(kind: type[Any], path: str | os.PathLike[str]) -> tuple[Any, Fitted]:
    """An estimator of this kind, and the fitted values, in a file that `save_model` wrote."""
    data = read_json(path, FORMAT, VERSION)
    missing = [k for k in ("params", "feature_names", "quality", "similarity", *FITTED) if k not in data]
    if missing:
        raise ValueError(f"{path} has no {missing[0]!r}: it is not whole. Save the model again.")
    quality = read_quality(data["quality"], data["feature_names"], path)
    std = numbers(data["theta_std"], "theta_std", path, quality.theta.size)
    if not (np.isnan(std).all() or (std >= 0).all()):  # of weights that were given, not learned, they are all unknown
        raise ValueError(f"theta_std in {path} must hold standard errors, none negative, found {std.tolist()}.")
    encoding = Encoding.from_state(data["encoding"], path) if "encoding" in data else None
    if encoding is not None and tuple(encoding.names) != quality.names[-quality.n_features :]:
        raise ValueError(f"encoding in {path} makes other features than feature_names says. Save the model again.")
    fitted = Fitted(
        quality, std, read_similarity(data["similarity"], path),
        log_likelihood=number(data["log_likelihood"], "log_likelihood", path),
        gradient_norm=number(data["gradient_norm"], "gradient_norm", path),
        converged=bool(data["converged"]),
        starts=numbers(data.get("starts", []), "starts", path),
        encoding=encoding,
        covariance=read_covariance(data.get("covariance"), std, path),
        **{name: whole_number(data[name], name, path) for name in ("n_iter", "n_sets", "n_items")},
    )  # fmt: skip
    return read_estimator(kind, data["params"], path, quality.n_features), fitted


def read_quality(record: Any, names: Any, path: str | os.PathLike[str]) -> LogLinear:
    """The weights, with their names."""
    if not isinstance(record, dict):
        raise ValueError(f"quality in {path} must be an object, found {record!r:.80}.")
    theta, constant = numbers(record.get("theta"), "theta", path), bool(record.get("constant", False))
    if theta.size <= constant or not np.isfinite(theta).all():
        raise ValueError(f"theta in {path} must hold at least one weight of a feature, and only finite ones.")
    try:
        names = check_names(names if isinstance(names, list) else [names], theta.size) or ()
    except (TypeError, ValueError) as error:
        raise ValueError(f"feature_names in {path} are not those of {theta.size} weights: {error}") from None
    return LogLinear(theta, names, constant)


def read_similarity(record: Any, path: str | os.PathLike[str]) -> Similarity:
    """The weights of its parts, with their standard errors."""
    try:
        names = check_names(record["names"], len(record["names"])) or ()
        return Similarity(names, *(numbers(record[name], name, path) for name in ("w", "errors")))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"similarity in {path} cannot be read: {error}") from None


def read_covariance(given: Any, std: FloatArray, path: str | os.PathLike[str]) -> FloatArray | None:
    """The covariance of weights with these standard errors; None where a file has none."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != std.size:
        raise ValueError(f"covariance in {path} must have a row for each of the {std.size} weights.")
    found = np.array([numbers(row, f"covariance[{k}]", path, std.size) for k, row in enumerate(given)])
    if not (np.isfinite(found).all() and np.allclose(found, found.T) and (found.diagonal() >= 0).all()):
        raise ValueError(f"covariance in {path} must be symmetric, with variances that are not negative.")
    return found


def read_estimator(kind: type[Any], params: Any, path: str | os.PathLike[str], m: int) -> Any:
    """An estimator with these arguments, each of which `fit` would take for m features."""
    from dpplearn.learning.fit import check_precision, check_settings  # which bring scikit-learn

    if not isinstance(params, dict) or set(params) != set(PARAMS):
        raise ValueError(f"params in {path} must be an object with exactly {', '.join(PARAMS)}, found {params!r:.120}.")
    if (variance := params["prior_variance"]) is not None:
        read = numbers if isinstance(variance, list) else number
        params = params | {"prior_variance": read(variance, "prior_variance", path)}
    try:
        model = kind(**params)
        check_settings(model)
        check_precision(model.prior_variance, m)
    except (TypeError, ValueError) as error:
        raise ValueError(f"params in {path} are not those of a model: {error}") from None
    return model
