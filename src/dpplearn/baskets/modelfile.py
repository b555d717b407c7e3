"""Files of kernels from baskets, in JSON, with tables as base64 of float64: fast to read, and no code can run."""

from __future__ import annotations

import base64
import binascii
import math
import os
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray, check_vector
from dpplearn._io.jsonfile import number, read_json, write_json
from dpplearn.baskets.baskets import check_catalogue
from dpplearn.baskets.factors import LARGEST, KernelFactors
from dpplearn.baskets.pairs import ItemPair, StrongestPairs
from dpplearn.learning.files import whole_number

StrPath = str | os.PathLike[str]
FORMAT, VERSION = "dpplearn.KernelDPP", 1


def pack(array: FloatArray) -> dict[str, Any]:
    """A table: its shape, and its entries row by row as little-endian float64 in base64.

    >>> pack(np.array([1.0, 2.0]))
    {'shape': [2], 'float64': 'AAAAAAAA8D8AAAAAAAAAQA=='}
    """
    data = np.ascontiguousarray(array, "<f8").tobytes()
    return {"shape": list(array.shape), "float64": base64.b64encode(data).decode("ascii")}


def unpack(record: Any, name: str, path: StrPath, ndim: int) -> FloatArray:
    """The finite table in a record that `pack` made."""
    shape, text = (record.get("shape"), record.get("float64")) if isinstance(record, dict) else (None, None)
    if not (isinstance(shape, list) and isinstance(text, str) and len(shape) == ndim):
        raise ValueError(f"{name} in {path} must be an object with a shape of {ndim} numbers and float64 in base64.")
    size = math.prod(whole_number(k, f"shape of {name}", path) for k in shape)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{name} in {path} is not base64: {error}.") from None
    if len(data) != 8 * size:
        raise ValueError(f"{name} in {path} must hold {size} numbers, as its shape says, found {len(data) / 8:g}.")
    array = np.frombuffer(data, "<f8").astype(np.float64).reshape(shape)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} in {path} must hold finite numbers only.")
    return array


def save_factors(path: StrPath, factors: KernelFactors, items: np.ndarray, fitted: dict[str, Any]) -> None:
    """Write a fitted kernel; the old file, if any, stays until the new one is whole."""
    from dpplearn import __version__

    head = {"format": FORMAT, "version": VERSION, "written_by": f"dpplearn {__version__}", **fitted}
    shape = {"symmetric_rank": factors.symmetric_rank, "skew_rank": factors.skew_rank, "identity": factors.identity}
    tables = {"W": factors.W, "phi": factors.phi, "A": factors.A}
    packed = {name: pack(table) for name, table in tables.items() if table is not None}
    write_json(path, {**head, **shape, "items": items.tolist(), **packed})


def load_factors(path: StrPath) -> tuple[KernelFactors, np.ndarray, dict[str, Any]]:
    """KernelFactors, items, and all else that a file says."""
    data = read_json(path, FORMAT, VERSION)
    W = unpack(data.get("W"), "W", path, 2)
    r, s = (whole_number(data.get(name), name, path) for name in ("symmetric_rank", "skew_rank"))
    identity, items = data.get("identity"), data.get("items")
    if not isinstance(identity, bool) or s % 2 or W.shape[1] != 1 + r + s or len(W) == 0 or (r == 0 and not identity):
        raise ValueError(
            f"W in {path} has shape {W.shape}, which does not go with symmetric_rank={r}, skew_rank={s}, "
            f"identity={identity!r}."
        )
    if not isinstance(items, list) or len(items) != len(W) or {type(item) for item in items} not in ({int}, {str}):
        raise ValueError(f"items in {path} must be {len(W)} texts, or as many whole numbers, found {items!r:.60}.")
    names = check_catalogue(items)
    phi = A = None
    if "phi" in data or "A" in data:
        phi, A = unpack(data.get("phi"), "phi", path, 2), unpack(data.get("A"), "A", path, 2)
        if phi.shape != (len(W), len(A)) or A.shape[1] != W.shape[1]:
            raise ValueError(f"phi {phi.shape} and A {A.shape} in {path} do not go with W {W.shape}.")
    if np.abs(W[:, 0]).max() > LARGEST or np.abs(W).max() > 1e100:
        raise ValueError(f"W in {path} has entries too large for a kernel.")
    for name in ("alpha", "log_likelihood", "n_baskets"):
        data[name] = number(data.get(name), name, path)
    data["counts"] = check_vector(data.get("counts", ()), f"counts in {path}", len(W), low=0.0)
    try:
        data["pairs"] = StrongestPairs(
            *(
                tuple(ItemPair(a, b, *(number(x, "pairs", path) for x in rest)) for a, b, *rest in data["pairs"][kind])
                for kind in ("attract", "repel")
            )
        )
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"pairs in {path} must have lists of pairs: item, item, correlation, baskets, lift.") from None
    data["n_iter"] = whole_number(data.get("n_iter"), "n_iter", path)
    return KernelFactors(W, r, s, identity, phi, A), names, data
