"""What uploads leave in memory: nothing in the server, and no process that has grown."""

import gc
import json
import subprocess
import sys
import tracemalloc
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import pytest

from dpplearn.web import Settings
from waiting import until

LARGE = 8_000_000
SMALL = 500_000


@contextmanager
def traced():
    """Python's memory, while nobody looks for circles of objects."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()


def refused(client):
    """An upload that is too long, sent by a client that keeps nothing of it: the problem that it is answered with."""
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    connection = HTTPConnection(client.base_url.host, client.base_url.port, timeout=60)
    with closing(connection):
        body = head + b"Rain fell. " * (LARGE // 11) + b"\r\n--x--\r\n"
        connection.request("POST", "/api/v1/clusters", body, {"Content-Type": "multipart/form-data; boundary=x"})
        return json.load(connection.getresponse())["type"]


@pytest.mark.parametrize(
    ("room", "problem"), [(10 * LARGE, "/problems/too-large"), (LARGE // 2, "/problems/busy")], ids=["long", "busy"]
)
def test_an_upload_that_is_refused_is_forgotten_at_once(serving, room, problem):
    with serving(Settings(workers=1, max_upload_bytes=2 * LARGE, max_transit_bytes=room)) as client:
        assert refused(client) == problem  # what is made once
        with traced() as memory:
            before = memory()
            assert refused(client) == problem
            until(lambda: memory() - before < SMALL)  # the server may be about to close the connection


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
