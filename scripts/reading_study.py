"""How summaries read, and whether they are about what was asked (docs/evaluation.md): shares, and held-out ROUGE.

MultiLing 2011 leaves one topic out (250 words), CL-SciSumm 2018 trains on its training part (150 words, human
references), Opinosis is cut in five (40 words). `standing`: how many summaries open with a sentence that leans on one
that is not there, and how many of all sentences do. `about`: the title of a document (left out) as a question to its
topic, alone and mixed with the documents of another one.
"""

import argparse
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dpplearn.rouge import Rouge
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments.systems import rouge_options
from dpplearn.summarize.model import about
from dpplearn.summarize.model.choice import Decision
from dpplearn.summarize.text.words import words

METRICS = ("rouge-1", "rouge-2", "rouge-su4")
SEEDS = range(3)
LANGUAGES = ("english", "arabic", "czech", "french", "greek", "hebrew", "hindi")
NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Corpus:
    """Clusters in folds, the length of their summaries, and their language where it is not English."""

    folds: list[tuple[list[Cluster], list[Cluster]]]
    words: int
    language: str | None = None

    def models(self, features: str) -> Iterator[tuple[Summarizer, list[Cluster]]]:
        for train, test in self.folds:
            model = Summarizer(features=features, budget=self.words, unit="words", language=self.language)
            yield model.fit(train), test

    def rouge(self, cluster: Cluster, text: str) -> list[float]:
        options = rouge_options(self.words, "words", self.language)
        found = Rouge(list(cluster.references), list(METRICS), **options).score(text.split("\n"))
        return [100 * found[metric].f for metric in METRICS]


def corpus(data: Path, name: str) -> Corpus:
    if name == "papers":
        clusters = []
        for one in read_clusters(data / "clscisumm2018.jsonl"):
            human = [r for r, by in zip(one.references, one.reference_ids, strict=True) if "human" in by]
            clusters += [replace(one, references=human, reference_ids=())] if human else []
        return Corpus([tuple([c for c in clusters if c.split == part] for part in ("train", "test"))], 150)
    if name == "reviews":
        clusters = list(read_clusters(data / "opinosis_half.jsonl"))
        parts = np.array_split(np.random.default_rng(0).permutation(len(clusters)), 5)
        folds = [([c for i, c in enumerate(clusters) if i not in part], [clusters[i] for i in part]) for part in parts]
        return Corpus(folds, 40)
    clusters = [c for c in read_clusters(data / "multiling2011.jsonl") if c.language == name]
    folds = [([c for c in clusters if c is not one], [one]) for one in clusters]
    return Corpus(folds, 250, None if name == "english" else name)


def standing(found: Corpus, features: str) -> None:
    """Each way to choose: ROUGE, the difference from the first with its standard error, and the shares."""
    ways = ("as it comes", "alone")
    rows = {way: [] for way in ways}
    for model, clusters in found.models(features):
        for cluster in clusters:
            prepared = model.prepare(cluster)
            for model.random_state in SEEDS:
                allowed = prepared.allowed(NONE, NONE)
                decision = Decision(prepared, "consensus", found.words, "words", NONE, NONE, allowed)
                plain = decision.among(allowed).subset
                sets = [np.sort(plain), model.summarize(prepared, found.words, "words").order]
                for way, subset in zip(ways, sets, strict=True):
                    out = subset[~prepared.split.alone[subset]]
                    text = "\n".join(prepared.split.texts[i] for i in subset)
                    rows[way].append([*found.rouge(cluster, text), subset[0] in out, out.size, subset.size])
    base = np.array(rows[ways[0]])
    for way in ways:
        mean, d = np.array(rows[way]).mean(axis=0), np.array(rows[way])[:, :3] - base[:, :3]
        error = d.reshape(-1, len(SEEDS), 3).mean(axis=1).std(axis=0, ddof=1) / np.sqrt(len(d) / len(SEEDS))
        shares = f"opens {mean[3]:.1%}, leaning {mean[4] / mean[5]:.1%} of {mean[5]:.1f} sentences"
        change = f"({figures(d.mean(axis=0), '+.2f')}, s.e. {figures(error)})"
        print(f"  {way:13s} {figures(mean[:3])}  {change}  {shares}", flush=True)


def asking(found: Corpus, name: str, strengths: list[float]) -> None:
    """For each strength: the share of words from the right topic, of the question covered, and ROUGE."""
    pairs = [(model, one) for model, clusters in found.models("paper") for one in clusters]
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
                asked = question if about.STRENGTH else None
                text = model.summarize(both, found.words, "words", about=asked, fill=True)
                right = [len(s.text.split()) * documents[s.document].id.startswith("own") for s in text.sentences]
                said, wanted = set(words(text.text)), set(about.asked_words(question))
                row = [100 * sum(right) / len(text.text.split()), 100 * len(said & wanted) / len(wanted)]
                rows.setdefault((kind, about.STRENGTH), []).append([*row, *found.rouge(cluster, text.text)])
    for (kind, strength), values in rows.items():
        right, covered, *scores = np.mean(values, axis=0)
        print(f"  {kind} {strength:.1f}: right {right:.1f} %, covered {covered:.1f} %, {figures(scores)}", flush=True)


def figures(values, how: str = ".2f") -> str:
    return " / ".join(format(value, how) for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["standing", "about"])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--only", nargs="*", default=["papers", "reviews", *LANGUAGES])
    parser.add_argument("--features", default="paper")
    parser.add_argument("--strengths", nargs="*", type=float, default=[0.0, about.STRENGTH])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.only:
        print(name, flush=True)
        found = corpus(given.data, name)
        if given.what == "standing":
            standing(found, given.features)
        else:
            asking(found, name, given.strengths)


if __name__ == "__main__":
    main()
