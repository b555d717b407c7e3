"""The stages of training one after the other, over all pieces of a corpus; what a work folder has is not made again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._io.workfolder import WorkFolder, read_record, write_record
from dpplearn._run.progress import Progress
from dpplearn._run.workers import Workers
from dpplearn.learning.itemset import ItemSet
from dpplearn.learning.storage.shards import load_shard
from dpplearn.summarize.corpora.passing import Pass
from dpplearn.summarize.corpora.pieces import Piece
from dpplearn.summarize.corpora.reading import Census, Corpus
from dpplearn.summarize.corpora.source import Bad, Source
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.quantiles import Counts, Question, edges_of
from dpplearn.summarize.model.settings import SummarizerSettings
from dpplearn.summarize.model.stages import (
    Asked,
    Binning,
    Counting,
    bin_shard,
    count,
    count_digits,
    files_of,
    prepare,
)
from dpplearn.summarize.model.tfidf import Idf

FILES = 20  # of values, that are counted at a time
FEW = 500  # clusters, up to which instances are held in memory,
AT_ONCE = 2**26  # and squares of their numbers of sentences: 512 MB of cosines


class Counted(NamedTuple):
    """What is known of a corpus once it was read."""

    clusters: int
    documents: int
    languages: set[str]
    dropped: dict[int, list[int]]  # of each piece the places of clusters whose ids came before
    without: Sequence[tuple[int, str | None]] = ()  # numbers and ids of clusters without a reference

    def pieces(self, corpus: Corpus) -> Iterator[Piece]:
        """Those that later stages read."""
        return corpus.pieces(corpus.notes(), self.dropped)


class Prepared(NamedTuple):
    """Shards that are ready for the likelihood, and what is known of them."""

    shards: list[Path]
    clusters: int
    sentences: int
    empty: list[str]  # names of clusters without a target
    squares: int  # of the numbers of sentences, added up


class Line:
    """The stages of one training."""

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
        if not (known.exists() and (self.folder.path / "idf.json").exists()):
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

    def prepare(self) -> Prepared:
        """Sentences, extracts, features: shards in files."""
        edges = self.folder.path / "edges.json"
        for old in self.folder.known("prepared", ".json"):
            if not all(there(*paths, edges.exists()) for paths in self._shards(old)):  # lost: its piece is done again
                old.unlink()
        files = self._each("Preparing", "prepared", prepare, self.folder.path / "idf.json")
        made: list[tuple[Path, Path, Path]] = []  # items, values, and the shard that is made of them
        sentences, squares, empty = 0, 0, list[str]()
        for out in files:
            record = read_record(out)
            if None not in (self.width, record["width"]) and self.width != record["width"]:
                raise ValueError(
                    f"The encoder must give all texts as many numbers, found {self.width} and {record['width']}."
                )
            self.width = self.width if record["width"] is None else record["width"]
            sentences, empty = sentences + record["sentences"], empty + record["empty"]
            squares += sum(size for _, size in record["shards"])
            made += self._shards(out)
        bins = self._edges([values for _, values, _ in made], sentences)
        todo = (Binning(a, b, self.settings, bins, out) for a, b, out in made if not out.exists())
        for done, _ in enumerate(self.workers.each(bin_shard, todo), 1):
            self.progress.stage("Features", done, len(made))
        return Prepared([out for _, _, out in made], self.counted.clusters, sentences, empty, squares)

    def _shards(self, record: Path) -> list[tuple[Path, Path, Path]]:
        """Of each shard of a piece its items, their values, and what is made of these."""
        numbers = range(len(read_record(record)["shards"]))
        return [(*files_of(record, j), self.folder.file("shards", f"{record.stem}-{j:03d}", ".npz")) for j in numbers]

    def features(self) -> SentenceFeatures:
        """The features as they were learned."""
        features, idf = self.settings.sentence_features(), read_record(self.folder.path / "idf.json")
        features.idf = Idf(idf["documents"], idf["counts"])
        if features.meaning is not None:
            features.meaning.width = self.width
        features.edges = {name: np.array(x) for name, x in read_record(self.folder.path / "edges.json").items()}
        return features

    def _each(self, what: str, stage: str, work: Callable[[Asked], int], learned: Path | None = None) -> list[Path]:
        """Do a stage on all pieces; their records."""
        total, dropped = self.counted.clusters, self.counted.dropped
        line = Pass(self.corpus, self.folder, self.workers, self.progress)
        files, notes = line.each(
            what,
            stage,
            work,
            lambda piece, out: Asked(piece, self.settings, out, learned),
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
        write_record(self.folder.path / "idf.json", {"documents": counted, "counts": dict(sorted(counts.items()))})
        found = {"clusters": clusters, "documents": documents, "languages": sorted(languages), "without": without}
        return found | {"said": {name: sorted(x) for name, x in said.items()}, "passed": notes.passed}

    def _edges(self, files: list[Path], sentences: int) -> dict[str, list[float]]:
        """Global bins, from the values of all sentences."""
        known = self.folder.path / "edges.json"
        if not known.exists():
            bins = {entry.name: entry.bins for entry in self.settings.sentence_features().binned_entries}
            some = [files[k : k + FILES] for k in range(0, len(files), FILES)]

            def ask(question: Question) -> Iterator[Counts]:
                asked = (Counting(part, self.settings, question) for part in some)
                return (counts for _, counts in self.workers.each(count_digits, asked))

            write_record(known, edges_of(ask, dict.fromkeys(bins, sentences), bins) if bins else {})
        return read_record(known)


def there(items: Path, values: Path, shard: Path, edges: bool) -> bool:
    """Whether a shard is made, or can be; without edges, which are made of the values of all, only the latter helps."""
    return (edges and shard.exists()) or (items.exists() and values.exists())


def instances(prepared: Prepared) -> tuple[Any, ...]:
    """What is learned from: item sets, targets and weights where they are few, else the files that hold them."""
    if prepared.clusters > FEW or prepared.squares > AT_ONCE:
        return ([str(path) for path in prepared.shards],)
    X, y, weights = list[ItemSet](), list[IntArray](), list[float]()
    for shard in map(load_shard, prepared.shards):
        X += shard.item_sets
        y += shard.subsets
        weights += shard.weights.tolist()
    return X, y, weights
