"""Scores systems over a corpus with ROUGE: Tables 1 and 2 of section 7.3, of a trained model or held-out clusters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import warn_user
from dpplearn._io.atomic import replace_file
from dpplearn._io.jsonfile import write_json
from dpplearn._run.progress import Progress
from dpplearn._run.workers import Workers, open_workers
from dpplearn.rouge import CorpusScore, paired_bootstrap, score_corpus
from dpplearn.summarize.corpora.cluster import Cluster, first_few
from dpplearn.summarize.corpora.reading import Corpus
from dpplearn.summarize.experiments.systems import (
    LEARNED,
    OVERRUN,
    PAPER_SYSTEMS,
    SYSTEMS,
    SystemModels,
    Task,
    make_summaries,
    read_peers,
    rouge_options,
    train_logistic,
)
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.introductions import unknown_people
from dpplearn.summarize.text.sentences import split_sentences
from dpplearn.summarize.text.standing import Lack, why_not_alone
from dpplearn.summarize.text.units import Unit
from dpplearn.summarize.text.words import ENGLISH, listed_language, match_words, small_words, words

METRICS = ("rouge-1", "rouge-2", "rouge-su4")
MEASURES = {"f": "f", "p": "precision", "r": "recall"}
LEVEL = 0.95
SAME = 0.6  # two sentences say the same if the shorter one has this share of its words in common with the other
Summaries = Mapping[str, Mapping[str, str]]  # by system and cluster
RECORDED = ("features", "oracle", "rho", "prior_variance")

# Kulesza and Taskar (2011), Tables 1 (DUC 2003) and 2 (DUC 2004): ROUGE-1F, [1P, 1R,] 2F, SU4F, in percent.
PAPER_SOURCE = "Kulesza and Taskar, Learning Determinantal Point Processes, UAI 2011"
PAPER_1 = {"machine": (35.17, 9.15, 12.47), "oracle": (46.59, 16.18, 19.52), "human": (56.22, 33.37, 36.50)}
PAPER_2 = {
    "begin": (32.08, 31.53, 32.69, 6.52, 10.37),
    "lr-mmr": (36.01, 35.36, 36.73, 7.46, 11.87),
    "lr-dpp": (37.48, 37.18, 37.82, 8.54, 12.74),
    "35": (37.54, 37.69, 37.45, 8.37, 12.90),
    "104": (37.12, 36.79, 37.48, 8.49, 12.81),
    "65": (37.87, 37.58, 38.20, 9.13, 13.19),
    "submod": (37.39, 36.86, 37.99, 8.42, 12.78),
    "dpp-sample": (38.27, 37.87, 38.71, 9.35, 13.45),
    "dpp-greedy": (38.20, 37.97, 38.46, 9.14, 13.26),
}


def clusters_to_score(corpus: Corpus, what: str) -> list[Cluster]:
    """The clusters of a corpus that have references, with ids that differ; a warning names the others."""
    numbered = enumerate(corpus.each(stacklevel=4), 1)
    clusters = [cluster if cluster.id else replace(cluster, id=str(n)) for n, cluster in numbered]
    name, count = Counter(cluster.id for cluster in clusters).most_common(1)[0]
    if count > 1:
        raise ValueError(f"Ids of clusters must differ, but in {what} {name!r} occurs more than once. Rename them.")
    without = [str(cluster.id) for cluster in clusters if not any(map(str.strip, cluster.references))]
    if len(without) == len(clusters):
        raise ValueError(f"No cluster of {what} has a reference summary, so there is nothing to score against.")
    if without:
        warn_user(f"{what}: left out, without references: {first_few(without)} ({len(without)} clusters).")
    return [cluster for cluster in clusters if cluster.id not in without]


@dataclass(frozen=True)
class Scoring:
    """How summaries are scored: ROUGE-1.5.5 with stemming at the limit of length; plain words in other languages."""

    budget: float
    unit: Unit
    language: str | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What results.json has about it."""
        from dpplearn import __version__

        length = {"budget": self.budget, "unit": self.unit, "overrun_bytes": OVERRUN if self.unit == "bytes" else 0.0}
        return length | {"language": self.language or ENGLISH, "rouge": "1.5.5", "dpplearn": __version__}

    def score(self, name: str, texts: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> CorpusScore:
        """The scores of a system's texts, by cluster, and their averages."""
        ours = {topic: text or " " for topic, text in texts.items()}  # " " for an empty text: it has no token either
        theirs = {topic: [text or " " for text in references[topic]] for topic in texts}
        options = rouge_options(self.budget, self.unit, self.language)
        return score_corpus(ours, theirs, METRICS, **options, level=LEVEL, system=name)


def score_table(summaries: Summaries, clusters: Sequence[Cluster], scoring: Scoring) -> dict[str, CorpusScore]:
    """The scores of each system that has a summary of one of the clusters."""
    references = {str(cluster.id): cluster.references for cluster in clusters}
    scores = dict[str, CorpusScore]()
    for name, by_topic in summaries.items():
        if texts := {topic: by_topic[topic] for topic in references if topic in by_topic}:
            scores[name] = scoring.score(name, texts, references)
    return scores


def in_percent(score: CorpusScore, part: Any) -> dict[str, dict[str, Any]]:
    """F, P and R of each metric: the averages for part 0, the bounds of their intervals for part slice(1, None)."""
    return {
        metric: {key: [round(100 * x, 3) for x in getattr(average, name)][part] for key, name in MEASURES.items()}
        for metric, average in score.averages.items()
    }


class Faults(NamedTuple):
    """Faults that readers mind and ROUGE does not see: how many a summary has, or those of a system on average."""

    dependent: float  # sentences that cannot stand alone
    leaning_openings: float  # 1 if the first sentence leans on one before it
    repeated: float  # sentences that tell what another one tells
    unintroduced: float  # surnames of people whom nothing before introduces


def count_faults(summary: str, cluster: Cluster) -> Faults:
    """The faults of a summary of a cluster, whoever wrote it.

    Examples
    --------
    >>> source = "Ruth Calloran, a judge, was named on Monday. Calloran will report to the government in May."
    >>> count_faults("But Calloran will report to the government in May.", Cluster.from_texts([source]))
    Faults(dependent=1, leaning_openings=1, repeated=0, unintroduced=1)
    """
    language = listed_language(cluster.language, [summary])
    sentences = [line[start:end] for line in summary.split("\n") for start, end in split_sentences(line)]
    lacks = [why_not_alone(sentence, language) for sentence in sentences]
    stems = [frozenset(match_words(sentence, cluster.language)) - small_words() for sentence in sentences]
    repeated = {
        i if len(a) < len(b) else j
        for (i, a), (j, b) in combinations(enumerate(stems), 2)
        if len(a & b) >= SAME * min(len(a), len(b)) > 0
    }
    source = "\n".join(document.text for document in cluster.documents)
    unknown = [unknown_people(line, "\n".join(sentences[:i]), source) for i, line in enumerate(sentences)]
    return Faults(sum(map(bool, lacks)), int(lacks[:1] == [Lack.LEANS]), len(repeated), sum(map(len, unknown)))


class SystemComparison(NamedTuple):
    """Table 2 in percent, as `results.json` and `details.json` hold it; the details name the best system."""

    results: dict[str, Any]
    details: dict[str, Any]


def compare(
    summaries: Summaries, clusters: Sequence[Cluster], scoring: Scoring, record: Mapping[str, Any]
) -> SystemComparison:
    """Score systems. The details are intervals, tests and scores by topic; the record describes the run.

    The best is that in ROUGE-1 F among all but the oracle, which saw the references.
    """
    scores = score_table(summaries, clusters, scoring)
    best = best_of({name: score for name, score in scores.items() if name != "oracle"} or scores)
    known, systems, faults = {str(cluster.id): cluster for cluster in clusters}, {}, {}
    for name, score in scores.items():
        tested = name != best and score.evaluations.keys() & scores[best].evaluations.keys()
        tests = {m: paired_bootstrap(score, scores[best], m, "f") for m in METRICS if tested}
        systems[name] = {
            "clusters": len(score.evaluations),
            "intervals": in_percent(score, slice(1, None)),
            "against_best": {
                metric: {"difference": round(100 * test.difference, 3), "p": test.p_value}
                for metric, test in tests.items()
            },
            "rouge-1 f by cluster": {t: round(100 * x, 3) for t, x in score.by_topic("rouge-1", "f").items()},
        }
        counted = [count_faults(text, known[topic]) for topic, text in summaries[name].items() if topic in known]
        faults[name] = Faults(*np.mean(counted, axis=0).tolist())._asdict()
    results = {"systems": {name: in_percent(score, 0) for name, score in scores.items()}, "settings": dict(record)}
    details = {"best": best, "level": LEVEL, "systems": systems}
    return SystemComparison(results | {"faults": faults}, details)


def best_of(scores: Mapping[str, CorpusScore]) -> str:
    """The system of the highest ROUGE-1 F."""
    return max(scores, key=lambda name: scores[name].averages["rouge-1"].f.average)


def write_results(path: Path, comparison: SystemComparison, summaries: Summaries) -> None:
    """Write results.json, details.json and the summaries by system and cluster into a folder."""
    path.mkdir(parents=True, exist_ok=True)
    with replace_file(path / "summaries.jsonl", "w") as file:
        for system, texts in summaries.items():
            for cluster, summary in sorted(texts.items()):
                record = {"id": cluster, "system": system, "summary": summary}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    write_json(path / "details.json", comparison.details)
    write_json(path / "results.json", comparison.results)


def evaluate_systems(
    summarizer: Summarizer, clusters: list[Cluster], systems: Sequence[str], scoring: Scoring, workers: Workers, *,
    names: Mapping[str, Any], out: Path | None = None, progress: bool | Progress = False,
) -> SystemComparison:  # fmt: skip
    """Table 2 of a trained model, also written to a folder; `names` are those of the corpus and the model."""
    record = {"command": "evaluate", **names, "clusters": len(clusters), **scoring.record}
    tasks = [Task(SystemModels(summarizer), clusters, tuple(systems))]
    summaries = make_summaries(tasks, scoring.budget, scoring.unit, workers, progress=progress)
    comparison = compare(summaries, clusters, scoring, record)
    if out is not None:
        write_results(out, comparison, summaries)
    return comparison


class ExperimentOutcome(NamedTuple):
    """Table 2 of the test clusters, Table 1 of the training corpus, and documents in both, by test cluster."""

    table_2: SystemComparison
    table_1: dict[str, CorpusScore]
    shared: dict[str, list[str]]


def run_experiment(
    summarizer: Summarizer, systems: Sequence[str], train: list[Cluster], test: list[Cluster] | None, *,
    names: Mapping[str, str], out: Path | None = None, peers: Path | None = None, jobs: int | None = 1,
    progress: bool | Progress = False,
) -> ExperimentOutcome:  # fmt: skip
    """Train, summarize with every system, score.

    Every model has the arguments of `summarizer`, except the decoder; its language is that of the corpora. The clusters
    have references and different ids, as `clusters_to_score` returns them. Without `test`, one topic of `train` at a
    time is left out and tested on. `names` are those of the corpora, "train" and "test", `out` is a folder for the
    results, and `peers` has summaries of other systems, as `read_peers` takes them.
    """
    settings, tested = summarizer.settings, train if test is None else test
    scoring = Scoring(settings.budget, settings.unit, settings.language)
    record = {
        "command": "experiment", "train": names.get("train"), "train_clusters": len(train),
        "test": "leave one topic out" if test is None else names.get("test"), "test_clusters": len(tested),
        **{name: getattr(settings, name) for name in RECORDED}, **scoring.record,
    }  # fmt: skip
    others = {} if peers is None else read_peers(peers, [str(cluster.id) for cluster in tested])
    peers_1 = {} if peers is None else read_peers(peers, [str(cluster.id) for cluster in train], required=False)
    if clash := sorted(set(others) & set(systems)):
        raise ValueError(f"A peer may not be called {clash[0]!r}, like a system of dpplearn: rename it.")
    with open_workers(None, jobs) as workers:
        tasks = plan(summarizer, systems, train, test, n_jobs=jobs, progress=progress)
        summaries = make_summaries(tasks, scoring.budget, scoring.unit, workers, progress=progress)
        oracle = {str(cluster.id): text for cluster, text in workers.each(oracle_text, train, summarizer)}
    scores = score_table(peers_1, train, scoring)
    first = {} if not scores else {"machine": scores[best_of(scores)]}
    first |= {**score_table({"oracle": oracle}, train, scoring), **human_scores(train, scoring)}
    table_2 = compare({**others, **summaries}, tested, scoring, record)
    shared = {} if test is None else shared_documents(train, test)
    table_2.details.update(
        table_1={name: in_percent(score, 0) for name, score in first.items()},
        paper={"source": PAPER_SOURCE, "table_1": PAPER_1, "table_2": PAPER_2},
        shared_documents=shared,
    )
    if out is not None:
        write_results(out, table_2, summaries)
    return ExperimentOutcome(table_2, first, shared)


def plan(
    summarizer: Summarizer, systems: Sequence[str], train: list[Cluster], test: list[Cluster] | None, **where: Any
) -> list[Task]:
    """The clusters that each model is to summarize, with how to train it: a model for each decoder and topic left out.

    The systems of the paper learn from the extracts that the greedy decoder learns from.
    """
    groups, tasks = {"greedy": PAPER_SYSTEMS, "consensus": sorted(set(SYSTEMS) - set(PAPER_SYSTEMS))}, list[Task]()
    for decoder, names in groups.items():
        learn = partial(train_models, {**summarizer.get_params(), "decoder": decoder})
        chosen = [name for name in systems if name in names]
        if chosen and test is not None:
            tasks.append(Task(learn(chosen, train, **where), test, chosen))
        for topic in dict.fromkeys(map(topic_of, train)) if chosen and test is None else ():
            others = [cluster for cluster in train if topic_of(cluster) != topic]
            tested = [cluster for cluster in train if topic_of(cluster) == topic]
            tasks.append(Task(partial(learn, chosen, others), tested, chosen))
    return tasks


def train_models(params: dict[str, Any], systems: Sequence[str], clusters: list[Cluster], **where: Any) -> SystemModels:
    """A summarizer with these arguments and, if a system needs it, the regression, both learned from the clusters."""
    summarizer, regression = Summarizer(**params).fit(clusters, **where), not set(LEARNED).isdisjoint(systems)
    return SystemModels(summarizer, train_logistic(summarizer, clusters) if regression else None)


def oracle_text(cluster: Cluster, summarizer: Summarizer) -> str:
    """The extract that training aims at."""
    split = split_cluster(cluster)
    return "\n".join(split.texts[i] for i in summarizer.oracle_items(split))


def topic_of(cluster: Cluster) -> str:
    """The id before its first dot: translations of one topic differ after it.

    Examples
    --------
    >>> topic_of(Cluster.from_texts(["Rain."], id="M003.english"))
    'M003'
    """
    return str(cluster.id).split(".", 1)[0]


def shared_documents(train: Sequence[Cluster], test: Sequence[Cluster]) -> dict[str, list[str]]:
    """Ids of documents whose words, in their order, the training corpus has too, by test cluster.

    Examples
    --------
    >>> ours = Cluster.from_texts(["It rained all day."], id="a")
    >>> shared_documents([ours], [Cluster.from_texts(["It  rained all day.", "Snow."], id="b")])
    {'b': ['1']}
    """
    known = {tuple(words(document.text)) for cluster in train for document in cluster.documents} - {()}
    shared = {str(c.id): [x.id for x in c.documents if tuple(words(x.text)) in known] for c in test}
    return {name: ids for name, ids in shared.items() if ids}


def human_scores(clusters: Sequence[Cluster], scoring: Scoring) -> dict[str, CorpusScore]:
    """Scores of each reference as a summary: against all references, itself included (as in Table 1), and the others.

    Without a cluster of two references there is no second row.
    """
    texts, everyone, others = dict[str, str](), dict[str, list[str]](), dict[str, list[str]]()
    for cluster in clusters:
        references = [reference for reference in cluster.references if reference.strip()]
        for k, reference in enumerate(references):
            name = f"{cluster.id}.{k + 1}"
            texts[name], everyone[name] = reference, references
            if len(references) > 1:
                others[name] = references[:k] + references[k + 1 :]
    scores = {"human": scoring.score("human", texts, everyone)}
    if others:
        scores["human, left out"] = scoring.score("human", {name: texts[name] for name in others}, others)
    return scores
