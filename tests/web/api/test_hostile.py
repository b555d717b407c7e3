"""Clients that mean harm, on loopback: what they send, hold and never read costs them more than it costs others."""

import threading
import time

import pytest

from dpplearn.web import schema, validation
from dpplearn.web.problems import Problem
from dpplearn.web.validation import SHOWN, parse

CLUSTERS, SUMMARIZE, HEALTH = "/api/v1/clusters", "/api/v1/summarize", "/api/v1/health"
JSON = {"Content-Type": "application/json"}
ZEROS = b'{"documents": [' + b"0," * 1_990_000 + b"0]}"


def slowest_health(client, during):
    """Seconds that the slowest of many questions took while `during` ran, and what that returned."""
    answers, slowest = [], 0.0
    work = threading.Thread(target=lambda: answers.append(during()))
    work.start()
    while work.is_alive():
        start = time.monotonic()
        assert client.get(HEALTH).status_code == 200
        slowest = max(slowest, time.monotonic() - start)
    return slowest, answers[0]


# What is long is refused before anything is made of it


@pytest.mark.parametrize("path", [CLUSTERS, SUMMARIZE])
def test_health_answers_while_two_million_zeros_are_refused(client, is_problem, path):
    slowest, answer = slowest_health(client, lambda: client.post(path, content=ZEROS, headers=JSON))
    found = is_problem(answer, 422, "invalid")
    assert "1,990,00" in found["detail"]
    assert slowest < 2.0  # it was frozen for 12 s


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (schema.NewCluster, ZEROS),
        (schema.NewCluster, b"[" + b"[]," * 1_300_000 + b"[]]"),
        (schema.Whole, b'{"documents": [{' + b",".join(b'"%x":0' % i for i in range(300_000)) + b"}]}"),
        (schema.Selection, b'{"include": [' + b'"",' * 1_300_000 + b"0]}"),
        (schema.Selection, b"{" + b",".join(b'"%x":0' % i for i in range(300_000)) + b"}"),
    ],
)
def test_values_are_counted_before_they_are_validated(monkeypatch, model, body):
    validated = []
    monkeypatch.setattr(model, "model_validate_json", validated.append)
    with pytest.raises(Problem) as caught:
        parse(model, body, 100)
    assert caught.value.slug == "invalid"
    assert not validated


@pytest.mark.parametrize(
    "body", [b'{"documents": [' + b"0," * 15_000 + b"0]}", b'{"documents": [' + b"{}," * 999 + b"{}]}"]
)
def test_no_more_errors_are_told_than_anyone_reads(body):
    with pytest.raises(Problem) as caught:
        parse(schema.NewCluster, body, 100)
    assert len(caught.value.members["errors"]) == SHOWN


def test_texts_may_hold_what_looks_like_values():
    text = '[{,"\\' * 50_000
    given = schema.NewCluster(documents=[schema.GivenDocument(text=text)])
    assert parse(schema.NewCluster, given.model_dump_json().encode(), 1).documents[0].text == text
    assert validation.STRING.sub(b"", rb'{"a\\": "\"", "b') == b"{: , "
