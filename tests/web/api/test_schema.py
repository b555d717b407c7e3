"""Requests made up from the OpenAPI schema, right and wrong: no 5xx, and answers that are what the schema says."""

import pytest
from hypothesis import HealthCheck, given, settings

from dpplearn.web import create_app

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402  # after the check that it is there

OPERATIONS = [(path, method) for path, methods in create_app().openapi()["paths"].items() for method in methods]


@pytest.fixture(scope="session")
def api(client):
    return schemathesis.openapi.from_url(f"{client.base_url}/api/v1/openapi.json")


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=lambda part: part.rpartition("/")[2])
def test_made_up_requests(api, example, path, method, mode):
    @given(case=api[path][method].as_strategy(generation_mode=mode))
    @settings(max_examples=15, derandomize=True, suppress_health_check=list(HealthCheck))
    def check(case):
        if case.path_parameters and case.method == "POST":
            case.path_parameters["id"] = example["id"]  # a cluster that is there: else all answers are 404
        answer = case.call()
        assert answer.status_code < 500
        # a text without a word is valid by the schema, and refused for its content
        case.validate_response(answer, excluded_checks=[positive_data_acceptance])

    if mode.value == "positive" or api[path][method].body:
        check()


def test_the_schema_has_examples_that_work(client, example):
    found, tried = client.get("/api/v1/openapi.json").json(), 0
    for path, methods in found["paths"].items():
        body = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            name = body["schema"].get("$ref", "").rpartition("/")[2]
            for value in found["components"]["schemas"].get(name, body["schema"])["examples"]:
                tried += 1
                answer = client.post(path.replace("{id}", example["id"]), json=value)
                assert answer.is_success, answer.text
    assert tried >= 3
