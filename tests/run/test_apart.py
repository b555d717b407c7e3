"""Work in another process: a fault of ours comes back as itself, damage of a file as a line about it."""

import os
import signal
import sys
from pathlib import Path

import pytest

from dpplearn._run import apart
from dpplearn.summarize.corpora.documents import DocumentFile
from dpplearn.summarize.corpora.formats.apart import Apart


def refuse(data):
    raise ValueError(f"{len(data)} bytes are too few")


def stumble(data, **_options):
    return data.no_such_name


def ask(name):
    process = apart.Process()
    try:
        return process.call(f"test_apart:{name}", b"abc", {}, seconds=60, memory=2**32)
    finally:
        process.close()


@pytest.fixture(autouse=True)
def found_there(monkeypatch, request):
    monkeypatch.syspath_prepend(str(request.path.parent))  # the other process has this one's path
    monkeypatch.setattr(apart, "_process", None)  # one that was started before has not
    yield
    if apart._process is not None:
        apart._process.close()


def test_what_the_work_refuses_is_told():
    with pytest.raises(apart.Refused, match="3 bytes are too few"):
        ask("refuse")


def test_a_fault_of_ours_comes_back_as_itself():
    with pytest.raises(AttributeError, match="no_such_name") as caught:
        ask("stumble")
    assert "in stumble" in "".join(caught.value.__notes__)


def test_a_process_that_cannot_start_is_no_fault_of_the_file(monkeypatch):
    monkeypatch.setattr(apart, "_START", "import sys; sys.exit(1) # {path}")
    with pytest.raises(RuntimeError, match="must be able to import dpplearn"):
        ask("refuse")


def much(data):
    return "a" * max(len(data), 300_000_000)


def test_an_answer_that_is_too_long_for_the_memory():
    process = apart.Process()
    with pytest.raises(MemoryError):
        process.call("test_apart:much", b"", {}, seconds=60, memory=900_000_000)
    process.close()


def test_one_that_answered_at_its_deadline_is_not_asked_again(monkeypatch):
    """It may have been killed, which the next call would take for a fault of its file."""
    process = apart.Process()
    times = iter([0.0])
    monkeypatch.setattr(apart, "monotonic", lambda: next(times, 60.0))
    assert process.call(SIZE, b"abc", {}, seconds=60, memory=2**32) == 3
    assert not process.usable
    assert process.child.poll() is not None


def test_a_fault_of_a_kind_that_is_not_known_here():
    assert isinstance(apart.failure("zlib.error", "bad", ""), RuntimeError)
    assert isinstance(apart.failure("UnicodeDecodeError", "bad", ""), RuntimeError)  # takes five arguments


def read_with_a_fault(file):
    return file.no_such_name


def read_damaged(file):
    return {}[file.name]


def test_a_reader_s_own_fault_is_not_the_file_s_damage():
    file = DocumentFile(b"abc", "a.pdf", "there/a.pdf")
    with pytest.raises(AttributeError, match="no_such_name"):
        Apart("test_apart:read_with_a_fault")(file)
    with pytest.raises(ValueError, match=r"there/a\.pdf cannot be read: it is damaged \(KeyError\)"):
        Apart("test_apart:read_damaged")(file)


# One that hears no deadline: asked only while it waits, and by a fork of this one, too

SIZE = "dpplearn._run.apart:size"


def ask_own():
    return apart.call(SIZE, b"abc", {}, seconds=60, memory=2**32)


def test_one_that_waited_long_is_not_asked(monkeypatch):
    """It may end itself at that moment, and what was asked of it would be said to be damaged."""
    assert ask_own() == 3
    first = apart._process
    assert ask_own() == 3
    assert apart._process is first
    now = apart.monotonic()
    monkeypatch.setattr(apart, "monotonic", lambda: now + apart.IDLE)
    assert ask_own() == 3
    assert apart._process is not first
    assert first.child.poll() is not None


def test_what_is_no_string_in_the_path_is_left_out(monkeypatch):
    """Python ignores it, too; its repr would be no Python in the process."""
    monkeypatch.setattr(sys, "path", [*sys.path, Path("folder")])
    monkeypatch.setattr(apart, "_process", None)
    assert ask_own() == 3
    apart._process.close()


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork beside threads: that is the point
def test_a_fork_while_another_thread_asks_can_ask():
    """The lock is held, and nobody in the fork will release it."""
    assert ask_own() == 3
    with apart._lock:
        child = os.fork()
        if not child:
            signal.alarm(60)
            os._exit(0 if ask_own() == 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ask_own() == 3
