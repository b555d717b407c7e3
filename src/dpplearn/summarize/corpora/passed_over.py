"""Files in a folder of documents from which no sentence comes: said, so that nobody takes them for read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.text.characters import has_word


class SkippedWarning(UserWarning):
    """Files or parts of a corpus were not read, or hold nothing to read, and were skipped."""


_SHOWN = 3  # files named of each sort


@dataclass(frozen=True)
class LeftOut:
    """What reading files has passed over so far: those of kinds that are not read, and those without a word."""

    other: list[Path] = field(default_factory=list)
    empty: list[Path] = field(default_factory=list)

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
            f"{len(paths)} {'file' if len(paths) == 1 else 'files'} {what} ({_some(paths)})"
            for paths, what in ((self.other, "of another kind"), (self.empty, "without text"))
            if paths
        ]
        if sorts:
            read = f" Documents are {', '.join(kinds)}." if self.other else ""
            warnings.warn(f"Left out {' and '.join(sorts)}.{read}", SkippedWarning, stacklevel=stacklevel + 1)


def _some(paths: list[Path]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(map(str, paths[:_SHOWN])) + more
