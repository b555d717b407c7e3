"""Work on many pieces: what a lost worker was at is done again, and what workers compile is said."""

import subprocess
import sys
import threading
import warnings
from operator import add

import pytest

from dpplearn._run.progress import say_when_compiling
from dpplearn._run.threads import map_threads
from dpplearn._run.workers import Workers, open_workers
from waiting import compiles, die_once


def test_tasks_share_what_is_given_and_a_scheduler_that_is_restarted_is_said():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what distributed says of a lost worker
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            workers = Workers(client=client)
            assert dict(workers.each(add, range(6), 10)) == {task: task + 10 for task in range(6)}
            answers = workers.each(add, range(6), 10)
            next(answers)
            client.restart()
            with pytest.raises(ConnectionError, match="was lost or started again"):
                list(answers)


def test_what_workers_compile_is_said_once_and_by_who_started_them():
    said = []
    with say_when_compiling(lambda: said.append("here")), open_workers(None, 2) as workers:
        assert sorted(answer for _, answer in workers.each(compiles, range(3))) == [0, 1, 2]
    assert said == ["here"]


def test_what_a_killed_worker_was_at_is_done_again(tmp_path):
    with open_workers(None, 2) as workers:
        assert sorted(workers.each(die_once, range(2), tmp_path)) == [(0, 0), (1, 1)]


def test_a_worker_starts_no_thread_of_its_own():
    def names(_):
        return map_threads(lambda _: threading.get_ident(), 20, 4)

    with open_workers() as workers:
        ((_, found),) = workers.each(names, [1])
    assert set(found) == {threading.get_ident()}
    both = threading.Barrier(2)  # which one thread alone does not pass
    assert len(set(map_threads(lambda _: (both.wait(300), threading.get_ident())[1], 2, 4))) == 2


SCRIPT = """
import sys
sys.path[:0] = {path!r}
from dpplearn._run.workers import open_workers
def twice(x):
    return 2 * x
with open_workers(None, 2) as workers:
    print(sorted(workers.each(twice, [1, 2, 3])))
"""


def test_a_script_without_a_guard_can_start_workers(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT.format(path=sys.path))
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[(1, 2), (2, 4), (3, 6)]\n", "")
