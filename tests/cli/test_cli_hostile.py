"""Hostile files and options: one plain line on standard error, and nothing that a terminal would obey."""

import json

import pytest

from commands import refusal, run, write, write_lines

EVIL = "\x1b]0;title\x07\x9b31m"
DEEP = {"just": 1_000, "far": 100_000}


def assert_one_line(command, *said):
    """An error in a line that says all this."""
    told = refusal(*command)
    assert told.count("\n") == 1
    assert all(one in told for one in said), told


@pytest.mark.parametrize("depth", DEEP.values(), ids=DEEP)
def test_deep_json(depth, tmp_path):
    deep = "[" * depth + "]" * depth
    path = write(tmp_path / "a.jsonl", f'{{"text": "rain"}}\n{{"text": "snow", "id": "a", "summary": {deep}}}')
    assert_one_line(("select", path, "-k", 2), "a.jsonl, line 2", "too deeply")
    path = write(tmp_path / "a.jsonl", f'{{"id": "a", "summary": {deep}, "references": {deep}}}')
    assert_one_line(("rouge", "--candidates", path, "--references", path), "a.jsonl, line 1", "too deeply")
    assert_one_line(("train", path, "--out", tmp_path / "m.json"), "a.jsonl, line 1", "too deeply")
    path = write(tmp_path / "a.csv", f'score,embedding\n1,"{deep}"')
    assert_one_line(("select", path, "-k", 1, "--embedding", "embedding"), "a.csv, line 2", "too deeply")
    assert_one_line(("info", write(tmp_path / "m.json", deep)), "m.json", "too deeply")


def test_numbers_of_many_digits(tmp_path):
    for digits, word in ((5_000, "digits"), (400, "finite number")):
        long = f'{{"text": "a", "score": {"7" * digits}}}'
        path = write(tmp_path / "a.jsonl", f'{{"text": "rain", "score": 1}}\n{long}')
        assert_one_line(("select", path, "-k", 2), "a.jsonl, line 2", word)
    cluster = write(tmp_path / "a.jsonl", '{"id": %s, "documents": ["It rained."]}' % ("7" * 5_000))
    assert_one_line(("train", cluster, "--out", tmp_path / "m.json"), "a.jsonl, line 1", "digits")
    page = write(tmp_path / "a.html", f"<p>It rained &#{'7' * 5_000}; in Oslo.")
    assert "It rained \ufffd in Oslo." in run("summarize", page).stdout


def test_escape_sequences_are_shown(tmp_path):
    for name in (f"a{EVIL}.txt", "b.txt"):
        write(tmp_path / "texts" / name, f"It rained {EVIL}in Oslo all day.\n\nThe river rose.\n")
    write(tmp_path / "texts" / f"c{EVIL}.bin", "")
    items = write_lines(tmp_path / f"i{EVIL}.jsonl", [{"text": f"rain {EVIL}{k}", EVIL: 1} for k in range(3)])
    candidates, references = tmp_path / "c", tmp_path / "r"
    for path in (candidates / f"s{EVIL}[red]" / "t.txt", candidates / "s[red]" / "t.txt", references / "t.txt"):
        write(path, "It rained in Oslo.")
    explained = run("summarize", tmp_path / "texts", "--explain")
    data = run("summarize", tmp_path / "texts", "--json")
    chosen, missing = run("select", items, "-k", 1, "--explain"), run("select", items, "--score", "none")
    scored = run("rouge", "--candidates", candidates, "--references", references, "--compare")
    assert "s[red]" in scored.stdout
    for one in (explained, chosen, missing, data, scored):
        assert not set("\x1b\x07\x9b") & set(one.output)
    for one in (explained, chosen, missing):
        assert "\\u001b]0;title\\u0007\\u009b31m" in one.stderr
    assert any(EVIL in document["id"] for document in json.loads(data.stdout)["documents"])
