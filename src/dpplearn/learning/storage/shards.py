"""Shards in files: part of the training set in one .npz file, that is evaluated where it lies."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, IntArray, check_vector, read_only
from dpplearn._io.atomic import replace_file
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.parts import Part, cosines, shared_columns, shared_names
from dpplearn.learning.tables import Encoding
from dpplearn.learning.training_set import Shard, check_examples

FORMAT = "dpplearn.shard"
VERSION = 1
SIMILARITY, DENSE, SPARSE = 0, 1, 2  # how an instance's similarities are stored


def save_shard(
    path: str | os.PathLike[str], X: Sequence[ItemSet], y: Sequence[ArrayLike], sample_weight: ArrayLike | None = None
) -> None:
    """Write instances to one .npz file, for `fit` on a list of such paths.

    A file of a few hundred instances is a good size: a fit reads one at a time, and on a cluster a task is one file.
    The file holds arrays only, and reading it can run no code.

    Examples
    --------
    >>> import tempfile, os
    >>> items = ItemSet([[1.0], [1.0]], S=[[1.0, 0.6], [0.6, 1.0]])
    >>> path = os.path.join(tempfile.mkdtemp(), "part-0.npz")
    >>> save_shard(path, [items, items], [[0], []])
    >>> load_shard(path).subsets
    [array([0]), array([], dtype=int64)]
    """
    with replace_file(path, "wb") as file:
        np.savez(file, **shard_arrays(X, y, sample_weight))


def shard_arrays(X: Sequence[ItemSet], y: Sequence[ArrayLike], sample_weight: ArrayLike | None) -> dict[str, Any]:
    """What a shard's file has, by name."""
    subsets, weights = check_examples(X, y, sample_weight)
    owner = np.cumsum([0, *(a is not b for a, b in pairwise(X))])  # equal item sets in a row are written once
    X = [items for t, items in enumerate(X) if t == 0 or owner[t] > owner[t - 1]]
    alike = all(items.phi is not None and items.similarity is not None for items in X)
    order = {part.name: j for j, part in enumerate(X[0].parts)}
    shared_names([items.part_names for items in X] if len(order) > 1 else [()])
    parts = [part for items in X for part in sorted(items.parts, key=lambda part: order.get(part.name, 0))]
    arrays: dict[str, Any] = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "owner": owner,  # the item set of each target
        "item_ptr": pointers(items.n for items in X),
        "features": np.concatenate([items.features for items in X]),
        "target_ptr": pointers(Y.size for Y in subsets),
        "targets": np.concatenate([np.empty(0, np.int64), *subsets]),
        "weights": weights,
        "kind": np.array([kind_of(part) for part in parts], np.int64),
        "width": np.array([part.n if part.width is None else part.width for part in parts], np.int64),
        "parts": np.array([part.name for part in parts], dtype=np.str_),  # as many of each item set
        "sizes": np.array([-1 if items.k is None else items.k for items in X], np.int64),
    }
    if alike:  # they are made of phi again: n^2 numbers for each
        arrays["cosines"] = np.array(True)
    dense: list[Any] = [part.matrix if part.phi is None else part.phi for part in parts if kind_of(part) != SPARSE]
    rows: list[Any] = [part.phi for part in parts if kind_of(part) == SPARSE]
    arrays["dense"] = np.concatenate([np.empty(0), *(block.ravel() for block in dense)])
    if rows:
        arrays["row_ptr"] = pointers(k for block in rows for k in np.diff(block.indptr))
        arrays["columns"] = np.concatenate([block.indices for block in rows]).astype(np.int64)
        arrays["values"] = np.concatenate([block.data for block in rows])
    names = next((items.names for items in X if items.names is not None), None)
    if names is not None:
        arrays["names"] = np.array(names, dtype=np.str_)
    encoding = X[0].encoding
    if encoding is not None and all(items.encoding == encoding for items in X):
        arrays["encoding"] = np.array(json.dumps(encoding.state()))
        arrays["raw"] = np.concatenate([items.raw for items in X if items.raw is not None])
    if any(items.cost is not None for items in X):
        arrays["cost"] = np.concatenate([np.full(items.n, np.nan) if items.cost is None else items.cost for items in X])
    return arrays


def load_shard(path: str | os.PathLike[str]) -> Shard:
    """Read a file that `save_shard` wrote."""
    path = Path(path)
    try:
        with open(path, "rb") as raw:
            if not zipfile.is_zipfile(raw):
                raise ValueError("it is not a whole .npz file")
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no shard file {path}.") from None
    except (zipfile.BadZipFile, EOFError, ValueError, KeyError) as error:
        raise damaged(path, error) from None
    if str(arrays.get("format")) != FORMAT:
        raise ValueError(f"{path} is not a shard of item sets; write one with dpplearn.learning.save_shard.")
    version = arrays.get("version")
    if version is None or version.shape != () or version.dtype.kind != "i":
        raise damaged(path, "it has no version")
    if version != VERSION:
        raise ValueError(
            f"{path} has shard version {version}, and this dpplearn reads {VERSION}. Write the shard again, or use the "
            "dpplearn that wrote it."
        )
    try:
        return Shard(*unpack(arrays))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise damaged(path, error) from None


