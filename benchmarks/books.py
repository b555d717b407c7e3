"""Books: seconds and memory of `dpplearn summarize` by the number of sentences, and what the first choice costs.

`python -m benchmarks.books [--quick] [--data FOLDER]`: without the corpora, only made-up books are measured.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.made_up_book import made_up_book
from benchmarks.summarization import made_up_cluster
from benchmarks.timing import write
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.sampled import Sampler
from dpplearn.rouge import Rouge
from dpplearn.sampling.spectral import sample_spectral
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments.systems import rouge_options
from dpplearn.summarize.model.prepared import PART, Prepared, first_choice
from dpplearn.summarize.model.split_cluster import SplitCluster

DATA = Path(__file__).parents[2] / "shared" / "data"
SIZES = (3_000, 10_000, 30_000, 100_000)
HOSTILE: dict[str, Callable[[], str]] = {
    "100,000 equal sentences": lambda: "It rained for a long time. " * 100_000,
    "100,000 sentences of one word": lambda: " ".join(f"Word{i}x." for i in range(100_000)),
    "one sentence of 5 MB": lambda: "word " * 1_000_000 + ".",
}
NOTES = [
    "Asked for: 100,000 sentences in 60 s and 1.5 GB. Up to 3,000 sentences the model is exact; of more, 3,000 "
    "are kept.",
    "Seconds are those of the clock, on two cores that others use too (their load beside); the "
    "processor's are those of the command alone.",
    "A consensus compares random draws: two runs of the exact model differ too, and that is what a loss is to "
    "be measured by. Its objective is the mean agreement with 1,000 sets drawn from the exact model, that of "
    "greedy the log-probability under the exact model.",
    "ROUGE: models trained on other clusters; parts of a fifth of the cluster.",
]


class Cost(NamedTuple):
    """What a process took: seconds on the clock and of the processor, and its largest memory in GB."""

    seconds: float
    processor: float
    memory: float


def cost_of(text: str, *options: str) -> Cost:
    """`dpplearn summarize` of one file, from start to end in a new process with one BLAS thread."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.txt"
        path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-c", "from dpplearn.cli import main; main()", "summarize", str(path), *options]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        start = perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        said = process.stderr.read().decode() if process.stderr else ""
        _, status, used = os.wait4(process.pid, 0)
        seconds = perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"dpplearn summarize failed: {said}")
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9)


