"""Keeps intermediate results in a folder, so that work that was stopped can go on."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from dpplearn._checks import warn_user
from dpplearn._io.jsonfile import plain, read_record, write_record

HEAD, LOCK = "work.json", ".lock"


class WorkFolder:
    """A folder of files by stage and number, each of which is written atomically.

    Parameters
    ----------
    path : Path or None
        Made if it does not exist, kept if the work is stopped, and removed when it is done. None is a temporary folder.
    identity : mapping
        The settings that the files depend on. A folder with files of other settings is an error.
    anew : bool
        Empty such a folder, with a warning, instead of raising the error.
    """

    def __init__(self, path: str | os.PathLike[str] | None, identity: Mapping[str, Any], *, anew: bool = False) -> None:
        self.given, self.anew = None if path is None else Path(path), anew
        self.identity = json.loads(json.dumps(plain(dict(identity)), default=str))

    def __enter__(self) -> Self:
        self.path = Path(tempfile.mkdtemp(prefix="dpplearn-")) if self.given is None else self.given
        self.path.mkdir(parents=True, exist_ok=True)
        head = self.path / HEAD
        if not head.exists() and any(entry.name != LOCK for entry in self.path.iterdir()):
            raise ValueError(f"{self.path} must be an empty folder to work in, but holds other files. Use another one.")
        self._lock()
        try:
            for half in self.path.rglob(".*.tmp"):  # files that a killed command left half-written
                half.unlink()
            before = read_record(head) if head.exists() else self.identity
            if before != self.identity:
                why = f"holds work that was begun with another {', '.join(differences(before, self.identity))}"
                if not self.anew:
                    again = "To go on with it, use the same settings; to start again, remove it, or use another folder."
                    raise ValueError(f"{self.path} {why}. {again}")
                warn_user(f"{self.path} {why}: it is begun anew.")
                self._empty()
            write_record(head, self.identity)
        except BaseException:
            self._held.close()
            raise
        return self

    def _lock(self) -> None:
        self._held = (self.path / LOCK).open("w")
        with suppress(ImportError):  # not on Windows
            import fcntl

            try:
                fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._held.close()
                raise ValueError(f"Another command works in {self.path}. Wait for it, or use another folder.") from None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        kept, again = f"{self.path} keeps what is done:", "run the same command again to go on."
        with self._held:
            # after a ValueError another corpus or setting is needed, and with `anew` all would be done again
            if self.given is None or kind is None or (self.anew and isinstance(error, ValueError)):
                kept, again = "Nothing is kept:", "with work=FOLDER, stopped work goes on where it was."
                self._empty()  # before the head, so that the work can go on if we are killed meanwhile
                shutil.rmtree(self.path, ignore_errors=True)  # on Windows, the lock cannot be removed while it is open
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"Stopped. {kept} {again}") from None
        if isinstance(error, OSError) and self.given is not None:
            raise OSError(f"{str(error).rstrip().rstrip('.')}. {kept} when that is fixed, {again}") from error

    def _empty(self) -> None:
        """Remove all files but the head and the lock."""
        for entry in self.path.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name not in (HEAD, LOCK):
                entry.unlink()

    def file(self, stage: str, number: int | str, ending: str) -> Path:
        """The path for the result of a piece of a stage."""
        folder = self.path / stage
        folder.mkdir(exist_ok=True)
        return folder / (f"{number:06d}{ending}" if isinstance(number, int) else f"{number}{ending}")

    def finished(self, stage: str, ending: str) -> list[Path]:
        """The results of a stage that exist already."""
        return sorted((self.path / stage).glob(f"[0-9]*{ending}"))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """The names of settings that differ between two mappings."""
    for name in sorted({*old, *new}):
        a, b = old.get(name), new.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            yield from differences(a, b)
        elif a != b:
            yield name
