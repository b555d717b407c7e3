"""Model files: quality and similarity as records, in JSON. Reading one can run no code."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from dpplearn._checks import check_int
from dpplearn._io.jsonfile import number, numbers, read_json, write_json
from dpplearn.learning.files import whole_number
from dpplearn.learning.fit import FitSettings, check_precision
from dpplearn.learning.itemset import check_names
from dpplearn.learning.quality import QUALITIES, Fitted, LogLinear, check_quality, read_covariance
from dpplearn.learning.similarity import Fixed, Mixture, Similarity, make_similarity
from dpplearn.learning.tables import Encoding
from dpplearn.learning.trees import Boosted, read_boosted

FORMAT, VERSION = "dpplearn.ConditionalDPP", 5
MOST_SHARED = 500  # weights up to which a file holds their covariance
TYPES: dict[str, Any] = {
    "quality": (str, dict),
    "similarity": (str,),
    "on_impossible": (str,),
    "max_iter": (int,),
    "random_state": (int,),
    "given_size": (bool,),
    "constant": (bool,),
}
NUMBERS = ("tol", "rho", "nugget")
PARAMS = ("prior_variance", *NUMBERS, *TYPES)
FITTED = ("theta_std", "log_likelihood", "gradient_norm", "n_iter", "converged", "n_sets", "n_items")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the old file, if any, stays until the new one is whole."""
    from dpplearn import __version__

    given = model.similarity
    params = {name: getattr(model, name) for name in PARAMS}
    if isinstance(given, Fixed):  # its own, which count, and not the model's
        params |= {"rho": given.rho, "nugget": given.nugget}
    params |= {name: bool(params[name]) for name, kinds in TYPES.items() if kinds == (bool,)}
    params["quality"] = given_quality if isinstance(given_quality := model.quality, str) else dict(given_quality)
    params["similarity"] = getattr(given, "kind", given)
    head = {"format": FORMAT, "version": VERSION, "written_by": f"dpplearn {__version__}", "params": params}
    records = {"quality": model.quality_.state(), "similarity": model.similarity_.state()}
    fitted = {name: getattr(model, f"{name}_") for name in FITTED} | {"starts": getattr(model, "starts_", ())}
    known = getattr(model, "covariance_", None)
    shared = {"covariance": known} if known is not None and len(known) <= MOST_SHARED else {}
    table = {} if model.encoding_ is None else {"encoding": model.encoding_.state()}
    write_json(path, {**head, "feature_names": list(model.feature_names_in_), **records, **fitted, **shared, **table})


def load_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Fitted]:
    """The parameters and the fitted values in a file that `save_model` wrote."""
    data = read_json(path, FORMAT, VERSION)
    missing = [k for k in ("params", "feature_names", "quality", "similarity", *FITTED) if k not in data]
    if missing:
        raise ValueError(f"{path} has no {missing[0]!r}: it is not whole. Save the model again.")
    quality = read_quality(data["quality"], data["feature_names"], path)
    n_iter, n_sets, n_items = (whole_number(data[name], name, path) for name in ("n_iter", "n_sets", "n_items"))
    converged = data["converged"]
    if not isinstance(converged, bool):
        raise ValueError(f"converged in {path} must be true or false, found {converged!r}.")
    std = numbers(data["theta_std"], "theta_std", path, 1 if isinstance(quality, Boosted) else quality.theta.size)
    if not (np.isnan(std).all() or (std >= 0).all()):  # of weights that were given, not learned, they are all unknown
        raise ValueError(f"theta_std in {path} must hold standard errors, none negative, found {std.tolist()}.")
    value, norm = (number(data.get(name), name, path) for name in FITTED[1:3])
    similarity = read_similarity(data["similarity"], path)
    starts = numbers(data.get("starts", []), "starts", path)
    encoding = Encoding.from_state(data["encoding"], path) if "encoding" in data else None
    weights = quality.n_features + (isinstance(quality, LogLinear) and quality.constant)
    names = read_names(data["feature_names"], weights, path)
    if encoding is not None and tuple(encoding.names) != names[-quality.n_features :]:
        raise ValueError(f"encoding in {path} makes other features than feature_names says. Save the model again.")
    if encoding is not None and len(encoding.features) != len(quality.names) - 1 and isinstance(quality, Boosted):
        raise ValueError(f"encoding in {path} has other columns than its trees. Save the model again.")
    fitted = Fitted(quality, std, similarity, value, norm, n_iter, converged, names, starts, encoding)
    covariance = read_covariance(data.get("covariance"), std, path)
    fitted = replace(fitted, covariance=covariance, n_sets=n_sets, n_items=n_items)
    return read_params(data["params"], path, quality.n_features), fitted


