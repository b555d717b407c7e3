"""A corpus made ready for training, piece by piece, in a work folder: what is there already is not made again.

1. `read_piece`: read and split a piece once, and keep its sentences.
2. `prepare_piece`: from these sentences to features and oracle extracts, in a shard that is ready for the likelihood.
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
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.quality_features import GENERAL
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, split_cluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.words import normal_language, words

SAMPLED = 1000  # clusters whose sentences bins are learned from


class TrainingExample(NamedTuple):
    """A cluster, its items with their costs, and the extracts that it is an example of, together counting once."""

    read: SplitCluster
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
    """Read and split a piece; returns how many clusters there are.

    The first line of the file is about the piece, and each other one is a cluster with its sentences.
    """
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
            lines.append(json.dumps([entry.place, whole, [[*vars(one).values()] for one in split]]))
        clusters.append([*entry[:3], about])
    head = json.dumps({"path": str(piece.source.path), "passed": notes.passed, "clusters": clusters})
    write_whole(out, "\n".join([head, *lines]).encode())
    return len(lines)


def about_piece(file: Path) -> dict[str, Any]:
    """What is known of a piece that was read."""
    found: dict[str, Any] = json.loads(file.read_bytes().split(b"\n", 1)[0])
    return found


def read_again(file: Path, kept: Collection[int]) -> Iterator[SplitCluster]:
    """The clusters of a piece that was read, split as they were."""
    for line in file.read_bytes().splitlines()[1:]:
        place, whole, sentences = json.loads(line)
        if place in kept:
            cluster = Cluster(**{**whole, "documents": [Document(**one) for one in whole["documents"]]})
            yield SplitCluster(cluster, tuple(Sentence(*one) for one in sentences))


@lru_cache(maxsize=1)
def read_learned(path: Path, _: int) -> tuple[Idf, dict[str, FloatArray]]:
    """Document frequencies and bins, kept in a worker for the next piece."""
    found = read_record(path)
    return Idf(found["documents"], found["counts"]), {name: np.array(x) for name, x in found["edges"].items()}


def learned_features(settings: SummarizerSettings, path: Path) -> SentenceFeatures:
    """The features as they were learned from all pieces."""
    features = SentenceFeatures(settings.features)
    features.idf, features.edges = read_learned(path, path.stat().st_mtime_ns)
    return features


def prepare_piece(file: Path, out: Path, kept: Sequence[int], settings: SummarizerSettings, learned: Path) -> int:
    """A shard of those clusters of a piece that count, with a record of them; returns how many there are."""
    features = learned_features(settings, learned)
    examples = [example_of(features, split, settings) for split in read_again(file, kept)]
    save_shard(out.with_suffix(".npz"), *flat(examples))
    empty = [one.read.cluster.name for one in examples if not any(Y.size for Y in one.targets)]
    write_record(out, {"sentences": sum(len(one.read) for one in examples), "empty": empty})
    return len(kept)


class TrainingPipeline:
    """The stages of one training, each over all pieces of a corpus."""

    def __init__(
        self, folder: WorkFolder, workers: Workers, corpus: Corpus, settings: SummarizerSettings, progress: Progress
    ) -> None:
        self.folder, self.workers, self.corpus, self.settings = folder, workers, corpus, settings
        self.progress, self.learned = progress, folder.path / "learned.json"
        self.documents, self.languages = 0, set[str]()
        self.without = list[str]()  # names of clusters without a reference

    def read(self) -> None:
        """Read and split the corpus once: what is known of its clusters, and in how many documents each word is."""
        self.files, notes = self.corpus.work_through(
            "Reading clusters",
            "read",
            read_piece,
            (self.settings,),
            folder=self.folder,
            workers=self.workers,
            progress=self.progress,
            size=lambda out: len(about_piece(out)["clusters"]),
            ending=".jsonl",
        )
        census, self.kept, self.counts = Census(), list[list[int]](), Counter[str]()
        for record in map(about_piece, self.files):
            own, kept = Source(Path(record["path"]), skip_bad=self.corpus.skip_bad), list[int]()
            own.add(record["passed"])
            for place, line, name, about in record["clusters"]:
                with own.tolerate():
                    census.see(own.path, line, name)
                    if about is not None:
                        known, language, documents, has = about
                        self.without += [] if known else [str(name or f"number {census.kept}")]
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
        features = SentenceFeatures(self.settings.features)
        features.idf = Idf(self.documents if self.counts else 0, dict(sorted(self.counts.items())))
        features.learn_bins(self.sample(SAMPLED))
        edges = {name: x.tolist() for name, x in features.edges.items()}
        write_record(self.learned, {**vars(features.idf), "edges": edges})

    def features(self) -> SentenceFeatures:
        """The features as they were learned."""
        return learned_features(self.settings, self.learned)

    def prepare(self) -> tuple[list[str], int, list[str]]:
        """Extracts and features: shards in files, the number of sentences, and names of clusters without a target."""
        for old in self.folder.known("prepared", ".json"):
            if not old.with_suffix(".npz").exists():
                old.unlink()  # the shard was lost: its piece is done again
        outs, tasks, done = list[Path](), list[tuple[Path, Path, list[int]]](), 0
        for file, kept in zip(self.files, self.kept, strict=True):
            out = self.folder.file("prepared", int(file.stem), ".json")
            outs += [out] if kept else []
            if kept and not out.exists():
                tasks.append((file, out, kept))
            else:
                done += len(kept)
        for _, n in self.workers.each(partial(compiled, prepare_piece), tasks, (self.settings, self.learned)):
            done += n
            self.progress.stage("Preparing", done, self.clusters)
        records = [*map(read_record, outs)]
        empty = [name for record in records for name in record["empty"]]
        return [str(out.with_suffix(".npz")) for out in outs], sum(record["sentences"] for record in records), empty
