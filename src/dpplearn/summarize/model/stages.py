"""What training does with one piece of a corpus, in whatever process; the answer is a file in the work folder.

1. `count`: read a piece; its ids and languages, and in how many documents each word is.
2. `prepare`: sentences, features and oracle extracts, in shards that are ready for the likelihood.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._io.atomic import pack_arrays, write_sealed
from dpplearn._io.workfolder import read_record, write_record
from dpplearn.learning.files import shard_arrays
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.pieces import Piece
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, split_cluster
from dpplearn.summarize.model.targets import training_targets
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.matching import normal_language
from dpplearn.summarize.text.words import words

SHARD = 25  # clusters in a shard at most,
SQUARES = 2**23  # and the sum of the squares of their numbers of sentences: 64 MB of cosines, when they are used
COSINES = np.zeros((1, 1))  # says that a shard's reader makes the cosines of phi


class PieceTask(NamedTuple):
    """A piece, what is to be done with it, and where the answer goes."""

    piece: Piece
    settings: SummarizerSettings
    out: Path
    learned: Path | None = None  # document frequencies and bins, which `prepare` needs


def count(task: PieceTask) -> int:
    """Read a piece, and write what must be known of all before any is prepared; returns how many clusters count."""
    piece, settings, out, _ = task
    notes, counts, n, documents = piece.source.fresh(), Counter[str](), 0, 0
    counted = settings.sentence_features().counts_words
    seen: list[Any] = []
    without: list[Any] = []
    languages: set[str] = set()
    for entry in piece.entries(notes):
        one = entry.cluster
        seen.append([entry.place, entry.line, one.id, one.split, one.language])
        cluster = piece.wanted.of(one, notes)
        if cluster is None:
            continue
        if not any(map(str.strip, cluster.references)):
            without.append([n, cluster.id])
        languages |= {str(normal_language(cluster.language))} if cluster.language else set()
        for document in cluster.documents if counted else ():
            counts.update(set(words(document.text)))
        n, documents = n + 1, documents + len(cluster.documents)
    found: dict[str, Any] = {"path": str(piece.source.path), "clusters": n, "documents": documents, "words": counts}
    found |= {"seen": seen, "without": without, "languages": sorted(languages), "passed": notes.passed}
    found["dropped"] = bool(piece.dropped)  # whether clusters were left out of it
    write_record(out, found)
    return n


@lru_cache(maxsize=1)
def read_learned(path: Path, _: int) -> tuple[Idf, dict[str, FloatArray]]:
    """Document frequencies and bins, kept in a worker for the next piece."""
    found = read_record(path)
    return Idf(found["documents"], found["counts"]), {name: np.array(x) for name, x in found["edges"].items()}


def learned_features(settings: SummarizerSettings, path: Path) -> SentenceFeatures:
    """The features as they were learned from all pieces."""
    features = settings.sentence_features()
    features.idf, features.edges = read_learned(path, path.stat().st_mtime_ns)
    return features


class Instance(NamedTuple):
    """A cluster's items, and the extracts that it is an example of."""

    items: ItemSet
    targets: list[IntArray]


def prepare(task: PieceTask) -> int:
    """Shards of a piece, with a record of them; returns how many clusters there are."""
    piece, settings, out, learned = task
    assert learned is not None
    features = learned_features(settings, learned)
    shards: list[list[int]] = []
    empty: list[str] = []
    some: list[Instance] = []
    sentences = 0
    for cluster in piece.clusters():
        reading = features.reading(split_cluster(cluster, settings.splitter, MAX_COMPARED))
        rows, F = features.rows(reading), features.columns_of(features.values(reading))
        given: dict[str, Any] = {"features": F, "names": features.names, "cost": reading.costs(settings.unit)}
        items = ItemSet._of(phi=reading.phi if rows is None else rows, similarity=COSINES, **given)
        made = Instance(items, training_targets(reading, settings))
        sentences += items.n
        if not any(Y.size for Y in made.targets):
            empty.append(cluster.name)
        if some and (len(some) == SHARD or squares([*some, made]) > SQUARES):
            shards.append(write_shard(some, shard_file(out, len(shards))))
            some = []
        some.append(made)
    if some:
        shards.append(write_shard(some, shard_file(out, len(shards))))
    n = sum(size for size, _ in shards)
    width = None if features.meaning is None else features.meaning.width
    write_record(out, {"clusters": n, "shards": shards, "sentences": sentences, "empty": empty, "width": width})
    return n


def squares(some: list[Instance]) -> int:
    return sum(one.items.n**2 for one in some)


def write_shard(some: list[Instance], path: Path) -> list[int]:
    """Items with their targets in one file, each cluster counting once; how many clusters, and how large they are."""
    X = [items for items, targets in some for _ in targets]
    weights = [1.0 / len(targets) for _, targets in some for _ in targets]
    write_sealed(path, pack_arrays(shard_arrays(X, [Y for _, targets in some for Y in targets], weights)))
    return [len(some), squares(some)]


def shard_file(out: Path, number: int) -> Path:
    """A shard of the piece whose record is `out`."""
    return out.with_name(f"{out.stem}-{number:03d}.npz")
