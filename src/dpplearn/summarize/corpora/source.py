"""Where clusters are read from, and what was not read there: said, so that nobody takes it for read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.text.characters import has_word


class SkippedWarning(UserWarning):
    """Files or parts of a corpus were not read, hold nothing to read, or are not what their names say."""


_HEARD: ContextVar[list[str] | None] = ContextVar("_HEARD", default=None)


@contextmanager
def heard() -> Iterator[list[str]]:
    """What readers say of files meanwhile, in this thread alone: `warnings.catch_warnings` would be of all threads."""
    said: list[str] = []
    token = _HEARD.set(said)
    try:
        yield said
    finally:
        _HEARD.reset(token)


class BadClusterError(ValueError):
    """What is wrong with a cluster whose id is known, or None."""

    def __init__(self, said: str, name: str | None = None) -> None:  # out of a pickle, one without an id first
        super().__init__(said)
        self.id = name


class Skipped(NamedTuple):
    """Something that was not read, or that a reader has to say."""

    kind: (
        str  # "other" (a file of a kind that is not read), "empty" (without a word), "bad", "left" (of no use), "said"
    )
    what: str  # the path of a file, or what is wrong or said
    id: str | None = None  # of a cluster that is bad, where it is known


def say_of_file(said: str) -> None:
    """To who listens, or else as a `SkippedWarning`."""
    listener = _HEARD.get()
    if listener is None:
        warnings.warn(said, SkippedWarning, stacklevel=3)
    else:
        listener.append(said)


@dataclass(frozen=True)
class Source:
    """What a reader is given, and what it has passed over so far."""

    path: Path  # a file or a folder
    encoding: str | None = None  # UTF-8, unless a file says otherwise
    references: Path | None = None  # where reference summaries are, if not under the path
    skip_bad: bool = False  # whether to go on past what cannot be read
    singles: int = 64  # pieces at its beginning that have one cluster each
    passed: list[Skipped] = field(default_factory=list)

    @contextmanager
    def tolerate(self, before: str = "") -> Iterator[None]:
        """Note an error in what is read here instead of raising it, if bad parts are to be skipped."""
        try:
            yield
        except (ValueError, OSError) as error:
            said = f"{before}{error}"
            if not self.skip_bad:
                kind = ValueError if isinstance(error, ValueError) else OSError
                raise kind(said) if before else error from None
            self.passed.append(Skipped("bad", said, getattr(error, "id", None)))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note what readers say of files, wherever this is done; who asked for the corpus says it, once."""
        with heard() as said:
            yield
        self.note("said", said)

    def note(self, kind: str, found: Iterable[object]) -> None:
        """Note things of one kind."""
        self.passed.extend(Skipped(kind, str(one)) for one in found)

    def noted(self, *kinds: str) -> list[str]:
        """What was noted of some kinds."""
        return [one.what for kind in kinds for one in self.passed if one.kind == kind]

    def add(self, passed: Iterable[Sequence[Any]]) -> None:
        """Note what was passed over elsewhere."""
        self.passed.extend(Skipped(*one) for one in passed)

    def fresh(self) -> Source:
        """The same place, with nothing passed over yet."""
        return replace(self, passed=[])

    def add_others(self, entries: Iterable[Path], read: Iterable[Path]) -> None:
        """Note the files of a folder that are not among those read; what only describes it (README) is none of them."""
        files = (entry for entry in entries if entry.is_file() and not entry.name.upper().startswith("README"))
        known = set(read)
        self.note("other", (entry for entry in files if entry not in known))

    def worded(self, documents: list[tuple[Path, Document]]) -> list[tuple[Path, Document]]:
        """Without the files whose documents have no word, which are noted; all, where that is an error later."""
        worded = {path for path, document in documents if has_word(document.text, 0, len(document.text))}
        if not worded:
            return documents
        self.note("empty", dict.fromkeys(path for path, _ in documents if path not in worded))
        return [(path, document) for path, document in documents if path in worded]

    def check_some(self, any_read: bool) -> None:
        """Raise what is wrong with files given one by one, all of it, where none could be read."""
        bad = self.noted("bad")
        if bad and not any_read:
            raise ValueError(bad[0] if len(bad) == 1 else "\n".join(["None of the files can be read.", *bad]))

    def warn(self, kinds: Iterable[str], kept: int = 0, stacklevel: int = 2) -> None:
        """Warn in a line of the files left out, and of what is bad in another, or in one for each file given."""
        bad, other = self.noted("bad"), self.noted("other")
        for said in self.noted("said", "left"):
            warnings.warn(said, SkippedWarning, stacklevel=stacklevel + 1)
        sorts = [
            f"{len(paths)} {'file' if len(paths) == 1 else 'files'} {what} ({_some(paths, 3, ', ', ' and')})"
            for paths, what in ((other, "of another kind"), (self.noted("empty"), "without text"))
            if paths
        ]
        if sorts:
            read = f" Documents are {', '.join(kinds)}." if other else ""
            warnings.warn(f"Left out {' and '.join(sorts)}.{read}", SkippedWarning, stacklevel=stacklevel + 1)
        if self.path == Path():  # files given one by one
            for said in bad:
                warnings.warn(f"Skipped: {said}", SkippedWarning, stacklevel=stacklevel + 1)
        elif bad:
            skipped = f"{self.path}: skipped {len(bad)} that could not be read, kept {kept} clusters. "
            warnings.warn(skipped + _some(bad, 5, "; ", "; and"), SkippedWarning, stacklevel=stacklevel + 1)


def _some(all_: Sequence[str], most: int, between: str, last: str) -> str:
    more = f"{last} {len(all_) - most} more" if len(all_) > most else ""
    return between.join(all_[:most]) + more
