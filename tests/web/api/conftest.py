"""A real server on loopback, in a thread of the tests' process, and a client for it."""

import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")

from dpplearn.web import Settings, create_app  # noqa: E402  # after the check that the extra is there
from dpplearn.web.server import configured  # noqa: E402  # as above


@contextmanager
def running(settings=Settings()):  # noqa: B008  # frozen
    """Serve with these settings; gives a client whose `service` and `connections` are the server's."""
    app = create_app(settings)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(configured(app))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        app.state.service.warming.join()  # limits of seconds are for the work, not for compiling on a busy machine
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with httpx.Client(base_url=url, timeout=300) as client:
            client.service, client.connections = app.state.service, server.server_state.connections
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="session")
def serving():
    """`with serving(settings) as client`, for a test that needs limits of its own."""
    return running


@pytest.fixture
def limit():
    """Give a running server other limits: after what is slow on a busy machine, such as its first process."""

    def change(client, **limits):
        client.service.settings = replace(client.service.settings, **limits)

    return change


@pytest.fixture
def gate():
    """Selections of a server begin when the gate opens: work that takes as long as the test wants."""
    opened = threading.Event()

    def hold(client):
        summarize = client.service.engine.summarize

        def after_the_gate(*arguments):
            assert opened.wait(300)
            return summarize(*arguments)

        client.service.engine.summarize = after_the_gate
        return opened

    yield hold
    opened.set()


@pytest.fixture(scope="session")
def client():
    """A server with the default limits, but for time: a busy machine is no fault of its work."""
    with running(Settings(max_seconds=300.0, max_file_seconds=300.0)) as client:
        yield client


@pytest.fixture(scope="session")
def example(client):
    """The example cluster as the server read it."""
    documents = client.get("/api/v1/example").json()["documents"]
    answer = client.post("/api/v1/clusters", json={"documents": documents})
    assert answer.status_code == 201
    return answer.json()


@pytest.fixture
def select(client, example):
    """Select from the example cluster."""

    def post(**options):
        return client.post(f"/api/v1/clusters/{example['id']}/select", json=options)

    return post


@pytest.fixture(scope="session")
def is_problem():
    """Check that an answer is a problem document of a kind, and return it."""

    def check(answer, status, slug):
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        found = answer.json()
        assert found["type"] == f"/problems/{slug}"
        assert found["status"] == status
        assert found["instance"] == answer.request.url.path
        assert found["title"]
        assert found["detail"].rstrip().endswith(".")
        return found

    return check
