"""Kills commands at random moments, runs them again, and compares with an undisturbed run: `make faults`.

Ctrl-C goes to the whole session, as from a terminal, SIGTERM and SIGKILL to the command alone. One worker is killed, as
when memory runs out. Training is also killed in each of its stages. Then disks are full: files may not grow beyond some
size, and, if this script may mount a disk, the results go to one that is too small. After each fault, no process may be
left, no file may be half written, and no finished work may be lost. The counts go to docs/reliability.md. This works
only on Linux, because it finds processes in /proc.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

RUN = "from dpplearn.cli import main; main(prog_name='dpplearn')"
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); "  # bytes of any file
SCORED = "--budget 300 --unit bytes --jobs 2 --out {out}/results"
COMMANDS = {
    "train": "train {inputs}/train.jsonl --budget 300 --jobs 2 --out {out}/model.json",
    "evaluate": f"evaluate {{inputs}}/test.jsonl --systems begin,lexrank,dpp-greedy,dpp-consensus,oracle {SCORED}",
    "experiment": f"experiment --train {{inputs}}/train.jsonl --leave-one-out --systems begin,dpp-greedy {SCORED}",
    "batch": "batch {inputs}/test.jsonl --budget 60 --jobs 2 --out {out}/summaries.jsonl",
    "baskets": "baskets fit {inputs}/baskets.txt --rank 6 --alpha 1 --out {out}/kernel.json",
    "select": "select {inputs}/items.jsonl -k 300 --out {out}/chosen.jsonl",
    "serve": "serve --port 0 --jobs 2",
}
WORKER = "worker"  # SIGKILL to a worker; the other kinds are names of signals
KINDS = ("SIGINT", "SIGTERM", "SIGKILL", WORKER)
FULL, SMALL = "file too large", "disk full"
STAGES = {  # of training: a file that shows that the stage has begun
    "train": [f"model.json{name}" for name in (
        ".work/counted/*.json", ".work/counted.json", ".work/prepared/*.json", ".work/prepared/*.npz",
        ".work/theta.json", "",
    )]
}  # fmt: skip
SIZES = [2**k for k in range(8, 19, 2)]  # largest sizes of a file, in bytes
DISKS = [2**k for k in range(2, 12)]  # KiB
PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: written by scripts/faults.py -->\n", "<!-- end of faults -->\n"


def make_inputs(folder: Path) -> None:
    """Corpora of the example's invented articles, and items with made-up embeddings."""
    from dpplearn.summarize import Cluster

    example = Cluster.example()
    texts = [{"id": d.id, "title": d.title, "text": d.text} for d in example.documents]
    for name, first in (("train", 0), ("test", 3)):
        lines = [
            {
                "id": f"{name}{k}.x",
                "documents": texts[first + k : first + k + 2],
                "references": list(example.references),
            }
            for k in range(4)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw = random.Random(0)
    items = [{"score": draw.random(), "embedding": [draw.gauss(0, 1) for _ in range(32)]} for _ in range(3000)]
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in items))
    baskets = [draw.sample(range(40), draw.randint(1, 5)) for _ in range(2000)]
    (folder / "baskets.txt").write_text("".join(",".join(map(str, basket)) + "\n" for basket in baskets))


