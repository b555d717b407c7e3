"""Where clusters are read from, with notes of what was left out, and the pieces of a corpus that workers read alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._checks import count_of
from dpplearn.summarize.corpora.cluster import Cluster, first_few
from dpplearn.summarize.text.words import normal_language

SINGLES = 64  # pieces at the start of a corpus with one cluster each, so that a small corpus is work for many, too
CLUSTERS = 10  # the most in a piece
PIECE_BYTES = 2**24  # of lines after which a piece ends
MOST_SENTENCES = 5_000  # of a cluster that can be learned from


class SkippedWarning(UserWarning):
    """Files or parts of a corpus were not read, hold nothing to read, or are not what their names say."""


class BadClusterError(ValueError):
    """An error in a cluster, with the id of the cluster if it could be read."""

    def __init__(self, message: str, name: str | None = None) -> None:  # unpickled with the message alone
        super().__init__(message)
        self.id = name


class Omission(NamedTuple):
    """Something that was not read, or a remark of a reader.

    The kind is "other" (a file of a kind that is not read), "empty" (a file without a word), "bad", "left" (a cluster
    of no use), "language" (the language of one that is in another), or "said" (a remark).
    """

    kind: str
    text: str  # the path of a file, or what is wrong
    id: str | None = None  # of a cluster that is bad, where it is known


@dataclass(frozen=True)
class Source:
    """A place to read from, how to read it, and what was left out so far."""

    path: Path  # a file or a folder
    encoding: str | None = None  # UTF-8, unless a file says otherwise
    references: Path | None = None  # where reference summaries are, if not under the path
    skip_bad: bool = False  # whether to go on past what cannot be read
    language: str | None = None  # of the clusters that count; one that names none is in the one asked for
    usable: bool = False  # whether clusters without a sentence or a reference are left out, and named
    omissions: list[Omission] = field(default_factory=list)

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
            self.omissions.append(Omission("bad", message, getattr(error, "id", None)))

    def wants(self, cluster: Cluster) -> bool:
        """Whether a cluster counts; if not, the reason is noted."""
        if self.language and normal_language(cluster.language) not in (None, normal_language(self.language)):
            self.note("language", [cluster.language])
            return False
        if lack := what_lacks(cluster) if self.usable else "":
            self.note("left", [f"left out {cluster.name} of {self.path}: {lack}"])
        return not lack

    def note(self, kind: str, texts: Iterable[object]) -> None:
        """Note things of one kind."""
        self.omissions.extend(Omission(kind, str(text)) for text in texts)

    def note_others(self, entries: Iterable[Path], read: Iterable[Path]) -> None:
        """Note the files of a folder that were not read, but for a README, which only describes it."""
        others = set(entries) - set(read)
        self.note("other", sorted(path for path in others if path.is_file() and not is_readme(path)))

    def noted(self, kind: str) -> list[str]:
        """What was noted of a kind."""
        return [omission.text for omission in self.omissions if omission.kind == kind]

    def add(self, omissions: Iterable[Sequence[Any]]) -> None:
        """Note what was left out elsewhere."""
        self.omissions.extend(Omission(*omission) for omission in omissions)

    def fresh(self) -> Source:
        """The same place, with nothing noted yet."""
        return replace(self, omissions=[])

    def warn(self, kinds: Iterable[str], kept: int = 0, stacklevel: int = 2) -> None:
        """Warn in one line of the files left out, and in another, or one for each file, of what could not be read."""
        bad, other, empty = map(self.noted, ("bad", "other", "empty"))
        messages = self.noted("said") + self.noted("left")
        left_out = [
            f"{count_of(len(paths), 'file', 'files')} {what} ({first_few(paths, 3)})"
            for paths, what in ((other, "of another kind"), (empty, "without text"))
            if paths
        ]
        if left_out:
            messages.append(f"Left out {' and '.join(left_out)}." + f" Documents are {', '.join(kinds)}." * bool(other))
        if self.path == Path():  # files given one by one
            messages += [f"Skipped: {message}" for message in bad]
        elif bad:
            skipped = f"{self.path}: skipped {len(bad)} that could not be read, kept {kept} clusters. "
            messages.append(skipped + first_few(bad, between="; "))
        for message in messages:
            warnings.warn(message, SkippedWarning, stacklevel=stacklevel + 1)


def is_readme(path: Path) -> bool:
    """Whether a file only describes a folder."""
    return path.name.upper().startswith("README")


def what_lacks(cluster: Cluster) -> str:
    """What a cluster lacks to be learned from and scored, in words; "" if it lacks nothing."""
    try:
        lacks = [] if cluster.sentences(limit=MOST_SENTENCES) else ["sentence"]
    except ValueError as error:  # more sentences than can be learned from
        return str(error)
    if not any(reference.strip() for reference in cluster.references):
        lacks.append("reference summary")
    return f"it has no {' and no '.join(lacks)}." if lacks else ""


class Entry(NamedTuple):
    """A cluster that was read, and where it stands."""

    place: int  # in its piece
    line: int | None  # its number, where it has one
    id: str | None
    cluster: Cluster | None  # None if it does not count


class Item(NamedTuple):
    """A folder, a line of a file or a cluster itself: what a worker is sent to read clusters from."""

    content: Any
    size: int = 0  # bytes
    share: float = 0.0  # of the file or folder that is read by its end; 0 where that is not known


@dataclass(frozen=True)
class CorpusPiece:
    """A stretch of a corpus, by its number in it, and the function that finds clusters, and their lines, in an item."""

    number: int
    source: Source
    read: Callable[[Source, Any], Iterable[tuple[Cluster, int | None]]]
    items: Sequence[Any]
    share: float  # of the corpus that is read by its end; 0 where that is not known

    def entries(self, notes: Source) -> Iterator[Entry]:
        """All clusters that can be read; what is left out is noted."""
        clusters = chain.from_iterable(self.read(notes, item) for item in self.items)
        for place, (cluster, line) in enumerate(clusters):
            yield Entry(place, line, cluster.id, cluster if notes.wants(cluster) else None)


def next_items(items: Iterator[Item], number: int) -> list[Item]:
    """The items of the piece of this number: one for each of the first pieces, and few if they are large."""
    piece, most = list[Item](), CLUSTERS if number >= SINGLES else 1
    while len(piece) < most and sum(item.size for item in piece) < PIECE_BYTES and (item := next(items, None)):
        piece.append(item)
    return piece
