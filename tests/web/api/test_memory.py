"""What uploads leave in memory: nothing that an error holds, and no process that has grown."""

import gc
import subprocess
import sys
import weakref

import pytest

from dpplearn.web.guard import forget


class Chunk:
    """A piece of a body."""


def refuse(_body):
    error = ValueError("too long")  # which its own frame holds, and so the frame itself
    raise error


def test_what_a_refused_request_held_is_freed_without_a_collector():
    gc.disable()
    try:
        for forgotten in (False, True):
            chunk = Chunk()
            gone = weakref.ref(chunk)
            try:
                refuse(chunk)
            except ValueError as error:
                if forgotten:
                    forget(error)
            del chunk
            assert (gone() is None) == forgotten
    finally:
        gc.enable()
        gc.collect()


KEPT = """
from dpplearn.web.app import return_large_blocks


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


return_large_blocks()
before, small = resident(), []
for _ in range(3):  # once one was freed, glibc would keep blocks of this size
    blocks = []
    for _ in range(4):
        blocks.append(bytearray(b"x") * 31_000_000)
        small.append(bytearray(100_000))  # between them, so that none is at the end
    del blocks
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_large_blocks_go_back_to_the_system():
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20_000_000
