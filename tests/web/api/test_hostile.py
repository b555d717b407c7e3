"""Clients that mean harm, on loopback: what they send, hold and never read costs them more than it costs others."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path

import httpx
import pytest

import stuck
from dpplearn.web import Settings
from dpplearn.web.problems import MOST_ERRORS
from waiting import until

CLUSTERS, SUMMARIZE, HEALTH = "/api/v1/clusters", "/api/v1/summarize", "/api/v1/health"
JSON = {"Content-Type": "application/json"}
DOCUMENTS = {"documents": [{"text": "A storm hit the coast. Rain fell."}]}
ZEROS = b'{"documents": [' + b"0," * 1_990_000 + b"0]}"


# What is long is refused before anything is made of it

HOSTILE = {
    "zeros": (CLUSTERS, ZEROS),
    "depth": (CLUSTERS, b"[" * 3_900_000),
    "members": (SUMMARIZE, b'{"documents": [{' + b",".join(b'"%x":0' % i for i in range(300_000)) + b"}]}"),
    "documents": (SUMMARIZE, b'{"documents": [' + b"{}," * 1_300_000 + b"{}]}"),
    "strings": ("select", b'{"include": [' + b'"",' * 1_300_000 + b"0]}"),
    "options": ("select", b"{" + b",".join(b'"%x":0' % i for i in range(300_000)) + b"}"),
    "digits": ("select", b'{"diversity": ' + b"9" * 3_900_000 + b"}"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bodies_of_many_values_are_refused_in_little_memory(client, example, name):
    path, body = HOSTILE[name]
    path = f"{CLUSTERS}/{example['id']}/select" if path == "select" else path
    client.post(path, content=body, headers=JSON)  # what is made once
    tracemalloc.start()
    try:
        answer = client.post(path, content=body, headers=JSON)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status_code in (400, 422)
    assert len(answer.content) < 20_000
    assert len(answer.json().get("errors", [])) <= MOST_ERRORS
    assert most < 400_000_000  # an error for each value would take gigabytes


# Work ends at its deadline, wherever it is


def test_uploads_that_hang_free_their_workers_at_the_time_limit(serving, limit, is_problem, monkeypatch):
    with serving(Settings(n_jobs=1)) as client:
        path = client.post(CLUSTERS, json=DOCUMENTS).headers["location"] + "/select"
        with monkeypatch.context() as stuck_now:
            stuck_now.setattr("dpplearn.web.app.read_texts", stuck.forever)
            limit(client, max_seconds=0.5)
            is_problem(client.post(CLUSTERS, json=DOCUMENTS), 504, "time-limit")
        until(lambda: client.service.pool.taken == 0)
        limit(client, max_seconds=300.0)
        assert client.post(path, json={}).status_code == 200
        assert client.post(CLUSTERS, json=DOCUMENTS).status_code == 201
        assert client.service.boxes.lost == 1


HUNG = """
import socket, sys
sys.path.insert(0, {tests!r})
import dpplearn.web.app, stuck
from dpplearn.web import Settings, create_app
from dpplearn.web.server import serve
if __name__ == "__main__":
    dpplearn.web.app.read_texts = stuck.forever
    listener = socket.create_server(("127.0.0.1", 0))
    ready = lambda: print(listener.getsockname()[1], flush=True)
    serve(create_app(Settings(n_jobs=1, max_seconds=6.0)), listener, ready)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_with_hung_work_ends_and_leaves_no_process(number):
    command = [sys.executable, "-c", HUNG.format(tests=str(Path(stuck.__file__).parent))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            port = int(process.stdout.readline())
            base = f"http://127.0.0.1:{port}"
            with socket.create_connection(("127.0.0.1", port)) as hung:
                body = json.dumps(DOCUMENTS)
                head = "Host: localhost\r\nContent-Type: application/json\r\n"
                head = f"POST {CLUSTERS} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n"
                hung.sendall((head + body).encode())
                until(lambda: httpx.get(base + HEALTH).json()["running"])
                started = until(lambda: children(process.pid))
                assert started
                process.send_signal(number)
                assert process.wait(300) == (0 if number == signal.SIGTERM else -number)
        finally:
            process.kill()
    until(lambda: all(state_of(one)[0] in "ZX" for one in started))


def children(parent):
    """Processes that one has started."""
    return [one for one in map(int, (p.name for p in Path("/proc").glob("[0-9]*"))) if state_of(one)[1] == str(parent)]


def state_of(process):
    """Its state, its parent, ...; that of one that has ended where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["X", ""]


# Answers that nobody reads, connections that say nothing


def connect(client, request=b"", receive=4_096):
    """A connection with a small buffer, and what it sends."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    one.settimeout(300)
    one.connect(("127.0.0.1", client.base_url.port))
    one.sendall(request)
    return one


def asked(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def test_answers_that_nobody_reads_are_given_up(serving, caplog):
    with serving(Settings(idle_seconds=2.0)) as client, contextlib.ExitStack() as held:
        text = "Rain fell. " + "\n\n".join("x" * 200_000 for _ in range(2))
        path = client.post(CLUSTERS, json={"documents": [{"text": text}] * 4}).headers["location"]
        for _ in range(20):
            held.enter_context(connect(client, asked(path)))
        until(lambda: len(client.connections) > 1)
        until(lambda: len(client.connections) <= 1)  # but for our own
        assert client.get(path).status_code == 200
    assert not caplog.records


def test_connections_that_say_nothing_or_too_little_are_closed(serving):
    with serving(Settings(idle_seconds=0.5)) as client, contextlib.ExitStack() as held:
        path = asked(HEALTH)
        for sent, answers in ((b"", 0), (path[:20], 0), (path + path[:20], 1)):
            one = held.enter_context(connect(client, sent))
            said = b"".join(iter(partial(one.recv, 65_536), b""))  # to its end; socket.timeout after 300 s
            assert said.count(b"HTTP/1.1 200") == answers


def test_more_connections_than_allowed_are_told_to_come_back(serving):
    with serving(Settings(max_connections=5, idle_seconds=2.0)) as client, contextlib.ExitStack() as held:
        assert client.get(HEALTH).status_code == 200
        idle = [held.enter_context(connect(client)) for _ in range(4)]
        until(lambda: len(client.connections) == 5)
        assert client.get(HEALTH).status_code == 503
        assert idle[0].recv(1) == b""  # it said nothing for too long
        until(lambda: not client.connections)
        assert client.get(HEALTH).status_code == 200
