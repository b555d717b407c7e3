"""Which columns of a table are features, and what they were in training, so that new data are read the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse

from dpplearn._checks import Features, FloatArray
from dpplearn._notebook import brief
from dpplearn.learning.columns import WIDE, Column, column_from


@dataclass(frozen=True)
class Encoding:
    """The columns of a table that are quality features, and those that are similarity features, by part.

    Parameters
    ----------
    features : tuple of Column
    phi : mapping of str to tuple of Column
        One part called "" where the columns were a list.
    constant : bool
        Whether a column of ones comes first: how many are chosen, and the weight of the levels that have none.
    """

    features: tuple[Column, ...]
    phi: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    constant: bool = False

    def __repr__(self) -> str:
        features = brief(tuple(one.name for one in self.features))
        phi = brief({part: tuple(one.name for one in columns) for part, columns in self.phi.items()})
        return f"Encoding(features={features}, phi={phi}, constant={self.constant})"

    @property
    def names(self) -> list[str]:
        """Of the quality features."""
        return ["constant"] * self.constant + [name for one in self.features for name in one.quality_names]

    def quality(self, raw: FloatArray) -> FloatArray:
        """F, from the raw columns of the features."""
        blocks = [one.quality(x) for one, x in zip(self.features, raw.T, strict=True)]
        return np.hstack([np.ones((len(raw), int(self.constant))), *blocks])

    @property
    def independent(self) -> bool:
        """Whether nothing makes items alike."""
        return not self.phi

    def directions(self, raw: Mapping[str, FloatArray]) -> dict[str, Features]:
        """The similarity features of each part, from their raw columns."""
        return {part: directions_of(columns, raw[part]) for part, columns in self.phi.items()}

    @property
    def direction_names(self) -> dict[str, list[str]]:
        """Names of the similarity features of each part."""
        return {
            part: [name for one in columns for name in names_of(one, columns)] + ["none of them"] * lonely(columns)
            for part, columns in self.phi.items()
        }

    def state(self) -> dict[str, Any]:
        """For a model file."""
        parts = {part: [vars(one) for one in columns] for part, columns in self.phi.items()}
        return {"features": [vars(one) for one in self.features], "phi": parts, "constant": self.constant}

    @classmethod
    def from_state(cls, state: Any, path: Any) -> Self:
        """What a model file says; an error where that is no encoding."""
        try:
            features = tuple(column_from(one) for one in state["features"])
            phi = {str(part): tuple(column_from(one) for one in columns) for part, columns in state["phi"].items()}
            if not isinstance(state["constant"], bool) or not features:
                raise ValueError("it has no features, or does not say whether there is a constant")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"encoding in {path} is none ({error}). Save the model again.") from None
        return cls(features, phi, state["constant"])


def check_encoding(encoding: Any) -> Encoding:
    """An Encoding, and no model that has one."""
    if not isinstance(encoding, Encoding):
        raise TypeError(
            f"encoding must be an Encoding, found {type(encoding).__name__}. Pass model.encoding_, which a model that "
            "was fitted to ItemSet.from_long(...) has."
        )
    return encoding


def directions_of(columns: Sequence[Column], raw: FloatArray) -> Features:
    """Columns side by side: each that is no boolean has length 1, so that no unit outweighs another."""
    ways = [(one.by_distance if by_distance(one, columns) else one.direction) for one in columns]
    blocks: list[Features] = [way(x) for way, x in zip(ways, raw.T, strict=True)]
    if lonely(columns):
        blocks.append(~np.any([(block != 0).ravel() for block in blocks], axis=0)[:, None])
    if sum(block.shape[1] for block in blocks) > WIDE:
        return sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in blocks]))
    return np.hstack([block.toarray() if sparse.issparse(block) else block for block in blocks]).astype(np.float64)


def lonely(columns: Sequence[Column]) -> bool:
    """Whether an item may have none of the features, as one of which all booleans are false."""
    return all(one.kind == "boolean" for one in columns)


def coordinates(columns: Sequence[Column]) -> bool:
    """Whether columns are coordinates of one direction, as those of an embedding: several numbers and nothing else."""
    return len(columns) > 1 and all(one.kind == "number" for one in columns)


def by_distance(one: Column, columns: Sequence[Column]) -> bool:
    """Whether a column of a part is a number that counts by its distance."""
    return one.kind == "number" and not coordinates(columns)


def names_of(one: Column, columns: Sequence[Column]) -> list[str]:
    """The names of the similarity features of a column of a part."""
    return one.distance_names if by_distance(one, columns) else one.direction_names
