"""The figures of the paper's tables, and Table 1 of a corpus: the oracle, and people as a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpplearn.rouge import CorpusScore
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.evaluation import Scoring, Summaries, best_of

# Kulesza and Taskar (2011), Tables 1 (DUC 2003) and 2 (DUC 2004): ROUGE-1F, [1P, 1R,] 2F, SU4F, in percent.
PAPER_SOURCE = "Kulesza and Taskar, Learning Determinantal Point Processes, UAI 2011"
PAPER_1 = {
    "machine": (35.17, 9.15, 12.47),
    "oracle": (46.59, 16.18, 19.52),
    "human": (56.22, 33.37, 36.50),
}
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


def human_scores(clusters: Sequence[Cluster], scoring: Scoring) -> dict[str, CorpusScore]:
    """Each reference as a summary: against all references, itself included (as in Table 1), and against the others.

    Without a cluster of two references there is nothing to leave out, and no second row.
    """
    texts: dict[str, str] = {}
    everyone: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for cluster in clusters:
        references = [reference for reference in cluster.references if reference.strip()]
        for k, reference in enumerate(references):
            name = f"{cluster.id}.{k + 1}"
            texts[name], everyone[name] = reference, references
            if len(references) > 1:
                others[name] = references[:k] + references[k + 1 :]
    found = {"human": scoring.score("human", texts, everyone)}
    if others:
        found["human, left out"] = scoring.score("human", {name: texts[name] for name in others}, others)
    return found


def table_1(
    train: Sequence[Cluster],
    oracle: Mapping[str, str],
    peers: Summaries,
    scoring: Scoring,
) -> dict[str, CorpusScore]:
    """The rows of Table 1 on the training corpus: the best peer there, if any, the oracle, the people."""
    references = {str(cluster.id): list(cluster.references) for cluster in train}
    scores = {name: scoring.score(name, texts, references) for name, texts in peers.items()}
    rows: dict[str, CorpusScore] = {}
    if scores:
        rows["machine"] = scores[best_of(scores)]
    rows["oracle"] = scoring.score("oracle", oracle, references)
    return rows | human_scores(train, scoring)
