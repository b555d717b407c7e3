"""Model files in JSON, with a quality and a similarity. Reading one can run no code."""

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
MAX_COVARIANCE = 500  # weights up to which a file holds their covariance
PARAMS = (
    "prior_variance", "tol", "rho", "nugget", "similarity", "on_impossible", "max_iter", "random_state",
    "given_size", "constant",
)  # fmt: skip
FITTED = ("theta_std", "log_likelihood", "gradient_norm", "n_iter", "converged", "n_sets", "n_items")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; an older file stays until the new one is whole."""
    from dpplearn import __version__

    params = {name: getattr(model, name) for name in PARAMS}
    head = {"format": FORMAT, "version": VERSION, "written_by": f"dpplearn {__version__}", "params": params}
    records = {
        "quality": {"theta": model.quality_.theta, "constant": bool(model.quality_.constant)},
        "similarity": vars(model.similarity_),
    }
    fitted = {name: getattr(model, f"{name}_") for name in FITTED} | {"starts": getattr(model, "starts_", ())}
    covariance = getattr(model, "covariance_", None)
    if covariance is not None and len(covariance) <= MAX_COVARIANCE:
        fitted["covariance"] = covariance
    if model.encoding_ is not None:
        fitted["encoding"] = model.encoding_.state()
    write_json(path, {**head, "feature_names": list(model.feature_names_in_), **records, **fitted})


def load_model(kind: type[Any], path: str | os.PathLike[str]) -> tuple[Any, Fitted]:
    """An estimator of this kind and its fitted values, from a file that `save_model` wrote."""
    from dpplearn.learning.fit import check_precision, check_settings  # these import scikit-learn

    data = read_json(path, FORMAT, VERSION)
    try:
        fitted, params = read_fitted(data, path), data["params"]
        if not isinstance(params, dict) or set(params) != set(PARAMS):
            raise ValueError(f"params must be an object with exactly {', '.join(PARAMS)}, found {params!r:.120}.")
        if (variance := params["prior_variance"]) is not None:
            convert = numbers if isinstance(variance, list) else number
            params = params | {"prior_variance": convert(variance, "prior_variance", path)}
        model = kind(**params)
        check_settings(model)
        check_precision(model.prior_variance, fitted.quality.n_features)
        return model, fitted
    except KeyError as error:
        raise ValueError(f"{path} has no {error}: it is not whole. Save the model again.") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is not that of a model: {error}") from None


def read_fitted(data: dict[str, Any], path: str | os.PathLike[str]) -> Fitted:
    """The fitted values in a file."""
    theta, constant = numbers(data["quality"]["theta"], "theta", path), data["quality"]["constant"] is True
    quality = LogLinear(theta, check_names(tuple(data["feature_names"]), theta.size) or (), constant)
    std, S = numbers(data["theta_std"], "theta_std", path, theta.size), data["similarity"]
    if quality.n_features < 1 or not np.isfinite(theta).all():
        raise ValueError("theta must hold at least one weight of a feature, and only finite ones.")
    if not (np.isnan(std).all() or (std >= 0).all()):  # all nan: given, not learned
        raise ValueError(f"theta_std must hold standard errors, none negative, found {std.tolist()}.")
    encoding = Encoding.from_state(data["encoding"], path) if "encoding" in data else None
    if encoding is not None and tuple(encoding.names) != quality.names[-quality.n_features :]:
        raise ValueError("encoding makes other features than feature_names says. Save the model again.")
    shares = (numbers(S[name], name, path) for name in ("w", "errors"))
    return Fitted(
        quality, std, Similarity(check_names(tuple(S["names"]), len(S["names"])) or (), *shares),
        log_likelihood=number(data["log_likelihood"], "log_likelihood", path),
        gradient_norm=number(data["gradient_norm"], "gradient_norm", path),
        converged=bool(data["converged"]),
        starts=numbers(data.get("starts", []), "starts", path),
        encoding=encoding,
        covariance=read_covariance(data.get("covariance"), std, path),
        **{name: whole_number(data[name], name, path) for name in ("n_iter", "n_sets", "n_items")},
    )  # fmt: skip


def read_covariance(given: Any, std: FloatArray, path: str | os.PathLike[str]) -> FloatArray | None:
    """The covariance of weights with these standard errors; None if a file has none."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != std.size:
        raise ValueError(f"covariance in {path} must have a row for each of the {std.size} weights.")
    values = np.array([numbers(row, f"covariance[{k}]", path, std.size) for k, row in enumerate(given)])
    if not (np.isfinite(values).all() and np.allclose(values, values.T) and (values.diagonal() >= 0).all()):
        raise ValueError(f"covariance in {path} must be symmetric, with variances that are not negative.")
    return values
