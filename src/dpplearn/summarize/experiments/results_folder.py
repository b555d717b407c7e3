"""A folder of results that an interrupted run goes on from, and that other settings may not enter."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
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


def kept_in(path: Path) -> str:
    """How many summaries a folder keeps of a run that was stopped, in words; empty where there is none."""
    log = path / PROGRESS
    lines = max(log.read_bytes().count(b"\n") - 1, 0) if log.is_file() else 0  # the first is the settings
    return count_of(lines, "summary", "summaries") if lines else ""


class ResultsFolder:
    """Keeps summaries as they are made: `.progress.jsonl`, its first line the settings.

    Parameters
    ----------
    path : Path or None
        Made if it does not exist; None keeps nothing.
    settings : mapping
        What the summaries depend on. A folder that holds those of other settings is refused.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self.path, self.settings = path, dict(plain(dict(settings)))
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
            self._append([{"settings": self.settings}])

    def _read(self, log: Path) -> None:
        whole = log.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]  # a run that was stopped may have left half a line
        try:
            lines = kept.decode("utf-8", "surrogatepass").split("\n")[:-1]  # ids may hold other ends of lines
            records = [parse_object(line, f"line {number}") for number, line in enumerate(lines, 1)]
            found = dict(records[0]["settings"]) if records else self.settings
            self.done = {(r["id"], r["system"]): r["summary"] for r in records[1:]}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{log} cannot be read ({error}). Give an empty folder.") from None
        if found != self.settings:
            names = sorted(n for n in {*found, *self.settings} if found.get(n) != self.settings.get(n))
            said = ", ".join(f"{n} (there {found.get(n)!r:.60}, now {self.settings.get(n)!r:.60})" for n in names)
            raise ValueError(
                f"{log.parent} holds results of other settings: {said}. Give another folder, or remove that one."
            )
        if kept != whole or not records:
            with replace_file(log, "wb") as file:
                file.write(kept or (json.dumps({"settings": self.settings}) + "\n").encode())

    def _append(self, records: Sequence[Mapping[str, Any]]) -> None:
        if self.path is not None:
            with (self.path / PROGRESS).open("a", encoding="utf-8", errors="surrogatepass") as file:
                file.write("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))

    def add(self, cluster: str, summaries: Mapping[str, str]) -> None:
        """Keep one cluster's summaries, by system."""
        self._append([{"id": cluster, "system": name, "summary": text} for name, text in summaries.items()])
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
