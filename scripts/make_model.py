"""Train the English model that comes with dpplearn (`make model`).

Trains on the English clusters of the MultiLing 2011 pilot, whose texts stay where they are: the file written holds
weights, bin edges and document frequencies. With --check, prints scores by leave-one-topic-out instead of writing.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from dpplearn._run.progress import Progress
from dpplearn.rouge import Rouge
from dpplearn.summarize import Summarizer, read_clusters

DATA = Path("../shared/data")
MODEL = Path(__file__).parent.parent / "src" / "dpplearn" / "summarize" / "data" / "english.json"
BUDGET, UNIT = 250, "words"
METRICS = ("rouge-1", "rouge-2", "rouge-su4")


def make() -> Summarizer:
    return Summarizer(budget=BUDGET, unit=UNIT, decoder="consensus", features="paper", rho=0.3, prior_variance=1.0)


def check(clusters) -> None:
    """ROUGE of each topic summarized by a model trained on the others."""
    progress = Progress(sys.stderr.isatty())
    rows: dict[str, list] = {"greedy": [], "consensus": [], "sampled": []}
    for done, held_out in enumerate(clusters, 1):
        model = make().fit([cluster for cluster in clusters if cluster is not held_out])
        rouge = Rouge(list(held_out.references), list(METRICS), words=BUDGET)
        for decoder, scores in rows.items():
            summary = model.summarize(held_out, model.budget, model.unit, decoder=decoder, fill=True)
            result = rouge.score(summary.text)
            scores.append([result[metric].f for metric in METRICS])
        progress.stage("Topics", done, len(clusters))
    progress.clear()
    for decoder, scores in rows.items():
        means = ", ".join(f"{m} F {100 * x:.2f}" for m, x in zip(METRICS, np.mean(scores, axis=0), strict=True))
        print(f"{decoder}: {means}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder of the corpora (default: {DATA})")
    parser.add_argument("--out", type=Path, default=MODEL, help="model file to write")
    parser.add_argument("--check", action="store_true", help="print leave-one-topic-out scores, write nothing")
    arguments = parser.parse_args()
    corpus = arguments.data / "multiling2011.jsonl"
    if not corpus.is_file():
        parser.error(f"there is no {corpus}; say with --data where the corpora are")
    clusters = [cluster for cluster in read_clusters(corpus) if cluster.language == "english"]
    if arguments.check:
        check(clusters)
        return
    model = make().fit(clusters, verbose=sys.stderr.isatty())
    model.training_["corpus"] = "MultiLing 2011 pilot, English (CC BY 3.0)"
    model.save(arguments.out)
    print(f"Trained on {len(clusters)} clusters; wrote {arguments.out} ({arguments.out.stat().st_size / 1024:.0f} KB).")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt as stop:
        sys.exit(str(stop) or "Stopped.")
