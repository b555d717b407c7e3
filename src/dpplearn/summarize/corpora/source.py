"""Where clusters are read from, and what was not read there: said, so that nobody takes it for read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.text.characters import has_word


class SkippedWarning(UserWarning):
    """Files or parts of a corpus were not read, or hold nothing to read, and were skipped."""


_SHOWN_FILES, _SHOWN_PROBLEMS = 3, 5  # named of each sort


@dataclass(frozen=True)
class PassedOver:
    """What reading has passed over so far: files of kinds that are not read, files without a word, and bad parts."""

    other: list[Path] = field(default_factory=list)
    empty: list[Path] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    def add_others(self, entries: Iterable[Path], read: Iterable[Path]) -> None:
        """Note the files of a folder that are not among those read; what only describes it (README) is none of them."""
        known = set(read)
        self.other.extend(
            entry
            for entry in entries
            if entry.is_file() and entry not in known and not entry.name.upper().startswith("README")
        )

    def add_empty(self, documents: list[tuple[Path, Document]]) -> None:
        """Note the files whose documents have no word, unless all are so, which is an error where they are used."""
        worded = {path for path, document in documents if has_word(document.text, 0, len(document.text))}
        if worded:
            self.empty.extend(dict.fromkeys(path for path, _ in documents if path not in worded))

    def warn(self, kinds: Iterable[str], stacklevel: int = 2) -> None:
        """Warn in one line, with the first few names."""
        sorts = [
            f"{len(paths)} {'file' if len(paths) == 1 else 'files'} {what} ({_some(paths, _SHOWN_FILES, ', ', ' and')})"
            for paths, what in ((self.other, "of another kind"), (self.empty, "without text"))
            if paths
        ]
        if sorts:
            read = f" Documents are {', '.join(kinds)}." if self.other else ""
            warnings.warn(f"Left out {' and '.join(sorts)}.{read}", SkippedWarning, stacklevel=stacklevel + 1)

    def warn_of_bad(self, path: Path, kept: int, stacklevel: int = 2) -> None:
        """Warn in one line of the parts that could not be read, with the first few problems."""
        if self.bad:
            warnings.warn(
                f"{path}: skipped {len(self.bad)} that could not be read, kept {kept} clusters. "
                + _some(self.bad, _SHOWN_PROBLEMS, "; ", "; and"),
                SkippedWarning,
                stacklevel=stacklevel + 1,
            )


def _some(all_: Sequence[object], most: int, between: str, last: str) -> str:
    more = f"{last} {len(all_) - most} more" if len(all_) > most else ""
    return between.join(map(str, all_[:most])) + more


@dataclass(frozen=True)
class Source:
    """What a reader of corpora is given.

    Parameters
    ----------
    path : Path
        A file or a folder.
    encoding : str, optional
        Of its texts; UTF-8 unless a file says otherwise.
    references : Path, optional
        Where reference summaries are, if not under `path`.
    skip_bad : bool
        Whether to go on past what cannot be read.
    passed_over : PassedOver
        To be told of what was not read.
    """

    path: Path
    encoding: str | None = None
    references: Path | None = None
    skip_bad: bool = False
    passed_over: PassedOver = field(default_factory=PassedOver)

    @contextmanager
    def tolerate(self, before: str = "") -> Iterator[None]:
        """Note an error in what is read here instead of raising it, if bad parts are to be skipped."""
        try:
            yield
        except (ValueError, OSError) as error:
            if not self.skip_bad:
                raise
            self.passed_over.bad.append(f"{before}{error}")
