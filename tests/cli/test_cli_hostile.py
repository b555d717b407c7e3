"""Hostile files and options: one plain line on standard error, and nothing that a terminal would obey."""

import json

import pytest
from click.testing import CliRunner

from dpplearn.cli import main
from dpplearn.summarize import Summarizer

EVIL = "\x1b]0;title\x07\x9b31m"
DEEP = {"just": 1_000, "far": 100_000}


def run(*arguments, **options):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], **options)


def assert_one_line(result, *said):
    """An error in a line that says all this; a traceback has another exit."""
    assert result.exit_code == 1, result.exception
    assert isinstance(result.exception, SystemExit)
    assert (result.stderr.count("\n"), result.stdout) == (1, "")
    assert all(one in result.stderr for one in said), result.stderr


def write(path, *lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("depth", DEEP.values(), ids=DEEP)
def test_deep_json(depth, tmp_path):
    deep = "[" * depth + "]" * depth
    path = write(tmp_path / "a.jsonl", '{"text": "rain"}', f'{{"text": "snow", "id": "a", "summary": {deep}}}')
    assert_one_line(run("select", path, "-k", 2), "a.jsonl, line 2", "too deeply")
    path = write(tmp_path / "a.jsonl", f'{{"id": "a", "summary": {deep}, "references": {deep}}}')
    assert_one_line(run("rouge", "--candidates", path, "--references", path), "a.jsonl, line 1", "too deeply")
    assert_one_line(run("train", path, "--out", tmp_path / "m.json"), "a.jsonl, line 1", "too deeply")
    path = write(tmp_path / "a.csv", "score,embedding", f'1,"{deep}"')
    assert_one_line(run("select", path, "-k", 1, "--embedding", "embedding"), "a.csv, line 2", "too deeply")
    assert_one_line(run("info", write(tmp_path / "m.json", deep)), "m.json", "too deeply")


def test_numbers_of_many_digits(tmp_path):
    for digits, word in ((5_000, "digits"), (400, "finite number")):
        path = write(tmp_path / "a.jsonl", '{"text": "rain", "score": 1}', f'{{"text": "a", "score": {"7" * digits}}}')
        assert_one_line(run("select", path, "-k", 2), "a.jsonl, line 2", word)
    cluster = write(tmp_path / "a.jsonl", '{"id": %s, "documents": ["It rained."]}' % ("7" * 5_000))
    assert_one_line(run("train", cluster, "--out", tmp_path / "m.json"), "a.jsonl, line 1", "digits")
    page = write(tmp_path / "a.html", f"<p>It rained &#{'7' * 5_000}; in Oslo.")
    assert "It rained \ufffd in Oslo." in run("summarize", page).stdout


@pytest.mark.parametrize("place", ["rho", "version", "idf.documents", "settings.budget"])
def test_model_files_with_numbers_that_no_float_holds(place, tmp_path):
    path = tmp_path / "m.json"
    Summarizer.load().save(path)
    model = json.loads(path.read_text())
    *outer, last = place.split(".")
    (model[outer[0]] if outer else model)[last] = 10**400
    path.write_text(json.dumps(model))
    assert_one_line(run("info", path), "m.json")


def test_escape_sequences_are_shown(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in (f"a{EVIL}.txt", "b.txt"):
        (folder / name).write_text(f"It rained {EVIL}in Oslo all day.\n\nThe river rose.\n")
    (folder / f"c{EVIL}.bin").write_text("")
    shown = "\\u001b]0;title\\u0007\\u009b31m"
    result = run("summarize", folder, "--explain")
    assert result.exit_code == 0, result.output
    assert shown in result.stderr
    records = [json.dumps({"text": f"rain {EVIL}{k}", EVIL: 1}) for k in range(3)]
    items = write(tmp_path / f"i{EVIL}.jsonl", *records)
    chosen = run("select", items, "-k", 1, "--explain")
    missing = run("select", items, "--score", "none")
    data = run("summarize", folder, "--json")
    candidates, references = tmp_path / "c", tmp_path / "r"
    for path in (candidates / f"s{EVIL}[red]" / "t.txt", candidates / "s[red]" / "t.txt", references / "t.txt"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("It rained in Oslo.")
    scored = run("rouge", "--candidates", candidates, "--references", references, "--compare")
    assert scored.exit_code == 0, scored.exception
    assert "s[red]" in scored.stdout
    for one in (result, chosen, missing, data, scored):
        assert not set("\x1b\x07\x9b") & set(one.output)
    assert shown in chosen.stderr
    assert shown in missing.stderr
    assert any(EVIL in document["id"] for document in json.loads(data.stdout)["documents"])
