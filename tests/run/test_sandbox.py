"""Untrusted work in a process of its own: a fault of ours comes back as one, damage of a file as a line about it."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from email.header import decode_header
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from dpplearn._run import processes
from dpplearn._run.processes import Sandboxes, SandboxLostError, run_sandboxed
from dpplearn._run.stop import stops_when
from dpplearn.summarize.corpora.documents import DocumentFile
from dpplearn.summarize.corpora.formats.apart import Apart
from waiting import until

LIMITS = {"seconds": 300, "memory": 2**32}


def refuse(data):
    raise ValueError(f"{len(data)} bytes are too few")


def stumble(data, **_options):
    return data.no_such_name


def crash(_data):
    os.kill(os.getpid(), signal.SIGSEGV)


def leave(_data):
    os._exit(3)


def hang(_data):
    while True:
        pass


def process_id(_data):
    return str(os.getpid()).encode()


def fill(data):
    return bytes(max(len(data), 900_000_000))


@pytest.fixture
def boxes(monkeypatch, request):
    monkeypatch.syspath_prepend(str(request.path.parent))  # the other process has this one's path
    made = Sandboxes()
    monkeypatch.setattr(processes, "_pools", {os.getpid(): made})  # those that were started before have another
    yield made
    made.close()


def task(name):
    """A function of this file, as the other process finds it."""
    return getattr(import_module("test_sandbox"), name)


def ask(name, **limits):
    return run_sandboxed(task(name), b"abc", **{**LIMITS, **limits})


def test_one_process_does_one_piece_of_work_after_another(boxes, tmp_path):
    first = ask("process_id")
    assert ask("process_id") == first
    assert len(boxes.idle) == 1
    with ThreadPoolExecutor(2) as pool:  # and two threads have two
        meet = [pool.submit(run_sandboxed, task("meet"), bytes(tmp_path), **LIMITS) for _ in range(2)]
        assert len({one.result() for one in meet}) == 2
    assert len(boxes.idle) == 2


def meet(data):
    """Wait for the other one."""
    folder = Path(data.decode())
    (folder / str(os.getpid())).touch()
    until(lambda: len([*folder.iterdir()]) == 2)
    return process_id(data)


def test_what_the_work_refuses_and_a_fault_of_ours_come_back(boxes):
    with pytest.raises(ValueError, match="3 bytes are too few"):
        ask("refuse")
    assert boxes.idle
    with pytest.raises(AttributeError, match=r"no_such_name") as caught:
        ask("stumble")
    assert "in stumble" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("work", "limits"), [("crash", {}), ("leave", {}), ("hang", {"seconds": 0.5}), ("fill", {"memory": 10**9})]
)
def test_work_that_crashes_or_passes_a_limit_is_lost(boxes, work, limits):
    with pytest.raises(SandboxLostError):
        ask(work, **limits)
    assert ask("process_id")
    assert boxes.lost == 1


@pytest.mark.usefixtures("boxes")
def test_work_that_nobody_waits_for_is_killed():
    process = int(ask("process_id"))

    def stop():
        raise TimeoutError("the client has left")

    with stops_when(stop), pytest.raises(TimeoutError, match="has left"):
        ask("hang")
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork beside threads: that is the point
@pytest.mark.usefixtures("boxes")
def test_a_fork_can_ask():
    assert run_sandboxed(bytes.upper, b"abc", **LIMITS) == b"ABC"
    child = os.fork()
    if not child:
        signal.alarm(300)
        os._exit(0 if run_sandboxed(bytes.upper, b"abc", **LIMITS) == b"ABC" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert run_sandboxed(bytes.upper, b"abc", **LIMITS) == b"ABC"


PARENT = """
import sys, threading
sys.path[:0] = {tests!r}
from dpplearn._run.processes import run_sandboxed
from test_sandbox import hang, process_id
limits = {{"seconds": 300, "memory": 2**32}}
print(run_sandboxed(process_id, b"", **limits).decode(), flush=True)
threading.Thread(target=run_sandboxed, args=(hang, b""), kwargs=limits, daemon=True).start()
sys.stdin.read()
"""


@pytest.mark.parametrize("busy", [True, False])
def test_a_process_does_not_outlive_its_parent_for_long(busy):
    script = PARENT.format(tests=[str(one) for one in Path(__file__).parents[:2]])
    if not busy:
        script = script.replace("(hang, b", "(bytes.upper, b")
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    stat = Path(f"/proc/{child}/stat")
    assert until(lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] in "ZX")


def read_with_a_fault(file):
    return {}[f"no_such_name of {file.name}"]


def read_by_numpy(file):
    return np.median([file.name])  # called wrongly by us


def read_damaged(file):
    return decode_header(len(file.data))  # an error inside a library that reads files


@pytest.mark.usefixtures("boxes")
def test_a_reader_s_own_fault_is_not_the_file_s_damage():
    file = DocumentFile(b"abc", "a.pdf", "there/a.pdf")
    with pytest.raises(KeyError, match="no_such_name"):
        Apart("test_sandbox:read_with_a_fault")(file)
    with pytest.raises(TypeError):
        Apart("test_sandbox:read_by_numpy")(file)
    with pytest.raises(ValueError, match=r"there/a\.pdf cannot be read: it is damaged \([A-Za-z]*Error\)"):
        Apart("test_sandbox:read_damaged")(file)
