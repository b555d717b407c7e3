"""Corpora of many clusters: clusters a second of each stage on a core, what a second process gains, memory by size.

`python -m benchmarks.corpora [--quick] [--only NAME ...]`: parts that are not asked for keep the figures they have.
With `--only before`, an earlier commit does the same work as this tree (`--commit`, of a clone that has it), on made-up
clusters or on those of a corpus in one language (`--corpus FILE LANGUAGE`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from benchmarks.summarization import made_up_cluster
from benchmarks.timing import RESULTS, compared, write
from dpplearn._run.workers import open_workers
from dpplearn.learning.files import load_shard, save_shard
from dpplearn.learning.likelihood import LikelihoodRequest, LogLinear
from dpplearn.learning.similarity import fixed_similarity
from dpplearn.learning.training_set import PreparedShard
from dpplearn.summarize import Cluster, Document, Summarizer, open_corpus
from dpplearn.summarize.batch import summarize_piece
from dpplearn.summarize.corpora.reading import compiled
from dpplearn.summarize.corpora.source import CorpusPiece
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.model.training import examples_of
from dpplearn.summarize.text.words import words

SENTENCES = (50, 250)
CLUSTERS = (1_000, 5_000, 20_000)
SMALL = 20  # sentences of a cluster, where memory is measured: the number of clusters is what matters
STAGES = ("reading", "features", "oracle", "likelihood", "greedy", "consensus")
NOTES = [
    "Made-up clusters of ten documents with four references. Seconds of the processor, one BLAS thread; the best of "
    "three rounds.",
    "Reading is JSON, words for document frequencies, and sentences; features are what is made of a cluster that is "
    "split; oracle the four extracts; likelihood one evaluation with its Hessian from a file, of all four targets (a "
    "fit takes five to ten); greedy and consensus a summary of a cluster that is featurized.",
    f"Memory is the largest of the process, clusters of {SMALL} sentences, one job; what Python, numba and the "
    "libraries need is that of training on ten clusters.",
]


def write_corpus(path: Path, clusters: Iterator[Cluster]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for one in clusters:
            documents = [{"id": d.id, "text": d.text} for d in one.documents]
            record = {"id": one.id, "documents": documents, "references": list(one.references)}
            file.write(json.dumps(record) + "\n")
    return path


def stage_rates(n: int, sentences: int, folder: Path) -> dict[str, float]:
    """Clusters a second of each stage."""
    path = write_corpus(folder / f"{sentences}.jsonl", (made_up_cluster(seed, sentences) for seed in range(n)))
    clusters = list(open_corpus(path))
    summarizer = Summarizer(budget=665).fit(clusters)
    features, settings = summarizer.features_, summarizer.settings
    splits = [split_cluster(cluster) for cluster in clusters]
    reads = [features.read(cluster) for cluster in clusters]
    X, y, weights = zip(*(one for split in splits for one in examples_of(features, split, settings)), strict=True)
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
        for one in reads:
            summarizer.summarize(one, decoder=decoder)

    works: dict[str, Callable[[], object]] = {
        "reading": read,
        "features": lambda: [features.featurized(one).F for one in splits],
        "oracle": lambda: [training_targets(one, settings) for one in reads],
        "likelihood": likelihood,
        "greedy": lambda: decode("greedy"),
        "consensus": lambda: decode("consensus"),
    }
    best = dict.fromkeys(STAGES, np.inf)
    for _ in range(3):
        for name, work in works.items():
            start = process_time()
            work()
            best[name] = min(best[name], process_time() - start)
    return {name: n / seconds for name, seconds in best.items()}


def two_processes(n: int, folder: Path, repeats: int) -> list[float]:
    """Time of one process over that of two, alternating: summaries by consensus, both warm."""
    path = write_corpus(folder / "pairs.jsonl", (made_up_cluster(seed, 250) for seed in range(n)))
    corpus, ratios = open_corpus(path), []
    work, given = partial(compiled, summarize_piece), (Summarizer.load(), {}, False)

    def tasks(run: int) -> Iterator[tuple[CorpusPiece, Path]]:
        for piece in corpus.pieces(corpus.notes()):
            yield piece, folder / f"{run}-{piece.number}.jsonl"

    with open_workers(None, 1) as one, open_workers(None, 2) as two:
        for workers in (one, two):
            list(workers.each(work, islice(tasks(0), 8), given))
        for run in range(1, repeats + 1):
            taken = []
            for workers in (one, two):
                start = perf_counter()
                list(workers.each(work, tasks(run), given))
                taken.append(perf_counter() - start)
            ratios.append(taken[0] / taken[1])
    return ratios


BEFORE = """
import json, sys, time, warnings
from dpplearn.summarize import Cluster, Document, Summarizer
warnings.simplefilter("ignore")
records = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
model = Summarizer.load()

def fresh():
    return [Cluster([Document(d["id"], d["text"]) for d in r["documents"]], r["references"], id=r["id"])
            for r in records]

def summaries(clusters):
    for one in clusters:
        model.summarize(one, 100, "words")

def fit(clusters):
    Summarizer(budget=100, unit="words").fit(clusters)

for work in (summaries, fit):
    best = float("inf")
    for _ in range(4):
        clusters = fresh()
        start = time.process_time()
        work(clusters)
        best = min(best, time.process_time() - start)
    print(best / len(records))
