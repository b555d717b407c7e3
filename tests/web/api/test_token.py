"""A server with a token answers who knows it; what holds nothing of anybody is for all."""

import httpx
import pytest

from dpplearn.web import Settings, create_app

TOKEN = "the-token-of-this-test"
API = "/api/v1"


@pytest.fixture(scope="module")
def locked(serving):
    with serving(Settings(token=TOKEN, idle_seconds=2.0)) as client:
        yield client


def schema(settings):
    return create_app(settings).openapi()


@pytest.mark.parametrize(
    "sent", [None, "Bearer x", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer é"]
)
def test_every_route_of_the_api_asks_for_it(locked, is_problem, sent):
    headers = {} if sent is None else {"Authorization": sent.encode()}
    for path, methods in schema(Settings())["paths"].items():
        for method in methods:
            answer = locked.request(method, path.replace("{id}", "x"), headers=headers)
            if path == f"{API}/health":
                assert answer.status_code == 200
            else:
                is_problem(answer, 401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"
    assert locked.get("/anything", headers=headers).status_code == 401


@pytest.mark.parametrize("kind", ["Bearer", "bearer"])
def test_who_knows_it_is_answered(locked, kind):
    headers = {"Authorization": f"{kind} {TOKEN}"}
    made = locked.post(f"{API}/clusters", json={"documents": [{"text": "It rained."}]}, headers=headers)
    assert made.status_code == 201
    assert locked.post(made.headers["location"] + "/select", json={}, headers=headers).status_code == 200
    assert locked.post(made.headers["location"] + "/select", json={}).status_code == 401


def test_the_page_and_the_reference_are_for_all(locked):
    for path in ("/", "/static/app.js", "/docs", f"{API}/openapi.json"):
        assert locked.get(path).status_code in (200, 303)


def test_a_body_is_not_read_for_who_has_no_token(locked):
    def endless():
        while True:
            yield b" " * 65_536

    with httpx.Client(base_url=locked.base_url) as other:
        try:
            answer = other.post(f"{API}/summarize", content=endless(), headers={"Content-Type": "application/json"})
        except (httpx.WriteError, httpx.ReadError):
            return  # closed while it was still sending
    assert answer.status_code == 401
