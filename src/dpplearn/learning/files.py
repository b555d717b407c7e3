"""Files of learning: shards, which hold part of a training set each, and how far an interrupted fit has come."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, check_vector, read_only
from dpplearn._io.atomic import replace_file
from dpplearn._io.jsonfile import plain, read_json, write_record
from dpplearn.learning.itemset import ItemSet, Shard, check_examples
from dpplearn.learning.similarity import SimilarityPart, shared_names
from dpplearn.learning.tables import Encoding

SHARD, SHARD_VERSION = "dpplearn.shard", 2
CHECKPOINT, CHECKPOINT_VERSION = "dpplearn.checkpoint", 4
BLOCKS = ("features", "targets", "dense", "values", "columns", "row_ends", "cost", "raw")  # of several shapes each
MATRIX, DENSE, SPARSE = 0, 1, 2  # how a part of an item set's similarity is stored


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
    """What a shard's file has, by name; blocks of several shapes are one array, with their shapes in another."""
    subsets, weights = check_examples(X, y, sample_weight)
    owner = np.cumsum([0, *(a is not b for a, b in pairwise(X))])  # equal item sets in a row are written once
    X = [items for t, items in enumerate(X) if t == 0 or owner[t] > owner[t - 1]]
    order = {part.name: j for j, part in enumerate(X[0].parts)}
    shared_names([items.part_names for items in X] if len(order) > 1 else [()])
    parts = [part for items in X for part in sorted(items.parts, key=lambda part: order.get(part.name, 0))]
    kinds = [MATRIX if part.phi is None else SPARSE if sparse.issparse(part.phi) else DENSE for part in parts]
    rows: list[Any] = [part.phi for part in parts if sparse.issparse(part.phi)]
    encoding = X[0].encoding if all(items.encoding == X[0].encoding for items in X) else None
    blocks: dict[str, Sequence[Any]] = {
        "features": [items.features for items in X],
        "targets": subsets,
        "dense": [part.matrix if part.phi is None else part.phi for part in parts if not sparse.issparse(part.phi)],
        "values": [phi.data for phi in rows],
        "columns": [phi.indices for phi in rows],
        "row_ends": [phi.indptr for phi in rows],
        "cost": [np.empty(0) if items.cost is None else items.cost for items in X],
        "raw": [np.empty(0) if encoding is None else items.raw for items in X],
    }
    arrays: dict[str, Any] = {
        "format": np.array(SHARD),
        "version": np.array(SHARD_VERSION),
        "owner": owner,  # the item set of each target
        "weights": weights,
        "sizes": np.array([-1 if items.k is None else items.k for items in X], np.int64),
        "kind": np.array(kinds, np.int64),
        "width": np.array([(0 if part.phi is None else part.phi.shape[1]) for part in parts], np.int64),
        "parts": np.array([part.name for part in parts], dtype=np.str_),  # as many of each item set
        # matrices that are made of phi again when they are read: n^2 numbers for each
        "cosines": np.array(all(part.phi is not None and part.matrix is not None for part in parts)),
    }
    shapes = [(BLOCKS.index(name), len(x), x.shape[1] if x.ndim == 2 else -1) for name in blocks for x in blocks[name]]
    arrays["shapes"] = np.array(shapes, np.int64)
    arrays |= {name: np.concatenate([x.ravel() for x in some]) for name, some in blocks.items() if some}
    names = next((items.names for items in X if items.names is not None), None)
    if names is not None:
        arrays["names"] = np.array(names, dtype=np.str_)
    if encoding is not None:
        arrays["encoding"] = np.array(json.dumps(encoding.state()))
    return arrays


def load_shard(path: str | os.PathLike[str]) -> Shard:
    """Read a file that `save_shard` wrote."""
    again = "write the shard again with dpplearn.learning.save_shard."
    try:
        with open(path, "rb") as raw:
            if not zipfile.is_zipfile(raw):
                raise ValueError("it is not a whole .npz file")
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        if str(arrays.get("format")) == SHARD and int(arrays["version"]) == SHARD_VERSION:
            return shard_of(arrays)
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no shard file {path}.") from None
    except (zipfile.BadZipFile, EOFError, ValueError, KeyError, IndexError, TypeError, StopIteration) as error:
        raise ValueError(f"{path} is damaged or truncated ({error}); {again}") from None
    if str(arrays.get("format")) != SHARD:
        raise ValueError(f"{path} is not a shard of item sets; {again}")
    raise ValueError(f"{path} has shard version {arrays['version']}, and this dpplearn reads {SHARD_VERSION}; {again}")


