"""Training and reading before and after the second edition of the design: the same work, done once.

`python -m benchmarks.rooms [--commit COMMIT] [--data FOLDER]`: the old code is that of a commit, by default the one
before that edition, taken from git into a temporary folder.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from benchmarks.timing import compared, write

ROOT = Path(__file__).parents[1]
BEFORE = "062b231"
DATA = ROOT.parent / "shared" / "data"

# Runs with either code. Times are of the processor: the machine may be busy.
WORK = """
import json, sys
from time import process_time
from dpplearn.summarize import Summarizer, read_clusters

clusters = [cluster for cluster in read_clusters(sys.argv[1]) if cluster.language == "english"]
model = Summarizer().fit(clusters)  # compiles, or loads what is compiled


def seconds(work):
    start = process_time()
    work()
    return process_time() - start


times = {
    "fit": min(seconds(lambda: Summarizer().fit(clusters)) for _ in range(3)),
    "read": min(seconds(lambda: [model.features_.read(cluster) for cluster in clusters]) for _ in range(3)),
}
print(json.dumps({**times, "theta": model.theta_.tolist(), "clusters": len(clusters)}))
"""


def source_of(commit: str, folder: Path) -> Path:
    """The package as a commit has it."""
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as file:
        file.extractall(folder, filter="data")
    return folder / "src"


def measured(source: Path, corpus: Path) -> dict:
    """Both times in a new process that imports dpplearn from `source`."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **threads, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", WORK, str(corpus)]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)


def run(quick: bool = False, commit: str = BEFORE, data: Path = DATA) -> dict:
    corpus = data / "multiling2011.jsonl"
    with tempfile.TemporaryDirectory() as folder:
        old, new = source_of(commit, Path(folder)), ROOT / "src"
        measured(old, corpus)  # compiles
        pairs = [(measured(new, corpus), measured(old, corpus)) for _ in range(2 if quick else 7)]
    apart = max(abs(a - b) for a, b in zip(pairs[0][0]["theta"], pairs[0][1]["theta"], strict=True))
    topics = f"the {pairs[0][0]['clusters']} English topics of MultiLing 2011"
    return {
        "name": "rooms",
        "title": "Training and reading, before and after",
        "rows": [
            {
                "case": case.format(topics),
                "peer": f"commit {commit}",
                **compared([(ours[what], theirs[what]) for ours, theirs in pairs]),
                "target": target,
            }
            for what, case, target in (
                ("fit", "`Summarizer().fit` on {}", 2.0),
                ("read", "`features_.read` of {}", 1.5),
            )
        ],
        "notes": [
            "New processes in turn, one thread each; the best of three in each, in processor time.",
            f"The weights learned differ by at most {apart:.0e}.",
        ],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two runs of each instead of seven")
    parser.add_argument("--commit", default=BEFORE, help=f"the code to compare with (default: {BEFORE})")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora (default: ../shared/data)")
    arguments = parser.parse_args()
    result = run(arguments.quick, arguments.commit, arguments.data)
    print(write(result))
    for row in result["rows"]:
        print(f"{row['case']:60s} {row['ratio']:8.2f} x  ({row['ratio_low']:.2f} to {row['ratio_high']:.2f})")
