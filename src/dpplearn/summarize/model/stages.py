"""Training piece by piece, where the clusters lie. What each stage makes of a piece is a file in the work folder.

1. `count`: read a piece; its ids and languages, and in how many documents each word is.
2. `prepare`: sentences, similarity features, oracle extracts, and the numbers behind the quality features.
3. `count_digits`: for exact quantiles of these numbers over all pieces (`dpplearn.summarize.model.quantiles`).
4. `bin_shard`: the quality features; a shard is then ready for the likelihood.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._io.atomic import pack_arrays, read_sealed, unpack_arrays, write_sealed
from dpplearn._io.workfolder import read_record, write_record
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.parts import Part
from dpplearn.learning.storage.shards import add_features, pointers, save_without_features
from dpplearn.summarize.corpora.pieces import Piece
from dpplearn.summarize.model.features import Draft
from dpplearn.summarize.model.quantiles import Counts, Question
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, split_cluster
from dpplearn.summarize.model.targets import training_targets
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.matching import normal_language
from dpplearn.summarize.text.words import words

SHARD = 25  # clusters in a shard at most,
SQUARES = 2**23  # and the sum of the squares of their numbers of sentences: 64 MB of cosines, when they are used
NOTHING = np.zeros((1, 1))


class Asked(NamedTuple):
    """A piece, what is to be done with it, and where the answer goes; `learned` is what stages before have found."""

    piece: Piece
    settings: SummarizerSettings
    out: Path
    learned: Path | None = None


def count(asked: Asked) -> int:
    """Read a piece, and write what must be known of all before any is prepared; returns how many clusters count."""
    piece, settings, out, _ = asked
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
def read_idf(path: Path, _: int) -> Idf:
    """The document frequencies of all pieces, kept in a worker for the next."""
    found = read_record(path)
    return Idf(found["documents"], found["counts"])


def prepare(asked: Asked) -> int:
    """Shards of a piece, without quality features yet, and the numbers that these are made of; how many clusters."""
    piece, settings, out, learned = asked
    features = settings.sentence_features()
    assert learned is not None  # document frequencies
    features.idf = read_idf(learned, learned.stat().st_mtime_ns)
    shards: list[list[int]] = []
    empty: list[str] = []
    some: list[Drafted] = []
    sentences = 0
    for cluster in piece.clusters():
        one = features.draft(split_cluster(cluster, settings.splitter, MAX_COMPARED))
        sentences += len(one.reading)
        if settings.compress:
            one = features.draft_forms(one, settings.language)
        made = Drafted(one, features.parts(one.reading), training_targets(one.reading, settings))
        if not any(Y.size for Y in made.targets):
            empty.append(cluster.name)
        if some and (len(some) == SHARD or squares([*some, made]) > SQUARES):
            shards.append(write_shard(some, settings, out, len(shards)))
            some = []
        some.append(made)
    if some:
        shards.append(write_shard(some, settings, out, len(shards)))
    n = sum(size for size, _ in shards)
    width = None if features.meaning is None else features.meaning.width
    write_record(out, {"clusters": n, "shards": shards, "sentences": sentences, "empty": empty, "width": width})
    return n


class Drafted(NamedTuple):
    """A cluster before bins are known, what its sentences are alike by, and the extracts that it is an example of."""

    draft: Draft
    parts: tuple[Part, ...]
    targets: list[IntArray]


def squares(some: list[Drafted]) -> int:
    return sum(len(one.draft.reading) ** 2 for one in some)


def write_shard(some: list[Drafted], settings: SummarizerSettings, out: Path, number: int) -> list[int]:
    """Items with their targets in one file, the numbers behind their features in another; how many, and how large."""
    X, y, weights = [], [], []
    for draft, parts, targets in some:
        n = len(draft.reading)
        given: dict[str, Any] = {"features": np.zeros((n, 1)), "cost": draft.reading.costs(settings.unit)}
        if len(parts) > 1:
            items = ItemSet._of(**given, names=None, parts=parts)
        else:  # cosines are made of phi again, where they are few
            phi, C = parts[0].phi if parts else draft.reading.phi, NOTHING if n <= MAX_COMPARED else None
            items = ItemSet._of(**given, names=None, phi=phi, similarity=C)
        X += [items] * len(targets)
        y += targets
        weights += [1.0 / len(targets)] * len(targets)
    blocks = [np.column_stack([*values.values()]) for one in some for values in one.draft.values]
    rows = [np.arange(len(d.reading)) if d.rows is None else d.rows for d, _, _ in some]
    items_file, values_file = files_of(out, number)
    values = {
        "values": np.concatenate(blocks),
        "block_ptr": pointers(map(len, blocks)),
        "blocks": pointers(len(one.draft.values) for one in some),
        "rows": np.concatenate(rows),
        "row_ptr": pointers(map(len, rows)),
    }
    write_sealed(values_file, pack_arrays(values))
    save_without_features(items_file, X, y, weights)
    return [len(some), squares(some)]


def files_of(out: Path, number: int) -> tuple[Path, Path]:
    """The items and the values of a shard of the piece whose record is `out`."""
    name = f"{out.stem}-{number:03d}"
    return out.with_name(f"{name}.items.npz"), out.with_name(f"{name}.values.npz")


class Counting(NamedTuple):
    """A question about the values of some shards."""

    files: list[Path]
    settings: SummarizerSettings
    question: Question


def count_digits(asked: Counting) -> Counts:
    """The counts of the sentences' own values, those of their shorter forms left out."""
    names = [entry.name for entry in asked.settings.sentence_features().entries]
    values = all_values(tuple((path, path.stat().st_mtime_ns) for path in asked.files))
    return asked.question.answer({name: values[:, names.index(name)] for name in asked.question.begins})


@lru_cache(maxsize=1)
def all_values(files: tuple[tuple[Path, int], ...]) -> FloatArray:
    """Those of some files, kept in a worker for the next question."""
    return np.concatenate([whole_values(path) for path, _ in files])


def whole_values(path: Path) -> FloatArray:
    """The rows of the first block of every cluster."""
    found = unpack_arrays(read_sealed(path))
    values, ends, blocks = found["values"], found["block_ptr"], found["blocks"]
    return np.concatenate([values[ends[b] : ends[b + 1]] for b in blocks[:-1]])


class Binning(NamedTuple):
    """A shard whose features are to be made, and where it goes."""

    items: Path
    values: Path
    settings: SummarizerSettings
    edges: dict[str, list[float]]
    out: Path


def bin_shard(asked: Binning) -> None:
    """A shard with its quality features, in place of what it was made of."""
    if asked.out.exists():  # done by a worker that was lost before it could say so
        return
    features = asked.settings.sentence_features()
    features.edges = {name: np.array(edges) for name, edges in asked.edges.items()}
    names = [entry.name for entry in features.entries]
    found = unpack_arrays(read_sealed(asked.values))
    values, ends, blocks, rows, row_ptr = (found[x] for x in ("values", "block_ptr", "blocks", "rows", "row_ptr"))
    made = []
    for t, (first, last) in enumerate(pairwise(blocks.tolist())):
        each = (np.ascontiguousarray(values[ends[b] : ends[b + 1]].T) for b in range(first, last))
        own = rows[row_ptr[t] : row_ptr[t + 1]]
        blocks_of = [features.columns_of(dict(zip(names, one, strict=True))) for one in each]
        made.append(np.concatenate(blocks_of)[own])
    add_features(asked.items, asked.out, np.concatenate(made), features.names)
    for path in (asked.items, asked.values):  # the shard is whole: what it was made of only takes room
        path.unlink(missing_ok=True)
