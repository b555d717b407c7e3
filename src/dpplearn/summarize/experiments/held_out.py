"""Train on some clusters, test on others: Tables 1 and 2 of section 7.3 in one go."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._run.progress import Progress
from dpplearn.learning.quality import LogLinear
from dpplearn.learning.similarity import Fixed
from dpplearn.rouge import CorpusScore
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.baselines import train_logistic
from dpplearn.summarize.experiments.evaluation import Comparison, Scoring, compare, figures
from dpplearn.summarize.experiments.paper_tables import PAPER_1, PAPER_2, SOURCE, table_1
from dpplearn.summarize.experiments.peers import read_peers
from dpplearn.summarize.experiments.results_folder import ResultsFolder, corpus_fingerprint
from dpplearn.summarize.experiments.summaries import Task, make_summaries
from dpplearn.summarize.experiments.systems import LEARNED, PAPER, Models
from dpplearn.summarize.model.meaning import encoder_name
from dpplearn.summarize.model.split_cluster import kept_splits, split_cluster
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.words import words

_DOCNO = re.compile(r"[A-Z]+[-_]?\d{6,}\S*")  # APW19981016.0240: a name that means the same document anywhere
RECORDED = ("features", "oracle", "bigrams", "rho", "prior_variance", "compress")
Summaries = Mapping[str, Mapping[str, str]]  # by system and cluster


def train_models(
    params: dict[str, Any],
    systems: Sequence[str],
    tune: bool,
    clusters: list[Cluster],
    verbose: bool | Progress = False,
) -> Models:
    """A summarizer with these arguments and, where a system asks for it, the regression, both from the clusters."""
    summarizer = Summarizer(**params).fit(clusters, tune=tune, verbose=verbose)
    asked = any(system in LEARNED for system in systems)
    return Models(summarizer, train_logistic(summarizer, clusters) if asked else None, summarizer.compress)


class Outcome(NamedTuple):
    """Table 2 of the test clusters, Table 1 of the training corpus, documents that both have, by test cluster, and
    Table 2 without these clusters, if there are any."""

    table_2: Comparison
    table_1: dict[str, CorpusScore]
    shared: dict[str, list[str]]
    without_shared: Comparison | None


@dataclass(frozen=True)
class Experiment:
    """Train, summarize with every system, score.

    Parameters
    ----------
    summarizer : Summarizer
        Its arguments are those of every model but for the decoder; its language that of the corpora.
    systems : list of str
    train : list of Cluster
    test : list of Cluster or None
        None leaves out one topic of `train` at a time, and tests on that.
    tune : bool
        As in `Summarizer.fit`.
    names : dict
        What the record says of the corpora: "train" and "test".
    """

    summarizer: Summarizer
    systems: list[str]
    train: list[Cluster]
    test: list[Cluster] | None
    tune: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def tested(self) -> list[Cluster]:
        """The clusters that are summarized."""
        return self.train if self.test is None else self.test

    @property
    def scoring(self) -> Scoring:
        settings = self.summarizer.settings
        return Scoring(settings.budget, settings.unit, settings.language)

    @property
    def record(self) -> dict[str, Any]:
        """All that the results depend on."""
        settings = self.summarizer.settings
        return {
            "command": "experiment",
            "train": self.names.get("train"),
            "train_hash": corpus_fingerprint(self.train),
            "train_clusters": len(self.train),
            "test": "leave one topic out" if self.test is None else self.names.get("test"),
            "test_hash": corpus_fingerprint(self.tested),
            "test_clusters": len(self.tested),
            **{name: getattr(settings, name) for name in RECORDED},
            **({} if settings.similarity == Fixed.kind else {"similarity": settings.similarity}),
            **({} if settings.quality == LogLinear.kind else {"quality": settings.quality}),
            **({} if settings.encoder is None else {"encoder": encoder_name(settings.encoder)}),
            "targets": self.summarizer.targets or "each for consensus, all for the other decoders",
            "tune": self.tune,
            **self.scoring.record,
        }

    def run(
        self,
        folder: ResultsFolder,
        peers: Path | None = None,
        *,
        encoding: str = "utf-8",
        jobs: int | None = 1,
        progress: bool | Progress = False,
    ) -> Outcome:
        """Make the summaries that the folder, made with `record`, does not have, score all, and write the results."""
        others, known = self.read_peers(peers, encoding) if peers is not None else ({}, {})
        scoring = self.scoring
        with kept_splits():
            models, tasks = self.plan(progress)
            made = make_summaries(models, tasks, scoring.budget, scoring.unit, folder, jobs=jobs, progress=progress)
            oracle = {str(cluster.id): self.oracle_text(cluster) for cluster in self.train}
        outcome = self.score({**others, **made}, table_1(self.train, oracle, known, scoring))
        folder.write(outcome.table_2.results, outcome.table_2.details, self.systems)
        return outcome

    def read_peers(self, path: Path, encoding: str) -> tuple[Summaries, Summaries]:
        """Other systems' summaries of the clusters to test on, and of those to train on, where there are any."""
        others = read_peers(path, [str(c.id) for c in self.tested], encoding)
        clash = sorted(set(others) & set(self.systems))
        if clash:
            raise ValueError(f"A peer may not be called {clash[0]!r}, like a system of dpplearn: rename it.")
        return others, read_peers(path, [str(c.id) for c in self.train], encoding, required=False)

    def plan(self, progress: bool | Progress) -> tuple[dict[str, Models | Callable[[], Models]], list[Task]]:
        """Models, or how to train them, by name, and what each is to summarize."""
        models: dict[str, Models | Callable[[], Models]] = {}
        tasks = []
        for decoder, systems in self.by_decoder().items():
            learn = partial(train_models, {**self.summarizer.get_params(), "decoder": decoder}, systems, self.tune)
            if self.test is not None:
                models[decoder] = learn(self.train, progress)
                tasks += [Task(decoder, (cluster,), systems) for cluster in self.test]
                continue
            for topic, held_out in by_topic(self.train).items():
                models[f"{decoder} {topic}"] = partial(learn, [c for c in self.train if topic_of(c) != topic])
                tasks.append(Task(f"{decoder} {topic}", held_out, systems))
        return models, tasks

    def by_decoder(self) -> dict[str, tuple[str, ...]]:
        """Systems by the decoder that their model is trained for: the decoders of the paper learn from its targets."""
        paper = [name for name in self.systems if name in PAPER and self.summarizer.targets is None]
        groups = {"greedy": paper, "consensus": [name for name in self.systems if name not in paper]}
        return {decoder: tuple(names) for decoder, names in groups.items() if names}

    def oracle_text(self, cluster: Cluster) -> str:
        """The extract that training aims at."""
        found = split_cluster(cluster, self.summarizer.splitter)
        return "\n".join(found.texts[i] for i in self.summarizer.oracle_items(found))

    def score(self, made: Summaries, first: dict[str, CorpusScore]) -> Outcome:
        """Table 2, with and without the clusters that share documents with the training corpus."""
        table_2 = compare(made, self.tested, self.scoring, self.record)
        shared = {} if self.test is None else shared_documents(self.train, self.test)
        apart = [c for c in self.tested if str(c.id) not in shared]
        without = compare(made, apart, self.scoring, {}) if shared and apart else None
        table_2.details.update(
            table_1={name: figures(score) for name, score in first.items()},
            paper={"source": SOURCE, "table_1": PAPER_1, "table_2": PAPER_2},
            shared_documents=shared,
            **({} if without is None else {"without_shared": without.results["systems"]}),
        )
        return Outcome(table_2, first, shared, without)


