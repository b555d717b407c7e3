"""Where clusters are read from, and what was left out there: it is told, so that nobody takes it for read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple


class SkippedWarning(UserWarning):
    """Files or parts of a corpus were not read, hold nothing to read, or are not what their names say."""


class BadClusterError(ValueError):
    """What is wrong with a cluster whose id is known, or None."""

    def __init__(self, message: str, name: str | None = None) -> None:  # unpickled with the message alone
        super().__init__(message)
        self.id = name


class Omission(NamedTuple):
    """Something that was not read, or a remark of a reader.

    The kind is "other" (a file of a kind that is not read), "empty" (a file without a word), "bad", "left" (a cluster
    of no use), or "said" (a remark).
    """

    kind: str
    text: str  # the path of a file, or what is wrong
    id: str | None = None  # of a cluster that is bad, where it is known


@dataclass(frozen=True)
class Source:
    """What a reader is given, and what it has left out so far."""

    path: Path  # a file or a folder
    encoding: str | None = None  # UTF-8, unless a file says otherwise
    references: Path | None = None  # where reference summaries are, if not under the path
    skip_bad: bool = False  # whether to go on past what cannot be read
    passed: list[Omission] = field(default_factory=list)

    @contextmanager
    def tolerate(self, before: str = "") -> Iterator[None]:
        """Note an error in what is read here instead of raising it, if bad parts are to be skipped."""
        try:
            yield
        except (ValueError, OSError) as error:
            message = f"{before}{error}"
            if not self.skip_bad:
                kind = ValueError if isinstance(error, ValueError) else OSError
                raise kind(message) if before else error from None
            self.passed.append(Omission("bad", message, getattr(error, "id", None)))

    def note(self, kind: str, texts: Iterable[object]) -> None:
        """Note things of one kind."""
        self.passed.extend(Omission(kind, str(text)) for text in texts)

    def note_others(self, entries: Iterable[Path], read: Sequence[Path]) -> None:
        """Note the files of a folder that were not read; a README only describes it, and is none of them."""
        known = set(read)
        files = (entry for entry in entries if entry.is_file() and not entry.name.upper().startswith("README"))
        self.note("other", (entry for entry in files if entry not in known))

    def noted(self, kind: str) -> list[str]:
        """What was noted of a kind."""
        return [one.text for one in self.passed if one.kind == kind]

    def add(self, passed: Iterable[Sequence[Any]]) -> None:
        """Note what was left out elsewhere."""
        self.passed.extend(Omission(*one) for one in passed)

    def fresh(self) -> Source:
        """The same place, with nothing noted yet."""
        return replace(self, passed=[])

    def warn(self, kinds: Iterable[str], kept: int = 0, stacklevel: int = 2) -> None:
        """Warn in a line of the files left out, and of what is bad in another, or in one for each file given."""
        bad, other, empty = map(self.noted, ("bad", "other", "empty"))
        messages = self.noted("said") + self.noted("left")
        sorts = [
            f"{len(paths)} {'file' if len(paths) == 1 else 'files'} {what} ({_some(paths, 3, ', ', ' and')})"
            for paths, what in ((other, "of another kind"), (empty, "without text"))
            if paths
        ]
        if sorts:
            messages.append(f"Left out {' and '.join(sorts)}." + f" Documents are {', '.join(kinds)}." * bool(other))
        if self.path == Path():  # files given one by one
            messages += [f"Skipped: {one}" for one in bad]
        elif bad:
            skipped = f"{self.path}: skipped {len(bad)} that could not be read, kept {kept} clusters. "
            messages.append(skipped + _some(bad, 5, "; ", "; and"))
        for message in messages:
            warnings.warn(message, SkippedWarning, stacklevel=stacklevel + 1)


def _some(texts: Sequence[str], most: int, between: str, last: str) -> str:
    """The first few of some texts, and how many more there are."""
    more = f"{last} {len(texts) - most} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more