def shard_of(arrays: dict[str, np.ndarray]) -> Shard:
    """The instances; sizes and indices are checked, similarities were when they were written."""
    shapes = arrays["shapes"]
    blocks = {name: blocks_of(arrays.get(name), name, shapes[shapes[:, 0] == j, 1:]) for j, name in enumerate(BLOCKS)}
    given: dict[str, Any] = {"names": tuple(arrays["names"].tolist()) if "names" in arrays else None}
    if "encoding" in arrays:
        given["encoding"] = Encoding.from_state(json.loads(str(arrays["encoding"])), "the shard")
    sizes = arrays["sizes"].tolist()
    specs = zip(arrays["parts"].tolist(), arrays["kind"].tolist(), arrays["width"].tolist(), strict=True)
    n_parts, rest = divmod(arrays["kind"].size, max(len(sizes), 1))
    if rest or n_parts == 0:
        raise IndexError("its instances and their parts are not as many")
    item_sets: list[ItemSet] = []
    for F, size in zip(blocks["features"], sizes, strict=True):
        parts = []
        for _ in range(n_parts):
            name, kind, width = next(specs)
            if kind == SPARSE:
                pieces = tuple(next(blocks[name]) for name in ("values", "columns", "row_ends"))
                x = sparse.csr_array(pieces, shape=(len(F), width))
                x.check_format(full_check=True)
            else:
                x = next(blocks["dense"])
            if x.shape != (len(F), len(F) if kind == MATRIX else width):
                raise IndexError("a part of its similarities has another shape than its items")
            parts.append(SimilarityPart(name, matrix=x) if kind == MATRIX else SimilarityPart(name, phi=x))
        cost, raw = next(blocks["cost"]), next(blocks["raw"])
        values = given | {"cost": cost if cost.size else None, "k": None if size < 0 else int(size)}
        if "encoding" in given:
            if raw.shape != (len(F), len(given["encoding"].features)):
                raise TypeError("raw has not the columns of its encoding")
            values["raw"] = raw
        if arrays["cosines"]:
            known = [np.minimum(part.cosines(), 1.0) for part in parts]
            read_only(*known)
            parts = [part._replace(matrix=C) for part, C in zip(parts, known, strict=True)]
        item_sets.append(ItemSet._with(features=F, parts=tuple(parts), **values))
    if arrays["owner"].dtype.kind != "i" or arrays["owner"].min(initial=0) < 0:
        raise IndexError("the item sets of its targets are not numbered from 0")
    item_sets = [item_sets[t] for t in arrays["owner"].tolist()]
    weights = check_vector(arrays["weights"], "weights", len(item_sets))
    return Shard(item_sets, *check_examples(item_sets, list(blocks["targets"]), weights))


def blocks_of(x: np.ndarray | None, name: str, shapes: np.ndarray) -> Iterator[np.ndarray]:
    """The blocks that make one array, from their shapes; of one dimension where the second is -1."""
    ends = np.cumsum([0, *(shapes[:, 0] * np.abs(shapes[:, 1]))])
    if (np.diff(ends) < 0).any() or ends[-1] != (0 if x is None else x.size):
        raise IndexError(f"{name} is not that of its blocks")
    if x is None:
        return
    if x.dtype.kind not in "fi" or (x.dtype.kind == "f" and name != "raw" and not np.isfinite(x).all()):
        raise TypeError(f"{name} has not only finite numbers")
    read_only(x)
    for (n, d), start, end in zip(shapes.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        yield x[start:end] if d < 0 else x[start:end].reshape(n, d)


class Checkpoint:
    """One file that holds how far a fit is, so that one that was interrupted goes on.

    `problem` is what makes a fit the same one, such as the number of instances, features and priors; a file of another
    is an error. `climbs` has where the ascent from each start is, or has ended, one for each that was begun; `place` is
    the one under way.
    """

    def __init__(self, path: str | os.PathLike[str], problem: Mapping[str, Any]) -> None:
        self.path, self.problem = Path(path), plain(dict(problem))
        self.n_iter, self.place, self.climbs = 0, 0, list[FloatArray]()
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"checkpoint={str(path)!r} cannot be written: there is no folder {self.path.parent}."
            )
        data = read_json(self.path, CHECKPOINT, CHECKPOINT_VERSION) if self.path.exists() else None
        if data is not None and (other := data["problem"]) != self.problem:
            key = next(k for k in {**self.problem, **other} if other.get(k) != self.problem.get(k))
            raise ValueError(
                f"The checkpoint {path} is of another fit: its {key} is {other.get(key)!r}, here it is "
                f"{self.problem.get(key)!r}. Delete the file to start anew, or pass another path."
            )
        if data is not None:
            self.n_iter, self.climbs = data["n_iter"], [np.array(x, np.float64) for x in data["climbs"]]

    def save(self, x: FloatArray, n_iter: int, log_likelihood: float) -> None:
        """Write where the climb is that is under way, in place of what was known of it."""
        self.climbs[self.place :] = [x]
        head = {"format": CHECKPOINT, "version": CHECKPOINT_VERSION, "problem": self.problem}
        write_record(self.path, {**head, "log_likelihood": log_likelihood, "n_iter": n_iter, "climbs": self.climbs})


def whole_number(x: Any, name: str, path: str | os.PathLike[str] | None) -> int:
    """A count that was read from a file."""
    if not isinstance(x, int) or isinstance(x, bool) or x < 0:
        raise ValueError(f"{name} in {path} must be a whole number that is not negative, found {x!r}.")
    return x
