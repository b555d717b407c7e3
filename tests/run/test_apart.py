"""A process for what hears no deadline: asked only while it waits, and by a fork of this one, too."""

import os
import signal
import sys
from pathlib import Path

import pytest

from dpplearn._run import apart

SIZE = "dpplearn._run.apart:size"


def ask():
    return apart.call(SIZE, b"abc", {}, seconds=60, memory=2**32)


def test_one_that_waited_long_is_not_asked(monkeypatch):
    """It may end itself at that moment, and what was asked of it would be said to be damaged."""
    assert ask() == 3
    first = apart._process
    assert ask() == 3
    assert apart._process is first
    now = apart.monotonic()
    monkeypatch.setattr(apart, "monotonic", lambda: now + apart.IDLE)
    assert ask() == 3
    assert apart._process is not first
    assert first.child.poll() is not None


def test_what_is_no_string_in_the_path_is_left_out(monkeypatch):
    """Python ignores it, too; its repr would be no Python in the process."""
    monkeypatch.setattr(sys, "path", [*sys.path, Path("folder")])
    monkeypatch.setattr(apart, "_process", None)
    assert ask() == 3
    apart._process.close()


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork beside threads: that is the point
def test_a_fork_while_another_thread_asks_can_ask():
    """The lock is held, and nobody in the fork will release it."""
    assert ask() == 3
    with apart._lock:
        child = os.fork()
        if not child:
            signal.alarm(60)
            os._exit(0 if ask() == 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ask() == 3
