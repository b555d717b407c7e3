"""The command `dpplearn rouge`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpplearn.cli import main
from dpplearn.rouge import score_corpus

GOLDEN = Path(__file__).parents[1] / "data" / "golden_corpus.json"


def run(*args):
    return CliRunner().invoke(main, ["rouge", *map(str, args)])


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """A small corpus as folders: options that name candidates and references."""
    candidates = write(tmp_path / "sys", {"A/t1.txt": "the cat sat", "A/t2.txt": "a dog", "B/t1.txt": "a mat"})
    references = write(
        tmp_path / "ref", {"t1.X.txt": "the cat", "t1.Y.txt": "a cat sat", "t2.txt": "the dog", "t3.txt": "x"}
    )
    return "--candidates", candidates, "--references", references


def as_json(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_golden_corpus_as_json_lines(tmp_path):
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    run_ = golden["runs"][0]
    texts = [(e["id"], golden["topics"][e["topic"]]) for e in run_["evaluations"]]
    candidates = write_lines(
        tmp_path / "candidates.jsonl",
        [
            {"id": i, "system": system, "summary": summary}
            for i, topic in texts
            for system, summary in topic["systems"].items()
        ],
    )
    references = write_lines(
        tmp_path / "references.jsonl", [{"id": i, "references": topic["references"]} for i, topic in texts]
    )
    found = as_json(run("--candidates", candidates, "--references", references, "--bytes", 665, "--json"))
    for system, expected in run_["systems"].items():
        for metric, averages in found["systems"][system]["averages"].items():
            for measure, interval in averages.items():
                assert list(interval.values()) == list(expected["averages"][metric][measure[0]].values())


def test_folders(files):
    result = run(*files, "--json")
    found = as_json(result)
    assert found["systems"]["A"]["evaluations"] == 2
    expected = score_corpus({"t1": "a mat"}, {"t1": ["the cat", "a cat sat"]}, system="B")
    assert found["systems"]["B"]["scores"]["t1"]["rouge-1"] == expected.evaluations["t1"]["rouge-1"]._asdict()


def test_unmatched_ids_are_listed(files):
    result = run(*files, "--json")
    assert json.loads(result.stdout)["unmatched"] == {
        "without_references": {},
        "without_candidate": {"A": ["t3"], "B": ["t2", "t3"]},
    }
    assert "B: left out, without candidate: t2, t3\n" in result.stderr
    write(files[1], {"A/zz.txt": "no reference for this"})
    assert "A: left out, without references: zz\n" in run(*files).stderr


def test_table(files):
    result = run(*files, "--metrics", "rouge-1,rouge-l", "--metrics", "rouge-w-1.2")
    assert result.exit_code == 0
    for shown in (
        "A (evaluations: 2)",
        "B (evaluations: 1)",
        "rouge-w-1.2",
        "recall",
        "95 % interval",
        " to ",
    ):
        assert shown in result.stdout
    assert "rouge-2" not in result.stdout


def test_compare(files):
    (files[3] / "t3.txt").unlink()
    write(files[1], {"B/t2.txt": "the dog"})
    result = run(*files, "--compare")
    assert "A - B" in result.stdout
    comparison = as_json(run(*files, "--compare", "--json"))["comparisons"][0]
    assert (comparison["first"], comparison["second"], comparison["topics"]) == ("A", "B", 2)


def test_compare_on_shared_topics(files):
    write(files[1], {"B/t3.txt": "x", "C/t2.txt": "the dog"})
    result = run(*files, "--compare", "--json")
    compared = {(test["first"], test["second"]): test["topics"] for test in as_json(result)["comparisons"]}
    assert compared == {("A", "B"): 1, ("A", "C"): 1}
    assert "A - B: compared on the topics they share (1): A lacks t3; B lacks t2\n" in result.stderr
    assert "A - C: compared on the topics they share (1): C lacks t1\n" in result.stderr
    assert "B - C: not compared, as no topic is shared: B lacks t2; C lacks t1, t3\n" in result.stderr
    write(files[1], {"B/t2.txt": "x", "A/t3.txt": "x", "C/t1.txt": "x", "C/t3.txt": "x"})
    assert run(*files, "--compare").stderr == ""


def test_compare_needs_two_systems(files):
    result = run("--candidates", files[1] / "A", *files[2:], "--compare")
    assert result.exit_code == 1
    assert "--compare needs two systems, but there is 1: A" in result.stderr


def test_metrics_in_capitals(files):
    found = as_json(run(*files, "--metrics", "ROUGE-1, rouge-L", "--json"))
    assert list(found["systems"]["A"]["averages"]) == ["rouge-1", "rouge-l"]


def test_other_endings_than_txt_are_explained(tmp_path):
    candidates = write(tmp_path / "sys", {"d1.md": "the cat"})
    options = ("--candidates", candidates, "--references", write(tmp_path / "ref", {"d1.txt": "a cat"}))
    result = run(*options)
    assert result.exit_code == 1
    explained = "The id of a file is its name without .txt; any other ending stays a part of the id."
    assert "'d1.md'" in result.stderr
    assert explained in result.stderr
    write(tmp_path, {"sys/d2.txt": "a dog", "ref/d2.txt": "a dog"})
    result = run(*options)
    assert result.exit_code == 0
    assert "left out, without references: d1.md\n" in result.stderr
    assert explained in result.stderr
    (candidates / "d1.md").unlink()
    assert explained not in run(*options).stderr


def test_options_reach_the_scorer(files):
    options = ("--no-stem", "--words", 2, "--tokenizer", "unicode")
    (files[1] / "A" / "t2.txt").unlink()
    found = as_json(run(*files, *options, "--json"))
    expected = score_corpus(
        *({"t1": "the cat sat"}, {"t1": ["the cat", "a cat sat"]}),
        stem=False,
        words=2,
        tokenizer="unicode",
        system="A",
    )
    assert found["systems"]["A"]["averages"]["rouge-1"]["f"] == expected.averages["rouge-1"].f._asdict()
    assert found["settings"]["words"] == 2


def test_other_layouts(tmp_path):
    candidates = write(tmp_path / "flat", {"D1": "the cat", "D1.b.txt": "a dog", ".hidden": "x"})
    references = write(tmp_path / "ref", {"D1/a.txt": "the cat", "D1/b.txt": "cat", "D1.b.M.100.T.A": "a dog"})
    found = as_json(run("--candidates", candidates, "--references", references, "--json"))
    assert not any(found["unmatched"].values())
    assert found["systems"]["flat"]["scores"]["D1.b"]["rouge-1"]["f"] == 1


def test_corpus_of_dpplearn_as_references(tmp_path):
    references = write_lines(
        tmp_path / "corpus.jsonl", [{"id": 7, "documents": [], "references": [["The cat."], "a\nb"]}]
    )
    candidates = write_lines(tmp_path / "mine.jsonl", [{"id": "7", "summary": ["The cat."]}])
    found = as_json(run("--candidates", candidates, "--references", references, "--json"))
    assert list(found["systems"]) == ["mine"]


def test_invalid_utf8_names_file_and_byte(files):
    write(files[1], {"A/t1.txt": b"caf\xe9 cat"})
    result = run(*files)
    assert result.exit_code == 1
    assert "t1.txt is not valid utf-8: byte 3 (0xe9) cannot be read" in result.stderr


def test_crlf_and_byte_order_mark(tmp_path):
    write(
        tmp_path,
        {"c.jsonl": b'\xef\xbb\xbf{"id": "a", "summary": "x y"}\r\n\r\n{"id": "b", "summary": "z"}\r\n'},
    )
    write(tmp_path, {"r.jsonl": b'{"id": "a", "references": ["x y"]}\r\n{"id": "b", "references": ["z"]}'})
    found = as_json(run("--candidates", tmp_path / "c.jsonl", "--references", tmp_path / "r.jsonl", "--json"))
    assert found["systems"]["c"]["evaluations"] == 2


CANDIDATE, REFERENCE = '{"id": "a", "summary": "x"}\n', '{"id": "a", "references": ["x"]}\n'


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (CANDIDATE * 2, REFERENCE, "c.jsonl, line 2: the id 'a' occurs a second time"),
        (CANDIDATE, REFERENCE * 2, "r.jsonl, line 2: the id 'a' occurs a second time"),
        (CANDIDATE, '{"id": "a", "references": []}', "has no reference"),
        (CANDIDATE, '{"id": "a"}', '"references" must be a list of texts, but is None'),
        (CANDIDATE, '{"id": "a", "references": [3]}', "a reference must be a string or a list of sentences"),
        (CANDIDATE, '{"id": "b", "references": ["x"]}', "No id of"),
        ("plain text", REFERENCE, "c.jsonl, line 1 must be a JSON object, but at column 1"),
        ("[1]", REFERENCE, "must be a JSON object, but is [1] (list)"),
        ('{"summary": "x"}', REFERENCE, 'must have an "id"'),
        ('{"id": "a", "text": "x"}', REFERENCE, 'must have the field "summary", but has id, text'),
        ('{"id": "a", "summary": 1}', REFERENCE, '"summary" must be a string or a list of sentences'),
        ("", REFERENCE, "holds no candidate"),
        (CANDIDATE, "", "holds no reference"),
    ],
)
def test_bad_lines(tmp_path, candidates, references, message):
    write(tmp_path, {"c.jsonl": candidates, "r.jsonl": references})
    result = run("--candidates", tmp_path / "c.jsonl", "--references", tmp_path / "r.jsonl")
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())
    assert isinstance(result.exception, SystemExit)
    assert not result.stdout


@pytest.mark.parametrize(
    ("files_", "message"),
    [
        ({"sys/A/x": "1", "sys/y.txt": "2", "ref/x": "3"}, "holds both"),
        ({"sys/x": "1", "sys/x.txt": "2", "ref/x": "3"}, "the id 'x' occurs a second time"),
        ({"sys/x": "1", "ref/x/.keep": ""}, "has no reference"),
        ({"sys/A/.keep": "", "ref/x": "3"}, "must hold a text file for each topic"),
    ],
)
def test_bad_folders(tmp_path, files_, message):
    write(tmp_path, files_)
    result = run("--candidates", tmp_path / "sys", "--references", tmp_path / "ref")
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--bytes", "0"], 2, "--bytes"),
        (["--bytes", "5", "--words", "5"], 2, "one limit"),
        (["--metrics", "rouge-x"], 2, "No metric is called 'rouge-x'"),
        (["--metrics", ","], 2, "at least one metric"),
    ],
)
def test_bad_options(files, options, code, message):
    result = run(*files, *options)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_missing_file_and_missing_option(files):
    assert run("--candidates", "nowhere", *files[2:]).exit_code == 2
    assert run(*files[:2]).exit_code == 2


def test_texts_without_tokens_are_named(files):
    write(files[3], {"t2.txt": "..."})
    write(files[1], {"A/t1.txt": "", "A/t2.txt": "--", "B/t2.txt": "x"})
    result = run(*files, "--metrics", "rouge-w-1.2")
    assert result.exit_code == 0
    assert "Warning: A candidate of system A has no token and counts as 0, on: t1, t2." in result.stderr
    assert result.stderr.count("Warning: A reference has no token and counts as 0, on: t2.") == 1
    assert "candidate of system B" not in result.stderr


def test_help_imports_no_command():
    code = "import sys; from dpplearn.cli import main; main(['--help'], standalone_mode=False)"
    code += "; print([m for m in ('sklearn', 'numba', 'dpplearn.rouge') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Score summaries against references" in done.stdout
    assert done.stdout.rstrip().endswith("[]")
    assert CliRunner().invoke(main, ["nothing"]).exit_code == 2
