"""A file that holds the latest theta, so that an interrupted fit goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._checks import FloatArray
from dpplearn._io.jsonfile import number, numbers, plain, read_json, write_json
from dpplearn.learning.rho import Point

FORMAT, VERSION = "dpplearn.checkpoint", 1


class Saved(NamedTuple):
    theta: FloatArray
    rho: float
    n_iter: int
    known: dict[float, Point]  # values of rho that are done


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
        rho, n_iter = number(data.get("rho"), "rho", self.path), data.get("n_iter")
        if not isinstance(n_iter, int) or isinstance(n_iter, bool) or n_iter < 0:
            raise ValueError(f"n_iter in {self.path} must be a whole number that is not negative, found {n_iter!r}.")
        return Saved(theta, rho, n_iter, self._points(data.get("profile", [])))

    def _points(self, rows: Any) -> dict[float, Point]:
        """Rows of rho, value, slope, whether it converged (1 or 0), and theta."""
        if not isinstance(rows, list):
            raise ValueError(f"profile in {self.path} must be a list, found {type(rows).__name__}.")
        assert self.path is not None  # it was read
        size = 4 + int(self.problem["n_features"])
        table = [numbers(row, f"profile[{k}]", self.path, size) for k, row in enumerate(rows)]
        return {float(row[0]): Point(row[4:], float(row[1]), float(row[2]), bool(row[3])) for row in table}

    def save(
        self, theta: FloatArray, rho: float, n_iter: int, log_likelihood: float, known: Mapping[float, Point]
    ) -> None:
        if self.path is not None:
            state: dict[str, Any] = {"theta": theta, "rho": rho, "n_iter": n_iter, "log_likelihood": log_likelihood}
            state["profile"] = [[r, p.value, p.slope, int(p.converged), *p.theta.tolist()] for r, p in known.items()]
            write_json(self.path, {"format": FORMAT, "version": VERSION, "problem": self.problem, **state})
