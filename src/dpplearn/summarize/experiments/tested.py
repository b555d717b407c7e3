"""The clusters that systems are compared on: what is kept of each, while its documents stay where they lie."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dpplearn._run.workers import Here, Workers
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.mismatch import language_of
from dpplearn.summarize.corpora.pieces import Piece
from dpplearn.summarize.corpora.reading import Corpus
from dpplearn.summarize.model.pipeline import repeated_places
from dpplearn.summarize.text.words import words


class Known(NamedTuple):
    """What is kept of a cluster: its id and references, its languages, and what tells it and its documents apart."""

    id: str
    references: tuple[str, ...]
    language: str | None  # as it says
    seems: str | None  # as it says, or as its text has it
    digest: str
    documents: tuple[tuple[str, str], ...]  # their ids, and digests of their words
    piece: int = -1
    place: int = -1  # among all that its piece holds


@dataclass(frozen=True)
class Tested:
    """Clusters with ids that differ and with references, and the corpus without all others."""

    corpus: Corpus
    clusters: list[Known] = field(repr=False)

    def pieces(self) -> Iterator[tuple[Piece, list[Known]]]:
        """The pieces that hold any, with what is known of their clusters, in order."""
        by_piece: dict[int, list[Known]] = {}
        for one in self.clusters:
            by_piece.setdefault(one.piece, []).append(one)
        for piece in self.corpus.pieces(self.corpus.notes()):
            if piece.number in by_piece:
                yield piece, by_piece[piece.number]

    def only(self, keep: Callable[[Known], bool]) -> Tested:
        """Some of the clusters."""
        kept = [one for one in self.clusters if keep(one)]
        dropped = {number: set(places) for number, places in self.corpus.dropped.items()}
        for one in self.clusters:
            if not keep(one):
                dropped.setdefault(one.piece, set()).add(one.place)
        return Tested(replace(self.corpus, dropped=dropped), kept)

    @property
    def digests(self) -> list[str]:
        return [one.digest for one in self.clusters]


class Look(NamedTuple):
    """What is seen of a piece: every cluster's line, id, split and language, those that count, and what was passed."""

    seen: list[tuple[int, int | None, str | None, str | None, str | None]]  # after the place of each
    known: list[tuple[Known, bool]]  # whether it has a reference
    passed: dict[str, list[str]]


def look(piece: Piece) -> Look:
    """Read a piece, and keep what is needed of it."""
    notes, seen, known = piece.source.fresh(), [], []
    for entry in piece.entries(notes):
        one = entry.cluster
        seen.append((entry.place, entry.line, one.id, one.split, one.language))
        cluster = piece.wanted.of(one, notes)
        if cluster is not None:
            known.append((known_of(cluster, entry.place), any(map(str.strip, cluster.references))))
    return Look(seen, known, notes.passed)


def known_of(cluster: Cluster, place: int) -> Known:
    documents = tuple((document.id, digest(words(document.text))) for document in cluster.documents)
    whole = [[d.id, d.title, d.date, d.role, d.text] for d in cluster.documents]
    told = digest([cluster.id, cluster.language, whole, list(cluster.references)])
    name, said = cluster.id, cluster.language
    return Known(
        "" if name is None else name, tuple(cluster.references), said, language_of(cluster), told, documents, -1, place
    )


def digest(value: Any) -> str:
    """Thirty-two hexadecimal digits that change with any part of a value; none for nothing."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32] if value else ""


def look_over(corpus: Corpus, what: str, workers: Workers | None = None) -> Tested:
    """Read a corpus once; clusters without references are left out and named in a warning."""
    notes, repeats = corpus.notes(), corpus.notes()
    looks = sorted((workers or Here()).each(look, corpus.pieces(notes)), key=lambda pair: pair[0].number)
    seen = ((piece.number, piece.source.path, found.seen) for piece, found in looks)
    census, places = repeated_places(corpus, seen, repeats)
    dropped = {number: set(some) for number, some in places.items()}
    all_ = list[tuple[Known, bool]]()
    for piece, found in looks:
        notes.add(found.passed)
        bad = dropped.get(piece.number, ())
        all_ += [(one._replace(piece=piece.number), has) for one, has in found.known if one.place not in bad]
    notes.bad.extend(repeats.bad)
    census.kept = len(all_)
    corpus.check(census, notes, stacklevel=4)
    named = [(one._replace(id=one.id or str(n)), has) for n, (one, has) in enumerate(all_, 1)]
    repeated = [name for name, count in Counter(one.id for one, _ in named).items() if count > 1]
    if repeated:
        raise ValueError(
            f"Ids of clusters must differ, but in {what} {repeated[0]!r} occurs more than once"
            f"{f' (and {len(repeated) - 1} others too)' if len(repeated) > 1 else ''}. Rename them."
        )
    without = [one for one, has in named if not has]
    if len(without) == len(named):
        raise ValueError(f"No cluster of {what} has a reference summary, so there is nothing to score against.")
    if without:
        some = ", ".join(one.id for one in without[:5]) + (", ..." if len(without) > 5 else "")
        warnings.warn(f"{what}: left out, without references: {some} ({len(without)} clusters).", stacklevel=2)
    for one in without:
        dropped.setdefault(one.piece, set()).add(one.place)
    return Tested(replace(corpus, dropped=dropped), [one for one, has in named if has])
