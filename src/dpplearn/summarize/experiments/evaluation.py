"""Scores systems over a corpus with ROUGE, with intervals and tests (Table 2), and counts the faults of summaries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpplearn._checks import warn_user
from dpplearn._io.atomic import replace_file
from dpplearn._io.jsonfile import write_json
from dpplearn._run.progress import Progress
from dpplearn._run.workers import Workers
from dpplearn.rouge import CorpusScore, paired_bootstrap, score_corpus
from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.corpora.reading import Corpus
from dpplearn.summarize.experiments.systems import OVERRUN, SystemModels, Task, make_summaries, rouge_options
from dpplearn.summarize.model.training import few
from dpplearn.summarize.summarizer import Summarizer
from dpplearn.summarize.text.introductions import unknown_people
from dpplearn.summarize.text.sentences import split_sentences
from dpplearn.summarize.text.standing import Lack, why_not_alone
from dpplearn.summarize.text.units import Unit
from dpplearn.summarize.text.words import ENGLISH, listed_language, match_words, small_words

METRICS = ("rouge-1", "rouge-2", "rouge-su4")
MEASURES = {"f": "f", "p": "precision", "r": "recall"}
LEVEL = 0.95
SAME = 0.6  # two sentences say the same if the shorter one has this share of its words in common with the other
Summaries = Mapping[str, Mapping[str, str]]  # by system and cluster


def clusters_to_score(corpus: Corpus, what: str) -> list[Cluster]:
    """The clusters of a corpus that have references, with ids that differ; a warning names the others."""
    clusters = [one if one.id else replace(one, id=str(n)) for n, one in enumerate(corpus.each(stacklevel=4), 1)]
    name, count = Counter(one.id for one in clusters).most_common(1)[0]
    if count > 1:
        raise ValueError(f"Ids of clusters must differ, but in {what} {name!r} occurs more than once. Rename them.")
    without = [str(one.id) for one in clusters if not any(map(str.strip, one.references))]
    if len(without) == len(clusters):
        raise ValueError(f"No cluster of {what} has a reference summary, so there is nothing to score against.")
    if without:
        warn_user(f"{what}: left out, without references: {few(without)} ({len(without)} clusters).")
    return [one for one in clusters if one.id not in without]


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
    references = {str(one.id): one.references for one in clusters}
    texts = {name: {topic: own[topic] for topic in references if topic in own} for name, own in summaries.items()}
    return {name: scoring.score(name, own, references) for name, own in texts.items() if own}


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
    said = [frozenset(match_words(sentence, cluster.language)) - small_words() for sentence in sentences]
    repeated = {
        i if len(a) < len(b) else j
        for (i, a), (j, b) in combinations(enumerate(said), 2)
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
    known, systems, faults = {str(one.id): one for one in clusters}, {}, {}
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
        for system, own in summaries.items():
            for cluster, summary in sorted(own.items()):
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
