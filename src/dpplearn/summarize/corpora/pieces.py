"""A corpus in pieces: stretches of it that anyone can read alone, cut in the same places whoever does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.source import Source
from dpplearn.summarize.text.words import normal_language

SINGLES = 64  # pieces of one cluster that a corpus begins with
CLUSTERS = 10  # that a piece has at most
COMPARED = 5_000  # sentences of a cluster that can be learned from


class Entry(NamedTuple):
    """A cluster on its way: where it stands, what it says of itself, and what is wanted of it."""

    place: int  # in its piece
    line: int | None  # its number, where it has one
    id: str | None
    split: str | None
    language: str | None
    cluster: Cluster | None  # None if it does not count


class Cut(NamedTuple):
    """How a piece is read: a function that finds clusters and the numbers of their lines. It pickles."""

    read: Callable[[Source, Any], Iterable[tuple[Cluster, int | None]]]  # of the source and what is given here
    given: Any
    share: float = 0.0  # of the file that is read by its end; 0 where that is not known


@dataclass(frozen=True)
class Wanted:
    """Which clusters of a corpus count, and which of their references."""

    split: str | None = None
    language: str | None = None  # a cluster that names none is in the one asked for
    only: str | None = None  # references with this in their names
    usable: bool = False  # whether those without a sentence or a reference are left out, and named

    def of(self, cluster: Cluster, source: Source) -> Cluster | None:
        """The cluster, or what is wanted of it; None if it does not count."""
        if self.split is not None and cluster.split != self.split:
            return None
        ours = (None, normal_language(self.language))
        if self.language is not None and normal_language(cluster.language) not in ours:
            return None
        if self.only is not None:
            kept = [k for k, name in enumerate(cluster.reference_ids) if self.only in name]
            references, names = [cluster.references[k] for k in kept], [cluster.reference_ids[k] for k in kept]
            cluster = replace(cluster, references=references, reference_ids=names)
        if self.usable and (lack := lacking(cluster)):
            source.note("left", [f"left out {cluster.name} of {source.path}: {lack}"])
            return None
        return cluster


def lacking(cluster: Cluster) -> str:
    """What a cluster needs to be learned from and scored, and has not."""
    try:
        lacks = [] if cluster.sentences(limit=COMPARED) else ["sentence"]
    except ValueError as error:  # more sentences than can be learned from
        return str(error)
    if not any(reference.strip() for reference in cluster.references):
        lacks.append("reference summary")
    return f"it has no {' and no '.join(lacks)}." if lacks else ""


@dataclass(frozen=True)
class CorpusPiece:
    """A stretch of a corpus, by its number in it."""

    number: int
    cut: Cut
    source: Source
    wanted: Wanted

    def entries(self, notes: Source) -> Iterator[Entry]:
        """All clusters that can be read; what is left out is noted."""
        for place, (cluster, line) in enumerate(self.cut.read(notes, self.cut.given)):
            about = cluster.id, cluster.split, cluster.language
            yield Entry(place, line, *about, self.wanted.of(cluster, notes))


def piece_sizes() -> Iterator[int]:
    """How many clusters the pieces have: one at first, so that there is work for many where the corpus is small."""
    return chain(repeat(1, SINGLES), repeat(CLUSTERS))


def spans(n: int, sizes: Iterator[int]) -> Iterator[tuple[int, int]]:
    """Where the pieces of n clusters begin and end."""
    start = 0
    while start < n:
        end = min(start + next(sizes), n)
        yield start, end
        start = end


def cut_clusters(clusters: Iterable[Cluster], sizes: Iterator[int], total: int | None = None) -> Iterator[Cut]:
    """Clusters that are in memory, or that a reader makes one after the other."""
    left, done = iter(clusters), 0
    while some := tuple(islice(left, next(sizes))):
        done += len(some)
        yield Cut(as_given, some, 0.0 if total is None else done / total)


def as_given(_: Source, clusters: tuple[Cluster, ...]) -> Iterator[tuple[Cluster, None]]:
    """Clusters that travel themselves."""
    return ((cluster, None) for cluster in clusters)
