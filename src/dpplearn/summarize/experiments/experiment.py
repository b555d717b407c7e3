"""Section 7.3 in one go: train, summarize with every system, score; what train and test share; the human rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpplearn.rouge import CorpusScore
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.evaluation import Scoring
from dpplearn.summarize.text.words import words

if TYPE_CHECKING:
    from dpplearn.summarize.summarizer import Summarizer

# Kulesza and Taskar (2011), Tables 1 (DUC 2003) and 2 (DUC 2004): ROUGE-1F, [1P, 1R,] 2F, SU4F, in percent.
SOURCE = "Kulesza and Taskar, Learning Determinantal Point Processes, UAI 2011"
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
_DOCNO = re.compile(r"[A-Z]+[-_]?\d{6,}\S*")  # APW19981016.0240: a name that means the same document anywhere


@dataclass(frozen=True)
class Recipe:
    """A model still to be trained, on all clusters that are not on one topic."""

    settings: dict[str, Any]
    clusters: tuple[Cluster, ...]
    without: str
    tune: bool

    def __call__(self) -> Summarizer:
        from dpplearn.summarize.summarizer import Summarizer

        rest = [cluster for cluster in self.clusters if topic_of(cluster) != self.without]
        return Summarizer(**self.settings).fit(rest, tune=self.tune)


def topic_of(cluster: Cluster) -> str:
    """The id before its first dot: translations of one topic differ after it.

    Examples
    --------
    >>> topic_of(Cluster.from_texts(["Rain."], id="M003.english"))
    'M003'
    """
    return str(cluster.id).split(".", 1)[0]


def by_topic(clusters: Sequence[Cluster]) -> dict[str, tuple[Cluster, ...]]:
    """Clusters of each topic, of which there must be two."""
    found: dict[str, tuple[Cluster, ...]] = {}
    for cluster in clusters:
        found[topic_of(cluster)] = (*found.get(topic_of(cluster), ()), cluster)
    if len(found) < 2:
        raise ValueError(
            f"--leave-one-out trains on the other topics and needs two, but all clusters are on {next(iter(found))!r} "
            "(the id before its first dot)."
        )
    return found


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


def table_1(
    train: Sequence[Cluster],
    oracle: Mapping[str, str],
    peers: Mapping[str, Mapping[str, str]],
    scoring: Scoring,
) -> dict[str, CorpusScore]:
    """The rows of Table 1 on the training corpus: the best peer there, if any, the oracle, the people."""
    references = {str(cluster.id): list(cluster.references) for cluster in train}
    scores = {name: scoring.score(name, texts, references) for name, texts in peers.items()}
    rows: dict[str, CorpusScore] = {}
    if scores:
        best = max(scores, key=lambda name: scores[name].averages["rouge-1"].f.average)
        rows["machine"] = scores[best]
    rows["oracle"] = scoring.score("oracle", oracle, references)
    return rows | human_scores(train, scoring)
