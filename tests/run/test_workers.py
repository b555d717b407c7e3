"""Work on many pieces: what a cluster forgot is given to it again, and what workers compile is said."""

import pickle
import tempfile
import warnings
from operator import add

import pytest

from dpplearn._run.notice import say_when_compiling
from dpplearn._run.workers import Cluster, Processes, open_workers
from waiting import compiles


def test_a_scheduler_that_is_restarted_is_told_again_what_tasks_share():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what distributed says of a lost worker
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            answers = {}
            for task, answer in Cluster(client).each(add, range(6), 10):
                if not answers:
                    client.restart()
                answers[task] = answer
    assert answers == {task: task + 10 for task in range(6)}


def test_what_workers_compile_is_said_once_and_by_who_started_them():
    said = []
    with say_when_compiling(lambda: said.append("here")), open_workers("processes", 2) as workers:
        assert sorted(answer for _, answer in workers.each(compiles, range(3))) == [0, 1, 2]
    assert said == ["here"]


def test_what_cannot_be_shared_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises((AttributeError, pickle.PicklingError)):
        list(Processes(1).each(abs, [1], given=lambda: 0))
    assert not list(tmp_path.iterdir())
