"""A folder for intermediate results, in whole files only, so that stopped work can go on."""

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
from dpplearn._io.atomic import FLEETING, DamagedError, is_whole
from dpplearn._io.encoding import NotWholeError
from dpplearn._io.jsonfile import plain, read_record, write_record

HEAD, LOCK = "work.json", ".lock"
ENDINGS = (".json", ".jsonl", ".npz")  # of intermediate results, each with its seal


class WorkFolder:
    """Files by stage and number, each written as a whole, with a seal (`dpplearn._io.atomic`).

    When the work goes on, damaged files are removed and made again, so that the result is the same.

    Parameters
    ----------
    path : Path or None
        Made if it does not exist, and kept if the work is stopped. Removed when the work is done, and when an input
        file turns out to be damaged. None is a temporary folder.
    identity : mapping
        What the files depend on. A folder with files of other work is refused.
    anew : bool
        Empty such a folder, with a warning, instead of refusing it.
    """

    def __init__(self, path: str | os.PathLike[str] | None, identity: Mapping[str, Any], *, anew: bool = False) -> None:
        self.given, self.anew = None if path is None else Path(path), anew
        self.identity = json.loads(json.dumps(plain(dict(identity)), default=str))

    def __enter__(self) -> Self:
        if self.given is None:
            self.path = Path(tempfile.mkdtemp(prefix=FLEETING))
            return self
        self.path, head = self.given, self.given / HEAD
        others = self.path.is_dir() and not head.exists() and any(one.name != LOCK for one in self.path.iterdir())
        if others or (self.path.exists() and not self.path.is_dir()):
            found = "holds other files" if others else "is a file"
            raise ValueError(f"{self.path} must be a folder of its own to work in, but {found}. Give another.")
        while True:
            self.path.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # another command finished and removed it meanwhile
                self._lock()
                if self._is_here():
                    break
                self._held.close()
        try:
            self._sweep()
            if head.exists():
                self._compare(head)
                self._remove_damaged()
            if not head.exists():
                write_record(head, self.identity)
        except BaseException:
            self._held.close()
            raise
        return self

    def _compare(self, head: Path) -> None:
        try:
            found = read_record(head)
            if found == self.identity:
                return
            why = f"holds work that was begun otherwise ({'; '.join(differences(found, self.identity))})"
            advice = "To go on with it, ask for the same; to begin anew, remove that folder, or give another."
        except DamagedError:
            why = f"holds work of unknown settings ({HEAD} is damaged)"
            advice = "Remove that folder, or give another."
        if self.anew:
            warn_user(f"{self.path} {why}: it is begun anew.")
            self._empty()
            head.unlink()
            return
        raise ValueError(f"{self.path} {why}. {advice}")

    def _remove_damaged(self) -> None:
        """Remove the files that do not hold what was written to them, with a warning."""
        files = sorted(path for path in self.path.rglob("[!.]*") if path.suffix in ENDINGS and path.is_file())
        damaged = [path for path in files if path.name != HEAD and not is_whole(path)]
        for path in damaged:
            path.unlink()
        if damaged:
            names = ", ".join(str(path.relative_to(self.path)) for path in damaged[:3])
            more = f" and {len(damaged) - 3} more" if len(damaged) > 3 else ""
            warn_user(f"In {self.path}, {names}{more} are damaged, and are made again.")

    def _sweep(self) -> None:
        """Remove files that a killed command left half-written."""
        for half in self.path.rglob(".*.tmp"):
            half.unlink(missing_ok=True)

    def _lock(self) -> None:
        self._held = (self.path / LOCK).open("w")
        with suppress(ImportError):  # not on Windows
            import fcntl

            try:
                fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._held.close()
                raise ValueError(
                    f"Another command works in {self.path}. Wait for it, or give another folder."
                ) from None

    def _is_here(self) -> bool:
        """Whether our lock is the one in the folder, and not in one that was removed meanwhile."""
        lock = self.path / LOCK
        return lock.exists() and os.path.samestat(os.fstat(self._held.fileno()), lock.stat())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self.given is None or kind is None or isinstance(error, NotWholeError):
            self._remove()
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(
                    "Stopped. Nothing is kept: with work=FOLDER, stopped work goes on where it was."
                ) from None
            return
        self._sweep()
        self._held.close()
        if isinstance(error, OSError):
            again = f"{self.path} keeps what is done: when that is put right, run the same command again to go on."
            raise OSError(f"{str(error).rstrip().rstrip('.')}. {again}") from error
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(
                f"Stopped. {self.path} keeps what is done: run the same command again to go on."
            ) from None

    def _remove(self) -> None:
        """Remove the folder, its head and lock last: if we are killed meanwhile, the work can still go on."""
        if self.given is None:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        with self._held, suppress(OSError):  # the next command has begun in it, or (on Windows) the lock is open
            self._empty()
            (self.path / HEAD).unlink()
            (self.path / LOCK).unlink()
            self.path.rmdir()

    def _empty(self) -> None:
        """Remove all but the head and the lock."""
        for entry in self.path.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name not in (HEAD, LOCK):
                entry.unlink()

    def file(self, stage: str, number: int | str, ending: str) -> Path:
        """The path for the result of one piece of a stage."""
        folder = self.path / stage
        folder.mkdir(exist_ok=True)
        return folder / (f"{number:06d}{ending}" if isinstance(number, int) else f"{number}{ending}")

    def known(self, stage: str, ending: str) -> list[Path]:
        """The results of a stage that exist already."""
        return sorted((self.path / stage).glob(f"[0-9]*{ending}"))


def differences(there: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two settings, by name, with both values if they are short.

    Examples
    --------
    >>> list(differences({"corpus": ["a.txt", 10], "options": {"k": 3, "n": 1}}, {"options": {"k": 4, "n": 1}}))
    ['another corpus', 'k: 3 there, 4 now']
    """
    for name in sorted({*there, *now}):
        one, two = there.get(name), now.get(name)
        if one == two:
            continue
        if isinstance(one, dict) and isinstance(two, dict):
            yield from differences(one, two)
        elif isinstance(one, list | dict) or isinstance(two, list | dict) or len(f"{one!r}{two!r}") > 120:
            yield f"another {name}"
        else:
            yield f"{name}: {'none' if one is None else one} there, {'none' if two is None else two} now"
