"""Each limit holds, and is named in the error of a request that passes it."""

import socket
import threading
import time
from types import SimpleNamespace

import pytest

from dpplearn.web import Settings
from dpplearn.web.service import Clusters
from waiting import until

CLUSTERS, FILES, SUMMARIZE = "/api/v1/clusters", "/api/v1/clusters/files", "/api/v1/summarize"
SMALL = Settings(
    max_body_bytes=4_000, max_documents=3, max_document_characters=1_000, max_sentences=10, max_seconds=300.0
)


@pytest.fixture(scope="module")
def small(serving):
    with serving(SMALL) as client:
        yield client


def documents(count, text="A storm hit."):
    return {"documents": [{"text": text} for _ in range(count)]}


@pytest.mark.parametrize("path", [CLUSTERS, SUMMARIZE])
@pytest.mark.parametrize(
    ("body", "limit"),
    [
        (documents(4), "max_documents"),
        (documents(1, "x" * 1_001), "max_document_characters"),
        (documents(1, "Rain fell. " * 11), "max_sentences"),
        (documents(1, "x" * 5_000), "max_body_bytes"),
    ],
)
def test_sizes(small, is_problem, path, body, limit):
    found = is_problem(small.post(path, json=body), 413, "too-large")
    assert found["limit"] == limit
    assert found["value"] == getattr(SMALL, limit)
    assert limit in found["detail"]


def test_a_chunked_body_is_not_read_past_the_limit(small, is_problem):
    sent = 0

    def endless():
        nonlocal sent
        while sent < 10_000_000:
            sent += 1_000
            yield b" " * 1_000

    answer = small.post(SUMMARIZE, content=endless(), headers={"Content-Type": "application/json"})
    found = is_problem(answer, 413, "too-large")
    assert found["limit"] == "max_body_bytes"
    assert not small.service.large_bodies.locked()


def test_a_body_that_comes_too_slowly(serving, is_problem):
    def slow():
        yield b"{"
        time.sleep(0.6)
        yield b"}"

    with serving(Settings(max_seconds=0.2)) as client:
        answer = client.post(SUMMARIZE, content=slow(), headers={"Content-Type": "application/json"})
    assert is_problem(answer, 408, "too-slow")["limit"] == "max_seconds"


def both(client, path):
    """Two selections at once: their threads, and the answers that they come to have."""
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(client.post(path, json={}))) for _ in range(2)]
    for thread in threads:
        thread.start()
    return threads, answers


def test_past_the_time_limit_work_keeps_its_place_until_it_ends_and_what_waits_never_begins(
    serving, gate, limit, is_problem
):
    with serving(Settings(n_jobs=1, queue=1)) as client:
        path, pool = client.post(CLUSTERS, json=documents(2)).headers["location"] + "/select", client.service.pool
        opened = gate(client)
        limit(client, max_seconds=0.5)
        threads, answers = both(client, path)
        for thread in threads:
            thread.join()
        found = [is_problem(answer, 504, "time-limit") for answer in answers]
        assert [(one["limit"], one["value"]) for one in found] == [("max_seconds", 0.5)] * 2
        until(lambda: pool.taken == 1)  # the one that waited is gone, the other still runs
        opened.set()
        until(lambda: pool.taken == 0)
        limit(client, max_seconds=300.0)
        assert client.post(path, json={}).status_code == 200


def draw_for_hours(client):
    """Work of hours, once the server is warm."""
    client.service.engine.settings = Settings(samples=10**8)


def test_work_of_hours_ends_with_its_request(serving, limit, is_problem):
    with serving(Settings(n_jobs=1)) as client:
        draw_for_hours(client)
        text = " ".join(f"The river{i} rose in town{i % 7} by {i} metres." for i in range(40))
        path = client.post(CLUSTERS, json=documents(1, text)).headers["location"] + "/select"
        limit(client, max_seconds=0.5)
        is_problem(client.post(path, json={"decoder": "sampled"}), 504, "time-limit")
        assert until(lambda: client.service.pool.taken == 0)  # not in hours: the worker is free again


def test_nobody_works_for_a_client_that_has_left(serving, gate):
    with serving(Settings(n_jobs=1, queue=5)) as client:
        draw_for_hours(client)
        pool = client.service.pool
        path = client.post(CLUSTERS, json=documents(2, "A storm hit. Rain fell.")).headers["location"] + "/select"
        opened, body = gate(client), b'{"decoder": "sampled"}'
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        leaving = [socket.create_connection(("127.0.0.1", client.base_url.port)) for _ in range(3)]
        for one in leaving:
            one.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        until(lambda: pool.taken == 3)
        for one in leaving:
            one.close()
        until(lambda: pool.taken == 1)  # those that waited are gone
        opened.set()
        until(lambda: pool.taken == 0)  # and the one that ran ends at its next step
        assert client.post(path, json={}).status_code == 200


def test_a_full_queue_answers_429_and_health_answers_meanwhile(serving, gate, is_problem):
    with serving(Settings(n_jobs=1, queue=1)) as client:
        place, pool = client.post(CLUSTERS, json=documents(2)).headers["location"], client.service.pool
        opened = gate(client)
        threads, answers = both(client, f"{place}/select")
        until(lambda: pool.taken == 2)
        health = client.get("/api/v1/health").json()
        assert (health["status"], health["running"], health["waiting"]) == ("ok", 1, 1)
        for refused in (client.post(f"{place}/select", json={}), client.post(SUMMARIZE, json=documents(1))):
            assert is_problem(refused, 429, "busy")["limit"] == "queue"
            assert int(refused.headers["retry-after"]) >= 1
        assert client.delete(place).status_code == 204
        opened.set()
        for thread in threads:
            thread.join()
        assert sorted(answer.status_code for answer in answers) == [200, 404]  # the one that waited finds it gone


# The store of clusters, with a clock of the test's own


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def store(clock=None, **limits):
    return Clusters(Settings(**{"cluster_seconds": 100.0, **limits}), clock or Clock())


def put(kept, **sizes):
    for name, size in sizes.items():
        kept.put(name, SimpleNamespace(nbytes=size))


def held(kept):
    """The names of those that are still there; none counts as used by that."""
    return "".join(sorted(kept.current()))


def test_the_least_recently_used_makes_room():
    kept = store(max_clusters_bytes=30)
    put(kept, a=10, b=10, c=10)
    assert kept.get("a").nbytes == 10  # used: now b is the oldest
    put(kept, d=15)
    assert held(kept) == "ad"
    put(kept, e=50)  # larger than all room: it is kept alone
    assert held(kept) == "e"
    kept = store(max_clusters=3)
    put(kept, a=1, b=1, c=1, d=1, e=1)
    assert held(kept) == "cde"
