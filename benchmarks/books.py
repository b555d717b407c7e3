"""Measures summaries of books: seconds and memory of `dpplearn summarize`, and what the first choice costs.

`python -m benchmarks.books [--quick] [--data FOLDER]`; without the corpora, it measures only made-up books.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.made_up import made_up_book, made_up_cluster
from benchmarks.timing import ROOT, command_cost, show, write
from dpplearn.decoding.limits import check_limits
from dpplearn.decoding.sampled import Sampler
from dpplearn.rouge import Rouge
from dpplearn.sampling.spectral import sample_spectral
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments.systems import rouge_options
from dpplearn.summarize.model.prepared import PART, Prepared, first_choice
from dpplearn.summarize.model.split_cluster import SplitCluster

DATA = ROOT.parent / "shared" / "data"
SIZES = (3_000, 10_000, 30_000, 100_000)
HOSTILE: dict[str, Callable[[], str]] = {
    "100,000 equal sentences": lambda: "It rained for a long time. " * 100_000,
    "100,000 sentences of one word": lambda: " ".join(f"Word{i}x." for i in range(100_000)),
    "one sentence of 5 MB": lambda: "word " * 1_000_000 + ".",
}
NOTES = [
    "The target is 100,000 sentences in 60 s and 1.5 GB. Up to 3,000 sentences, the model is exact; from longer texts, "
    "a first choice keeps 3,000.",
    "Seconds are by the clock, on two cores that have other work too, and the last column is the load that this makes. "
    "CPU seconds are those of the command alone.",
    "A consensus compares random draws, so that two runs of the exact model differ, too: compare a loss with this "
    "difference. The objective of a consensus is the mean agreement with 1,000 sets drawn from the exact model; that "
    "of greedy is the log-probability under the exact model.",
    "For ROUGE, models are trained on other clusters, and the first choice works in parts of a fifth of the cluster.",
]


def costs(sizes: Sequence[int], data: Path | None) -> dict:
    """The costs by size, for two sets of features; of all English documents of the corpora; and of hostile texts."""
    rows = []

    def measure(case: str, text: str, *options: str) -> None:
        path.write_text(text, encoding="utf-8")
        cost, load = command_cost("summarize", str(path), *options), os.getloadavg()[0]
        rows.append([case, f"{cost.seconds:.1f}", f"{cost.cpu:.1f}", f"{cost.memory:.2f}", f"{load:.1f}"])
        print(*rows[-1], sep="  ", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "book.txt", Path(folder) / "paper.json"
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
    columns = ["text", "seconds", "CPU seconds", "GB", "load of the machine"]
    return {"title": "`dpplearn summarize book.txt`, from start to end", "columns": columns, "rows": rows}


class Judge:
    """The worth of consensus summaries under the exact model: their agreement with 1,000 sets drawn from it."""

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
        for weight, counts, drawn in self.parts:
            summary = np.asarray(counts[subset].sum(axis=0)).ravel()
            shared = np.array([np.minimum(row, summary).sum() for row in drawn.toarray()])
            total += weight * float(np.mean(2.0 * shared / np.maximum(summary.sum() + drawn.sum(axis=1), 1e-12)))
        return total


def choose(
    model: Summarizer, split: SplitCluster, budget: float, decoder: str, keep: int | None, seed: int = 0
) -> list[int]:
    """The numbers, in the whole cluster, of a summary's sentences: by the exact model, or after a first choice."""
    numbers = {sentence: i for i, sentence in enumerate(split.sentences)}
    part = PART if len(split) > 2 * PART else -(-len(split) // 5)  # a small cluster has five parts
    kept = split if keep is None else split.only(first_choice(split, model._trained.model, keep, part))
    model.random_state = seed
    sentences = model.summarize(kept, budget, "words", decoder=decoder).sentences
    model.random_state = 0
    return sorted(numbers[sentence] for sentence in sentences)


def loss_on_books(seeds: Sequence[int], n: int = 3_000, budget: float = 100) -> dict:
    """Compare the first choice with the exact model, on books where both are possible."""
    model, results = Summarizer.load(), {}
    for seed in seeds:
        prepared = model.prepare(model.features_.read(Cluster.from_texts([made_up_book(n, seed)])))
        split, judge = prepared.split, Judge(prepared, budget)
        exact = {decoder: choose(model, split, budget, decoder, None) for decoder in ("consensus", "greedy")}
        worth = {"consensus": judge, "greedy": lambda Y, dpp=prepared.dpp: dpp.log_prob(Y)}
        runs = {"the exact model": {}, "the exact model, other draws": {"seed": 1}}
        runs |= {f"a first choice of {k:,} of {n:,}": {"keep": k} for k in (n // 3, n // 10)}
        for name, options in runs.items():
            for decoder in ("consensus", "greedy"):
                Y = choose(model, split, budget, decoder, **{"keep": None, **options})
                shared = len(set(Y) & set(exact[decoder])) / len(exact[decoder])
                results.setdefault((decoder, name), []).append((worth[decoder](np.array(Y)), shared))
    rows = [[*key, *(f"{x:.4g}" for x in np.mean(values, axis=0))] for key, values in results.items()]
    columns = ["decoder", "model", "objective", "sentences in common with the exact model"]
    title = f"A smaller first choice: made-up books of {n:,} sentences, {budget:g} words, mean of {len(seeds)}"
    return {"title": title, "columns": columns, "rows": sorted(rows)}


def halves(data: Path) -> Iterator[tuple[str, list[Cluster], list[Cluster]]]:
    """Names of corpora, clusters to train on, and others to summarize."""
    topics = [*read_clusters(data / "multiling2011.jsonl")]
    for language in sorted({str(c.language) for c in topics}):
        clusters = [c for c in topics if c.language == language]
        name = "MultiLing, English" if language == "english" else "MultiLing, six other languages"
        yield name, clusters[:5], clusters[5:]
        yield name, clusters[5:], clusters[:5]
    papers = [*read_clusters(data / "clscisumm2018.jsonl")]
    yield "CL-SciSumm", [c for c in papers if c.split == "train"], [c for c in papers if c.split == "test"]


def loss_in_rouge(data: Path, features: str, limit: int | None) -> dict:
    """ROUGE on held-out clusters, where the first choice keeps a third or a tenth of the sentences."""
    results: dict[tuple, dict[str, list]] = {}
    for corpus, train, test in halves(data):
        model = Summarizer(features, budget=250, unit="words").fit(train)
        for cluster in test[:limit]:
            split = model.features_.read(cluster)
            third, tenth = (max(len(split) // divisor, 20) for divisor in (3, 10))
            runs = [("all", None, 0), ("again", None, 1), ("third", third, 0), ("tenth", tenth, 0)]
            for budget in (100, 250):
                options = rouge_options(budget, "words", model.language_)
                rouge = Rouge(list(cluster.references), ["rouge-1", "rouge-2"], **options)
                for decoder in ("consensus", "greedy"):
                    for name, keep, seed in runs:
                        Y = choose(model, split, budget, decoder, keep, seed)
                        score = rouge.score([split.texts[i] for i in Y])
                        runs_of_row = results.setdefault((corpus, decoder, budget), {})
                        runs_of_row.setdefault(name, []).append((score["rouge-1"].f, score["rouge-2"].f))
    rows = []
    for (corpus, decoder, budget), scores in sorted(results.items()):
        cells = [" / ".join(f"{100 * x:.2f}" for x in np.mean(both, axis=0)) for both in scores.values()]
        rows.append([f"{corpus} ({len(scores['all'])})", decoder, budget, *cells])
    columns = ["corpus (clusters)", "decoder", "words", "exact", "exact, other draws", "a third kept", "a tenth kept"]
    title = f"ROUGE-1 / ROUGE-2 F in % after a smaller first choice; {features} features"
    return {"title": title, "columns": columns, "rows": rows}


def run(quick: bool = False, data: Path = DATA) -> dict:
    corpora = data if (data / "multiling2011.jsonl").exists() else None
    tables = [costs(SIZES[:2] if quick else SIZES, corpora), loss_on_books(range(1 if quick else 3))]
    if corpora is not None:
        tables += [loss_in_rouge(corpora, features, 2 if quick else None) for features in ("paper", "general")]
    return {"name": "books", "title": "Books", "rows": [], "tables": tables, "notes": NOTES}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller books and fewer clusters, printed but not stored")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora (default: ../shared/data)")
    arguments = parser.parse_args()
    result = run(arguments.quick, arguments.data)
    if not arguments.quick:
        print(write(result))
    show(result)
