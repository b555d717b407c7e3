"""A file that holds the latest parameters, so that an interrupted fit goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._checks import FloatArray
from dpplearn._io.jsonfile import number, numbers, plain, read_state, write_record
from dpplearn.learning.storage import whole_number

FORMAT, VERSION = "dpplearn.checkpoint", 3


class Climb(NamedTuple):
    """Where the ascent from one start is, or has ended: theta, the similarity's parameters, and the log-posterior."""

    quality: FloatArray
    similarity: FloatArray
    value: float


class SavedState(NamedTuple):
    """What an interrupted fit had done."""

    latest: Climb
    n_iter: int
    finished: list[Climb]  # from starts before the latest


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

    def load(self, p: int) -> SavedState | None:
        """Where the last fit stopped; its similarity has p parameters."""
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
        rows = data.get("finished")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in (*rows, data.get("latest"))):
            raise ValueError(f"finished and latest in {path} must be objects. Delete the file to start anew.")
        climbs = []
        for k, row in enumerate([*rows, data["latest"]]):
            at = f"finished[{k}]." if k < len(rows) else "latest."
            theta = numbers(row.get("quality"), f"{at}quality", path, len(self.problem["precision"]))
            S = numbers(row.get("similarity"), f"{at}similarity", path, p)
            climbs.append(Climb(theta, S, number(row.get("value"), f"{at}value", path)))
        return SavedState(climbs[-1], whole_number(data.get("n_iter"), "n_iter", path), climbs[:-1])

    def save(self, latest: Climb, n_iter: int, log_likelihood: float, finished: Sequence[Climb] = ()) -> None:
        """Write the state, in place of the one before."""
        if self.path is None:
            return
        head = {"format": FORMAT, "version": VERSION, "problem": self.problem, "log_likelihood": log_likelihood}
        climbs = {"latest": latest._asdict(), "finished": [one._asdict() for one in finished]}
        write_record(self.path, {**head, "n_iter": n_iter, **climbs})
