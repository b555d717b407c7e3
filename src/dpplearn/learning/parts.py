"""The named parts of a similarity: features with unit rows, or a matrix with ones on its diagonal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray, IntArray, check_directions, read_only
from dpplearn._linalg import check_similarity, to_dense

INDEPENDENT = "independent"  # the part of items that nothing makes alike: C = I
RESERVED = ("own", "all")  # the names of the weights of I and of 11^T


class Part(NamedTuple):
    """One part of S: C_m = phi phi^T, or the matrix given."""

    name: str
    phi: Features | None = None
    matrix: FloatArray | None = None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.matrix) if self.matrix is not None else int(self.phi.shape[0])  # type: ignore[union-attr]  # one of the two is there

    @property
    def width(self) -> int | None:
        """How many features it has; None for a matrix."""
        return None if self.phi is None else int(self.phi.shape[1])


def read_parts(phi: Any, similarity: Any, n: int) -> tuple[Part, ...]:
    """The parts that two arguments ask for, each an array or several by name; of n items, all checked."""
    features = by_name(phi, "phi")
    given = by_name(similarity, "similarity")
    if not features and not given:
        return (Part(INDEPENDENT, phi=sparse.csr_array(sparse.eye_array(n))),)
    if features and given and not (is_named(phi) or is_named(similarity)):
        raise ValueError(
            "Pass either S (n x n) or phi (similarity features, one row per item); found both. Where S has "
            'several parts, name them: phi={"text": A}, S={"given": M}.'
        )
    twice = sorted(set(features) & set(given))
    if twice:
        raise ValueError(f"phi and S both have a part {twice[0]!r}: give each part a name of its own.")
    parts = [feature_part(x, name, "phi" if phi is x else f"phi[{name!r}]") for name, x in features.items()]
    for name, x in given.items():
        label = "S" if similarity is x else f"S[{name!r}]"
        matrix = check_similarity(x, label)
        read_only(matrix)
        parts.append(Part(name, matrix=matrix))
    for part in parts:
        if part.n != n:
            what = "phi" if part.matrix is None else "S"
            label = f"{what}[{part.name!r}]" if is_named(phi if what == "phi" else similarity) else what
            raise ValueError(f"{label} must have one row per item: features has {n} rows, {label} has {part.n}.")
    return tuple(parts)


def is_named(given: Any) -> bool:
    """Whether these are arrays by name; a sparse array of format dok is a Mapping too."""
    return isinstance(given, Mapping) and not sparse.issparse(given)


def by_name(given: Any, default: str) -> dict[str, Any]:
    """Arrays by name; a single one has the name of the argument."""
    if given is None:
        return {}
    if not is_named(given):
        return {default: given}
    for name in given:
        if not isinstance(name, str) or not name:
            raise TypeError(f"The parts of {default} must have names that are strings, found {name!r}.")
        if name in RESERVED:
            raise ValueError(
                f"A part of {default} cannot be called {name!r}: that is the weight of "
                f"{'I' if name == 'own' else 'the constant 11^T'} in every similarity. Give it another name."
            )
    if not given:
        raise ValueError(f"{default} has no parts: found an empty mapping. Pass an array, or at least one by name.")
    return dict(given)


def feature_part(phi: Any, name: str, label: str) -> Part:
    """Similarity features with rows of length 1."""
    return Part(name, phi=check_directions(phi, label))


def column_names(table: Any) -> tuple[str, ...] | None:
    """Those of a data frame, if they are names: a frame made from an array numbers its columns."""
    found = getattr(table, "columns", None)
    return None if found is None or not all(isinstance(name, str) for name in found) else tuple(found)


def shared_columns(phi: sparse.sparray) -> tuple[IntArray, IntArray, FloatArray]:
    """phi by columns, for the loop `gram`: those that two items share, for no other makes any two alike."""
    X = sparse.csc_array(phi)
    X.sort_indices()
    X = X[:, np.diff(X.indptr) > 1]
    return X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data


def shared_names(item_sets: Sequence[tuple[str, ...]], what: str = "X[{}]") -> tuple[str, ...]:
    """The names of the parts, which must be the same in all, in any order."""
    first = item_sets[0]
    for t, here in enumerate(item_sets):
        if sorted(here) != sorted(first):
            raise ValueError(
                f"{what.format(t)} has the similarity parts {', '.join(here)}, and {', '.join(first)} were seen "
                "before: all instances must have the same parts."
            )
    return first


Columns: TypeAlias = tuple[IntArray, IntArray, FloatArray]


def cosines(
    phi: Features | None, matrix: FloatArray | None, subset: IntArray | None, columns: Callable[[], Columns]
) -> FloatArray:
    """phi phi^T or the matrix, or the block of a subset: a new array. `columns` are phi's own, where it is sparse."""
    if matrix is not None:
        return matrix.copy() if subset is None else matrix[np.ix_(subset, subset)]
    assert phi is not None  # one of the two was given
    if subset is not None:
        rows = to_dense(phi[subset])
        return np.asarray(rows @ rows.T)
    n = phi.shape[0]
    if sparse.issparse(phi):
        from dpplearn.learning._gram_loops import gram

        C = gram(*columns(), n)
    else:
        C = phi @ phi.T
    C.flat[:: n + 1] = 1.0
    return np.asarray(C)


def joined(parts: tuple[Part, ...]) -> Features | None:
    """Features of all parts side by side, in equal shares: rows of length 1. None where one is a matrix."""
    if any(part.phi is None for part in parts):
        return None
    if len(parts) == 1:
        return parts[0].phi
    share = 1 / np.sqrt(len(parts))
    if any(sparse.issparse(part.phi) for part in parts):
        return sparse.csr_array(sparse.hstack([part.phi for part in parts], format="csr") * share)
    rows: list[FloatArray] = [to_dense(part.phi) for part in parts]
    return np.hstack(rows) * share
