"""Each limit holds, and is named in the error of a request that passes it."""

import json
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from dpplearn.summarize import Cluster
from dpplearn.web import Settings
from dpplearn.web.problems import Problem
from dpplearn.web.service import Clusters
from waiting import until

CLUSTERS, FILES, SUMMARIZE = "/api/v1/clusters", "/api/v1/clusters/files", "/api/v1/summarize"
SMALL = Settings(
    max_body_bytes=4_000, max_documents=3, max_document_characters=1_000, max_sentences=10, max_seconds=20.0
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


@pytest.mark.parametrize("body", [documents(3), documents(1, "x" * 1_000), documents(1, "Rain fell. " * 10)])
def test_what_is_at_its_limit_is_accepted(small, body):
    assert small.post(CLUSTERS, json=body).status_code == 201


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


def test_a_long_content_length_is_refused_before_its_body_comes(small):
    with socket.create_connection(("127.0.0.1", small.base_url.port), timeout=20) as one:
        one.sendall(
            b"POST /api/v1/summarize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 999999999999\r\n\r\n"
        )
        answer = one.recv(65536)
    assert b" 413 " in answer.split(b"\r\n")[0]


def test_too_many_files_and_a_long_file(small, is_problem):
    sgml = b"<DOC><DOCNO>X</DOCNO><TEXT>Rain fell.</TEXT></DOC>" * 4  # one file may hold many
    for files in ([(f"{i}.txt", b"A storm hit.") for i in range(4)], [("a.sgml", sgml)]):
        answer = small.post(FILES, files=[("files", file) for file in files])
        assert is_problem(answer, 413, "too-large")["limit"] == "max_documents"
    answer = small.post(FILES, files=[("files", ("a.txt", b"x" * 1_001))])
    assert "limit max_document_characters is 1,000" in is_problem(answer, 422, "unreadable")["detail"]


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
        limit(client, max_seconds=60.0)
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


def test_one_that_grows_makes_room_and_does_not_come_back_once_deleted():
    kept = store(max_clusters_bytes=60)
    put(kept, a=10, b=10)
    kept.get("a").nbytes = 55
    assert held(kept) == "a"
    kept.remove("a")
    kept.current()
    for use in (kept.get, kept.remove):
        with pytest.raises(Problem, match="never was"):
            use("a")


TEXTS = {
    "a word": ["Storm."],
    "a hundred words": ["Storm."] * 100,
    "the example": [one.text for one in Cluster.example().documents],
    "one long sentence": [" ".join(f"wind{i}" for i in range(5_000)) + "."],
    "beyond Latin": ["Żółw 亀 " * 5_000],
    "sentences": [" ".join(f"Rain{i} fell." for i in range(200))],
}
COST = """
import gc, json, pickle, sys, tracemalloc
from dpplearn.summarize import Document
from dpplearn.web import Settings, schema
from dpplearn.web.service import Service

service = Service(Settings(samples=100))


def keep(read):
    reading = service.engine.prepare(pickle.loads(read))
    name, _ = service.keep(reading)
    for diversity in (0.5, 0.7):
        exclude = [0] if reading.prepared.n > 1 else []
        options = schema.Options(decoder="consensus", diversity=diversity, exclude=exclude)
        service.engine.find(reading, options)
    return name


def cost(texts):
    read = pickle.dumps(service.engine.featurize([Document(str(i), t) for i, t in enumerate(texts)], None))
    service.clusters.remove(keep(read))  # what is made once
    gc.collect()
    tracemalloc.start()
    names = [keep(read) for _ in range(10 if len(read) < 100_000 else 3)]
    gc.collect()
    found = tracemalloc.get_traced_memory()[0], sum(one.nbytes for one, _ in service.clusters.current().values())
    tracemalloc.stop()
    for name in names:
        service.clusters.remove(name)
    return found


print(json.dumps({name: cost(texts) for name, texts in json.load(sys.stdin).items()}))
"""


def test_clusters_are_counted_at_what_they_cost():
    """In a process of its own, where nobody else allocates."""
    asked = {"input": json.dumps(TEXTS), "capture_output": True, "text": True, "check": True}
    for name, (cost, counted) in json.loads(subprocess.run([sys.executable, "-c", COST], **asked).stdout).items():
        assert cost <= counted <= 4 * cost, f"{name} costs {cost}, counted {counted}"


def test_expiry_counts_from_the_last_use():
    clock = Clock()
    kept = store(clock)
    put(kept, a=10, b=10)
    clock.now = 60.0
    kept.get("a")
    clock.now = 110.0
    assert held(kept) == "a"
    kept.get("a")
    clock.now = 210.0
    assert not kept.current()


def test_an_expired_cluster_is_gone_for_the_client(serving, is_problem):
    with serving(Settings(cluster_seconds=50)) as client:
        clock = client.service.clusters.clock = Clock()
        answer = client.post(CLUSTERS, json=documents(2)).json()
        assert answer["expires_in"] == 50
        clock.now = 49.0
        assert client.get(f"{CLUSTERS}/{answer['id']}").status_code == 200
        clock.now = 99.5
        is_problem(client.post(f"{CLUSTERS}/{answer['id']}/select", json={}), 404, "cluster-gone")


@pytest.mark.parametrize("bad", [{"n_jobs": 0}, {"queue": -1}, {"max_seconds": float("nan")}])
def test_settings_that_cannot_be(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        Settings(**bad)
