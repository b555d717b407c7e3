"""Trains on some clusters and tests on others: Tables 1 and 2 of section 7.3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dpplearn._run.progress import Progress
from dpplearn._run.workers import open_workers
from dpplearn.rouge import CorpusScore
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.evaluation import (
    Scoring,
    SystemComparison,
    best_of,
    compare,
    in_percent,
    score_table,
    write_results,
)
from dpplearn.summarize.experiments.systems import (
    LEARNED,
    PAPER_SYSTEMS,
    SYSTEMS,
    SystemModels,
    Task,
    make_summaries,
    read_peers,
    train_logistic,
)
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.words import words

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

    Parameters
    ----------
    summarizer : Summarizer
        Every model has its arguments, except the decoder. Its language is that of the corpora.
    systems : list of str
    train : list of Cluster
        With references and different ids, as `clusters_to_score` returns them.
    test : list of Cluster, or None
        None leaves out one topic of `train` at a time and tests on that.
    names : dict
        The names of the corpora in the record: "train" and "test".
    out, peers : Path, optional
        A folder for the results; summaries of other systems, as `read_peers` takes them.
    """
    settings, tested = summarizer.settings, train if test is None else test
    scoring = Scoring(settings.budget, settings.unit, settings.language)
    record = {
        "command": "experiment", "train": names.get("train"), "train_clusters": len(train),
        "test": "leave one topic out" if test is None else names.get("test"), "test_clusters": len(tested),
        **{name: getattr(settings, name) for name in RECORDED}, **scoring.record,
    }  # fmt: skip
    others = {} if peers is None else read_peers(peers, [str(one.id) for one in tested])
    peers_1 = {} if peers is None else read_peers(peers, [str(one.id) for one in train], required=False)
    if clash := sorted(set(others) & set(systems)):
        raise ValueError(f"A peer may not be called {clash[0]!r}, like a system of dpplearn: rename it.")
    with open_workers(None, jobs) as workers:
        tasks = plan(summarizer, systems, train, test, n_jobs=jobs, progress=progress)
        summaries = make_summaries(tasks, scoring.budget, scoring.unit, workers, progress=progress)
        oracle = {str(one.id): text for one, text in workers.each(oracle_text, train, summarizer)}
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
        own = [name for name in systems if name in names]
        if own and test is not None:
            tasks.append(Task(learn(own, train, **where), test, own))
        for topic in dict.fromkeys(map(topic_of, train)) if own and test is None else ():
            rest = [one for one in train if topic_of(one) != topic]
            tasks.append(Task(partial(learn, own, rest), [one for one in train if topic_of(one) == topic], own))
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
    known = {tuple(words(one.text)) for cluster in train for one in cluster.documents} - {()}
    shared = {str(c.id): [one.id for one in c.documents if tuple(words(one.text)) in known] for c in test}
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
