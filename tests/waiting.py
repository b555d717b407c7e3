"""Waiting for what is sure to come, however busy the machine is."""

import os
import signal
import time

from dpplearn._run.progress import notice


def until(condition, seconds=300):
    """The first value of the condition that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def compiles(task):
    """A task in a worker that has to wait for a compiler."""
    notice.announce()
    return task


# What workers are given to do: they find it in a module of its own, not in one that pytest imports


def die(_):
    """As the system ends a process for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(task, folder):
    """The first worker that is given a task does not survive it."""
    if not (folder / f"{task}").exists():
        (folder / f"{task}").touch()
        die(task)
    return task
