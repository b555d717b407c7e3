"""Model files: quality and similarity as records, in JSON. Reading one can run no code.

Version 2 has a record of the quality and one of the similarity; version 1, which is read for ever, theta and rho.
"""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

import numpy as np

from dpplearn._io.jsonfile import number, numbers, read_json, write_json
from dpplearn.learning.encoding import Encoding
from dpplearn.learning.fitted import Fitted
from dpplearn.learning.itemset import check_names
from dpplearn.learning.posterior import Settings, check_precision
from dpplearn.learning.quality import LogLinear
from dpplearn.learning.similarity import SIMILARITIES, Fixed, Similarity, make_similarity
from dpplearn.learning.storage import whole_number

FORMAT, VERSION = "dpplearn.ConditionalDPP", 2
ADDED = {"nugget": 0.0, "learn_nugget": False, "similarity": Fixed.kind}  # parameters of version 2
PARAMS = ("prior_variance", "solver", "tol", "max_iter", "rho", "learn_rho", "on_impossible", *ADDED)
TYPES: dict[str, type] = dict.fromkeys(("solver", "on_impossible", "similarity"), str)
TYPES |= {"learn_rho": bool, "learn_nugget": bool, "max_iter": int}
FITTED = ("theta_std", "log_likelihood", "gradient_norm", "n_iter", "converged")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the old file, if any, stays until the new one is whole."""
    from dpplearn import __version__

    given = model.similarity
    params = {name: getattr(model, name) for name in PARAMS}
    if isinstance(given, Fixed):  # its own, which count, and not the model's
        params |= {"rho": given.rho, "nugget": given.nugget}
    params |= {name: bool(params[name]) for name in ("learn_rho", "learn_nugget")}
    params["similarity"] = getattr(given, "kind", given)
    head = {"format": FORMAT, "version": VERSION, "written_by": f"dpplearn {__version__}", "params": params}
    records = {"quality": model.quality_.state(), "similarity": model.similarity_.state()}
    fitted = {name: getattr(model, f"{name}_") for name in FITTED}
    table = {} if model.encoding_ is None else {"encoding": model.encoding_.state()}
    write_json(path, {**head, "feature_names": list(model.feature_names_in_), **records, **fitted, **table})


def load_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Fitted]:
    """The parameters and the fitted values in a file that `save_model` wrote."""
    data = read_json(path, FORMAT, VERSION)
    records = ("theta", "rho") if data["version"] == 1 else ("quality", "similarity")
    missing = [k for k in ("params", "feature_names", *records, *FITTED[:2]) if k not in data]
    if missing:
        raise ValueError(f"{path} has no {missing[0]!r}: it is not whole. Save the model again.")
    if data["version"] == 1:
        data["quality"] = {"kind": LogLinear.kind, "theta": data["theta"]}
        data["similarity"] = {"kind": Fixed.kind, "rho": data["rho"], "nugget": 0.0}
        data["params"] = {**ADDED, **data["params"]} if isinstance(data["params"], dict) else None
    quality = read_quality(data["quality"], data["feature_names"], path)
    n_iter, converged = whole_number(data.get("n_iter"), "n_iter", path), data.get("converged")
    if not isinstance(converged, bool):
        raise ValueError(f"converged in {path} must be true or false, found {converged!r}.")
    std = numbers(data["theta_std"], "theta_std", path, quality.theta.size)
    if not (np.isnan(std).all() or (std >= 0).all()):  # of weights that were given, not learned, they are all unknown
        raise ValueError(f"theta_std in {path} must hold standard errors, none negative, found {std.tolist()}.")
    value, norm = (number(data.get(name), name, path) for name in FITTED[1:3])
    similarity = read_similarity(data["similarity"], path)
    encoding = Encoding.from_state(data["encoding"], path) if "encoding" in data else None
    if encoding is not None and tuple(encoding.names) != quality.names:
        raise ValueError(f"encoding in {path} makes other features than feature_names says. Save the model again.")
    fitted = Fitted(quality, std, similarity, value, norm, n_iter, converged, quality.names, encoding)
    return read_params(data["params"], path, quality.theta.size), fitted


def read_quality(record: Any, names: Any, path: str | os.PathLike[str]) -> LogLinear:
    """The one kind of quality that there is."""
    if not isinstance(record, dict) or record.get("kind") != LogLinear.kind:
        raise ValueError(f'quality in {path} must be an object of kind "{LogLinear.kind}", found {record!r:.80}.')
    theta = numbers(record.get("theta"), "theta", path)
    if theta.size == 0 or not np.isfinite(theta).all():
        raise ValueError(f"theta in {path} must hold at least one weight, and only finite ones.")
    try:
        return LogLinear(theta, check_names(names if isinstance(names, list) else [names], theta.size) or ())
    except (TypeError, ValueError) as error:
        raise ValueError(f"feature_names in {path} are not those of {theta.size} weights: {error}") from None


def read_similarity(record: Any, path: str | os.PathLike[str]) -> Similarity:
    """A record of a known kind, made from its fields."""
    kind = SIMILARITIES.get(str(record.get("kind"))) if isinstance(record, dict) else None
    if kind is None:
        raise ValueError(
            f"similarity in {path} must be an object of a known kind ({', '.join(SIMILARITIES)}), found {record!r:.80}."
        )
    given = [(field.name, record.get(field.name)) for field in fields(kind)]
    try:
        made: Similarity = kind(*((numbers if isinstance(x, list) else number)(x, name, path) for name, x in given))
    except (TypeError, ValueError) as error:
        raise ValueError(f"similarity in {path} is none: {error}") from None
    return made


def read_params(params: Any, path: str | os.PathLike[str], m: int) -> dict[str, Any]:
    """Constructor arguments, each of which `fit` would take for m features."""
    if not isinstance(params, dict) or set(params) != set(PARAMS):
        raise ValueError(f"params in {path} must be an object with exactly {', '.join(PARAMS)}, found {params!r:.120}.")
    out = dict(params)
    for name in ("tol", "rho", "nugget"):
        out[name] = number(params[name], name, path)
    if (variance := params["prior_variance"]) is not None:
        out["prior_variance"] = (numbers if isinstance(variance, list) else number)(variance, "prior_variance", path)
    for name, kind in TYPES.items():
        if type(params[name]) is not kind:  # True is no number of iterations
            raise ValueError(f"{name} in {path} must be of type {kind.__name__}, found {params[name]!r}.")
    try:
        similarity = make_similarity(out["similarity"], out["rho"], out["nugget"])
        Settings(
            out["prior_variance"], out["solver"], out["tol"], out["max_iter"], similarity, (), out["on_impossible"]
        )
        check_precision(out["prior_variance"], m)
    except (TypeError, ValueError) as error:
        raise ValueError(f"params in {path} are not those of a model: {error}") from None
    return out
