"""Systems over a corpus: their summaries scored with ROUGE, with intervals and tests (Table 2), and their faults."""

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
SAME = 0.6  # share of its words that a sentence has in common with another, from which on it tells the same matter
Summaries = Mapping[str, Mapping[str, str]]  # by system and cluster


def clusters_to_score(corpus: Corpus, what: str) -> list[Cluster]:
    """The clusters of a corpus, with ids that differ; those without references are left out and named in a warning."""
    found = [one if one.id else replace(one, id=str(n)) for n, one in enumerate(corpus.each(stacklevel=4), 1)]
    name, count = Counter(one.id for one in found).most_common(1)[0]
    if count > 1:
        raise ValueError(f"Ids of clusters must differ, but in {what} {name!r} occurs more than once. Rename them.")
    without = [str(one.id) for one in found if not any(map(str.strip, one.references))]
    if len(without) == len(found):
        raise ValueError(f"No cluster of {what} has a reference summary, so there is nothing to score against.")
    if without:
        warn_user(f"{what}: left out, without references: {few(without)} ({len(without)} clusters).")
    return [one for one in found if one.id not in without]


@dataclass(frozen=True)
class Scoring:
    """How summaries are scored: ROUGE-1.5.5 with stemming at the limit of length; plain words in other languages."""

    budget: float
    unit: Unit
    language: str | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What results.json says of it."""
        from dpplearn import __version__

        length = {"budget": self.budget, "unit": self.unit, "overrun_bytes": OVERRUN if self.unit == "bytes" else 0.0}
        return length | {"language": self.language or ENGLISH, "rouge": "1.5.5", "dpplearn": __version__}

    def score(self, name: str, texts: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> CorpusScore:
        """The scores of a system's texts, by cluster, and their averages."""
        ours = {topic: text or " " for topic, text in texts.items()}  # an empty text is a space, which has no token
        theirs = {topic: [text or " " for text in references[topic]] for topic in texts}
        options = rouge_options(self.budget, self.unit, self.language)
        return score_corpus(ours, theirs, METRICS, **options, level=LEVEL, system=name)


def score_table(summaries: Summaries, clusters: Sequence[Cluster], scoring: Scoring) -> dict[str, CorpusScore]:
    """The scores of each system that has a summary of one of the clusters."""
    references = {str(one.id): one.references for one in clusters}
    texts = {name: {topic: made[topic] for topic in references if topic in made} for name, made in summaries.items()}
    return {name: scoring.score(name, own, references) for name, own in texts.items() if own}


def in_percent(score: CorpusScore, part: Any) -> dict[str, dict[str, Any]]:
    """F, P and R of each metric: the average, which is part 0, or the bounds of its interval, slice(1, None)."""
    return {
        metric: {key: [round(100 * x, 3) for x in getattr(average, name)][part] for key, name in MEASURES.items()}
        for metric, average in score.averages.items()
    }


class Faults(NamedTuple):
    """Faults that readers mind and ROUGE does not see: how many a summary has, or, on average, those of a system."""

    dependent: float  # sentences that do not stand alone
    leaning_openings: float  # 1 where the first sentence leans on one before it
    repeated: float  # sentences that tell what another one tells
    unintroduced: float  # people by surname whom nothing before introduces


def count_faults(summary: str, cluster: Cluster) -> Faults:
    """The faults of a summary of a cluster, whoever made it.

    Examples
    --------
    >>> source = "Ruth Calloran, a judge, was named on Monday. Calloran will report to the government in May."
    >>> count_faults("But Calloran will report to the government in May.", Cluster.from_texts([source]))
    Faults(dependent=1, leaning_openings=1, repeated=0, unintroduced=1)
    """
    language = listed_language(cluster.language, [summary])
    sentences = [line[start:end] for line in summary.split("\n") for start, end in split_sentences(line)]
    lacks = [why_not_alone(sentence, language) for sentence in sentences]
    told = [frozenset(match_words(sentence, cluster.language)) - small_words() for sentence in sentences]
    same = {
        number
        for (i, one), (j, other) in combinations(enumerate(told), 2)
        if len(one & other) >= SAME * min(len(one), len(other)) > 0
        for number in (i if len(one) < len(other) else j,)
    }
    source = "\n".join(document.text for document in cluster.documents)
    before = ["\n".join(sentences[:i]) for i in range(len(sentences))]
    unknown = [unknown_people(line, ahead, source) for line, ahead in zip(sentences, before, strict=True)]
    return Faults(sum(map(bool, lacks)), int(lacks[:1] == [Lack.LEANS]), len(same), sum(map(len, unknown)))


class SystemComparison(NamedTuple):
    """Table 2, as `results.json` and `details.json` hold it: in percent, the details with the best system's name."""

    results: dict[str, Any]
    details: dict[str, Any]


def compare(
    summaries: Summaries, clusters: Sequence[Cluster], scoring: Scoring, record: Mapping[str, Any]
) -> SystemComparison:
    """Score systems; the details are intervals, tests and scores by topic, beside the record of the run.

    The best is that in ROUGE-1 F, of all but the oracle, which saw the references.
    """
    scores = score_table(summaries, clusters, scoring)
    best = best_of({name: score for name, score in scores.items() if name != "oracle"} or scores)
    systems = {}
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
    results = {"systems": {name: in_percent(score, 0) for name, score in scores.items()}, "settings": dict(record)}
    known = {str(one.id): one for one in clusters}
    results["faults"] = {}
    for name in scores:
        counted = [count_faults(text, known[topic]) for topic, text in summaries[name].items() if topic in known]
        results["faults"][name] = Faults(*np.mean(counted, axis=0).tolist())._asdict()
    return SystemComparison(results, {"best": best, "level": LEVEL, "systems": systems})


def best_of(scores: Mapping[str, CorpusScore]) -> str:
    """The system of the highest ROUGE-1 F."""
    return max(scores, key=lambda name: scores[name].averages["rouge-1"].f.average)


def write_results(path: Path, found: SystemComparison, made: Summaries) -> None:
    """results.json, details.json and all summaries, of which `made` has them by system and cluster, into a folder."""
    path.mkdir(parents=True, exist_ok=True)
    with replace_file(path / "summaries.jsonl", "w") as file:
        for system, summaries in made.items():
            for cluster, summary in sorted(summaries.items()):
                record = {"id": cluster, "system": system, "summary": summary}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    write_json(path / "details.json", found.details)
    write_json(path / "results.json", found.results)


def evaluate_systems(
    summarizer: Summarizer, clusters: list[Cluster], systems: Sequence[str], scoring: Scoring, workers: Workers, *,
    names: Mapping[str, Any], out: Path | None = None, progress: bool | Progress = False,
) -> SystemComparison:  # fmt: skip
    """Table 2 of a trained model, also written to a folder; `names` say what the corpus and the model are called."""
    record = {"command": "evaluate", **names, "clusters": len(clusters), **scoring.record}
    tasks = [Task(SystemModels(summarizer), clusters, tuple(systems))]
    made = make_summaries(tasks, scoring.budget, scoring.unit, workers, progress=progress)
    found = compare(made, clusters, scoring, record)
    if out is not None:
        write_results(out, found, made)
    return found
