"""Summarization: against sumy's LexRank, a new process against an import, training and sampling times."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.timing import alternate, seconds, write
from dpplearn.summarize import Cluster, Document, Summarizer

WORDS = 4000


def made_up_cluster(seed: int, sentences: int = 250, documents: int = 10) -> Cluster:
    """News-like clusters of invented words: a shared topic, ten documents, four references cut from them."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, WORDS + 1)
    names = np.array(["".join(rng.choice(list("abdefgiklmnoprstuv"), 3 + w % 7)) for w in range(WORDS)])
    topic = rng.choice(WORDS, 120, replace=False)

    def sentence() -> str:
        size = int(rng.integers(8, 34))
        common = rng.choice(WORDS, size, p=share / share.sum())
        words = names[np.where(rng.random(size) < 0.25, rng.choice(topic, size), common)]
        return " ".join(words).capitalize() + "."

    each = sentences // documents
    texts = [[sentence() for _ in range(each)] for _ in range(documents)]
    flat = [line for text in texts for line in text]
    references = ["\n".join(rng.choice(flat, 5, replace=False)) for _ in range(4)]
    return Cluster([Document(str(d), " ".join(text)) for d, text in enumerate(texts)], references, id=f"made-up-{seed}")


def against_sumy(repeats: int) -> dict:
    """Warm, 250 sentences, greedy, all from text to summary, against sumy's LexRank on the split sentences."""
    from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
    from sumy.summarizers.lex_rank import LexRankSummarizer

    class Words:
        """What sumy asks of a tokenizer, without its NLTK data."""

        @staticmethod
        def to_words(text: str) -> list[str]:
            return text.rstrip(".").split()

    cluster = made_up_cluster(0)
    model = Summarizer.load()
    lines = [s.text for s in cluster.sentences()]
    peer = LexRankSummarizer()

    def theirs() -> object:
        document = ObjectDocumentModel([Paragraph([Sentence(line, Words()) for line in lines])])
        return peer(document, 6)

    times = alternate(lambda: model.summarize(cluster, 665, "bytes", decoder="greedy"), theirs, repeats)
    return {"case": "250 sentences, warm, greedy", "peer": "sumy 0.13 LexRank", **times, "target": 5.0}


def new_process(decoder: str, most: float, repeats: int) -> dict:
    """`dpplearn summarize` of ten files in a new process, against importing sklearn.linear_model in one."""
    cluster = made_up_cluster(1, sentences=200)
    with tempfile.TemporaryDirectory() as folder:
        for document in cluster.documents:
            (Path(folder) / f"{document.id}.txt").write_text(document.text, encoding="utf-8")
        command = [sys.executable, "-c", "from dpplearn.cli import main; main()", "summarize", folder]

        def ours() -> object:
            return subprocess.run([*command, "--decoder", decoder], capture_output=True, check=True)

        def peer() -> object:
            return subprocess.run([sys.executable, "-c", "import sklearn.linear_model"], check=True)

        times = alternate(ours, peer, repeats)
    return {
        "case": f"new process, ten files, {decoder}",
        "peer": "import sklearn.linear_model",
        **times,
        "target": 1 / most,
    }


def evaluation(clusters: list[Cluster]) -> float:
    """Seconds of `dpplearn evaluate` with all systems, carried over from a few clusters to 50."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, model = Path(folder) / "corpus.jsonl", Path(folder) / "model.json"
        with corpus.open("w", encoding="utf-8") as file:
            for cluster in clusters:
                documents = [{"id": document.id, "text": document.text} for document in cluster.documents]
                record = {"id": cluster.id, "documents": documents, "references": list(cluster.references)}
                file.write(json.dumps(record) + "\n")
        Summarizer(budget=665, unit="bytes").fit(clusters).save(model)
        main = "from dpplearn.cli import main; main()"
        command = [sys.executable, "-c", main, "evaluate", str(corpus), "--model", str(model)]
        start = perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        return (perf_counter() - start) * 50 / len(clusters)


def run(quick: bool = False) -> dict:
    repeats = 3 if quick else 7
    rows = [
        against_sumy(repeats),
        new_process("greedy", 2.0, repeats),
        new_process("consensus", 3.0, repeats),
    ]
    clusters = [made_up_cluster(seed) for seed in range(6 if quick else 30)]
    training = seconds(lambda: Summarizer(budget=665, unit="bytes").fit(clusters))
    model = Summarizer.load()
    model.summarize(clusters[0], 665, "bytes", decoder="sampled")
    sample = np.median([seconds(lambda c=c: model.summarize(c, 665, "bytes", decoder="sampled")) for c in clusters[:5]])
    return {
        "name": "summarization",
        "title": "Summarization",
        "rows": rows,
        "figures": [
            {"case": f"training on {len(clusters)} clusters of 250 sentences, oracles included", "value": training,
             "unit": "s", "target": "<= 20 s"},
            {"case": "10^6 samples, 250 sentences", "value": float(sample), "unit": "s", "target": "<= 3 s"},
            {"case": "`dpplearn evaluate`, all systems, 50 clusters of 250 sentences (from 6)",
             "value": evaluation(clusters[:6]), "unit": "s", "target": "<= 600 s"},
        ],
        "notes": [
            "sumy gets its sentences already split; ours starts from the documents' text.",
            "A new process may take 2 times (greedy) and 3 times (default decoder) as long as the import: ratios of "
            "0.5 and 0.33.",
        ],
    }  # fmt: skip


if __name__ == "__main__":
    result = run(quick="--quick" in sys.argv)
    print(write(result))
    for row in result["rows"]:
        print(f"{row['case']:60s} {row['ratio']:8.2f} x  ({row['ratio_low']:.2f} to {row['ratio_high']:.2f})")
    for figure in result["figures"]:
        print(f"{figure['case']:60s} {figure['value']:8.2f} {figure['unit']}")
