"""Finds which settings improve held-out ROUGE, by cross-validation on two corpora (docs/evaluation.md).

It tries one setting at a time: on MultiLing 2011 English, one topic is left out (250 words); the training part of
CL-SciSumm 2018 is cut in five (150 words, human references). It never reads the test part. With --languages, it also
tries the other six languages of MultiLing.
"""

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from make_model import METRICS, with_human_references

from dpplearn.decoding import consensus, greedy_map
from dpplearn.learning.conditional import ConditionalDPP
from dpplearn.rouge import Rouge
from dpplearn.summarize import Cluster, SentenceFeatures, Summarizer, read_clusters
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.prepared import Prepared
from dpplearn.summarize.model.settings import Trained


@dataclass(frozen=True)
class Corpus:
    """Clusters, the length of their summaries in words, and the folds to hold out."""

    name: str
    clusters: tuple[Cluster, ...]
    words: int
    folds: tuple[tuple[int, ...], ...]
    language: str | None = None


def read_corpora(data: Path, languages: bool) -> list[Corpus]:
    multiling = read_clusters(data / "multiling2011.jsonl")
    corpora = []
    for language in sorted({c.language for c in multiling}, key=lambda name: (name != "english", name)):
        if language == "english" or languages:
            clusters = tuple(c for c in multiling if c.language == language)
            name = None if language == "english" else language
            corpora.append(Corpus(language, clusters, 250, tuple((t,) for t in range(len(clusters))), name))
    papers = [with_human_references(c) for c in read_clusters(data / "clscisumm2018.jsonl") if c.split == "train"]
    papers = [c for c in papers if c.references]
    cut = np.array_split(np.random.default_rng(0).permutation(len(papers)), 5)
    corpora.insert(1, Corpus("papers", tuple(papers), 150, tuple(tuple(int(t) for t in fold) for fold in cut)))
    return corpora


VARIANTS: dict[str, dict] = {
    "base": {},  # one extract for all references, consensus by words alone, the paper's features
    "oracle=paper": {"oracle": "paper"},
    "prior 0.1": {"prior_variance": 0.1},
    "prior 0.3": {"prior_variance": 0.3},
    "prior 10": {"prior_variance": 10.0},
    "rho 0": {"rho": 0.0},
    "rho 0.5": {"rho": 0.5},
    "rho 0.7": {"rho": 0.7},
    "targets=each": {"targets": "each"},
    "targets=each, prior 0.3": {"targets": "each", "prior_variance": 0.3},
    "bigrams 0.3": {"bigrams": 0.3},
    "bigrams 0.5": {"bigrams": 0.5},
    "each, bigrams 0.3": {"targets": "each", "bigrams": 0.3},
    # prior 0.3: each extract counts a third, as in `Summarizer`, where every cluster counts once (three references)
    "each, bigrams 0.3, prior 0.3": {"targets": "each", "bigrams": 0.3, "prior_variance": 0.3},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, help="JSON file of the figures")
    parser.add_argument("--only", nargs="*", help="names of the settings to try (default: all)")
    parser.add_argument("--languages", action="store_true", help="also try the other languages of MultiLing")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    figures: dict[str, dict] = {}
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for corpus in read_corpora(arguments.data, arguments.languages):
            names = arguments.only or list(VARIANTS)
            results = pool.map(evaluate, [corpus] * len(names), [VARIANTS[name] for name in names])
            for name, scores in zip(names, results, strict=True):
                figures.setdefault(name, {})[corpus.name] = scores
                print(f"{corpus.name:10s} {name:34s}", scores, flush=True)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(figures, indent=1) + "\n")


def evaluate(corpus: Corpus, variant: dict) -> dict[str, list[float]]:
    """Mean ROUGE-1, -2 and -SU4 F of held-out summaries in percent, by decoder."""
    warnings.simplefilter("ignore")
    rows: dict[str, list] = {"greedy": [], "consensus": []}
    official = corpus.language is None
    reading = {"stem": official, "tokenizer": "official" if official else "unicode"}
    for fold in corpus.folds:
        rest = [c for t, c in enumerate(corpus.clusters) if t not in fold]
        model = train(corpus, rest, variant)
        for t in fold:
            rouge = Rouge(list(corpus.clusters[t].references), list(METRICS), words=corpus.words, **reading)
            for decoder, scores in rows.items():
                score = rouge.score(decode(model, corpus.clusters[t], decoder, variant))
                scores.append([score[metric].f for metric in METRICS])
    return {decoder: [round(float(x), 2) for x in 100 * np.mean(scores, axis=0)] for decoder, scores in rows.items()}


def train(corpus: Corpus, clusters: list[Cluster], variant: dict) -> Summarizer:
    """Fit like `Summarizer.fit`, with the changes of a variant; each extract counts once."""
    options = {name: variant[name] for name in ("features", "oracle", "rho", "prior_variance") if name in variant}
    options["decoder"] = "consensus" if variant.get("targets") == "each" else "greedy"  # decides the training targets
    model = Summarizer(budget=corpus.words, unit="words", language=corpus.language, **options)
    settings, features = model.settings, SentenceFeatures(model.features)
    examples = [
        (split.items, Y)
        for split in map(features.fit(clusters).read, clusters)
        for Y in training_targets(split, settings)
    ]
    learned = ConditionalDPP(model.prior_variance, rho=model.rho, on_impossible="drop")
    learned.fit([items for items, _ in examples], [Y for _, Y in examples])
    return model._keep(Trained(features, learned, corpus.language, {}))


def decode(model: Summarizer, cluster: Cluster, decoder: str, variant: dict) -> list[str]:
    split = model.features_.read(cluster)
    dpp, cost = model.dpp(split), split.costs("words")
    if decoder == "greedy":
        items = greedy_map(dpp, cost, model.budget).subset
    else:
        (_, words), (_, pairs) = Prepared(split, model.model_, model.language_).agreement
        share = variant.get("bigrams", 0.0)
        utility = [(1.0 - share, words), (share, pairs)] if share else [(1.0, words)]
        items = consensus(dpp, cost, model.budget, utility=utility).subset
    return [split.texts[i] for i in np.sort(items)]


if __name__ == "__main__":
    main()
