"""The stages of training one after the other, over all pieces of a corpus; what a work folder has is not made again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._io.workfolder import WorkFolder, read_record, write_record
from dpplearn._run.progress import Progress
from dpplearn._run.workers import Workers
from dpplearn.learning.files import load_shard
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.passing import Pass
from dpplearn.summarize.corpora.reading import Census, Corpus
from dpplearn.summarize.corpora.source import Bad, Source
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.stages import PieceTask, count, learned_features, prepare, shard_file
from dpplearn.summarize.model.tfidf import Idf

FEW = 500  # clusters, up to which instances are held in memory,
SAMPLED = 1000  # clusters whose sentences bins are learned from
AT_ONCE = 2**26  # and squares of their numbers of sentences: 512 MB of cosines


class Counted(NamedTuple):
    """What is known of a corpus once it was read."""

    clusters: int
    documents: int
    languages: set[str]
    dropped: dict[int, list[int]]  # of each piece the places of clusters whose ids came before
    without: Sequence[tuple[int, str | None]] = ()  # numbers and ids of clusters without a reference


class PreparedShards(NamedTuple):
    """Shards that are ready for the likelihood, and what is known of them."""

    shards: list[Path]
    clusters: int
    sentences: int
    empty: list[str]  # names of clusters without a target
    squares: int  # of the numbers of sentences, added up


class TrainingPipeline:
    """The stages of one training, each over all pieces of a corpus."""

    def __init__(
        self, folder: WorkFolder, workers: Workers, corpus: Corpus, settings: SummarizerSettings, progress: Progress
    ) -> None:
        self.folder, self.workers, self.corpus, self.settings = folder, workers, corpus, settings
        self.progress = progress
        self.counted = Counted(0, 0, set(), {})
        self.width: int | None = None  # of what an encoder makes of a text

    def count(self) -> Counted:
        """Read the corpus once: how many clusters there are, in how many documents each word is, what is bad."""
        known, repeated = self.folder.path / "counted.json", self.folder.path / "repeated.json"
        if not (known.exists() and (self.folder.path / "learned.json").exists()):
            for old in self.folder.known("counted", ".json"):
                if not repeated.exists() and read_record(old)["dropped"]:  # it does not tell what was dropped, and why
                    old.unlink()
            files = self._each("Reading clusters", "counted", count)
            if not repeated.exists():
                write_record(repeated, self._repeated(files))
            dropped = {int(number): places for number, places in read_record(repeated)["dropped"].items()}
            for number in dropped:  # counted with clusters that do not count
                files[number].unlink()
            if dropped:
                self.counted = self.counted._replace(dropped=dropped)
                self._each("Reading clusters", "counted", count)
            write_record(known, self._sum_up(files, read_record(repeated)["bad"]) | {"dropped": dropped})
        found = read_record(known)
        notes, census = self.corpus.notes(), Census()
        notes.add(found["passed"])
        census.kept, census.said = found["clusters"], {name: set(values) for name, values in found["said"].items()}
        self.corpus.check(census, notes, stacklevel=5)
        dropped = {int(number): places for number, places in found["dropped"].items()}
        without = [(t, name) for t, name in found["without"]]
        self.counted = Counted(found["clusters"], found["documents"], set(found["languages"]), dropped, without)
        return self.counted

    def learn_bins(self) -> None:
        """Add the edges of bins, quantiles of the sentences of a sample, to the document frequencies of all."""
        known = self.folder.path / "learned.json"
        found = read_record(known)
        if found["edges"] is None:
            features = self.settings.sentence_features()
            features.idf = Idf(found["documents"], found["counts"])
            features.learn_bins(self.sample(SAMPLED) if features.binned_entries else [])
            write_record(known, found | {"edges": {name: x.tolist() for name, x in features.edges.items()}})

    def sample(self, most: int) -> list[Cluster]:
        """Clusters of the corpus, drawn by the seed: all of them where there are no more than that."""
        drawn = np.random.default_rng(self.settings.random_state).permutation(self.counted.clusters)[:most].tolist()
        return [*compress(self.clusters(), np.isin(np.arange(self.counted.clusters), drawn).tolist())]

    def clusters(self) -> Iterator[Cluster]:
        """Those that training learns from, in order."""
        return (
            cluster
            for piece in self.corpus.pieces(self.corpus.notes(), self.counted.dropped)
            for cluster in piece.clusters()
        )

    def prepare(self) -> PreparedShards:
        """Sentences, extracts, features: shards in files."""
        for old in self.folder.known("prepared", ".json"):
            if not all(shard_file(old, j).exists() for j in range(len(read_record(old)["shards"]))):
                old.unlink()  # a shard was lost: its piece is done again
        files = self._each("Preparing", "prepared", prepare, self.folder.path / "learned.json")
        shards, sentences, size, empty = list[Path](), 0, 0, list[str]()
        for out in files:
            record = read_record(out)
            if None not in (self.width, record["width"]) and self.width != record["width"]:
                raise ValueError(
                    f"The encoder must give all texts as many numbers, found {self.width} and {record['width']}."
                )
            self.width = self.width if record["width"] is None else record["width"]
            sentences, empty = sentences + record["sentences"], empty + record["empty"]
            size += sum(squares for _, squares in record["shards"])
            shards += [shard_file(out, j) for j in range(len(record["shards"]))]
        return PreparedShards(shards, self.counted.clusters, sentences, empty, size)

    def features(self) -> SentenceFeatures:
        """The features as they were learned."""
        features = learned_features(self.settings, self.folder.path / "learned.json")
        if features.meaning is not None:
            features.meaning.width = self.width
        return features

    def _each(self, what: str, stage: str, work: Callable[[PieceTask], int], learned: Path | None = None) -> list[Path]:
        """Do a stage on all pieces; their records."""
        total, dropped = self.counted.clusters, self.counted.dropped
        line = Pass(self.corpus, self.folder, self.workers, self.progress)
        files, notes = line.each(
            what,
            stage,
            work,
            lambda piece, out: PieceTask(piece, self.settings, out, learned),
            size=lambda out: int(read_record(out)["clusters"]),
            total=total,
            dropped=dropped,
        )
        if not total:  # what the reader of a format without pieces passed over
            write_record(self.folder.file(stage, "parent", ".json"), notes.passed)
        return files

    def _repeated(self, files: Sequence[Path]) -> dict[str, Any]:
        """Places of clusters whose ids came before, by piece; an error unless bad parts are skipped."""
        census, dropped, bad = Census(), dict[int, list[int]](), list[str]()
        for number, file in enumerate(files):
            record = read_record(file)
            notes = Source(Path(record["path"]), skip_bad=self.corpus.skip_bad)
            for place, *seen in record["seen"]:
                with notes.tolerate():
                    census.see(notes.path, *seen)
                if len(notes.bad) > len(dropped.get(number, ())):
                    dropped.setdefault(number, []).append(place)
            bad += notes.bad
        return {"dropped": dropped, "bad": bad}

    def _sum_up(self, files: Sequence[Path], bad: Sequence[str]) -> dict[str, Any]:
        """What all pieces amount to; the document frequencies have a file of their own."""
        notes, counts = self.corpus.notes(), Counter[str]()
        clusters = documents = 0
        languages: set[str] = set()
        said: dict[str, set[str]] = {"split": set(), "language": set()}
        without: list[list[Any]] = []
        for record in map(read_record, files):
            counts.update(record["words"])
            without += [[clusters + t, name] for t, name in record["without"]]
            clusters, documents = clusters + record["clusters"], documents + record["documents"]
            languages |= set(record["languages"])
            for _, _, _, split, language in record["seen"]:
                said["split"].add(str(split))
                said["language"].add(str(language))
            notes.add(record["passed"])
        notes.add(read_record(self.folder.file("counted", "parent", ".json")))
        notes.bad.extend(map(Bad, bad))
        counted = documents if self.settings.sentence_features().counts_words else 0
        write_record(
            self.folder.path / "learned.json",
            {"documents": counted, "counts": dict(sorted(counts.items())), "edges": None},
        )
        found = {"clusters": clusters, "documents": documents, "languages": sorted(languages), "without": without}
        return found | {"said": {name: sorted(x) for name, x in said.items()}, "passed": notes.passed}


def instances(prepared: PreparedShards) -> tuple[Any, ...]:
    """What is learned from: item sets, targets and weights where they are few, else the files that hold them."""
    if prepared.clusters > FEW or prepared.squares > AT_ONCE:
        return ([str(path) for path in prepared.shards],)
    X, y, weights = list[ItemSet](), list[IntArray](), list[float]()
    for shard in map(load_shard, prepared.shards):
        X += shard.item_sets
        y += shard.subsets
        weights += shard.weights.tolist()
    return X, y, weights
