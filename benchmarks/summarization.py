"""Times summaries beside sumy's LexRank, a whole command beside an import, and training, sampling and evaluation."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.made_up import made_up_cluster, write_corpus
from benchmarks.timing import CLI, alternate, command_cost, main, seconds
from dpplearn.summarize import Cluster, Summarizer


def against_sumy(repeats: int) -> dict:
    """A greedy summary of 250 sentences from their text, against sumy's LexRank on split sentences."""
    from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
    from sumy.summarizers.lex_rank import LexRankSummarizer

    class Words:
        """The tokenizer that sumy needs, without data of NLTK."""

        @staticmethod
        def to_words(text: str) -> list[str]:
            return text.rstrip(".").split()

    cluster = made_up_cluster(0)
    model = Summarizer.load()
    lines = [s.text for s in cluster.sentences()]
    peer = LexRankSummarizer()

    def lexrank() -> object:
        document = ObjectDocumentModel([Paragraph([Sentence(line, Words()) for line in lines])])
        return peer(document, 6)

    times = alternate(lambda: model.summarize(cluster, 665, "bytes", decoder="greedy"), lexrank, repeats)
    return {"case": "250 sentences, warm, greedy", "peer": "sumy 0.13 LexRank", **times, "target": 5.0}


def new_process(decoder: str, limit: float, repeats: int) -> dict:
    """`dpplearn summarize` of ten files in a new process, against importing sklearn.linear_model in one."""
    cluster = made_up_cluster(1, sentences=200)
    with tempfile.TemporaryDirectory() as folder:
        for document in cluster.documents:
            (Path(folder) / f"{document.id}.txt").write_text(document.text, encoding="utf-8")

        def ours() -> object:
            return subprocess.run([*CLI, "summarize", folder, "--decoder", decoder], capture_output=True, check=True)

        def peer() -> object:
            return subprocess.run([sys.executable, "-c", "import sklearn.linear_model"], check=True)

        times = alternate(ours, peer, repeats)
    return {
        "case": f"new process, ten files, {decoder}",
        "peer": "import sklearn.linear_model",
        **times,
        "target": 1 / limit,
    }


def evaluation(clusters: list[Cluster]) -> float:
    """Seconds of `dpplearn evaluate` with all systems for 50 clusters, scaled up from fewer."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, model = write_corpus(Path(folder) / "corpus.jsonl", clusters), Path(folder) / "model.json"
        Summarizer(budget=665, unit="bytes").fit(clusters).save(model)
        return command_cost("evaluate", str(corpus), "--model", str(model)).seconds * 50 / len(clusters)


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
            "sumy gets sentences that are already split; ours starts from the text of the documents.",
            "A new process may take 2 times (greedy) or 3 times (the default decoder) as long as the import: ratios "
            "of 0.5 and 0.33.",
        ],
    }  # fmt: skip


if __name__ == "__main__":
    main(run)
