"""Train the model that comes with dpplearn (`make model`), for any kind of text.

Learns from three corpora together, whose texts stay where they are: news in seven languages (MultiLing 2011), papers
(CL-SciSumm 2018, the training part), and reviews (Opinosis); the file written holds weights. With --check, writes
nothing and prints scores of what was held out: topics, papers and reviews in five parts, and each corpus as a whole.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpplearn._run.progress import Progress
from dpplearn.rouge import Rouge
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments.held_out import topic_of
from dpplearn.summarize.model.together import Corpus, train_together
from dpplearn.summarize.model.training import rouge_options

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
# Words of an extract, as the references have them; and how many clusters the corpus counts as. The seven languages are
# translations of ten topics, so that 70 clusters are no 70 examples.
SHAPES = {NEWS: (250, 30.0), PAPERS: (150, 20.0), REVIEWS: (20, 20.0)}


Corpora = dict[str, list[Cluster]]


def make() -> Summarizer:
    return Summarizer(features="general", budget=SHAPES[NEWS][0], unit="words", language="any")


def read(data: Path) -> Corpora:
    """Clusters of each corpus that have references; papers with those that people wrote for the task."""
    found = {NEWS: read_clusters(data / "multiling2011.jsonl"), REVIEWS: read_clusters(data / "opinosis_half.jsonl")}
    found[PAPERS] = [human(cluster) for cluster in read_clusters(data / "clscisumm2018.jsonl")]
    return {name: [one for one in found[name] if any(map(str.strip, one.references))] for name in SHAPES}


def human(cluster: Cluster) -> Cluster:
    kept = [r for r, name in zip(cluster.references, cluster.reference_ids, strict=True) if "human" in name]
    return replace(cluster, references=kept, reference_ids=())


def learn(clusters: Corpora, verbose: bool | Progress = False) -> Summarizer:
    """A model of all clusters that are not for testing."""
    corpora = [
        Corpus(name, own, SHAPES[name][0], "words", SHAPES[name][1])
        for name, given in clusters.items()
        if (own := [cluster for cluster in given if cluster.split != "test"])
    ]
    model = make()
    return model._keep(train_together(model.settings, corpora, verbose=verbose))


def parts(
    clusters: Corpora,
) -> Iterator[tuple[str, Corpora, list[tuple[str, Cluster]]]]:
    """What to learn from and what to test on: five parts, by topic, and then each corpus by the others."""
    topics = sorted({topic_of(cluster) for name in (NEWS, REVIEWS) for cluster in clusters[name]})
    order = np.random.default_rng(0).permutation(len(topics))
    part = {topics[t]: k % PARTS for k, t in enumerate(order)}
    for k in range(PARTS):
        rest = {name: [c for c in own if part.get(topic_of(c)) != k] for name, own in clusters.items()}
        held = [(name, c) for name, own in clusters.items() for c in own if part.get(topic_of(c)) == k]
        yield "held out", rest, held + [(PAPERS, c) for c in clusters[PAPERS] if k == 0 and c.split == "test"]
    for name, own in clusters.items():
        yield "corpus left out", {other: c for other, c in clusters.items() if other != name}, [(name, c) for c in own]


def check(clusters: Corpora, out: Path | None) -> None:
    """Mean ROUGE of what was held out, with the standard error over clusters, by corpus and language."""
    progress, rows = Progress(sys.stderr.isatty()), {}
    for done, (kind, rest, held) in enumerate(parts(clusters), 1):
        model = learn(rest)
        for name, cluster in held:
            language = cluster.language or "english"
            budget = SHAPES[name][0]
            rouge = Rouge(list(cluster.references), list(METRICS), **rouge_options(budget, "words", language))
            ready, scores = model.prepare(cluster), []
            for seed in range(SEEDS):
                model.random_state = seed
                found = rouge.score(model.summarize(ready, budget, "words", fill=True).text)
                scores.append([100 * found[metric].f for metric in METRICS])
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
    parser.add_argument("--check", action="store_true", help="print scores of what was held out, write no model")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"there is no {arguments.data}; say with --data where the corpora are")
    clusters = read(arguments.data)
    if arguments.check:
        check(clusters, arguments.out)
        return
    out = arguments.out or MODEL
    model = learn(clusters, verbose=sys.stderr.isatty())
    for name, source in SOURCES.items():
        model.training_["corpora"][name]["source"] = source
    model.save(out)
    print(f"Trained on {model.training_['clusters']} clusters; wrote {out} ({out.stat().st_size / 1024:.0f} KB).")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt as stop:
        sys.exit(str(stop) or "Stopped.")
