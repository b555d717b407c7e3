"""Measures work on corpora: clusters a second of each stage, the gain of a second process, and memory by size."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from benchmarks.made_up import made_up_cluster, write_corpus
from benchmarks.timing import Cost, command_cost, main
from dpplearn._run.workers import open_workers
from dpplearn.learning.files import load_shard, save_shard
from dpplearn.learning.likelihood import LikelihoodRequest, LogLinear
from dpplearn.learning.similarity import fixed_similarity
from dpplearn.learning.training_set import PreparedShard
from dpplearn.summarize import Cluster, Document, Summarizer, open_corpus
from dpplearn.summarize.batch import summarize_piece
from dpplearn.summarize.corpora.reading import run_compiled
from dpplearn.summarize.corpora.source import CorpusPiece
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.model.training import examples_of
from dpplearn.summarize.text.words import words

SENTENCES = (50, 250)
CLUSTERS = (1_000, 5_000, 20_000)
SMALL = 20  # sentences of a cluster where memory is measured, because only the number of clusters matters there
STAGES = ("reading", "features", "oracle", "likelihood", "greedy", "consensus")
NOTES = [
    "Clusters are made up, with ten documents and four references each. The rates are per CPU second with one BLAS "
    "thread, from the best of three rounds.",
    "Reading parses JSON, counts the words of documents, and splits sentences. Features are computed for split "
    "clusters. The oracle makes the four extracts. Likelihood is one evaluation of all four targets from a "
    "file, with its Hessian; a fit takes five to ten of these. Greedy and consensus make a summary of a cluster with "
    "features.",
    f"Memory is the peak of the process, for clusters of {SMALL} sentences and one job. The row of ten clusters shows "
    "what Python, numba and the libraries need.",
]


def stage_rates(n: int, sentences: int, folder: Path) -> dict[str, float]:
    """Clusters a second, for each stage."""
    path = write_corpus(folder / f"{sentences}.jsonl", (made_up_cluster(seed, sentences) for seed in range(n)))
    clusters = list(open_corpus(path))
    summarizer = Summarizer(budget=665).fit(clusters)
    features, settings = summarizer.features_, summarizer.settings
    splits = [split_cluster(cluster) for cluster in clusters]
    featured = [features.read(cluster) for cluster in clusters]
    X, y, weights = zip(
        *(example for split in splits for example in examples_of(features, split, settings)), strict=True
    )
    save_shard(folder / "shard.npz", X, y, weights)
    request = LikelihoodRequest(LogLinear(summarizer.theta_), fixed_similarity(settings.rho))

    def likelihood() -> None:
        shard = load_shard(folder / "shard.npz")
        PreparedShard.of(shard, evaluator="numpy", similarity=fixed_similarity(settings.rho)).answer(request)

    def read() -> None:
        for cluster in open_corpus(path):
            for document in cluster.documents:
                words(document.text)
            split_cluster(cluster)

    def decode(decoder: str) -> None:
        for cluster in featured:
            summarizer.summarize(cluster, decoder=decoder)

    stages: dict[str, Callable[[], object]] = {
        "reading": read,
        "features": lambda: [features.featurized(split).F for split in splits],
        "oracle": lambda: [training_targets(cluster, settings) for cluster in featured],
        "likelihood": likelihood,
        "greedy": lambda: decode("greedy"),
        "consensus": lambda: decode("consensus"),
    }
    best = dict.fromkeys(STAGES, np.inf)
    for _ in range(3):
        for name, work in stages.items():
            start = process_time()
            work()
            best[name] = min(best[name], process_time() - start)
    return {name: n / seconds for name, seconds in best.items()}


def two_processes(n: int, folder: Path, repeats: int) -> list[float]:
    """The time of one process over that of two, in turns: summaries by consensus, both warm."""
    path = write_corpus(folder / "pairs.jsonl", (made_up_cluster(seed, 250) for seed in range(n)))
    corpus, ratios = open_corpus(path), []
    work, arguments = partial(run_compiled, summarize_piece), (Summarizer.load(), {}, False)

    def tasks(run: int) -> Iterator[tuple[CorpusPiece, Path]]:
        for piece in corpus.pieces(corpus.notes()):
            yield piece, folder / f"{run}-{piece.number}.jsonl"

    with open_workers(None, 1) as one, open_workers(None, 2) as two:
        for workers in (one, two):
            list(workers.each(work, islice(tasks(0), 8), arguments))
        for run in range(1, repeats + 1):
            times = []
            for workers in (one, two):
                start = perf_counter()
                list(workers.each(work, tasks(run), arguments))
                times.append(perf_counter() - start)
            ratios.append(times[0] / times[1])
    return ratios


def small_cluster(k: int, texts: list[str]) -> Cluster:
    """A cluster of sentences drawn from a pool, different for each k."""
    rng = np.random.default_rng(k)
    drawn = rng.choice(len(texts), SMALL + 2, replace=False)
    half = SMALL // 2
    documents = [Document(str(d), " ".join(texts[i] for i in drawn[d * half : (d + 1) * half])) for d in range(2)]
    return Cluster(documents, [" ".join(texts[i] for i in drawn[half : half + 2])], id=f"c{k}")


def training_cost(n: int, folder: Path) -> Cost:
    """The cost of `dpplearn train` on n small clusters."""
    texts = [sentence.text for seed in range(8) for sentence in made_up_cluster(seed, 250).sentences()]
    path = write_corpus(folder / f"{n}.jsonl", (small_cluster(k, texts) for k in range(n)))
    return command_cost("train", str(path), "--budget", "40", "--unit", "words", "--out", str(folder / f"{n}.json"))


def run(quick: bool = False) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates = [[f"{n} sentences", *stage_rates(6 if quick else 24, n, folder).values()] for n in SENTENCES]
        ratios = two_processes(24 if quick else 300, folder, 1 if quick else 3)
        memory = [[10, f"{training_cost(10, folder).memory:.2f}", "", ""]]
        for n in CLUSTERS[: 1 if quick else None]:
            cost = training_cost(n, folder)
            memory.append([n, f"{cost.memory:.2f}", f"{cost.seconds:.0f}", f"{cost.cpu:.0f}"])
            print(*memory[-1], flush=True)
    case = "summaries by consensus: time of one process over that of two, alternating, median"
    title = "Memory of `dpplearn train` by the number of clusters"
    return {
        "name": "corpora",
        "title": "Corpora",
        "rows": [],
        "figures": [{"case": case, "value": float(np.median(ratios)), "unit": "times", "target": "at least 1.8"}],
        "tables": [
            {"title": "Clusters a second and core", "columns": ["cluster of", *STAGES], "rows": rates},
            {"title": title, "columns": ["clusters", "GB", "seconds", "CPU seconds"], "rows": memory},
        ],
        "notes": NOTES,
    }


if __name__ == "__main__":
    main(run)
