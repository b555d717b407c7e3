"""A file that holds the latest parameters, so that an interrupted fit goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._checks import FloatArray
from dpplearn._io.jsonfile import number, numbers, plain, read_json, write_json
from dpplearn.learning.profile import Known, Point
from dpplearn.learning.similarity import Similarity

FORMAT, VERSION = "dpplearn.checkpoint", 2


class Saved(NamedTuple):
    """The quality's parameters, iterations done, and the points of the profile that are done."""

    quality: FloatArray
    n_iter: int
    known: Known


class Checkpoint:
    """Reads and writes one file; does nothing where `path` is None.

    Parameters
    ----------
    path : path or None
    problem : mapping
        What makes a fit the same one: number of instances, features, prior. A file of another is an error.
    """

    def __init__(self, path: str | os.PathLike[str] | None, problem: Mapping[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.problem = plain(dict(problem))
        if self.path is not None and not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"checkpoint={str(self.path)!r} cannot be written: there is no folder {self.path.parent}."
            )

    def load(self, similarity: Similarity) -> Saved | None:
        """Where the last fit stopped, if there was one; a similarity says what parameters there are."""
        if self.path is None or not self.path.exists():
            return None
        data = read_json(self.path, FORMAT, VERSION)
        if data["version"] < VERSION:
            raise ValueError(
                f"The checkpoint {self.path} is of version {data['version']}, from an older dpplearn, which this one "
                "cannot go on from. Delete the file to start anew, or pass another path."
            )
        found = data.get("problem")
        if found != self.problem:
            known = found if isinstance(found, dict) else {}
            key = next((k for k in self.problem if known.get(k) != self.problem[k]), "problem")
            raise ValueError(
                f"The checkpoint {self.path} is of another fit: its {key} is {known.get(key)!r}, here it is "
                f"{self.problem.get(key)!r}. Delete the file to start anew, or pass another path."
            )
        n_iter, rows = data.get("n_iter"), data.get("profile", [])
        if not isinstance(n_iter, int) or isinstance(n_iter, bool) or n_iter < 0:
            raise ValueError(f"n_iter in {self.path} must be a whole number that is not negative, found {n_iter!r}.")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"profile in {self.path} must be a list of objects, found {rows!r:.60}.")
        points = dict(self._point(row, f"profile[{k}].", similarity) for k, row in enumerate(rows))
        return Saved(self._vector(data, "quality", int(self.problem["n_features"])), n_iter, points)

    def _point(self, row: dict[str, Any], at: str, similarity: Similarity) -> tuple[tuple[float, ...], Point]:
        """One row of the profile, and where it is."""
        assert self.path is not None  # it was read
        w = row.get("similarity")
        values = w if isinstance(w, dict) else {}
        where = tuple(number(values.get(p.name), at + p.name, self.path) for p in similarity.space)
        theta = self._vector(row, "quality", int(self.problem["n_features"]), at)
        slopes = self._vector(row, "slopes", len(where), at)
        return where, Point(
            theta, number(row.get("value"), at + "value", self.path), slopes, row.get("converged") is True
        )

    def _vector(self, row: dict[str, Any], name: str, size: int, at: str = "") -> FloatArray:
        assert self.path is not None
        return numbers(row.get(name), at + name, self.path, size)

    def save(
        self, quality: FloatArray, similarity: Similarity, n_iter: int, log_likelihood: float, known: Known
    ) -> None:
        """Write the state, in place of the one before."""
        if self.path is None:
            return
        names = [p.name for p in similarity.space]
        state: dict[str, Any] = {"quality": quality, "similarity": similarity.named(), "n_iter": n_iter}
        state["profile"] = [
            {
                "similarity": dict(zip(names, w, strict=True)),
                "value": point.value,
                "slopes": point.slopes,
                "converged": point.converged,
                "quality": point.parameters,
            }
            for w, point in known.items()
        ]
        head = {"format": FORMAT, "version": VERSION, "problem": self.problem, "log_likelihood": log_likelihood}
        write_json(self.path, {**head, **state})