def read_quality(record: Any, names: Any, path: str | os.PathLike[str]) -> LogLinear | Boosted:
    """A record of a known kind."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if kind == Boosted.kind:
        return read_boosted(record, path)
    if kind != LogLinear.kind:
        raise ValueError(f"quality in {path} must be an object of kind {' or '.join(QUALITIES)}, found {record!r:.80}.")
    theta = numbers(record.get("theta"), "theta", path)
    if theta.size == 0 or not np.isfinite(theta).all():
        raise ValueError(f"theta in {path} must hold at least one weight, and only finite ones.")
    constant = record.get("constant", False)
    if not isinstance(constant, bool) or (constant and theta.size == 1):
        raise ValueError(
            f"constant in {path} must be true or false, and go with other weights; found {constant!r:.40}."
        )
    return LogLinear(theta, read_names(names, theta.size, path), constant)


def read_names(names: Any, m: int, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names of m features."""
    try:
        return check_names(names if isinstance(names, list) else [names], m) or ()
    except (TypeError, ValueError) as error:
        raise ValueError(f"feature_names in {path} are not those of {m} weights: {error}") from None


def read_similarity(record: Any, path: str | os.PathLike[str]) -> Similarity:
    """A record of a known kind, made from its fields."""
    kind = record.get("kind") if isinstance(record, dict) else None
    try:
        if kind == Fixed.kind:
            return Fixed(*(number(record.get(name), name, path) for name in ("rho", "nugget")))
        if kind == Mixture.kind:
            names = record.get("names")
            names = check_names(names, len(names)) if isinstance(names, list) else None
            return Mixture(names or (), *(numbers(record.get(name), name, path) for name in ("w", "errors")))
    except (TypeError, ValueError) as error:
        raise ValueError(f"similarity in {path} cannot be read: {error}") from None
    known = f"{Fixed.kind}, {Mixture.kind}"
    raise ValueError(f"similarity in {path} must be an object of a known kind ({known}), found {record!r:.80}.")


def read_params(params: Any, path: str | os.PathLike[str], m: int) -> dict[str, Any]:
    """Constructor arguments, each of which `fit` would take for m features."""
    if not isinstance(params, dict) or set(params) != set(PARAMS):
        raise ValueError(f"params in {path} must be an object with exactly {', '.join(PARAMS)}, found {params!r:.120}.")
    out = dict(params) | {name: number(params[name], name, path) for name in NUMBERS}
    if (variance := params["prior_variance"]) is not None:
        out["prior_variance"] = (numbers if isinstance(variance, list) else number)(variance, "prior_variance", path)
    for name, kinds in TYPES.items():
        if type(params[name]) not in kinds:  # True is no number of iterations
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{name} in {path} must be of type {wanted}, found {params[name]!r}.")
    try:
        similarity = make_similarity(out["similarity"], out["rho"], out["nugget"])
        names = ("prior_variance", "tol", "max_iter", "on_impossible")
        FitSettings(**{name: out[name] for name in names}, similarity=similarity)
        check_precision(out["prior_variance"], m)
        check_int(out["random_state"], "random_state", low=0)
        check_quality(out["quality"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"params in {path} are not those of a model: {error}") from None
    return out