class Command:
    """One run of a command, in its own session."""

    def __init__(self, name: str, inputs: Path, out: Path, size: int | None = None) -> None:
        self.name, self.out = name, out
        self.messages = out.with_name(f"{out.name}.stderr")  # not on the disk that may be full
        arguments = COMMANDS[name].format(inputs=inputs, out=out).split()
        start = [sys.executable, "-c", ("" if size is None else LIMITED.format(size)) + RUN]
        with self.messages.open("w") as messages:
            self.process = subprocess.Popen(
                [*start, *arguments], stdout=subprocess.DEVNULL, stderr=messages, start_new_session=True
            )
        self.pid, self.began = self.process.pid, time.monotonic()
        self.answers: set[str] = set()

    def workers(self) -> list[int]:
        """The processes that it started, without Python's own helpers."""
        pids = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # the process may have ended meanwhile
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == self.pid and b"popen_loky" in (entry / "cmdline").read_bytes():
                    pids.append(int(entry.name))
        return pids

    def wait_for(self, condition: Callable[[], object]) -> None:
        while self.process.poll() is None and not condition():
            time.sleep(0.01)

    def work(self, seconds: float) -> None:
        """Let it work for some seconds, or to its end; a server gets requests meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if self.name == "serve":
                self.request()
            time.sleep(0.01)

    def request(self) -> bool:
        """Post documents to the server; return whether it was ready and answered."""
        address = self.messages.read_text().partition("Ready at ")[2].partition(" ")[0]
        if not address:
            return False
        body = json.dumps({"documents": [{"text": "The dam broke. Rain fell."}], "budget": 3, "unit": "words"}).encode()
        request = urllib.request.Request(f"{address}api/v1/summarize", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            self.answers.add(json.load(answer)["text"])
        return True

    def finish(self) -> float:
        """Let it run to its end, and return the seconds since it began."""
        if self.name == "serve":
            self.wait_for(self.request)
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(600)
        assert code == 0, f"{self.name} ended with {code}: {self.messages.read_text()}"
        self.check_alone()
        return time.monotonic() - self.began

    def results(self) -> dict[str, bytes]:
        """The files that it wrote for the user, or the answers that it gave."""
        files = [path for path in self.out.rglob("[!.]*") if path.is_file()]
        files = [path for path in files if not any(".work" in part for part in path.parts)]  # not for the user
        return {str(p.relative_to(self.out)): p.read_bytes() for p in files} | dict.fromkeys(self.answers, b"")

    def progress(self) -> set[str]:
        """The summaries kept for a later run."""
        return {str(path) for path in self.out.rglob(".work/summaries-*/*.json")}

    def strike(self, kind: str) -> float:
        """Make one fault; return how long the command took to end."""
        if kind == WORKER:
            self.wait_for(self.workers)
            for worker in self.workers()[:1]:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
        elif kind == "SIGINT":
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGINT)
        else:
            self.process.send_signal(getattr(signal, kind))
        struck = time.monotonic()
        code = self.process.wait(60)
        took = time.monotonic() - struck
        self.check_end(kind, code)
        self.check_alone()
        return took

    def check_end(self, kind: str, code: int) -> None:
        """Check that it ended as the signal asks, with a message and no traceback."""
        messages = self.messages.read_text()
        number = signal.SIGKILL if kind == WORKER else getattr(signal, kind)
        if code == -number and kind != WORKER:
            return  # SIGKILL, or a signal before the command began
        assert code in ({0, 1} if kind == WORKER else {0, 128 + number}), f"{self.name}, {kind}: {code}\n{messages}"
        assert "Traceback" not in messages, f"{self.name}, {kind}:\n{messages}"
        assert code != 1 or "worker process ended early" in messages, f"{self.name}, {kind}:\n{messages}"
        left = [str(path) for path in self.out.rglob(".*.tmp")]
        assert not left, f"{self.name}, {kind} left {left}"

    def fill(self) -> bool:
        """Run to the end on a disk that may be full; return whether it was full, which a message must say."""
        code, messages = self.process.wait(600), self.messages.read_text()
        self.check_alone()
        full = any(os.strerror(number) in messages for number in (errno.ENOSPC, errno.EFBIG))
        assert code == (1 if full else 0), f"{self.name} ended with {code}: {messages}"
        assert "Traceback" not in messages, f"{self.name}: {messages}"
        left = [str(path) for path in self.out.rglob(".*.tmp")]
        assert not left, f"{self.name} left {left}"
        return full

    def check_alone(self) -> None:
        """Check that no process of its session is left."""
        end = time.monotonic() + 15
        while time.monotonic() < end:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.02)
        os.killpg(self.pid, signal.SIGKILL)
        raise AssertionError(f"Processes of {self.name} outlived it.")


class Trial:
    """A command with the result of an undisturbed run, to compare with."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder, self.counts = name, folder, Counter()
        self.slowest = 0.0
        if not (folder / "items.jsonl").exists():
            make_inputs(folder)
            self.start("warm").finish()  # loops are compiled once on a machine
        undisturbed = self.start("undisturbed")
        self.seconds, self.truth = undisturbed.finish(), undisturbed.results()

    def start(self, run: str, size: int | None = None) -> Command:
        out = self.folder / f"{self.name.replace(', ', '-')}-{run.replace(' ', '-')}"
        out.mkdir(exist_ok=True)
        return Command(self.name, self.folder, out, size)

    def survive(self, kind: str, moment: float | str | None = None) -> None:
        """Make a fault after this share of the usual time, or once a file of this pattern or two summaries exist."""
        run = f"{kind}-{self.counts.total()}"
        command = self.start(run)
        if moment is None:
            command.wait_for(lambda: len(command.progress()) > 1)
        elif isinstance(moment, str):
            command.wait_for(lambda: any(command.out.glob(moment)))
        else:
            command.work(moment * self.seconds)
        self.slowest = max(self.slowest, command.strike(kind))
        self.compare(kind, command, run)

    def survive_large_files(self, size: int) -> bool:
        """Limit the bytes of every file; return whether the limit was too low."""
        run = f"{FULL}-{size}"
        command = self.start(run, size)
        if not command.fill():
            return False
        self.compare(FULL, command, run)
        return True

    def survive_small_disk(self, size: int) -> bool:
        """Write the results to a disk of this many KiB, which then grows; return whether it was too small."""
        run = f"{SMALL}-{size}"
        out = self.folder / f"{self.name.replace(', ', '-')}-{run.replace(' ', '-')}"
        out.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", out], check=True, capture_output=True)
        try:
            command = self.start(run)
            if not command.fill():
                return False
            subprocess.run(["mount", "-o", "remount,size=1g", out], check=True)
            self.compare(SMALL, command, run)
        finally:
            subprocess.run(["umount", out], check=True)
        return True

    def compare(self, kind: str, command: Command, run: str) -> None:
        """Run again to the end, and check that results are those of the undisturbed run; count the summaries kept."""
        for name, data in command.results().items():
            assert self.truth.get(name) == data, f"{self.name}, {kind}: {name} differs from the undisturbed run"
        kept = command.progress()
        again = self.start(run)
        again.finish()
        assert again.results() == self.truth, f"{self.name}, {kind}: the result differs from the undisturbed run"
        left = [str(path) for path in again.out.rglob("*.work*")]
        assert not left, f"{self.name}, {kind} left {left}"
        self.counts[kind] += 1
        self.counts["kept"] += len(kept)


