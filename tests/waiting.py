"""Waiting for what is sure to come, however busy the machine is."""

import time

from dpplearn._run.notice import notice


def until(condition, seconds=60):
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
