"""Trains a summarizer: a corpus is read piece by piece into a work folder, and the weights are learned from shards.

1. `read_piece` reads and splits a piece of the corpus, and keeps its sentences.
2. `prepare_piece` makes features and oracle extracts of them, in a shard that is ready for the likelihood.

Files that are in the folder already are not made again. A list of clusters in memory is trained on in the same way.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any

import numpy as np

from dpplearn._checks import IntArray, warn_user
from dpplearn._io.atomic import write_whole
from dpplearn._io.jsonfile import read_record, write_record
from dpplearn._io.workfolder import WorkFolder
from dpplearn._numba import compiled_always
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn._run.workers import Workers, open_workers
from dpplearn.learning.files import save_shard
from dpplearn.learning.itemset import ItemSet
from dpplearn.summarize.corpora.cluster import Cluster, Document, Sentence, first_few
from dpplearn.summarize.corpora.reading import Census, Corpus, corpus_in_memory, run_compiled
from dpplearn.summarize.corpora.source import CorpusPiece, Source
from dpplearn.summarize.model.features import GENERAL, SentenceFeatures
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.settings import SummarizerSettings, Trained, save_summarizer
from dpplearn.summarize.model.split_cluster import MAX_COMPARED, SplitCluster, split_cluster
from dpplearn.summarize.model.tfidf import Idf
from dpplearn.summarize.text.units import size_in_words
from dpplearn.summarize.text.words import foreign_language, normal_language, words

SAMPLED = 1000  # number of clusters whose sentences bins are learned from
SEEN = 30  # number of documents whose language is checked where nobody says it


def train(
    settings: SummarizerSettings,
    clusters: Corpus | Sequence[Cluster],
    *,
    n_jobs: int | None = 1,
    backend: Any = None,
    progress: bool | Progress = False,
    work: str | os.PathLike[str] | None = None,
    anew: bool = False,
    out: str | os.PathLike[str] | None = None,
) -> Trained:
    """Learn features and weights from clusters with references; parameters as in `Summarizer.fit`."""
    from dpplearn import __version__
    from dpplearn.learning.conditional import ConditionalDPP  # imports scikit-learn, which a summary does not need

    if not isinstance(clusters, Corpus):
        if not clusters:
            raise ValueError("Training needs clusters of documents with reference summaries; found none.")
        for cluster in clusters:
            if not isinstance(cluster, Cluster):
                raise TypeError(f"Training needs a list of clusters, found {type(cluster).__name__}.")
        clusters = corpus_in_memory(clusters)
    progress = as_progress(progress)
    identity: dict[str, Any] = {"dpplearn": __version__}
    if work is not None:
        identity |= {"corpus": clusters.identity, "settings": vars(settings)}
    with WorkFolder(work, identity, anew=anew) as folder, blas_threads(0), compiled_always():
        with open_workers(backend, n_jobs) as workers:
            pipeline = TrainingPipeline(folder, workers, clusters, progress)
            pipeline.read(settings)
            documents = (document.text for split in pipeline.splits() for document in split.cluster.documents)
            settings = replace(settings, language=common_language(settings.language, pipeline.languages, documents))
            features = pipeline.learn(settings)
            shards, sentences, empty = pipeline.prepare(settings, features)
            check_empty(empty, pipeline.clusters, settings)
        # impossible targets (sentences repeated word for word) are left out; the features have a constant already
        model = ConditionalDPP(
            settings.prior_variance * features.priors, rho=settings.rho, constant=False, on_impossible="drop",
            n_jobs=n_jobs, backend=backend, progress=progress, random_state=settings.random_state,
        )  # fmt: skip
        model.fit(shards, work=folder.path / "theta.json" if work is not None else None)
        model.set_params(n_jobs=1, backend=None, progress=False)  # a model that is kept holds no client and no stream
        training = {
            "clusters": pipeline.clusters,
            "documents": pipeline.documents,
            "sentences": sentences,
            "prior_variance": settings.prior_variance,
            "log_likelihood": float(model.log_likelihood_),
            "converged": bool(model.converged_),
        }
        trained = Trained(features, model, settings.language, training)
        if out is not None:
            save_summarizer(settings, trained, out)
    return trained


class TrainingPipeline:
    """The stages of one training, each over all pieces of a corpus."""

    def __init__(self, folder: WorkFolder, workers: Workers, corpus: Corpus, progress: Progress) -> None:
        self.folder, self.workers, self.corpus, self.progress = folder, workers, corpus, progress

    def read(self, settings: SummarizerSettings) -> None:
        """Read and split the corpus; count its clusters, and the documents that have each word."""
        self.files, notes = self.corpus.work_through(
            "Reading clusters", "read", read_piece, (settings.features != GENERAL,),
            folder=self.folder, workers=self.workers, progress=self.progress,
            size=lambda out: len(piece_record(out)["clusters"]), ending=".jsonl",
        )  # fmt: skip
        census, self.kept, self.counts = Census(), list[list[int]](), Counter[str]()
        self.documents, self.languages, without = 0, set[str](), list[str]()
        for record in map(piece_record, self.files):
            source, places = Source(Path(record["path"]), skip_bad=self.corpus.skip_bad), list[int]()
            source.add(record["omissions"])
            for place, line, name, facts in record["clusters"]:
                with source.tolerate():
                    census.see(source.path, line, name)
                    if facts is not None:
                        without += [] if facts["references"] else [str(name or f"number {census.kept}")]
                        self.languages |= {facts["language"]} - {None}
                        self.documents += facts["documents"]
                        self.counts.update(facts["words"])
                        census.kept += 1
                        places.append(place)
            self.kept.append(places)
            notes.add(source.omissions)
        self.clusters = census.kept
        self.corpus.check(census, notes, stacklevel=5)
        if without:
            raise ValueError(
                f"Training needs a reference summary for every cluster, but {len(without)} of {self.clusters} have "
                f"none: {first_few(without)}. Add references, or leave these out."
            )

    def splits(self) -> Iterator[SplitCluster]:
        """The clusters that training learns from, in order, split as they were."""
        return chain.from_iterable(map(read_splits, self.files, self.kept))

    def learn(self, settings: SummarizerSettings) -> SentenceFeatures:
        """Document frequencies of all, and the edges of bins: quantiles of the sentences of clusters that are drawn."""
        features = SentenceFeatures(settings.features)
        features.idf = Idf(self.documents if self.counts else 0, dict(sorted(self.counts.items())))
        drawn = np.random.default_rng(settings.random_state).permutation(self.clusters)[:SAMPLED]
        features.learn_bins(compress(self.splits(), np.isin(np.arange(self.clusters), drawn).tolist()))
        return features

    def prepare(self, settings: SummarizerSettings, features: SentenceFeatures) -> tuple[list[str], int, list[str]]:
        """Extracts and features: shards in files, the number of sentences, and names of clusters without a target."""
        for old in self.folder.finished("prepared", ".json"):
            if not old.with_suffix(".npz").exists():
                old.unlink()  # its shard was lost, so the piece is prepared again
        outs, tasks, done = list[Path](), list[tuple[Path, Path, list[int]]](), 0
        for file, places in zip(self.files, self.kept, strict=True):
            out = self.folder.file("prepared", int(file.stem), ".json")
            outs += [out] if places else []
            if places and not out.exists():
                tasks.append((file, out, places))
            else:
                done += len(places)
        for _, n in self.workers.each(partial(run_compiled, prepare_piece), tasks, (settings, features)):
            done += n
            self.progress.stage("Preparing", done, self.clusters)
        records = [*map(read_record, outs)]
        empty = [name for record in records for name in record["empty"]]
        return [str(out.with_suffix(".npz")) for out in outs], sum(record["sentences"] for record in records), empty


def read_piece(piece: CorpusPiece, out: Path, counted: bool) -> int:
    """Read and split a piece; returns how many clusters it has. `counted` says whether words are counted.

    The first line of the file is about the piece, and each other line is a cluster with its sentences.
    """
    notes, clusters, lines = piece.source.fresh(), list[Any](), list[str]()
    for entry in piece.entries(notes):
        cluster, facts = entry.cluster, None
        if cluster is not None:
            referenced = any(map(str.strip, cluster.references))
            documents = cluster.documents if counted else ()
            facts = {
                "references": referenced,
                "language": normal_language(cluster.language),
                "documents": len(cluster.documents),
                "words": Counter(word for document in documents for word in {*words(document.text)}),
            }
            # training is refused if one has no reference, and then nothing else is needed
            sentences = split_cluster(cluster, MAX_COMPARED).sentences if referenced else ()
            whole = {field.name: getattr(cluster, field.name) for field in fields(cluster)}
            whole["documents"] = [{**vars(document), "blocks": None} for document in cluster.documents]
            lines.append(json.dumps([entry.place, whole, [[*vars(sentence).values()] for sentence in sentences]]))
        clusters.append([*entry[:3], facts])
    head = json.dumps({"path": str(piece.source.path), "omissions": notes.omissions, "clusters": clusters})
    write_whole(out, "\n".join([head, *lines]).encode())
    return len(lines)


def piece_record(file: Path) -> dict[str, Any]:
    """The first line of a piece that was read."""
    record: dict[str, Any] = json.loads(file.read_bytes().split(b"\n", 1)[0])
    return record


def read_splits(file: Path, places: Collection[int]) -> Iterator[SplitCluster]:
    """Some clusters of a piece that was read, split as they were."""
    for line in file.read_bytes().splitlines()[1:]:
        place, whole, sentences = json.loads(line)
        if place in places:
            cluster = Cluster(**{**whole, "documents": [Document(**document) for document in whole["documents"]]})
            yield SplitCluster(cluster, tuple(Sentence(*values) for values in sentences))


def prepare_piece(
    file: Path, out: Path, places: Sequence[int], settings: SummarizerSettings, features: SentenceFeatures
) -> int:
    """Write a shard of some clusters of a piece, and a record of them; returns how many they are."""
    examples, sentences, empty = list[tuple[ItemSet, IntArray, float]](), 0, list[str]()
    for split in read_splits(file, places):
        cluster_examples = examples_of(features, split, settings)
        examples += cluster_examples
        sentences += len(split)
        empty += [] if any(Y.size for _, Y, _ in cluster_examples) else [split.cluster.name]
    X, y, weights = zip(*examples, strict=True)
    save_shard(out.with_suffix(".npz"), X, y, weights)
    write_record(out, {"sentences": sentences, "empty": empty})
    return len(places)


def examples_of(
    features: SentenceFeatures, split: SplitCluster, settings: SummarizerSettings
) -> list[tuple[ItemSet, IntArray, float]]:
    """A cluster's items with each of its targets, and weights that sum to 1."""
    split = features.featurized(split)
    items, targets = split.item_set(settings.unit), training_targets(split, settings)
    return [(items, Y, 1.0 / len(targets)) for Y in targets]


