"""A folder of results that an interrupted run goes on from, and that other settings may not enter."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dpplearn._checks import count_of
from dpplearn._io.atomic import replace_file
from dpplearn._io.jsonfile import plain, write_json
from dpplearn._io.jsonlines import parse_object

PROGRESS, RESULTS, DETAILS = ".progress.jsonl", "results.json", "details.json"
Done = dict[tuple[str, str], str]  # (cluster id, system) -> summary


def fingerprint(value: Any) -> str:
    """Twelve hexadecimal digits that change with any part of a value made of JSON's kinds.

    Examples
    --------
    >>> fingerprint({"a": 1}) == fingerprint({"a": 1}), fingerprint({"a": 1}) == fingerprint({"a": 2})
    (True, False)
    """
    text = json.dumps(plain(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def sealed(record: Mapping[str, Any], settings: Mapping[str, Any]) -> bytes:
    """A line of the log: a record, with a digest of it and of the settings that it was made with."""
    line = json.dumps({**record, "digest": fingerprint([settings, record])}, ensure_ascii=False)
    return f"{line}\n".encode("utf-8", "surrogatepass")


def unsealed(line: bytes, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a line; an empty one where the line is damaged, or made with other settings.

    Examples
    --------
    >>> unsealed(sealed({"id": "a"}, {"budget": 1}).strip(), {"budget": 1}), unsealed(b"half a li", {})
    ({'id': 'a'}, {})
    """
    try:
        record = dict(parse_object(line.decode("utf-8", "surrogatepass"), "it"))
        digest = record.pop("digest", None)
        return record if digest == fingerprint([settings, record]) else {}
    except ValueError:
        return {}


def kept_in(path: Path) -> str:
    """How many summaries a folder keeps of a run that was stopped, in words; empty where there is none."""
    log = path / PROGRESS
    lines = max(log.read_bytes().count(b"\n") - 1, 0) if log.is_file() else 0  # the first is the settings
    return count_of(lines, "summary", "summaries") if lines else ""


class ResultsFolder:
    """Keeps summaries as they are made: `.progress.jsonl`, its first line the settings.

    Lines that are damaged, which their digests tell, are left out with a warning, and their summaries made again.

    Parameters
    ----------
    path : Path or None
        Made if it does not exist; None keeps nothing.
    settings : mapping
        What the summaries depend on. A folder that holds those of other settings is refused.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self.path, self.settings = path, dict(json.loads(json.dumps(plain(dict(settings)))))
        self.done: Done = {}
        if path is None:
            return
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} must be a folder for the results, but is a file. Give another.")
        path.mkdir(parents=True, exist_ok=True)
        log = path / PROGRESS
        if log.exists():
            self._read(log)
        elif (path / RESULTS).exists():
            raise ValueError(f"{path} holds {RESULTS} but not how it came about. Give an empty folder.")
        else:
            self._append([sealed({"settings": self.settings}, {})])

    def _read(self, log: Path) -> None:
        whole = log.read_bytes()
        lines = whole.split(b"\n")[:-1]  # one that was being written when the run was stopped is half a line
        found = unsealed(lines[0], {}).get("settings") if lines else None
        if found is not None and found != self.settings:
            names = sorted(n for n in {*found, *self.settings} if found.get(n) != self.settings.get(n))
            said = ", ".join(f"{n} (there {found.get(n)!r:.60}, now {self.settings.get(n)!r:.60})" for n in names)
            raise ValueError(
                f"{log.parent} holds results of other settings: {said}. Give another folder, or remove that one."
            )
        kept = [one for one in (unsealed(line, self.settings) for line in lines) if one]
        if found is None and not kept and log.with_name(RESULTS).exists():
            raise ValueError(f"{log} is damaged, and nothing else says how {RESULTS} came about. Give an empty folder.")
        self.done = {(one["id"], one["system"]): one["summary"] for one in kept}
        damaged = len(lines) - len(kept) - (found is not None)
        if damaged:
            what = count_of(damaged, "line is", "lines are")
            warnings.warn(f"{what} damaged in {log}: what they held is made again.", stacklevel=3)
        if damaged or found is None or not whole.endswith(b"\n"):
            with replace_file(log, "wb") as file:
                file.write(sealed({"settings": self.settings}, {}))
                file.writelines(sealed(record, self.settings) for record in kept)

    def _append(self, lines: Iterable[bytes]) -> None:
        if self.path is not None:
            with (self.path / PROGRESS).open("ab") as file:
                file.write(b"".join(lines))

    def add(self, cluster: str, summaries: Mapping[str, str]) -> None:
        """Keep one cluster's summaries, by system."""
        made = ({"id": cluster, "system": name, "summary": text} for name, text in summaries.items())
        self._append(sealed(record, self.settings) for record in made)
        self.done |= {(cluster, name): text for name, text in summaries.items()}

    def write(self, results: Mapping[str, Any], details: Mapping[str, Any], systems: Iterable[str]) -> None:
        """results.json, details.json, and a file of summaries for each system that was run here."""
        if self.path is None:
            return
        for system in systems:
            with replace_file(self.path / f"{system}.jsonl", "w") as file:
                for (cluster, name), summary in sorted(self.done.items()):
                    if name == system:
                        record = {"id": cluster, "system": system, "summary": summary}
                        file.write(json.dumps(record, ensure_ascii=False) + "\n")
        write_json(self.path / DETAILS, dict(details))
        write_json(self.path / RESULTS, dict(results))