def may_mount() -> bool:
    """Whether this script may mount disks."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], capture_output=True)
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return done.returncode == 0


def table(trials: list[Trial]) -> str:
    all_kinds = (*KINDS, FULL, SMALL)
    rows = [
        f"| `{t.name}` | {' | '.join(str(t.counts[kind]) for kind in all_kinds)} | {t.slowest:.1f} s "
        f"| {t.counts['kept']} |"
        for t in trials
    ]
    head = f"| command | {' | '.join(KINDS)} killed | {FULL} | {SMALL} | ended within | summaries kept |"
    total = sum(t.counts[kind] for t in trials for kind in all_kinds)
    verdict = (
        f"{total} faults: the same results as undisturbed runs, no process left, no half-written file, no work lost."
    )
    return "\n".join([head, "|---|" + "--:|" * (len(all_kinds) + 2), *rows, "", verdict, ""])


def load() -> str:
    """The table of the server under load, from benchmarks/results/web.json."""
    measured = json.loads((PAGE.parents[1] / "benchmarks" / "results" / "web.json").read_text())
    rows = [f"| {figure['case']} | {figure['value']:,.4g} {figure['unit']} |" for figure in measured["figures"]]
    where = f"{measured['machine']['cores']} cores of {measured['machine']['processor']}, {measured['machine']['date']}"
    return "\n".join([f"| the server under load ({where}) | |", "|---|--:|", *rows, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2, help="faults of each kind for each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    arguments = parser.parse_args()
    draw, trials, mounts = random.Random(arguments.seed), [], may_mount()
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.commands:
            trial = Trial(name, Path(folder))
            trials.append(trial)
            kinds = KINDS if "--jobs" in COMMANDS[name] else KINDS[:-1]
            for _ in range(arguments.rounds):
                for kind in kinds:
                    trial.survive(kind, draw.random())
            for stage in STAGES.get(name, ()):
                for kind in kinds:
                    trial.survive(kind, stage)
            if name != "serve":  # a server writes no file
                any(not trial.survive_large_files(size) for size in SIZES)  # until a size is enough
                if mounts:
                    any(not trial.survive_small_disk(size) for size in DISKS)
            print(f"{name}: {dict(trial.counts)}", flush=True)
    print(table(trials))
    if arguments.commands == list(COMMANDS):
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text("\n".join([before + BEGIN, table(trials), load(), END]) + rest.partition(END)[2])


if __name__ == "__main__":
    main()
