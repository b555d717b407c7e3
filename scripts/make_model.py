"""Trains the model for any kind of text that comes with dpplearn (`make model`).

It learns from three corpora together: news in seven languages (MultiLing 2011), papers (the training part of CL-SciSumm
2018) and reviews (Opinosis). The file has only weights, and no text of the corpora. With --check, it writes no model,
and prints held-out scores: of topics, papers and reviews in five parts, and of each corpus learned from the others.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dpplearn import ConditionalDPP, ItemSet
from dpplearn._run.blas import blas_threads
from dpplearn._run.progress import Progress, as_progress
from dpplearn.decoding.limits import fits
from dpplearn.learning.predictor import ConditionalPredictor, fitted_from_weights
from dpplearn.rouge import Rouge
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments.evaluation import topic_of
from dpplearn.summarize.experiments.systems import rouge_options
from dpplearn.summarize.model.features import SentenceFeatures
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.settings import SummarizerSettings, Trained
from dpplearn.summarize.text.units import limit
from dpplearn.summarize.text.words import ANY, normal_language

DATA = Path("../shared/data")
MODEL = Path(__file__).parent.parent / "src" / "dpplearn" / "summarize" / "data" / "general.json"
METRICS = ("rouge-1", "rouge-2", "rouge-su4")
PARTS, SEEDS = 5, 2
NEWS, PAPERS, REVIEWS = "news", "papers", "reviews"
SOURCES = {
    NEWS: "MultiLing 2011 pilot, seven languages (CC BY 3.0)",
    PAPERS: "CL-SciSumm 2018, training part, human references (CC BY 4.0)",
    REVIEWS: "Opinosis, 26 topics (Apache 2.0)",
}
# The words of an extract, as in the references, and how many clusters the corpus counts as. The seven languages are
# translations of ten topics, so that 70 clusters count as fewer.
SHAPES = {NEWS: (250, 30.0), PAPERS: (150, 20.0), REVIEWS: (20, 20.0)}


Corpora = dict[str, list[Cluster]]


@dataclass(frozen=True)
class Corpus:
    """Clusters with references, the words of an extract, and how many clusters the corpus counts as."""

    name: str
    clusters: list[Cluster]
    words: float
    weight: float = 1.0


def train_together(settings: SummarizerSettings, corpora: list[Corpus], progress: bool | Progress = False) -> Trained:
    """Learn one model for any language from several corpora, so that no corpus dominates.

    Each corpus has its own constant, because the number of sentences of an extract depends on its length; the model
    keeps that of the first. All other weights are shared. Each cluster counts as the weight of its corpus divided by
    the number of its clusters. Sentences longer than an extract are left out, or else long sentences would seem bad
    where summaries are short.
    """
    clusters = [cluster for corpus in corpora for cluster in corpus.clusters]
    features, progress = SentenceFeatures(settings.features).fit(clusters), as_progress(progress)
    X, y, weights, sentences = [], [], [], 0
    with blas_threads(0):
        for k, corpus in enumerate(corpora):
            for cluster in corpus.clusters:
                language = normal_language(cluster.language)
                corpus_settings = replace(settings, budget=corpus.words, unit="words", language=language)
                split = features.read(cluster)
                targets, cost = training_targets(split, corpus_settings), split.costs("words")
                kept = np.flatnonzero(fits(cost, limit(corpus.words, "words")))
                if kept.size:
                    split, cost, targets = split.only(kept), cost[kept], [np.searchsorted(kept, Y) for Y in targets]
                constants = np.tile(np.arange(len(corpora)) == k, (len(split), 1))
                items = ItemSet(np.hstack([split.F[:, 1:], constants]), split.C, cost=cost)
                X, y, sentences = [*X, *[items] * len(targets)], [*y, *targets], sentences + len(split)
                weights += [corpus.weight / len(corpus.clusters) / len(targets)] * len(targets)
                progress.stage("Reading clusters", len(weights), max(len(clusters), len(weights)))
    variance = np.concatenate([settings.prior_variance * features.priors[1:], np.full(len(corpora), np.inf)])
    model = ConditionalDPP(variance, rho=settings.rho, on_impossible="drop", progress=progress, constant=False)
    model.fit(X, y, weights)
    # the columns in the order of `features`: the constant of the first corpus comes first, those of the others go
    place = np.array([len(features.names) - 1, *range(len(features.names) - 1)])
    covariance = None if model.covariance_ is None else model.covariance_[np.ix_(place, place)]
    std = model.theta_std_[place]
    fitted = fitted_from_weights(model.theta_[place], settings.rho, 0.0, std, features.names, covariance)
    constants = model.theta_[len(features.names) - 1 :]
    training = {
        "clusters": len(clusters),
        "documents": sum(len(cluster.documents) for cluster in clusters),
        "sentences": sentences,
        "corpora": {
            corpus.name: {"clusters": len(corpus.clusters), "weight": corpus.weight, "constant": float(constant)}
            | {"budget": corpus.words, "unit": "words"}
            for corpus, constant in zip(corpora, constants, strict=True)
        },
        "prior_variance": settings.prior_variance,
        "log_likelihood": float(model.log_likelihood_),
        "converged": bool(model.converged_),
    }
    return Trained(features, ConditionalPredictor()._keep(fitted), ANY, training)


def read_corpora(data: Path) -> Corpora:
    """The clusters with references of each corpus; papers have only the references that people wrote."""
    corpora = {NEWS: read_clusters(data / "multiling2011.jsonl"), REVIEWS: read_clusters(data / "opinosis_half.jsonl")}
    corpora[PAPERS] = map(with_human_references, read_clusters(data / "clscisumm2018.jsonl"))
    return {name: [c for c in corpora[name] if any(map(str.strip, c.references))] for name in SHAPES}


def with_human_references(cluster: Cluster) -> Cluster:
    """The cluster with only the references that people wrote for it."""
    kept = [r for r, name in zip(cluster.references, cluster.reference_ids, strict=True) if "human" in name]
    return replace(cluster, references=kept, reference_ids=())


def learn(clusters: Corpora, progress: bool | Progress = False) -> Summarizer:
    """A model of all clusters outside the test parts."""
    corpora = [
        Corpus(name, train, *SHAPES[name])
        for name, members in clusters.items()
        if (train := [cluster for cluster in members if cluster.split != "test"])
    ]
    model = Summarizer(features="general", budget=SHAPES[NEWS][0], unit="words", language="any")
    return model._keep(train_together(model.settings, corpora, progress=progress))


def parts(clusters: Corpora) -> Iterator[tuple[str, Corpora, list[tuple[str, Cluster]]]]:
    """Clusters to learn from and to test on: five parts, by topic, and then each corpus learned from the others."""
    topics = sorted({topic_of(cluster) for name in (NEWS, REVIEWS) for cluster in clusters[name]})
    order = np.random.default_rng(0).permutation(len(topics))
    part = {topics[t]: k % PARTS for k, t in enumerate(order)}
    for k in range(PARTS):
        rest = {name: [c for c in members if part.get(topic_of(c)) != k] for name, members in clusters.items()}
        held = [(name, c) for name, members in clusters.items() for c in members if part.get(topic_of(c)) == k]
        yield "held out", rest, held + [(PAPERS, c) for c in clusters[PAPERS] if k == 0 and c.split == "test"]
    for name, members in clusters.items():
        rest = {other: c for other, c in clusters.items() if other != name}
        yield "corpus left out", rest, [(name, c) for c in members]


def check(clusters: Corpora, out: Path | None) -> None:
    """Print mean held-out ROUGE with its standard error over clusters, by corpus and language."""
    progress, rows = Progress(sys.stderr.isatty()), {}
    for done, (kind, rest, held) in enumerate(parts(clusters), 1):
        model = learn(rest)
        for name, cluster in held:
            language = cluster.language or "english"
            budget = SHAPES[name][0]
            rouge = Rouge(list(cluster.references), list(METRICS), **rouge_options(budget, "words", language))
            prepared, scores = model.prepare(cluster), []
            for seed in range(SEEDS):
                model.random_state = seed
                score = rouge.score(model.summarize(prepared, budget, "words", fill=True).text)
                scores.append([100 * score[metric].f for metric in METRICS])
            for group in (name, f"{name}, {language}") if name == NEWS else (name,):
                rows.setdefault(f"{kind}: {group}", []).append(np.mean(scores, axis=0).tolist())
        progress.stage("Parts", done, PARTS + len(clusters))
    progress.clear()
    for group, scores in rows.items():
        mean, error = np.mean(scores, axis=0), np.std(scores, axis=0) / np.sqrt(len(scores))
        print(f"{group:32s}", " / ".join(f"{m:.2f} ± {e:.2f}" for m, e in zip(mean, error, strict=True)))
    if out is not None:
        out.write_text(json.dumps(rows, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of the corpora (default: {DATA})")
    parser.add_argument(
        "--out", type=Path, help=f"model file to write (default: {MODEL}); with --check, JSON of scores"
    )
    parser.add_argument("--check", action="store_true", help="print held-out scores, and write no model")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"there is no {arguments.data}; give the folder of the corpora with --data")
    clusters = read_corpora(arguments.data)
    if arguments.check:
        check(clusters, arguments.out)
        return
    out = arguments.out or MODEL
    model = learn(clusters, progress=sys.stderr.isatty())
    for name, source in SOURCES.items():
        model.training_["corpora"][name]["source"] = source
    model.save(out)
    print(f"Trained on {model.training_['clusters']} clusters; wrote {out} ({out.stat().st_size / 1024:.0f} KB).")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt as stop:
        sys.exit(str(stop) or "Stopped.")
