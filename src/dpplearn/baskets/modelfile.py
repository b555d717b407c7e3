"""Files of kernels from baskets: JSON, with arrays in base64, which are read fast; no code in them can run."""

from __future__ import annotations

import base64
import os
import zipfile
from io import BytesIO
from typing import Any

import numpy as np

from dpplearn._checks import check_array, check_vector
from dpplearn._io.jsonfile import number, read_json, write_json
from dpplearn.baskets.baskets import check_catalogue
from dpplearn.baskets.factors import LARGEST, KernelFactors
from dpplearn.baskets.pairs import ItemPair, StrongestPairs
from dpplearn.learning.files import whole_number

StrPath = str | os.PathLike[str]
FORMAT, VERSION = "dpplearn.KernelDPP", 4


def pack(**arrays: Any) -> str:
    """Arrays by name as base64 of an .npz file."""
    file = BytesIO()
    np.savez(file, **arrays)
    return base64.b64encode(file.getvalue()).decode("ascii")


def save_factors(path: StrPath, factors: KernelFactors, items: np.ndarray, fitted: dict[str, Any]) -> None:
    """Write a fitted kernel; the old file, if any, stays until the new one is whole."""
    from dpplearn import __version__

    head = {"format": FORMAT, "version": VERSION, "written_by": f"dpplearn {__version__}", "items": items.tolist()}
    shape = {name: value for name, value in vars(factors).items() if name != "W"}
    own = {"pairs": vars(fitted["pairs"]), "arrays": pack(W=factors.W, counts=fitted.pop("counts"))}
    write_json(path, {**head, **shape, **fitted, **own})


def load_factors(path: StrPath) -> tuple[KernelFactors, np.ndarray, dict[str, Any]]:
    """The factors, the items, and all else that a file says."""
    data = read_json(path, FORMAT, VERSION)
    try:
        packed = BytesIO(base64.b64decode(data.get("arrays", ""), validate=True))
        with np.load(packed, allow_pickle=False) as file:
            arrays = dict(file)
    except (ValueError, TypeError, OSError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise ValueError(f"arrays in {path} must be base64 of an .npz file: {error}.") from None
    W = check_array(arrays.get("W", ()), f"W in {path}", 2)
    r, s = (whole_number(data.get(name), name, path) for name in ("symmetric_rank", "skew_rank"))
    identity, items = data.get("identity"), data.get("items")
    if not isinstance(identity, bool) or s % 2 or W.shape[1] != 1 + r + s or len(W) == 0 or (r == 0 and not identity):
        raise ValueError(
            f"W in {path} has shape {W.shape}, which does not go with symmetric_rank={r}, skew_rank={s}, "
            f"identity={identity!r}."
        )
    if not isinstance(items, list) or len(items) != len(W) or {type(item) for item in items} not in ({int}, {str}):
        raise ValueError(f"items in {path} must be {len(W)} texts, or as many whole numbers, found {items!r:.60}.")
    if np.abs(W[:, 0]).max() > LARGEST or np.abs(W).max() > 1e100:
        raise ValueError(f"W in {path} has entries too large for a kernel.")
    data["counts"] = check_vector(arrays.get("counts", ()), f"counts in {path}", len(W), low=0.0)
    data["converged"] = data.get("converged") is True
    for name in ("alpha", "log_likelihood", "n_baskets"):
        data[name] = number(data.get(name), name, path)
    for name in ("n_iter", "n_empty"):
        data[name] = whole_number(data.get(name), name, path)
    try:
        kinds = (data["pairs"][kind] for kind in ("attract", "repel", "missed"))
        attract, repel, missed = (tuple(ItemPair(a, b, *map(float, rest)) for a, b, *rest in kind) for kind in kinds)
        strong, lost = (whole_number(data["pairs"][name], name, path) for name in ("n_strong", "n_missed"))
        data["pairs"] = StrongestPairs(attract, repel, missed, strong, lost)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"pairs in {path} must have lists of pairs: item, item, correlation, baskets, lift.") from None
    return KernelFactors(W, r, s, identity), check_catalogue(items), data
