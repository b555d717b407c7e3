"""Measures how well summaries read and whether they answer a question, with held-out ROUGE (docs/evaluation.md).

MultiLing 2011 leaves one topic out (250 words), CL-SciSumm 2018 trains on its training part (150 words, human
references), and Opinosis is cut in five (40 words). `standing` counts the sentences, and the openings of summaries,
that lean on a sentence outside the summary. `about` uses the title of a document, which is left out, as a question to
its topic: alone, and mixed with the documents of another topic.
"""

import argparse
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from make_model import METRICS, with_human_references

from dpplearn.rouge import Rouge
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments.systems import rouge_options
from dpplearn.summarize.model import about
from dpplearn.summarize.model.choice import Decision
from dpplearn.summarize.text.words import words

SEEDS = range(3)
LANGUAGES = ("english", "arabic", "czech", "french", "greek", "hebrew", "hindi")
NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Corpus:
    """Folds of clusters to train and test on, the words of a summary, and the language if it is not English."""

    folds: list[tuple[list[Cluster], list[Cluster]]]
    words: int
    language: str | None = None

    def models(self, features: str) -> Iterator[tuple[Summarizer, list[Cluster]]]:
        for train, test in self.folds:
            model = Summarizer(features=features, budget=self.words, unit="words", language=self.language)
            yield model.fit(train), test

    def rouge(self, cluster: Cluster, text: str) -> list[float]:
        options = rouge_options(self.words, "words", self.language)
        scores = Rouge(list(cluster.references), list(METRICS), **options).score(text.split("\n"))
        return [100 * scores[metric].f for metric in METRICS]


def read_corpus(data: Path, name: str) -> Corpus:
    if name == "papers":
        papers = map(with_human_references, read_clusters(data / "clscisumm2018.jsonl"))
        clusters = [cluster for cluster in papers if cluster.references]
        return Corpus([tuple([c for c in clusters if c.split == part] for part in ("train", "test"))], 150)
    if name == "reviews":
        clusters = list(read_clusters(data / "opinosis_half.jsonl"))
        parts = np.array_split(np.random.default_rng(0).permutation(len(clusters)), 5)
        folds = [([c for i, c in enumerate(clusters) if i not in part], [clusters[i] for i in part]) for part in parts]
        return Corpus(folds, 40)
    clusters = [c for c in read_clusters(data / "multiling2011.jsonl") if c.language == name]
    folds = [([c for c in clusters if c is not held], [held]) for held in clusters]
    return Corpus(folds, 250, None if name == "english" else name)


def standing(corpus: Corpus, features: str) -> None:
    """Print, for each way to choose, ROUGE, its difference from the first way, and the shares that lean."""
    ways = ("as it comes", "alone")
    rows = {way: [] for way in ways}
    for model, clusters in corpus.models(features):
        for cluster in clusters:
            prepared = model.prepare(cluster)
            for model.random_state in SEEDS:
                allowed = prepared.allowed(NONE, NONE)
                decision = Decision(prepared, "consensus", corpus.words, "words", NONE, NONE, allowed)
                plain = decision.among(allowed).subset
                sets = [np.sort(plain), model.summarize(prepared, corpus.words, "words").order]
                for way, subset in zip(ways, sets, strict=True):
                    leaning = subset[~prepared.split.alone[subset]]
                    text = "\n".join(prepared.split.texts[i] for i in subset)
                    rows[way].append([*corpus.rouge(cluster, text), subset[0] in leaning, leaning.size, subset.size])
    base = np.array(rows[ways[0]])
    for way in ways:
        mean, d = np.array(rows[way]).mean(axis=0), np.array(rows[way])[:, :3] - base[:, :3]
        error = d.reshape(-1, len(SEEDS), 3).mean(axis=1).std(axis=0, ddof=1) / np.sqrt(len(d) / len(SEEDS))
        shares = f"opens {mean[3]:.1%}, leaning {mean[4] / mean[5]:.1%} of {mean[5]:.1f} sentences"
        change = f"({figures(d.mean(axis=0), '+.2f')}, s.e. {figures(error)})"
        print(f"  {way:13s} {figures(mean[:3])}  {change}  {shares}", flush=True)


def asking(corpus: Corpus, name: str, strengths: list[float]) -> None:
    """Print, for each strength, the shares of words from the right topic and of the question covered, and ROUGE."""
    pairs = [(model, cluster) for model, clusters in corpus.models("paper") for cluster in clusters]
    rows: dict[tuple[str, float], list[list[float]]] = {}
    for t, (model, cluster) in enumerate(pairs):
        other = pairs[(t + 1) % len(pairs)][1]
        k = t % len(cluster.documents)
        title = {"reviews": cluster.id.replace("_", " "), "papers": cluster.documents[0].title}.get(name)
        question = title or re.sub(r"^[\d/ ]+", "", cluster.documents[k].title)
        own = [replace(d, id=f"own {i}") for i, d in enumerate(cluster.documents) if title or i != k]
        rest = [replace(d, id=f"other {i}") for i, d in enumerate(other.documents[: len(own)])]
        mixed = [(own + rest)[i] for i in np.random.default_rng(t).permutation(len(own + rest))]
        for kind, documents in (("mixed", mixed), ("alone", own)):
            both = replace(cluster, documents=documents)
            for about.STRENGTH in strengths:
                topic = question if about.STRENGTH else None
                text = model.summarize(both, corpus.words, "words", about=topic, fill=True)
                right = [len(s.text.split()) * documents[s.document].id.startswith("own") for s in text.sentences]
                used, wanted = set(words(text.text)), set(about.asked_words(question))
                row = [100 * sum(right) / len(text.text.split()), 100 * len(used & wanted) / len(wanted)]
                rows.setdefault((kind, about.STRENGTH), []).append([*row, *corpus.rouge(cluster, text.text)])
    for (kind, strength), values in rows.items():
        right, covered, *scores = np.mean(values, axis=0)
        print(f"  {kind} {strength:.1f}: right {right:.1f} %, covered {covered:.1f} %, {figures(scores)}", flush=True)


def figures(values, spec: str = ".2f") -> str:
    return " / ".join(format(value, spec) for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["standing", "about"])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--only", nargs="*", default=["papers", "reviews", *LANGUAGES])
    parser.add_argument("--features", default="paper")
    parser.add_argument("--strengths", nargs="*", type=float, default=[0.0, about.STRENGTH])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.only:
        print(name, flush=True)
        corpus = read_corpus(arguments.data, name)
        if arguments.what == "standing":
            standing(corpus, arguments.features)
        else:
            asking(corpus, name, arguments.strengths)


if __name__ == "__main__":
    main()