def topic_of(cluster: Cluster) -> str:
    """The id before its first dot: translations of one topic differ after it.

    Examples
    --------
    >>> topic_of(Cluster.from_texts(["Rain."], id="M003.english"))
    'M003'
    """
    return str(cluster.id).split(".", 1)[0]


def by_topic(clusters: Sequence[Cluster]) -> dict[str, list[Cluster]]:
    """Clusters of each topic, of which there must be two."""
    found: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        found.setdefault(topic_of(cluster), []).append(cluster)
    if len(found) < 2:
        raise ValueError(
            f"--leave-one-out trains on the other topics and needs two, but all clusters are on {next(iter(found))!r} "
            "(the id before its first dot)."
        )
    return found


def shared_documents(train: Sequence[Cluster], test: Sequence[Cluster]) -> dict[str, list[str]]:
    """Ids of documents that are in the training corpus too, by test cluster.

    The same words in the same order are the same document, and so is the same agency number (APW19981016.0240).

    Examples
    --------
    >>> ours = Cluster.from_texts(["It rained all day."], id="a")
    >>> shared_documents([ours], [Cluster.from_texts(["It  rained all day.", "Snow."], id="b")])
    {'b': ['1']}
    """
    known = {key for cluster in train for document in cluster.documents for key in _keys(document.id, document.text)}
    found: dict[str, list[str]] = {}
    for cluster in test:
        again = [d.id for d in cluster.documents if known & _keys(d.id, d.text)]
        if again:
            found[str(cluster.id)] = again
    return found


def _keys(name: str, text: str) -> set[str]:
    number = {f"id {name}"} if _DOCNO.fullmatch(name) else set()
    said = " ".join(words(text))
    return number | ({f"text {said}"} if said else set())
