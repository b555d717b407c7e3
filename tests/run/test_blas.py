"""One BLAS thread while anybody asks for it; in fresh processes, where nothing else sets a number."""

import os
import subprocess
import sys
from types import ModuleType

import pytest

from dpplearn._run.blas import libraries

START = """
from threading import Event, Thread
from concurrent.futures import ThreadPoolExecutor
from threadpoolctl import threadpool_info, threadpool_limits
import scipy.linalg
from dpplearn._run.blas import FEW_ROWS, blas_threads, one_thread

def now():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}

def counted():
    with one_thread():
        return now()

def elsewhere(call):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()
"""

SCRIPTS = {
    "small matrices, and what was set before": """
        with threadpool_limits(2):
            for block in (lambda: blas_threads(FEW_ROWS), one_thread):
                with block():
                    assert now() == {1}
                assert now() == {2}
            with blas_threads(FEW_ROWS + 1):
                assert now() == {2}
    """,
    "until the last has left, though the first leaves before it": """
        began, leave, left, end = (Event() for _ in range(4))
        def first():
            with one_thread():
                began.set()
                leave.wait()
            left.set()
        threadpool_limits(2)
        thread = Thread(target=first, daemon=True)
        thread.start()
        began.wait()
        with one_thread():
            leave.set()
            left.wait()
            assert now() == {1}
        thread.join()
        assert now() == {2}
    """,
    "another library's thread, which lives on, was the first to set a number": """
        done, ready = Event(), Event()
        def other():
            threadpool_limits(2)
            ready.set()
            done.wait()
        thread = Thread(target=other, daemon=True)
        thread.start()
        ready.wait()
        with one_thread():
            assert now() == {1}
        assert now() == {2}
        assert elsewhere(counted) == {1}
        done.set()
    """,
    "somebody holds it, and another library raises it meanwhile": """
        with one_thread():
            elsewhere(lambda: threadpool_limits(2))
            with blas_threads(0):
                assert now() == {1}
            assert now() == {1}
    """,
}


@pytest.mark.parametrize("environment", [{}, {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}])
def test_one_blas_thread(environment):
    lines = [START]
    for place, script in enumerate(SCRIPTS.values()):
        lines += [f"def script_{place}():", script, f"script_{place}()"]
    kept = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command, env = [sys.executable, "-c", "\n".join(lines)], kept | environment | path
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_libraries_of_torch_are_found_when_it_is_imported_later(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    first = libraries()
    assert libraries() is first
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert libraries() is not first
