"""A corpus made ready for training, piece by piece, in a work folder: what is there already is not made again.

1. `read_piece`: read and split a piece once; what it says goes into a record, its sentences into a file beside it.
2. `prepare_piece`: from these sentences to features and oracle extracts, in shards that are ready for the likelihood.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from itertools import compress, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import FloatArray, IntArray
from dpplearn._io.atomic import write_whole
from dpplearn._io.jsonfile import read_record, write_record
from dpplearn._io.workfolder import WorkFolder
from dpplearn._run.progress import Progress
from dpplearn._run.workers import Workers
from dpplearn.learning.files import save_shard
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.cluster import Cluster, Document, Sentence
from dpplearn.summarize.corpora.reading import Census, Corpus, compiled
from dpplearn.summarize.corpora.source import CorpusPiece, Source
from dpplearn.summarize.model.features import Featurized, SentenceFeatures
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.quality_features import GENERAL
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, split_cluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.words import normal_language, words

SAMPLED = 1000  # clusters whose sentences bins are learned from
SHARD = 25  # clusters in a shard at most,
SQUARES = 2**23  # and the sum of the squares of their numbers of sentences: 64 MB of cosines, when they are used


class PreparedShards(NamedTuple):
    """Shards that are ready for the likelihood, and what is known of them."""

    shards: list[str]
    sentences: int
    empty: list[str]  # names of clusters without a target


class TrainingExample(NamedTuple):
    """A cluster, its items with their costs, and the extracts that it is an example of, together counting once."""

    read: Featurized
    items: ItemSet
    targets: list[IntArray]


def example_of(features: SentenceFeatures, split: SplitCluster, settings: SummarizerSettings) -> TrainingExample:
    """A cluster with its items and extracts."""
    read = features.featurized(split)
    return TrainingExample(read, read.item_set(settings.unit), training_targets(read, settings))


def flat(examples: Sequence[TrainingExample]) -> tuple[list[ItemSet], list[IntArray], list[float]]:
    """Each cluster's items with each of its targets, and weights that make every cluster count once."""
    pairs = [(example, Y) for example in examples for Y in example.targets]
    return [one.items for one, _ in pairs], [Y for _, Y in pairs], [1.0 / len(one.targets) for one, _ in pairs]


def read_piece(piece: CorpusPiece, out: Path, settings: SummarizerSettings) -> int:
    """Read and split a piece; returns how many clusters there are."""
    notes, counted = piece.source.fresh(), settings.features != GENERAL
    clusters, lines = list[Any](), list[str]()
    for entry in piece.entries(notes):
        cluster, about = entry.cluster, None
        if cluster is not None:
            known = any(map(str.strip, cluster.references))
            has = Counter(word for one in cluster.documents if counted for word in {*words(one.text)})
            language = str(normal_language(cluster.language)) if cluster.language else None
            about = [known, language, len(cluster.documents), has]
            # without a reference training is refused: no need to look further
            split = split_cluster(cluster, MAX_COMPARED).sentences if known else ()
            whole = {one.name: getattr(cluster, one.name) for one in fields(cluster)}
            whole["documents"] = [{**vars(one), "blocks": None} for one in cluster.documents]
            lines.append(json.dumps([entry.place, whole, [[*vars(one).values()] for one in split]]) + "\n")
        clusters.append([*entry[:3], about])
    write_whole(out.with_suffix(".jsonl"), "".join(lines).encode())
    write_record(out, {"path": str(piece.source.path), "passed": notes.passed, "clusters": clusters})
    return len(lines)


def read_again(record: Path, kept: Collection[int]) -> Iterator[SplitCluster]:
    """The clusters of a piece that was read, split as they were."""
    for line in record.with_suffix(".jsonl").read_bytes().splitlines():
        place, whole, sentences = json.loads(line)
        if place in kept:
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


def prepare_piece(record: Path, out: Path, kept: Sequence[int], settings: SummarizerSettings, learned: Path) -> int:
    """Shards of a piece, of which those clusters count, with a record of them; returns how many clusters there are."""
    features, shards, empty, sentences = learned_features(settings, learned), 0, list[str](), 0
    some: list[TrainingExample] = []

    def close() -> None:
        nonlocal shards
        save_shard(shard_file(out, shards), *flat(some))
        shards += 1
        some.clear()

    for split in read_again(record, kept):
        example = example_of(features, split, settings)
        sentences += len(split)
        empty += [] if any(Y.size for Y in example.targets) else [split.cluster.name]
        if some and (len(some) == SHARD or sum(len(one.read) ** 2 for one in (*some, example)) > SQUARES):
            close()
        some.append(example)
    if some:
        close()
    write_record(out, {"shards": shards, "sentences": sentences, "empty": empty})
    return len(kept)


def shard_file(out: Path, number: int) -> Path:
    """A shard of the piece whose record is `out`."""
    return out.with_name(f"{out.stem}-{number:03d}.npz")


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
            (self.settings,),
            folder=self.folder,
            workers=self.workers,
            progress=self.progress,
            size=lambda out: len(read_record(out)["clusters"]),
        )
        census, self.kept, self.counts = Census(), list[list[int]](), Counter[str]()
        for record in map(read_record, self.files):
            own, kept = Source(Path(record["path"]), skip_bad=self.corpus.skip_bad), list[int]()
            own.add(record["passed"])
            for place, line, name, about in record["clusters"]:
                with own.tolerate():
                    census.see(own.path, line, name)
                    if about is not None:
                        known, language, documents, has = about
                        self.without += [] if known else [(census.kept, name)]
                        self.languages |= set() if language is None else {language}
                        self.documents += documents
                        self.counts.update(has)
                        census.kept += 1
                        kept.append(place)
            self.kept.append(kept)
            notes.add(own.passed)
        self.clusters = census.kept
        self.corpus.check(census, notes, stacklevel=5)

    def splits(self) -> Iterator[SplitCluster]:
        """The clusters that training learns from, in order, split as they were."""
        for file, kept in zip(self.files, self.kept, strict=True):
            yield from read_again(file, kept)

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
            if not all(shard_file(old, j).exists() for j in range(read_record(old)["shards"])):
                old.unlink()  # a shard was lost: its piece is done again
        outs, tasks, done = list[Path](), list[tuple[Path, Path, list[int]]](), 0
        for file, kept in zip(self.files, self.kept, strict=True):
            outs.append(self.folder.file("prepared", int(file.stem), ".json"))
            if outs[-1].exists():
                done += len(kept)
            else:
                tasks.append((file, outs[-1], kept))
        for _, n in self.workers.each(partial(compiled, prepare_piece), tasks, (self.settings, self.learned)):
            done += n
            self.progress.stage("Preparing", done, self.clusters)
        shards, empty, sentences = list[str](), list[str](), 0
        for out in outs:
            record = read_record(out)
            shards += [str(shard_file(out, j)) for j in range(record["shards"])]
            empty += record["empty"]
            sentences += record["sentences"]
        return PreparedShards(shards, sentences, empty)