"""


def against(commit: str, path: Path, folder: Path, repeats: int, what: str) -> list[dict]:
    """This tree and that of a commit, alternating: seconds of the processor for a cluster, the best of four rounds."""
    root = Path(__file__).parent.parent
    there = folder / commit
    if not there.exists():
        there.mkdir()
        packed = subprocess.run(["git", "archive", commit, "src"], cwd=root, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], cwd=there, input=packed, check=True)
    taken: dict[Path, list[list[float]]] = {root: [], there: []}
    for _ in range(repeats):
        for tree, times in taken.items():
            own = {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(folder / f"numba-{tree.name}")}
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "DPPLEARN_COMPILE": "always"} | own
            command = [sys.executable, "-c", BEFORE, str(path)]
            said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            times.append([float(line) for line in said.split()])
    names = "read, features and consensus", "a fit, for each cluster"
    pairs = list(zip(taken[root], taken[there], strict=True))
    return [
        {"case": f"{name}: {what}", "peer": f"commit {commit}", "target": 3.0,
         **compared([(ours[j], theirs[j]) for ours, theirs in pairs])}
        for j, name in enumerate(names)
    ]  # fmt: skip


def small_cluster(k: int, texts: list[str]) -> Cluster:
    """Sentences of a pool, other ones in each cluster."""
    rng = np.random.default_rng(k)
    own = rng.choice(len(texts), SMALL + 2, replace=False)
    half = SMALL // 2
    documents = [Document(str(d), " ".join(texts[i] for i in own[d * half : (d + 1) * half])) for d in range(2)]
    return Cluster(documents, [" ".join(texts[i] for i in own[half : half + 2])], id=f"c{k}")


def memory_of(n: int, folder: Path) -> tuple[float, float, float]:
    """GB, seconds of the clock and of the processor of `dpplearn train`."""
    texts = [one.text for seed in range(8) for one in made_up_cluster(seed, 250).sentences()]
    path = write_corpus(folder / f"{n}.jsonl", (small_cluster(k, texts) for k in range(n)))
    command = [sys.executable, "-c", "from dpplearn.cli import main; main()", "train", str(path)]
    command += ["--budget", "40", "--unit", "words", "--out", str(folder / f"{n}.json")]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    start = perf_counter()
    process = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError("dpplearn train failed")
    return used.ru_maxrss * 1024 / 1e9, perf_counter() - start, used.ru_utime + used.ru_stime


def clusters_of(corpus: Path, language: str, path: Path) -> tuple[Path, str]:
    """Clusters of about 250 sentences: each topic of a language with the first six documents of the next."""
    with corpus.open(encoding="utf-8") as file:
        topics = [one for one in map(json.loads, file) if one.get("lang") == language]
    with path.open("w", encoding="utf-8") as file:
        for one, other in zip(topics[::2], topics[1::2], strict=False):
            file.write(json.dumps(one | {"documents": [*one["documents"], *other["documents"][:6]]}) + "\n")
    return path, f"{len(topics) // 2} clusters of two topics each of {corpus.stem}, {language}"


def run(quick: bool, only: list[str], commit: str = "", corpus: Sequence[str] | None = None) -> dict:
    known = RESULTS / "corpora.json"
    before = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    tables = {table["title"]: table for table in before.get("tables", [])}
    figures, rows_before = before.get("figures", []), before.get("rows", [])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "before" in only:
            made_up = write_corpus(folder / "250.jsonl", (made_up_cluster(seed, 250) for seed in range(8)))
            rows_before = against(commit, made_up, folder, 1 if quick else 3, "8 made-up clusters of 250 sentences")
            if corpus:
                path, what = clusters_of(Path(corpus[0]), corpus[1], folder / "real.jsonl")
                rows_before += against(commit, path, folder, 1 if quick else 3, what)
        if "rates" in only:
            rows = [[f"{n} sentences", *stage_rates(6 if quick else 24, n, folder).values()] for n in SENTENCES]
            title = "Clusters a second and core"
            tables[title] = {"title": title, "columns": ["cluster of", *STAGES], "rows": rows}
        if "processes" in only:
            ratios = two_processes(24 if quick else 300, folder, 1 if quick else 3)
            case = "summaries by consensus: time of one process over that of two, alternating, median"
            figures = [{"case": case, "value": float(np.median(ratios)), "unit": "times", "target": "at least 1.8"}]
        if "memory" in only:
            least = memory_of(10, folder)[0]
            rows = [[10, f"{least:.2f}", "", ""]]
            for n in CLUSTERS[: 1 if quick else int(os.environ.get("CORPORA_SIZES", len(CLUSTERS)))]:
                most, seconds, processor = memory_of(n, folder)
                rows.append([n, f"{most:.2f}", f"{seconds:.0f}", f"{processor:.0f}"])
                print(*rows[-1], flush=True)
            title = "Memory of `dpplearn train` by the number of clusters"
            tables[title] = {"title": title, "columns": ["clusters", "GB", "seconds", "processor's"], "rows": rows}
    return {
        "name": "corpora", "title": "Corpora", "rows": rows_before, "figures": figures, "tables": list(tables.values()),
        "notes": NOTES,
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=["rates", "processes", "memory"])
    parser.add_argument("--commit", default="062b231", help="the one that `before` compares with")
    parser.add_argument(
        "--corpus", nargs=2, metavar=("FILE", "LANGUAGE"), help="clusters for `before`, beside made-up ones"
    )
    given = parser.parse_args()
    print(write(run(given.quick, given.only, given.commit, given.corpus)))
