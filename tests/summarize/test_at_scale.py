"""Training on corpora in pieces: the same to the bit whoever works, whatever is lost, wherever it was stopped."""

import errno
import json
import multiprocessing
import os
import signal
import warnings
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

from dpplearn._run.progress import Progress
from dpplearn.cli import main
from dpplearn.cli.bars import CommandProgress
from dpplearn.summarize import Cluster, SkippedWarning, Summarizer, open_corpus, read_clusters

EXAMPLE = Cluster.example()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Thirty little clusters of the example's articles, with two references each."""
    path, texts = tmp_path_factory.mktemp("scale") / "corpus.jsonl", [one.text for one in EXAMPLE.documents]
    with path.open("w") as file:
        for k in range(30):
            documents = [texts[k % 8][: 300 + 10 * k], texts[(k + 3) % 8][:400]]
            file.write(json.dumps({"id": f"c{k}", "documents": documents, "references": EXAMPLE.references[:2]}) + "\n")
    return path


def fit(clusters, **options):
    summarizer = Summarizer(**{"features": "paper", "budget": 30, "unit": "words"} | options.pop("settings", {}))
    return summarizer.fit(clusters, **options)


def numbers(summarizer):
    """All that was learned, bit by bit."""
    features = summarizer.features_
    return (
        summarizer.theta_.tobytes(), summarizer.theta_std_.tobytes(), json.dumps(summarizer.training_),
        {name: edges.tobytes() for name, edges in features.edges.items()}, dict(features.idf.counts),
    )  # fmt: skip


@pytest.fixture(scope="module")
def truth(corpus):
    return numbers(fit(open_corpus(corpus)))


@pytest.mark.parametrize("kind", ["list", "files"])
def test_the_same_to_the_bit(corpus, truth, tmp_path, kind):
    data = corpus.read_bytes()
    if kind == "files":
        lines = data.splitlines(keepends=True)
        for k in range(0, 30, 9):
            (tmp_path / f"{k:02d}.jsonl").write_bytes(b"".join(lines[k : k + 9]))
        corpus = tmp_path / "*.jsonl"
    given = read_clusters(corpus) if kind == "list" else open_corpus(corpus)
    found = fit(given)
    if kind != "files":  # whose shards end where the files do: the same sums in another order
        assert numbers(found) == truth
    else:
        assert numbers(found)[3:] == truth[3:]
        np.testing.assert_allclose(found.theta_, np.frombuffer(truth[0]), atol=1e-9)


class Kills(Progress):
    """Kills a worker in every stage, once."""

    def __init__(self, victims):
        super().__init__(False)
        self.victims, self.killed = victims, Counter()

    def stage(self, what, done, total):
        if not self.killed[what] and 0 < done < total:
            self.strike(what)

    def finish(self, iteration, log_likelihood, gradient):
        super().finish(iteration, log_likelihood, gradient)
        if iteration == 2:
            self.strike("likelihood")

    def strike(self, what):
        victims = self.victims()
        if victims:
            os.kill(victims[0], signal.SIGKILL)
            self.killed[what] += 1


def test_a_worker_is_lost_in_every_stage(corpus, truth):
    kills = Kills(lambda: [process.pid for process in multiprocessing.active_children()])
    found = fit(open_corpus(corpus), n_jobs=2, progress=kills)
    assert {"Reading clusters", "Preparing", "likelihood"} <= set(kills.killed)
    assert numbers(found) == truth


def test_dask_gives_the_same_and_loses_workers(corpus, truth):
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what distributed says of a lost worker
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            kills = Kills(lambda: list(client.run(os.getpid).values()))
            found = fit(open_corpus(corpus), backend=client, progress=kills)
    assert {"Reading clusters", "Preparing", "likelihood"} <= set(kills.killed)
    assert numbers(found) == truth


class Stops(Progress):
    """Ends at the n-th thing that is told."""

    def __init__(self, after):
        super().__init__(False)
        self.left = after

    def stage(self, *_):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def finish(self, iteration, log_likelihood, gradient):
        super().finish(iteration, log_likelihood, gradient)
        self.stage()


def test_a_fit_that_is_stopped_again_and_again_is_the_same(corpus, truth, tmp_path):
    """Stopped in all stages, it goes on from there each time, and takes nothing half-written for whole."""
    work, runs, said = tmp_path / "work", 0, set()
    for after in [12, 25, 8, 9, 3, 2, 1, 2, 1]:
        runs += 1
        try:
            found = fit(open_corpus(corpus), work=work, progress=Stops(after))
            break
        except KeyboardInterrupt as stop:
            said.add("run the same command again" in str(stop))
            assert not list(work.rglob("*.tmp"))
    else:
        found = fit(open_corpus(corpus), work=work)
    assert runs > 5
    assert said == {True}
    assert numbers(found) == truth
    assert not work.exists()


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_a_full_disk_and_a_shard_that_disappears(corpus, tmp_path, monkeypatch):
    arguments = ["train", corpus, "--budget", 30, "--unit", "words", "--jobs", 1, "--out"]
    assert run(*arguments, tmp_path / "whole.json").exit_code == 0
    out, real, written = tmp_path / "m.json", os.replace, []

    def full(source, target):
        written.append(target)
        if len(written) == 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(source, target)

    monkeypatch.setattr(os, "replace", full)
    told = run(*arguments, out)
    assert told.exit_code == 1
    assert "No space left on device" in told.stderr
    assert "run the same command again" in told.stderr
    assert not out.exists()
    assert not list(tmp_path.rglob("*.tmp"))
    gone = []

    class Loses(CommandProgress):
        def finish(self, *told):
            super().finish(*told)
            if not gone:
                gone.append(sorted((tmp_path / "m.json.work").rglob("*.npz"))[1])
                gone[0].unlink()

    monkeypatch.setattr("dpplearn.cli.bars.CommandProgress", Loses)
    monkeypatch.setattr("dpplearn.learning.training_set.CACHED_BYTES", 0)  # shards are read again for each evaluation
    told = run(*arguments, out)
    assert told.exit_code == 1
    assert f"There is no shard file {gone[0]}" in told.stderr
    assert "run the same command again" in told.stderr
    assert run(*arguments, out).exit_code == 0
    assert out.read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert not (tmp_path / "m.json.work").exists()


def test_bad_clusters_are_left_out_and_named(corpus, tmp_path, truth):
    lines = corpus.read_text().splitlines()
    bad = tmp_path / "bad.jsonl"
    repeated = lines[5].replace("c5", "c3", 1)
    bad.write_text("\n".join([*lines[:28], "{", repeated, *lines[28:]]))
    with pytest.raises(ValueError, match="line 29 must be a JSON object"):
        fit(open_corpus(bad))
    with pytest.raises(KeyboardInterrupt):
        fit(open_corpus(bad, skip_bad=True), work=tmp_path / "work", progress=Stops(15))  # while clusters are read
    with pytest.warns(SkippedWarning, match=r"skipped 2 .*kept 30 clusters.*line 29.*line 30.*of line 4\b"):
        found = fit(open_corpus(bad, skip_bad=True), work=tmp_path / "work")
    assert found.training_["clusters"] == 30
    assert numbers(found)[3:] == truth[3:]  # shards end elsewhere: the same sums in another order
    np.testing.assert_allclose(found.theta_, np.frombuffer(truth[0]), atol=1e-9)
