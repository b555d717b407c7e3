"""Every request that is wrong gets a problem document that says what to change."""

import pytest

CLUSTERS, SUMMARIZE = "/api/v1/clusters", "/api/v1/summarize"
DOCUMENTS = [{"text": "A storm hit the coast. Rain fell."}]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"bugdet": 10}, "/bugdet: Extra inputs are not permitted, found 10."),
        ({"documents": [{"text": "Rain.", "titel": ""}]}, "/documents/0/titel: Extra inputs are not permitted"),
        ({}, "/documents: Field required, found {}."),
        ([], "the body: Input should be a valid dictionary or object to extract fields from, found []."),
        ({"budget": 0.5}, "/budget: budget must be a number from 1 to 1,000,000, found 0.5."),
        ({"budget": "0%"}, "found '0%'."),
        ({"budget": "much"}, "/budget: budget must be a number, a share"),
        ({"budget": True}, ", found True."),
        ({"unit": "pages"}, "/unit: Input should be 'words', 'sentences', 'bytes' or 'tokens', found 'pages'."),
        ({"model": "x" * 300}, "should have at most 200 characters, found 'xxxxxx"),
    ],
)
def test_what_is_not_valid_is_said_plainly(client, is_problem, body, detail):
    options = body if isinstance(body, list) or "documents" in body or not body else {"documents": DOCUMENTS, **body}
    assert detail in is_problem(client.post(SUMMARIZE, json=options), 422, "invalid")["detail"]


def test_requests_of_other_sites_are_refused(client, is_problem):
    port = client.base_url.port
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{port + 1}"},
        {"Origin": "http://[broken"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        is_problem(client.post(SUMMARIZE, json={"documents": DOCUMENTS}, headers=headers), 403, "foreign-origin")
        is_problem(client.delete(f"{CLUSTERS}/x", headers=headers), 403, "foreign-origin")
    own = {"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}
    answer = client.post(SUMMARIZE, json={"documents": DOCUMENTS}, headers=own)
    assert answer.status_code == 200
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_other_names_of_the_host_are_refused(client):
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:80", "localhost.evil.example"):
        assert client.get("/api/v1/example", headers={"Host": host}).status_code == 400
    for host in ("localhost", "LOCALHOST:1", "[::1]:8000", "127.0.0.1"):
        assert client.get("/api/v1/health", headers={"Host": host}).status_code == 200


def test_every_answer_carries_the_security_headers(client, example):
    paths = ("/", "/docs", "/static/app.css", "/api/v1/health", "/nothing", f"{CLUSTERS}/{example['id']}")
    for answer in [*map(client.get, paths), client.post(CLUSTERS)]:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        if answer.request.url.path.startswith("/api"):
            assert answer.headers["cache-control"] == "no-store"


def test_a_bug_is_a_problem_too_and_its_log_has_no_text(serving, is_problem, caplog):
    with serving() as client:
        client.service.engine.models["general"]._trained = "secret words of a user"  # the next request fails
        is_problem(client.post(SUMMARIZE, json={"documents": [{"text": "A secret storm."}]}), 500, "internal")
        assert client.get("/api/v1/health").status_code == 200
    assert "dpplearn.web" in {record.name for record in caplog.records}
    assert "secret" not in caplog.text


def test_the_reference_loads_nothing_from_elsewhere(client):
    page = client.get("/docs").text
    assert "://" not in page
    assert "<script>" not in page
    for path in ("/static/swagger-ui-bundle.js", "/static/swagger-ui.css", "/static/docs.js"):
        assert path[1:] in page
        answer = client.get(path)
        assert answer.status_code == 200
        assert client.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
