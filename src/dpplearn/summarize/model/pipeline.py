"""A corpus made ready for training, piece by piece, in a work folder: what is there already is not made again.

1. `read_piece`: read and split a piece once; what it says goes into a record, its sentences into a file beside it.
2. `prepare_piece`: from these sentences to features and oracle extracts, in shards that are ready for the likelihood.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from itertools import compress, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._io.atomic import pack_arrays, read_sealed, write_sealed
from dpplearn._io.jsonfile import read_record, write_record
from dpplearn._io.workfolder import WorkFolder
from dpplearn._run.progress import Progress
from dpplearn._run.workers import Workers
from dpplearn.learning.files import load_shard, shard_arrays
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.cluster import Cluster, Document, Sentence
from dpplearn.summarize.corpora.pieces import CorpusPiece
from dpplearn.summarize.corpora.reading import Census, Corpus, compiled
from dpplearn.summarize.corpora.source import Source
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.quality_features import GENERAL
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, split_cluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.words import normal_language, words

FEW_CLUSTERS = 500  # clusters, up to which instances are held in memory,
SAMPLED = 1000  # clusters whose sentences bins are learned from
IN_MEMORY = 2**26  # and squares of their numbers of sentences: 512 MB of cosines
SHARD = 25  # clusters in a shard at most,
SQUARES = 2**23  # and the sum of the squares of their numbers of sentences: 64 MB of cosines, when they are used
COSINES = np.zeros((1, 1))  # says that a shard's reader makes the cosines of phi


class PieceTask(NamedTuple):
    """What is to be read or, of a piece that was read, prepared, and where the answer goes."""

    given: CorpusPiece | Path
    settings: SummarizerSettings
    out: Path
    dropped: Sequence[int] = ()  # places of clusters whose ids came before
    learned: Path | None = None  # document frequencies and bins, which `prepare_piece` needs


class PreparedShards(NamedTuple):
    """Shards that are ready for the likelihood, and what is known of them."""

    shards: list[Path]
    clusters: int
    sentences: int
    empty: list[str]  # names of clusters without a target
    squares: int  # of the numbers of sentences, added up


def read_piece(task: PieceTask) -> int:
    """Read and split a piece; returns how many clusters there are."""
    piece, settings, out = task.given, task.settings, task.out
    assert isinstance(piece, CorpusPiece)
    notes, counted = piece.source.fresh(), settings.features != GENERAL
    seen, clusters, lines = list[Any](), list[Any](), list[str]()
    for entry in piece.entries(notes):
        seen.append(entry[:5])
        cluster = entry.cluster
        if cluster is None:
            continue
        known = any(map(str.strip, cluster.references))
        has = Counter(word for one in cluster.documents if counted for word in {*words(one.text)})
        language = str(normal_language(cluster.language)) if cluster.language else None
        clusters.append([entry.place, cluster.id, known, language, len(cluster.documents), has])
        # without a reference training is refused: no need to look further
        split = split_cluster(cluster, settings.splitter, MAX_COMPARED).sentences if known else ()
        whole = {one.name: getattr(cluster, one.name) for one in fields(cluster)}
        whole["documents"] = [{**vars(one), "blocks": None} for one in cluster.documents]
        lines.append(json.dumps([entry.place, whole, [[*vars(one).values()] for one in split]]) + "\n")
    write_sealed(out.with_suffix(".jsonl"), "".join(lines).encode())
    record = {"path": str(piece.source.path), "seen": seen, "passed": notes.passed, "clusters": clusters}
    write_record(out, record | {"number": piece.number})
    return len(clusters)


def read_again(record: Path, dropped: Iterable[int]) -> Iterator[SplitCluster]:
    """The clusters of a piece that was read, split as they were."""
    for line in read_sealed(record.with_suffix(".jsonl")).splitlines():
        place, whole, sentences = json.loads(line)
        if place not in dropped:
            cluster = Cluster(**{**whole, "documents": [Document(**one) for one in whole["documents"]]})
            yield SplitCluster.of(cluster, [Sentence(*one) for one in sentences])


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


def prepare_piece(task: PieceTask) -> int:
    """Shards of a piece, with a record of them; returns how many clusters there are."""
    record, settings, out, dropped, learned = task
    assert isinstance(record, Path)
    assert learned is not None
    features, shards, empty, sentences = learned_features(settings, learned), list[list[int]](), list[str](), 0
    some: list[tuple[ItemSet, list[IntArray]]] = []

    def close() -> None:
        """Write a shard, each cluster counting once."""
        X = [items for items, targets in some for _ in targets]
        y = [Y for _, targets in some for Y in targets]
        weights = [1.0 / len(targets) for _, targets in some for _ in targets]
        write_sealed(shard_file(out, len(shards)), pack_arrays(shard_arrays(X, y, weights)))
        shards.append([len(some), sum(items.n**2 for items, _ in some)])
        some.clear()

    for split in read_again(record, dropped):
        reading = features.reading(split)
        rows, F = features.rows(reading), features.matrix(reading)
        given: dict[str, Any] = {"features": F, "names": features.names, "cost": reading.costs(settings.unit)}
        items = ItemSet._with(phi=reading.phi if rows is None else rows, similarity=COSINES, **given)
        targets, sentences = training_targets(reading, settings), sentences + items.n
        empty += [] if any(Y.size for Y in targets) else [split.cluster.name]
        if some and (len(some) == SHARD or sum(one.n**2 for one, _ in some) + items.n**2 > SQUARES):
            close()
        some.append((items, targets))
    if some:
        close()
    n = sum(size for size, _ in shards)
    write_record(out, {"clusters": n, "shards": shards, "sentences": sentences, "empty": empty})
    return n


def shard_file(out: Path, number: int) -> Path:
    """A shard of the piece whose record is `out`."""
    return out.with_name(f"{out.stem}-{number:03d}.npz")


def repeated_places(
    corpus: Corpus, pieces: Iterable[tuple[int, Path, Iterable[Sequence[Any]]]], notes: Source
) -> tuple[Census, dict[int, list[int]]]:
    """Of what was seen in all pieces, the places of clusters whose ids came before; an error unless they are skipped.

    A piece is its number, its path, and of each cluster the place, line, id, split and language.
    """
    census, dropped = Census(), dict[int, list[int]]()
    for number, path, seen in pieces:
        own = Source(path, skip_bad=corpus.skip_bad)
        for place, *said in seen:
            before = len(own.passed)
            with own.tolerate():
                census.see(path, *said)
            if len(own.passed) > before:
                dropped.setdefault(number, []).append(place)
        notes.add(own.passed)
    return census, dropped


class TrainingPipeline:
    """The stages of one training, each over all pieces of a corpus."""

    def __init__(
        self, folder: WorkFolder, workers: Workers, corpus: Corpus, settings: SummarizerSettings, progress: Progress
    ) -> None:
        self.folder, self.workers, self.corpus, self.settings = folder, workers, corpus, settings
        self.progress, self.learned = progress, folder.path / "learned.json"
        self.clusters = self.documents = 0
        self.languages = set[str]()
        self.without = list[tuple[int, str | None]]()  # numbers and ids of clusters without a reference

    def read(self) -> None:
        """Read and split the corpus once: what is known of its clusters, and in how many documents each word is."""
        for old in self.folder.known("read", ".json"):
            if not old.with_suffix(".jsonl").exists():  # its sentences were lost: the piece is read again
                old.unlink()
        self.files, notes = self.corpus.work_through(
            "Reading clusters",
            "read",
            read_piece,
            lambda piece, out: PieceTask(piece, self.settings, out),
            folder=self.folder,
            workers=self.workers,
            progress=self.progress,
            size=lambda out: len(read_record(out)["clusters"]),
        )
        seen = ((one["number"], Path(one["path"]), one["seen"]) for one in map(read_record, self.files))
        repeats = self.corpus.notes()
        census, dropped = repeated_places(self.corpus, seen, repeats)
        self.dropped, counts = [dropped.get(number, []) for number in range(len(self.files))], Counter[str]()
        for one, places in zip(map(read_record, self.files), self.dropped, strict=True):
            notes.add(one["passed"])
            for place, name, known, language, documents, has in one["clusters"]:
                if place in places:
                    continue
                self.without += [] if known else [(self.clusters, name)]
                self.languages |= set() if language is None else {language}
                self.clusters, self.documents = self.clusters + 1, self.documents + documents
                counts.update(has)
        notes.add(repeats.passed)
        census.kept, self.counts = self.clusters, counts
        self.corpus.check(census, notes, stacklevel=5)

    def splits(self) -> Iterator[SplitCluster]:
        """The clusters that training learns from, in order, split as they were."""
        for file, dropped in zip(self.files, self.dropped, strict=True):
            yield from read_again(file, dropped)

    def texts(self, most: int) -> list[str]:
        """The texts of the first documents."""
        return [*islice((one.text for split in self.splits() for one in split.cluster.documents), most)]

    def sample(self, most: int) -> Iterator[SplitCluster]:
        """Clusters of the corpus, drawn by the seed: all of them where there are no more than that."""
        drawn = np.random.default_rng(self.settings.random_state).permutation(self.clusters)[:most]
        return compress(self.splits(), np.isin(np.arange(self.clusters), drawn).tolist())

    def learn(self) -> None:
        """Document frequencies of all, and the edges of bins, quantiles of the sentences of a sample."""
        if self.learned.exists():
            return
        features = self.settings.sentence_features()
        features.idf = Idf(self.documents if features.counts_words else 0, dict(sorted(self.counts.items())))
        features.learn_bins(self.sample(SAMPLED))
        edges = {name: x.tolist() for name, x in features.edges.items()}
        write_record(self.learned, {**vars(features.idf), "edges": edges})

    def features(self) -> SentenceFeatures:
        """The features as they were learned."""
        return learned_features(self.settings, self.learned)

    def prepare(self) -> PreparedShards:
        """Sentences, extracts, features: shards in files."""
        for old in self.folder.known("prepared", ".json"):
            if not all(shard_file(old, j).exists() for j in range(len(read_record(old)["shards"]))):
                old.unlink()  # a shard was lost: its piece is done again
        outs = [self.folder.file("prepared", int(file.stem), ".json") for file in self.files]
        tasks = [
            PieceTask(file, self.settings, out, dropped, self.learned)
            for file, out, dropped in zip(self.files, outs, self.dropped, strict=True)
            if not out.exists()
        ]
        left = {task.out for task in tasks}
        done = sum(read_record(out)["clusters"] for out in outs if out not in left)
        for _, n in self.workers.each(partial(compiled, prepare_piece), tasks):
            done += n
            self.progress.stage("Preparing", done, self.clusters)
        found = PreparedShards([], self.clusters, 0, [], 0)
        for out in outs:
            record = read_record(out)
            found.shards.extend(shard_file(out, j) for j in range(len(record["shards"])))
            found.empty.extend(record["empty"])
            squares = sum(size for _, size in record["shards"])
            found = found._replace(sentences=found.sentences + record["sentences"], squares=found.squares + squares)
        return found


def instances(prepared: PreparedShards) -> tuple[Any, ...]:
    """What is learned from: item sets, targets and weights where they are few, else the files that hold them."""
    if prepared.clusters > FEW_CLUSTERS or prepared.squares > IN_MEMORY:
        return ([str(path) for path in prepared.shards],)
    X, y, weights = list[ItemSet](), list[IntArray](), list[float]()
    for shard in map(load_shard, prepared.shards):
        X += shard.item_sets
        y += shard.subsets
        weights += shard.weights.tolist()
    return X, y, weights
