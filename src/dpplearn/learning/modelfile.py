"""Model files: weights by name as JSON. Reading one can run no code."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dpplearn._io.jsonfile import number, numbers, read_json, write_json
from dpplearn.learning.fitting import Fitted, Settings, check_precision
from dpplearn.learning.itemset import check_names

FORMAT, VERSION = "dpplearn.ConditionalDPP", 1
PARAMS = ("prior_variance", "solver", "tol", "max_iter", "rho", "learn_rho", "on_impossible")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; the old file, if any, stays until the new one is whole."""
    from dpplearn import __version__

    params = model.get_params(deep=False)
    write_json(
        path,
        {
            "format": FORMAT,
            "version": VERSION,
            "written_by": f"dpplearn {__version__}",
            "params": {name: params[name] for name in PARAMS},
            "feature_names": list(model.feature_names_in_),
            "theta": model.theta_,
            "theta_std": model.theta_std_,
            "rho": model.rho_,
            "log_likelihood": model.log_likelihood_,
            "gradient_norm": model.gradient_norm_,
            "n_iter": model.n_iter_,
            "converged": model.converged_,
        },
    )


def load_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Fitted]:
    """The parameters and the fitted values in a file that `save_model` wrote."""
    data = read_json(path, FORMAT, VERSION)
    missing = [k for k in ("params", "feature_names", "theta", "theta_std", "rho", "log_likelihood") if k not in data]
    if missing:
        raise ValueError(f"{path} has no {missing[0]!r}: it is not whole. Save the model again.")
    theta = numbers(data["theta"], "theta", path)
    if theta.size == 0 or not np.isfinite(theta).all():
        raise ValueError(f"theta in {path} must hold at least one weight, and only finite ones.")
    names = data["feature_names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names in {path} must be a list of strings, found {names!r:.80}.")
    if len(set(names)) != len(names):
        raise ValueError(f"feature_names in {path} must differ, but one appears more than once: {names!r:.80}.")
    if len(names) != theta.size:
        raise ValueError(
            f"{path} has {len(names)} feature_names and {theta.size} weights; there must be one name per weight."
        )
    n_iter, converged = data.get("n_iter"), data.get("converged")
    if not isinstance(n_iter, int) or isinstance(n_iter, bool) or n_iter < 0:
        raise ValueError(f"n_iter in {path} must be a whole number that is not negative, found {n_iter!r}.")
    if not isinstance(converged, bool):
        raise ValueError(f"converged in {path} must be true or false, found {converged!r}.")
    rho = number(data["rho"], "rho", path)
    if not (np.isfinite(rho) and rho >= 0):
        raise ValueError(f"rho in {path} must be a finite number that is not negative, found {rho}.")
    theta_std = numbers(data["theta_std"], "theta_std", path, theta.size)
    if np.isnan(theta_std).any() or theta_std.min() < 0:
        raise ValueError(f"theta_std in {path} must hold standard errors, none negative, found {theta_std.tolist()}.")
    fitted = Fitted(
        theta=theta,
        theta_std=theta_std,
        rho=rho,
        log_likelihood=number(data["log_likelihood"], "log_likelihood", path),
        gradient_norm=number(data.get("gradient_norm"), "gradient_norm", path),
        n_iter=n_iter,
        converged=converged,
        names=check_names(names, theta.size) or (),
        n_instances=0,
    )
    return read_params(data["params"], path, theta.size), fitted


def read_params(params: Any, path: str | os.PathLike[str], m: int) -> dict[str, Any]:
    """Constructor arguments, each of which `fit` would take for m features."""
    if not isinstance(params, dict) or set(params) != set(PARAMS):
        raise ValueError(f"params in {path} must be an object with exactly {', '.join(PARAMS)}, found {params!r:.120}.")
    out = dict(params)
    variance = params["prior_variance"]
    if isinstance(variance, list):
        out["prior_variance"] = numbers(variance, "prior_variance", path)
    elif variance is not None:
        out["prior_variance"] = number(variance, "prior_variance", path)
    for name in ("tol", "rho"):
        out[name] = number(params[name], name, path)
    for name, kind in (("solver", str), ("on_impossible", str), ("learn_rho", bool), ("max_iter", int)):
        if type(params[name]) is not kind:  # True is no number of iterations
            raise ValueError(f"{name} in {path} must be of type {kind.__name__}, found {params[name]!r}.")
    try:
        Settings(**out)
        check_precision(out["prior_variance"], m)
    except (TypeError, ValueError) as error:
        raise ValueError(f"params in {path} are not those of a model: {error}") from None
    return out
