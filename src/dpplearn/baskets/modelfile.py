"""Files of kernels from baskets: JSON, with the factors in base64, which are read fast; no code in them can run."""

from __future__ import annotations

import base64
import os
from typing import Any

import numpy as np

from dpplearn._io.jsonfile import number, numbers, read_json, whole_number, write_json
from dpplearn.baskets.baskets import check_catalogue
from dpplearn.baskets.factors import LARGEST, KernelFactors
from dpplearn.baskets.pairs import ItemPair, StrongestPairs

StrPath = str | os.PathLike[str]
KIND, EDITION = "dpplearn.KernelDPP", 5


def save_factors(path: StrPath, factors: KernelFactors, items: np.ndarray, fitted: dict[str, Any]) -> None:
    """Write a fitted kernel; the old file, if any, stays until the new one is whole."""
    from dpplearn import __version__

    head = {"format": KIND, "version": EDITION, "written_by": f"dpplearn {__version__}", "items": items.tolist()}
    W = base64.b64encode(factors.W.astype("<f8").tobytes()).decode("ascii")
    write_json(path, {**head, **vars(factors), "W": W, **fitted, "pairs": vars(fitted["pairs"])})


def load_factors(path: StrPath) -> tuple[KernelFactors, np.ndarray, dict[str, Any]]:
    """The factors, the items, and all else that a file says."""
    data = read_json(path, KIND, EDITION)
    items, identity = data.get("items"), data.get("identity")
    if not isinstance(items, list) or {type(item) for item in items} not in ({int}, {str}):
        raise ValueError(f"items in {path} must be texts, or whole numbers, found {items!r:.60}.")
    r, s = (whole_number(data.get(name), name, path) for name in ("symmetric_rank", "skew_rank"))
    if not isinstance(identity, bool) or s % 2 or (r == 0 and not identity):
        raise ValueError(f"No kernel has symmetric_rank={r}, skew_rank={s}, identity={identity!r:.60}, as {path} says.")
    try:
        W = np.frombuffer(base64.b64decode(data.get("W", ""), validate=True), "<f8").reshape(len(items), 1 + r + s)
    except (TypeError, ValueError):
        raise ValueError(f"W in {path} must be {len(items)} rows of {1 + r + s} numbers, in base64.") from None
    if not (np.abs(W[:, 0]).max() <= LARGEST and np.abs(W).max() <= 1e100):  # nor is it nan
        raise ValueError(f"W in {path} has entries too large for a kernel.")
    data["counts"] = numbers(data.get("counts"), "counts", path, len(items))
    data["converged"] = data.get("converged") is True
    for name in ("alpha", "log_likelihood", "n_baskets"):
        data[name] = number(data.get(name), name, path)
    for name in ("n_iter", "n_empty"):
        data[name] = whole_number(data.get(name), name, path)
    try:
        kinds = (data["pairs"][kind] for kind in ("attract", "repel"))
        pairs = (tuple(ItemPair(a, b, *map(float, rest)) for a, b, *rest in kind) for kind in kinds)
        data["pairs"] = StrongestPairs(*pairs)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"pairs in {path} must have lists of pairs: item, item, correlation, baskets, lift.") from None
    return KernelFactors(W, r, s, identity), check_catalogue(items), data
