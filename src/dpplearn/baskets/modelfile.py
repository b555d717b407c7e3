"""Files of kernels from baskets, in JSON, with tables as base64 of float64: fast to read, and no code can run."""

from __future__ import annotations

import base64
import binascii
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dpplearn._checks import FloatArray, check_vector
from dpplearn._io.jsonfile import number, plain, read_json, read_state, write_json, write_state
from dpplearn.baskets.factors import KernelFactors
from dpplearn.learning.files import whole_number

StrPath = str | os.PathLike[str]
FORMAT, STATE, VERSION = "dpplearn.KernelDPP", "dpplearn.KernelDPP.work", 1


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
    tables = {"W": factors.W, **({"phi": factors.phi, "A": factors.A} if factors.phi is not None else {})}
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
    kinds = {type(item) for item in items} if isinstance(items, list) else set()
    if not isinstance(items, list) or len(items) != len(W) or len(kinds) != 1 or not kinds <= {int, str}:
        raise ValueError(f"items in {path} must be {len(W)} texts, or as many whole numbers, found {items!r:.60}.")
    if len(set(items)) < len(items) or (kinds == {int} and max(map(abs, items)) >= 2**63):
        raise ValueError(f"items in {path} must be different, and numbers of at most 64 bits.")
    phi = A = None
    if "phi" in data or "A" in data:
        phi, A = unpack(data.get("phi"), "phi", path, 2), unpack(data.get("A"), "A", path, 2)
        if phi.shape != (len(W), len(A)) or A.shape[1] != W.shape[1]:
            raise ValueError(f"phi {phi.shape} and A {A.shape} in {path} do not go with W {W.shape}.")
    if np.abs(W[:, 0]).max() > 300 or np.abs(W).max() > 1e100:
        raise ValueError(f"W in {path} has entries too large for a kernel.")
    for name in ("alpha", "log_likelihood", "n_baskets"):
        data[name] = number(data.get(name), name, path)
    data["counts"] = check_vector(data.get("counts", ()), f"counts in {path}", len(W), low=0.0)
    data["pairs"] = read_pair_counts(data.get("pairs"), items, path)
    data["n_iter"] = whole_number(data.get("n_iter"), "n_iter", path)
    return KernelFactors(W, r, s, identity, phi, A), np.array(items), data


def read_pair_counts(pairs: Any, items: list[Any], path: StrPath) -> sparse.csr_array:
    """Counts of pairs as a symmetric table, from a list of [item, item, count]."""
    place = {item: i for i, item in enumerate(items)}
    try:
        rows = [(place[first], place[second], float(count)) for first, second, count in pairs]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"pairs in {path} must be a list of [item, item, count].") from None
    i, j, count = (np.array(column) for column in zip(*rows, strict=True)) if rows else np.empty((3, 0), np.int64)
    both = np.append(i, j), np.append(j, i)
    return sparse.csr_array((np.append(count, count).astype(np.float64), both), shape=(len(items), len(items)))


def save_state(path: Path, problem: dict[str, Any], x: FloatArray, n_iter: int) -> None:
    """Write where a fit is."""
    write_state(path, {"format": STATE, "version": VERSION, "problem": problem, "n_iter": n_iter, "x": pack(x.ravel())})


def load_state(path: Path | None, problem: dict[str, Any], size: int) -> tuple[int, FloatArray | None]:
    """Iterations done and what they reached; 0 and None where there is no file."""
    if path is None or not path.exists():
        return 0, None
    data, here = read_state(path, STATE, VERSION), plain(problem)
    if data is None:
        return 0, None
    found = data.get("problem")
    if found != here:
        other = found if isinstance(found, dict) else {}
        key = next((k for k in here if other.get(k) != here[k]), "problem")
        raise ValueError(
            f"The work file {path} is of another fit: its {key} is {other.get(key)!r:.60}, here it is "
            f"{here.get(key)!r:.60}. Delete the file to start anew, or pass another path."
        )
    x = unpack(data.get("x"), "x", path, 1)
    if x.size != size:
        raise ValueError(f"x in {path} must have {size} entries, found {x.size}.")
    return whole_number(data.get("n_iter"), "n_iter", path), x
