"""What SECURITY.md promises of the library: nothing is sent or fetched, and loading a model runs no code."""

import socket
import subprocess
import sys

import pytest

SCRIPT = """
import sys
heard = []
WATCHED = ("socket.", "urllib.", "subprocess.", "os.exec", "os.system", "os.posix_spawn")
sys.addaudithook(lambda event, _: heard.append(event) if event.startswith((*WATCHED, "pickle.")) else None)
from dpplearn.summarize import Cluster, Summarizer
model = Summarizer.load()
model.save(sys.argv[1])
model = Summarizer.load(sys.argv[1])
print(sorted(set(heard)))
model.summarize(Cluster.example(), 50, "words")
print(sorted({event for event in heard if event.startswith(WATCHED)}))
"""


def test_loading_unpickles_nothing_and_a_summary_opens_no_connection_and_starts_no_process(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "model.json")]
    heard = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert heard == ["[]", "[]"]


def test_all_tests_run_with_the_network_cut():
    for ask in (lambda: socket.create_connection(("192.0.2.1", 80), 1), lambda: socket.getaddrinfo("example.org", 80)):
        with pytest.raises(RuntimeError, match="without a network"):
            ask()
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    code = "import socket; socket.socket().connect(('192.0.2.1', 80))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "asked for 192.0.2.1" in child.stderr
