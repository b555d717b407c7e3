"""Where clusters are read from, and what was not read there: said, so that nobody takes it for read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

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


class Bad(str):
    """What is wrong with a part that was skipped, and its id where that is known."""

    id: str | None = None


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
    other: list[Path] = field(default_factory=list)  # files of kinds that are not read
    empty: list[Path] = field(default_factory=list)  # files without a word
    bad: list[Bad] = field(default_factory=list)  # what is wrong with parts that were skipped
    left: list[str] = field(default_factory=list)  # clusters that were read and are of no use, and why
    said: list[str] = field(default_factory=list)  # what readers of single files said of them

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
            self.bad.append(Bad(said))
            self.bad[-1].id = getattr(error, "id", None)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note what readers say of files, wherever this is done; who asked for the corpus says it, once."""
        with heard() as said:
            yield
        self.said.extend(said)

    def fresh(self) -> Source:
        """The same place, with nothing passed over yet."""
        return Source(self.path, self.encoding, self.references, self.skip_bad, self.singles)

    @property
    def passed(self) -> dict[str, list[str]]:
        """What was passed over, as JSON has it."""
        notes: dict[str, Sequence[object]] = {"other": self.other, "empty": self.empty}
        notes |= {"bad": self.bad, "left": self.left, "said": self.said}
        return {name: [*map(str, found)] for name, found in notes.items()}

    def add(self, passed: Mapping[str, Sequence[str]]) -> None:
        """Note what was passed over elsewhere."""
        self.other.extend(map(Path, passed["other"]))
        self.empty.extend(map(Path, passed["empty"]))
        self.bad.extend(map(Bad, passed["bad"]))
        self.left.extend(passed["left"])
        self.said.extend(passed.get("said", ()))  # work folders of older versions have none

    def add_others(self, entries: Iterable[Path], read: Iterable[Path]) -> None:
        """Note the files of a folder that are not among those read; what only describes it (README) is none of them."""
        files = (entry for entry in entries if entry.is_file() and not entry.name.upper().startswith("README"))
        known = set(read)
        self.other.extend(entry for entry in files if entry not in known)

    def worded(self, documents: list[tuple[Path, Document]]) -> list[tuple[Path, Document]]:
        """Without the files whose documents have no word, which are noted; all, where that is an error later."""
        worded = {path for path, document in documents if has_word(document.text, 0, len(document.text))}
        if not worded:
            return documents
        self.empty.extend(dict.fromkeys(path for path, _ in documents if path not in worded))
        return [(path, document) for path, document in documents if path in worded]

    def check_some(self, any_read: bool) -> None:
        """Raise what is wrong with files given one by one, all of it, where none could be read."""
        if self.bad and not any_read:
            alone = len(self.bad) == 1
            raise ValueError(self.bad[0] if alone else "\n".join(["None of the files can be read.", *self.bad]))

    def warn(self, kinds: Iterable[str], kept: int = 0, stacklevel: int = 2) -> None:
        """Warn in a line of the files left out, and of what is bad in another, or in one for each file given."""
        for said in (*self.said, *self.left):
            warnings.warn(said, SkippedWarning, stacklevel=stacklevel + 1)
        sorts = [
            f"{len(paths)} {'file' if len(paths) == 1 else 'files'} {what} ({_some(paths, 3, ', ', ' and')})"
            for paths, what in ((self.other, "of another kind"), (self.empty, "without text"))
            if paths
        ]
        if sorts:
            read = f" Documents are {', '.join(kinds)}." if self.other else ""
            warnings.warn(f"Left out {' and '.join(sorts)}.{read}", SkippedWarning, stacklevel=stacklevel + 1)
        if self.path == Path():  # files given one by one
            for said in self.bad:
                warnings.warn(f"Skipped: {said}", SkippedWarning, stacklevel=stacklevel + 1)
        elif self.bad:
            skipped = f"{self.path}: skipped {len(self.bad)} that could not be read, kept {kept} clusters. "
            warnings.warn(skipped + _some(self.bad, 5, "; ", "; and"), SkippedWarning, stacklevel=stacklevel + 1)


def _some(all_: Sequence[object], most: int, between: str, last: str) -> str:
    more = f"{last} {len(all_) - most} more" if len(all_) > most else ""
    return between.join(map(str, all_[:most])) + more
