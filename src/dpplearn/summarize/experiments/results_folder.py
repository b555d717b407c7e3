"""A folder of results: a run that was stopped goes on in it, and one with other settings is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dpplearn._io.atomic import replace_file
from dpplearn._io.jsonfile import plain, write_json
from dpplearn._io.workfolder import WorkFolder, differences

RESULTS, DETAILS, WORK = "results.json", "details.json", ".work"


def fingerprint(value: Any) -> str:
    """Twelve hexadecimal digits that change with any part of a value made of JSON's kinds.

    Examples
    --------
    >>> fingerprint({"a": 1}) == fingerprint({"a": 1}), fingerprint({"a": 1}) == fingerprint({"a": 2})
    (True, False)
    """
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class ResultsFolder:
    """Where results go, and, until they are there, the summaries that are made on the way.

    Parameters
    ----------
    path : Path or None
        Made if it does not exist; None keeps nothing.
    settings : mapping
        What the results depend on. A folder that holds those of other settings is refused.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self.path, self.settings = path, dict(json.loads(json.dumps(plain(dict(settings)))))
        if path is None or not path.exists():
            return
        if not path.is_dir():
            raise ValueError(f"{path} must be a folder for the results, but is a file. Give another.")
        results = path / RESULTS
        try:
            found = json.loads(results.read_text(encoding="utf-8"))["settings"] if results.exists() else self.settings
        except (ValueError, KeyError, TypeError):
            found = None
        if not isinstance(found, dict):
            raise ValueError(f"{results} does not say how it came about. Give an empty folder.")
        if found != self.settings:
            said = "; ".join(differences(found, self.settings))
            raise ValueError(
                f"{path} holds results of other settings: {said}. Give another folder, or remove that one."
            )

    def work(self, systems: Iterable[str]) -> WorkFolder:
        """The folder for summaries by these systems, which is kept where the run is stopped."""
        folder = None if self.path is None else self.path / WORK
        return WorkFolder(folder, {**self.settings, "systems": [*systems]})

    def write(
        self, results: Mapping[str, Any], details: Mapping[str, Any], made: Mapping[str, Mapping[str, str]]
    ) -> None:
        """results.json, details.json, and a file of summaries for each system, of which `made` has them by cluster."""
        if self.path is None:
            return
        self.path.mkdir(parents=True, exist_ok=True)
        for system, summaries in made.items():
            with replace_file(self.path / f"{system}.jsonl", "w") as file:
                for cluster, summary in sorted(summaries.items()):
                    record = {"id": cluster, "system": system, "summary": summary}
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
        write_json(self.path / DETAILS, dict(details))
        write_json(self.path / RESULTS, dict(results))