def common_language(language: str | None, spoken: Collection[str], texts: Iterable[str]) -> str | None:
    """The language given, or the one that clusters say; a warning if the first texts seem to be in another."""
    if language is not None:
        return language
    languages = sorted(spoken)
    if len(languages) > 1:
        raise ValueError(
            f"The clusters are in {len(languages)} languages ({', '.join(languages)}), and words of one say nothing "
            "of another. Train on one: pass language=, or --language."
        )
    if languages:
        return languages[0]
    if (other := foreign_language(islice(texts, SEEN))) is not None:
        warn_user(
            f"The clusters seem to be in {other}, but words will be compared as English ones. "
            "Say what they are in: pass language=, or --language."
        )
    return None


def check_empty(empty: Sequence[str], total: int, settings: SummarizerSettings) -> None:
    """An error if no cluster has a target, and a warning that names those without one."""
    if len(empty) == total:
        raise ValueError(
            "There is nothing to learn: no sentence of any cluster shares a word with its references and fits the "
            f"budget of {size_in_words(settings.budget, settings.unit)}. Raise the budget, or look at the references."
        )
    if empty:
        what = "No sentence of these clusters shares a word with its references and fits the budget"
        warn_user(f"{what}, so that nothing can be learned there: {first_few(empty)}.")
