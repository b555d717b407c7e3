"""Waiting for what is sure to come, however busy the machine is."""

import time


def until(condition, seconds=60):
    """The first value of the condition that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found