def costs(sizes: Sequence[int], data: Path | None) -> dict:
    """By size, for both sets of features; of all English documents of the corpora; of hostile texts."""
    rows = []

    def measure(case: str, text: str, *options: str) -> None:
        found, load = cost_of(text, *options), os.getloadavg()[0]
        rows.append([case, f"{found.seconds:.1f}", f"{found.processor:.1f}", f"{found.memory:.2f}", f"{load:.1f}"])
        print(*rows[-1], sep="  ", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "paper.json"
        Summarizer("paper").fit([made_up_cluster(seed, 100) for seed in range(6)]).save(model)
        for n in sizes:
            book = made_up_book(n)
            measure(f"{n:,} sentences", book)
            measure(f"{n:,} sentences, the paper's features", book, "--model", str(model), "--budget", "665")
    if data is not None:
        clusters = [c for name in ("multiling2011", "clscisumm2018") for c in read_clusters(data / f"{name}.jsonl")]
        texts = [d.text for c in clusters if c.language in (None, "english") for d in c.documents]
        n = len(Cluster.from_texts(texts).sentences())
        measure(f"{n:,} sentences, all English documents of two corpora", "\n\n".join(texts))
    for case, text in HOSTILE.items():
        measure(case, text())
    columns = ["text", "seconds", "processor's", "GB", "load of the machine"]
    return {"title": "`dpplearn summarize book.txt`, from start to end", "columns": columns, "rows": rows}


class Judge:
    """What consensus summaries of a cluster are worth to the exact model: agreement with 1,000 other sets drawn."""

    def __init__(self, prepared: Prepared, budget: float) -> None:
        allowed = prepared.allowed(np.empty(0, np.int64), np.empty(0, np.int64))
        cost, model = prepared.split.costs("words"), prepared.kernel(0.5)
        limits = check_limits(model.n, cost, budget, exclude=~allowed)
        sampler, rng = Sampler(model, limits, 0.0, limits.full_cost), np.random.default_rng(99)
        indptr, indices = sample_spectral(sampler.tables, 1_000, rng, expected_size=sampler.mean, n_jobs=1)
        drawn = sparse.csr_array((np.ones(len(indices)), sampler.items[indices], indptr), (1_000, model.n))
        self.parts = [(weight, counts, drawn @ counts) for weight, counts in prepared.agreement]

    def __call__(self, subset: np.ndarray) -> float:
        total = 0.0
        for weight, counts, said in self.parts:
            own = np.asarray(counts[subset].sum(axis=0)).ravel()
            both = np.array([np.minimum(row, own).sum() for row in said.toarray()])
            total += weight * float(np.mean(2.0 * both / np.maximum(own.sum() + said.sum(axis=1), 1e-12)))
        return total


def chosen(model: Summarizer, read: SplitCluster, budget: float, decoder: str, keep: int | None, seed: int = 0) -> list:
    """Numbers, in the whole cluster, of the sentences of a summary: by the exact model, or after a first choice."""
    place = {sentence: i for i, sentence in enumerate(read.sentences)}
    part = PART if len(read) > 2 * PART else -(-len(read) // 5)  # of a small cluster, five parts
    some = read if keep is None else read.only(first_choice(read, model._trained.model, keep, part))
    model.random_state = seed
    found = model.summarize(some, budget, "words", decoder=decoder).sentences
    model.random_state = 0
    return sorted(place[sentence] for sentence in found)


def loss_on_books(seeds: Sequence[int], n: int = 3_000, budget: float = 100) -> dict:
    """Two steps against the exact model where both can be had."""
    model, found = Summarizer.load(), {}
    for seed in seeds:
        prepared = model.prepare(model.features_.read(Cluster.from_texts([made_up_book(n, seed)])))
        read, judge = prepared.split, Judge(prepared, budget)
        exact = {decoder: chosen(model, read, budget, decoder, None) for decoder in ("consensus", "greedy")}
        worth = {"consensus": judge, "greedy": lambda Y, dpp=prepared.dpp: dpp.log_prob(Y)}
        runs = {"the exact model": {}, "the exact model, other draws": {"seed": 1}}
        runs |= {f"the first {k:,} of {n:,}": {"keep": k} for k in (n // 3, n // 10)}
        for name, options in runs.items():
            for decoder in ("consensus", "greedy"):
                Y = chosen(model, read, budget, decoder, **{"keep": None, **options})
                shared = len(set(Y) & set(exact[decoder])) / len(exact[decoder])
                found.setdefault((decoder, name), []).append((worth[decoder](np.array(Y)), shared))
    rows = [[*key, *(f"{x:.4g}" for x in np.mean(values, axis=0))] for key, values in found.items()]
    columns = ["decoder", "chosen from by", "objective", "sentences in common with the exact model"]
    title = f"The first choice forced down: made-up books of {n:,} sentences, {budget:g} words, mean of {len(seeds)}"
    return {"title": title, "columns": columns, "rows": sorted(rows)}


def halves(data: Path) -> Iterator[tuple[str, list[Cluster], list[Cluster]]]:
    """Names of corpora, clusters to train on, and others to summarize."""
    topics = [*read_clusters(data / "multiling2011.jsonl")]
    for language in sorted({str(c.language) for c in topics}):
        own = [c for c in topics if c.language == language]
        name = "MultiLing, English" if language == "english" else "MultiLing, six other languages"
        yield name, own[:5], own[5:]
        yield name, own[5:], own[:5]
    papers = [*read_clusters(data / "clscisumm2018.jsonl")]
    yield "CL-SciSumm", [c for c in papers if c.split == "train"], [c for c in papers if c.split == "test"]


def loss_in_rouge(data: Path, features: str, most: int | None) -> dict:
    """ROUGE on clusters that were not trained on, where the first choice keeps a third or a tenth of the sentences."""
    found: dict[tuple, dict[str, list]] = {}
    for corpus, train, test in halves(data):
        model = Summarizer(features, budget=250, unit="words").fit(train)
        for cluster in test[:most]:
            read = model.features_.read(cluster)
            third, tenth = (max(len(read) // share, 20) for share in (3, 10))
            runs = [("all", None, 0), ("again", None, 1), ("third", third, 0), ("tenth", tenth, 0)]
            for budget in (100, 250):
                options = rouge_options(budget, "words", model.language_)
                rouge = Rouge(list(cluster.references), ["rouge-1", "rouge-2"], **options)
                for decoder in ("consensus", "greedy"):
                    for name, keep, seed in runs:
                        Y = chosen(model, read, budget, decoder, keep, seed)
                        score = rouge.score([read.texts[i] for i in Y])
                        one = found.setdefault((corpus, decoder, budget), {})
                        one.setdefault(name, []).append((score["rouge-1"].f, score["rouge-2"].f))
    rows = []
    for (corpus, decoder, budget), scores in sorted(found.items()):
        cells = [" / ".join(f"{100 * x:.2f}" for x in np.mean(both, axis=0)) for both in scores.values()]
        rows.append([f"{corpus} ({len(scores['all'])})", decoder, budget, *cells])
    columns = ["corpus (clusters)", "decoder", "words", "exact", "exact, other draws", "a third kept", "a tenth kept"]
    title = f"ROUGE-1 / ROUGE-2 F in %, where the first choice is forced down; {features} features"
    return {"title": title, "columns": columns, "rows": rows}


def run(quick: bool = False, data: Path = DATA) -> dict:
    there = data if (data / "multiling2011.jsonl").exists() else None
    tables = [costs(SIZES[:2] if quick else SIZES, there), loss_on_books(range(1 if quick else 3))]
    if there is not None:
        tables += [loss_in_rouge(there, features, 2 if quick else None) for features in ("paper", "general")]
    return {
        "name": "books",
        "title": "Books",
        "rows": [],
        "tables": tables,
        "notes": NOTES,
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller books, fewer clusters")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora (default: ../shared/data)")
    arguments = parser.parse_args()
    result = run(arguments.quick, arguments.data)
    print(write(result))
    for table in result["tables"]:
        print(table["title"])
        for row in table["rows"]:
            print(*row, sep="  ")