def damaged(path: Path, why: object) -> ValueError:
    return ValueError(
        f"{path} is damaged or truncated ({why}); write the shard again with dpplearn.learning.save_shard."
    )


def unpack(arrays: dict[str, np.ndarray]) -> tuple[list[ItemSet], list[IntArray], FloatArray]:
    """Item sets, targets and weights; sizes and indices are checked, similarities were when they were written."""
    names = tuple(arrays["names"].tolist()) if "names" in arrays else None
    ends, kinds, widths = arrays["item_ptr"], arrays["kind"], arrays["width"]
    F_all, cost = check_floats(arrays, "features", 2), arrays.get("cost")
    table: dict[str, Any] = {}
    if "encoding" in arrays:
        table["encoding"] = Encoding.from_state(json.loads(str(arrays["encoding"])), "the shard")
        raw = arrays["raw"]
        if raw.dtype != np.float64 or raw.shape != (len(F_all), len(table["encoding"].features)):
            raise TypeError("raw is not a float64 array with the columns of its encoding")
        read_only(raw)
    dense, item_sets, at, row = check_floats(arrays, "dense", 1), [], 0, 0
    sizes = arrays["sizes"].tolist()
    n_parts, rest = divmod(kinds.size, max(len(sizes), 1))
    if rest or n_parts == 0 or not kinds.size == widths.size == arrays["parts"].size:
        raise IndexError("its instances and their parts are not as many")
    each = iter(zip(arrays["parts"].tolist(), kinds.tolist(), widths.tolist(), strict=True))
    for (a, b), size in zip(spans(ends, len(F_all)), sizes, strict=True):
        n, parts = b - a, []
        for name, kind, d in islice(each, n_parts):
            if kind == SPARSE:
                lines = arrays["row_ptr"][row : row + n + 1]
                inside = slice(int(lines[0]), int(lines[-1]))
                pieces = (check_floats(arrays, "values", 1)[inside], arrays["columns"][inside], lines - lines[0])
                phi = sparse.csr_array(pieces, shape=(n, d))
                phi.check_format(full_check=True)
                read_only(phi.data)
                row += n
            else:
                phi = dense[at : at + n * d].reshape(n, d)
                at += n * d
                read_only(phi)
            if kind == SIMILARITY:
                parts.append(Part(str(name), matrix=phi))
            else:
                parts.append(Part(str(name), phi=phi))
        c = None if cost is None or np.isnan(cost[a]) else cost[a:b]
        if table:
            table["raw"] = raw[a:b]
        k = None if size < 0 else int(size)
        given: dict[str, Any] = {**table, "names": names, "k": k}
        if "cosines" in arrays and parts[0].phi is not None:
            given |= {"phi": parts[0].phi, "similarity": np.minimum(part_matrix(parts[0]), 1.0)}
            read_only(given["similarity"])
        item_sets.append(ItemSet._of(features=F_all[a:b], parts=tuple(parts), cost=c, **given))
    if arrays["owner"].dtype.kind != "i" or arrays["owner"].min(initial=0) < 0:
        raise IndexError("the item sets of its targets are not numbered from 0")
    item_sets = [item_sets[t] for t in arrays["owner"].tolist()]
    targets = arrays["targets"]
    subsets = [targets[a:b] for a, b in spans(arrays["target_ptr"], targets.size)]
    subsets, weights = check_examples(item_sets, subsets, check_vector(arrays["weights"], "weights", len(item_sets)))
    return item_sets, subsets, weights


def check_floats(arrays: dict[str, np.ndarray], name: str, ndim: int) -> FloatArray:
    x = arrays[name]
    if x.dtype != np.float64 or x.ndim != ndim or not np.isfinite(x).all():
        raise TypeError(f"{name} is not a finite float64 array of {ndim} dimensions")
    read_only(x)
    return x


def spans(ends: np.ndarray, total: int) -> Iterator[tuple[int, int]]:
    """Pairs of neighbours in a list that must rise from 0 to `total`."""
    if ends.ndim != 1 or ends.dtype.kind != "i" or ends[0] != 0 or ends[-1] != total or (np.diff(ends) < 0).any():
        raise IndexError("the positions of its instances are not in order")
    return zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)


def part_matrix(part: Part) -> FloatArray:
    return cosines(part.phi, None, None, lambda: shared_columns(part.phi))


def pointers(sizes: Any) -> IntArray:
    return np.cumsum([0, *(int(size) for size in sizes)], dtype=np.int64)


def kind_of(part: Part) -> int:
    if part.phi is None:
        return SIMILARITY
    return SPARSE if sparse.issparse(part.phi) else DENSE
