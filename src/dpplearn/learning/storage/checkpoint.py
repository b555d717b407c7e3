"""A file that holds the latest parameters, so that an interrupted fit goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import FloatArray
from dpplearn._io.jsonfile import number, numbers, plain, read_state, write_state
from dpplearn.learning.profile import Known, Point
from dpplearn.learning.similarity.record import Similarity
from dpplearn.learning.storage import whole_number

FORMAT, VERSION = "dpplearn.checkpoint", 2


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

    def load(self, similarity: Similarity) -> tuple[FloatArray, int, Known, FloatArray] | None:
        """Where the last fit stopped: the quality's parameters, iterations, points that are done, the similarity's."""
        path = self.path
        if path is None or not path.exists():
            return None
        data = read_state(path, FORMAT, VERSION)
        if data is None:
            return None
        found = data.get("problem")
        if found != self.problem:
            other = found if isinstance(found, dict) else {}
            key = next((k for k in self.problem if other.get(k) != self.problem[k]), "problem")
            raise ValueError(
                f"The checkpoint {path} is of another fit: its {key} is {other.get(key)!r}, here it is "
                f"{self.problem.get(key)!r}. Delete the file to start anew, or pass another path."
            )
        rows, m = data.get("profile", []), len(self.problem["precision"])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"profile in {path} must be a list of objects, found {rows!r:.60}.")
        known: Known = {}
        for k, row in enumerate(rows):
            at, w = f"profile[{k}].", row.get("similarity")
            w = w if isinstance(w, dict) else {}
            where = tuple(number(w.get(p.name), at + p.name, path) for p in similarity.space)
            theta = numbers(row.get("quality"), at + "quality", path, m)
            slopes = numbers(row.get("slopes"), at + "slopes", path, len(where))
            value = number(row.get("value"), at + "value", path)
            known[where] = Point(theta, value, slopes, row.get("converged") is True)
        theta = numbers(data.get("quality"), "quality", path, m)
        at_last = data.get("similarity")
        at_last = at_last if isinstance(at_last, dict) else {}
        latest = np.array([number(at_last.get(p.name), p.name, path) for p in similarity.space])
        return theta, whole_number(data.get("n_iter"), "n_iter", path), known, latest

    def save(
        self, quality: FloatArray, similarity: Similarity, n_iter: int, log_likelihood: float, known: Known
    ) -> None:
        """Write the state, in place of the one before."""
        if self.path is None:
            return
        head = {"format": FORMAT, "version": VERSION, "problem": self.problem, "log_likelihood": log_likelihood}
        state = {"quality": quality, "similarity": similarity.named(), "n_iter": n_iter}
        profile = [
            {
                "similarity": dict(zip(similarity.named(), w, strict=True)),
                "value": point.value,
                "slopes": point.slopes,
                "converged": point.converged,
                "quality": point.parameters,
            }
            for w, point in known.items()
        ]
        write_state(self.path, {**head, **state, "profile": profile})
