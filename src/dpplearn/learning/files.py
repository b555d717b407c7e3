"""Files of a training set: shards with a part of it each, and the checkpoint of an interrupted fit."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpplearn._checks import FloatArray, frozen, read_only
from dpplearn._io.atomic import replace_file
from dpplearn._io.jsonfile import plain, read_json, write_record
from dpplearn.learning.itemset import ItemSet, Shard, check_examples
from dpplearn.learning.similarity import SimilarityPart, shared_names
from dpplearn.learning.tables import Encoding

SHARD, SHARD_VERSION = "dpplearn.shard", 4
CHECKPOINT, CHECKPOINT_VERSION = "dpplearn.checkpoint", 5


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
    subsets, weights = check_examples(X, y, sample_weight)
    owner = np.cumsum([0, *(a is not b for a, b in pairwise(X))])  # equal item sets in a row are written once
    X = [items for t, items in enumerate(X) if t == 0 or owner[t] > owner[t - 1]]
    if len(X[0].parts) > 1:
        shared_names([items.part_names for items in X])
    names = next((items.names for items in X if items.names is not None), ())
    head = {"format": SHARD, "version": SHARD_VERSION, "names": names, "owner": owner, "weights": weights}
    if X[0].encoding is not None and all(items.encoding == X[0].encoding for items in X):
        head["encoding"] = json.dumps(X[0].encoding.state())
    arrays: dict[str, Any] = {name: np.array(value) for name, value in head.items()}
    arrays |= {f"target {t}": Y for t, Y in enumerate(subsets)}
    for t, items in enumerate(X):
        arrays |= {f"{t} {name}": x for name, x in arrays_of(items).items() if x is not None}
    with replace_file(path, "wb") as file:
        np.savez(file, **arrays)


def arrays_of(items: ItemSet) -> dict[str, Any]:
    """An item set as arrays by name; those of a part of its similarity have their kind before its name."""
    size = None if items.k is None else np.array(items.k)
    arrays: dict[str, Any] = {"features": items.features, "cost": items.cost, "k": size}
    for name, phi, matrix in items.parts:
        if phi is None:
            arrays[f"matrix {name}"] = matrix
        elif sparse.issparse(phi):  # the last of `ends` is the number of columns
            ends = np.append(phi.indptr, phi.shape[1])
            arrays |= {f"values {name}": phi.data, f"columns {name}": phi.indices, f"ends {name}": ends}
        else:
            arrays[f"phi {name}"] = phi
        if phi is not None and matrix is not None:  # not written: it is made of phi when the file is read
            arrays[f"made {name}"] = np.array(1)
    return arrays


def load_shard(path: str | os.PathLike[str]) -> Shard:
    """Read a file that `save_shard` wrote."""
    advice = "write the shard again with dpplearn.learning.save_shard."
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
        raise ValueError(f"{path} is damaged or truncated ({error}); {advice}") from None
    if str(arrays.get("format")) != SHARD:
        raise ValueError(f"{path} is not a shard of item sets; {advice}")
    raise ValueError(f"{path} has shard version {arrays['version']}, and this dpplearn reads {SHARD_VERSION}; {advice}")


def shard_of(arrays: dict[str, np.ndarray]) -> Shard:
    """The instances; sizes and indices are checked, while similarities were checked when they were written."""
    rows: dict[str, dict[str, Any]] = {}
    for key, x in arrays.items():
        t, _, name = key.partition(" ")
        rows.setdefault(t, {})[name] = x
    owner, names = arrays["owner"], tuple(arrays["names"].tolist()) or None
    state = json.loads(str(arrays["encoding"])) if "encoding" in arrays else None
    encoding = None if state is None else Encoding.from_state(state, "the shard")
    different = {t: item_set_of(rows[str(t)], names, encoding) for t in np.unique(owner).tolist()}
    item_sets, targets = [different[t] for t in owner.tolist()], [arrays[f"target {t}"] for t in range(owner.size)]
    return Shard(item_sets, *check_examples(item_sets, targets, arrays["weights"]))


def item_set_of(row: dict[str, Any], names: tuple[str, ...] | None, encoding: Encoding | None) -> ItemSet:
    """An item set from its arrays."""
    n, parts = len(row["features"]), list[SimilarityPart]()
    for key, x in row.items():
        if x.dtype.kind not in "fi" or not np.isfinite(x).all():
            raise TypeError(f"{key} must hold finite numbers")
        read_only(x)
        kind, _, name = key.partition(" ")
        if kind == "values":
            ends = row[f"ends {name}"]
            x = sparse.csr_array((x, row[f"columns {name}"], ends[:-1]), shape=(n, ends[-1]))
            x.check_format(full_check=True)
        if kind in ("matrix", "phi", "values"):
            if len(x.shape) != 2 or x.shape[0] != n or (kind == "matrix" and x.shape[1] != n):
                raise IndexError("a part of its similarities has another shape than its items")
            matrix = frozen(np.minimum(SimilarityPart(name, x).cosines(), 1.0)) if f"made {name}" in row else None
            parts.append(SimilarityPart(name, None, x) if kind == "matrix" else SimilarityPart(name, x, matrix))
    if not parts:
        raise TypeError("an item set has no similarities")
    own = {"features": row["features"], "cost": row.get("cost"), "k": int(row["k"]) if "k" in row else None}
    return ItemSet._with(parts=tuple(parts), names=names, encoding=encoding, **own)


class Checkpoint:
    """A file that an interrupted fit goes on from.

    `problem` says which fit it is, such as the number of instances, the features and the priors; a file of another fit
    is an error. `x` is the point that the ascent has reached, None if there is no file.
    """

    def __init__(self, path: str | os.PathLike[str], problem: Mapping[str, Any]) -> None:
        self.path, self.problem = Path(path), plain(dict(problem))
        self.n_iter: int = 0
        self.x: FloatArray | None = None
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"work={str(path)!r}: there is no folder {self.path.parent}.")
        data = read_json(self.path, CHECKPOINT, CHECKPOINT_VERSION) if self.path.exists() else None
        if data is not None and (other := data["problem"]) != self.problem:
            key = next(k for k in {**self.problem, **other} if other.get(k) != self.problem.get(k))
            found = f"its {key} is {other.get(key)!r}, here it is {self.problem.get(key)!r}"
            raise ValueError(f"The checkpoint {path} is of another fit: {found}. Delete it, or pass another path.")
        if data is not None:
            self.n_iter, self.x = data["n_iter"], np.array(data["x"], np.float64)

    def save(self, x: FloatArray, n_iter: int, log_likelihood: float) -> None:
        """Write the point that the ascent has reached."""
        head = {"format": CHECKPOINT, "version": CHECKPOINT_VERSION, "problem": self.problem}
        write_record(self.path, {**head, "log_likelihood": log_likelihood, "n_iter": n_iter, "x": x})
