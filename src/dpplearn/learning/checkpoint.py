"""A file that holds the latest theta, so that an interrupted fit goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._checks import FloatArray
from dpplearn.learning.jsonfile import number, numbers, plain, read_json, write_json

FORMAT, VERSION = "dpplearn.checkpoint", 1


class Saved(NamedTuple):
    theta: FloatArray
    rho: float
    n_iter: int


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

    def load(self) -> Saved | None:
        """Where the last fit stopped, if there was one."""
        if self.path is None or not self.path.exists():
            return None
        data = read_json(self.path, FORMAT, VERSION)
        found = data.get("problem")
        if found != self.problem:
            known = found if isinstance(found, dict) else {}
            key = next((k for k in self.problem if known.get(k) != self.problem[k]), "problem")
            raise ValueError(
                f"The checkpoint {self.path} is of another fit: its {key} is {known.get(key)!r}, here it is "
                f"{self.problem.get(key)!r}. Delete the file to start anew, or pass another path."
            )
        theta = numbers(data.get("theta"), "theta", self.path, int(self.problem["n_features"]))
        return Saved(
            theta, number(data.get("rho"), "rho", self.path), int(number(data.get("n_iter"), "n_iter", self.path))
        )

    def save(self, theta: FloatArray, rho: float, n_iter: int, log_likelihood: float) -> None:
        if self.path is not None:
            state = {"theta": theta, "rho": rho, "n_iter": n_iter, "log_likelihood": log_likelihood}
            write_json(self.path, {"format": FORMAT, "version": VERSION, "problem": self.problem, **state})
