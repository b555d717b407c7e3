"""The command `dpplearn rouge`: how it finds candidates and references, and what it says of them."""

import json
import subprocess
import sys
from functools import partial

import pytest

import commands
from commands import write, write_lines
from dpplearn.rouge import score_corpus

run, output, refusal = (partial(call, "rouge") for call in (commands.run, commands.output, commands.refusal))


def write_all(folder, **files):
    """Files by their names."""
    for name, text in files.items():
        write(folder / name, text)
    return folder


@pytest.fixture
def files(tmp_path):
    """A small corpus as folders: options that name candidates and references."""
    texts = {"A/t1.txt": "the cat sat", "A/t2.txt": "a dog", "B/t1.txt": "a mat"}
    candidates = write_all(tmp_path / "sys", **texts)
    texts = {"t1.X.txt": "the cat", "t1.Y.txt": "a cat sat", "t2.txt": "the dog", "t3.txt": "x"}
    return "--candidates", candidates, "--references", write_all(tmp_path / "ref", **texts)


def as_json(*options):
    return json.loads(output(*options, "--json"))


def test_folders(files):
    found = as_json(*files)
    assert len(found["systems"]["A"]["scores"]) == 2
    expected = score_corpus({"t1": "a mat"}, {"t1": ["the cat", "a cat sat"]}, system="B")
    assert found["systems"]["B"]["scores"]["t1"]["rouge-1"] == expected.evaluations["t1"]["rouge-1"]._asdict()
    assert found["unmatched"] == {"without_references": {}, "without_candidate": {"A": ["t3"], "B": ["t2", "t3"]}}
    assert "B: left out, without candidate: t2, t3\n" in run(*files).stderr
    table = output(*files, "--metrics", "rouge-1,rouge-l", "--metrics", "rouge-w-1.2")
    assert all(shown in table for shown in ("A (evaluations: 2)", "rouge-w-1.2", "95 % interval"))
    assert "rouge-2" not in table


def test_compare(files):
    (files[3] / "t3.txt").unlink()
    write(files[1] / "B" / "t2.txt", "the dog")
    assert "A - B" in output(*files, "--compare")
    comparison = as_json(*files, "--compare")["comparisons"][0]
    assert (comparison["first"], comparison["second"], comparison["topics"]) == ("A", "B", 2)
    alone = refusal("--candidates", files[1] / "A", *files[2:], "--compare")
    assert "--compare needs two systems, but there is 1: A" in alone


def test_options_reach_the_scorer(files):
    (files[1] / "A" / "t2.txt").unlink()
    found = as_json(*files, "--no-stem", "--words", 2, "--tokenizer", "unicode")
    options = {"stem": False, "words": 2, "tokenizer": "unicode", "system": "A"}
    expected = score_corpus({"t1": "the cat sat"}, {"t1": ["the cat", "a cat sat"]}, **options)
    assert found["systems"]["A"]["averages"]["rouge-1"]["f"] == expected.averages["rouge-1"].f._asdict()
    assert found["settings"]["words"] == 2


def test_other_layouts(tmp_path):
    candidates = write_all(tmp_path / "flat", **{"D1": "the cat", "D1.b.txt": "a dog", ".hidden": "x"})
    references = write_all(tmp_path / "ref", **{"D1/a.txt": "the cat", "D1/b.txt": "cat", "D1.b.M.100.T.A": "a dog"})
    found = as_json("--candidates", candidates, "--references", references)
    assert not any(found["unmatched"].values())
    assert found["systems"]["flat"]["scores"]["D1.b"]["rouge-1"]["f"] == 1
    corpus = [{"id": 7, "documents": [], "references": [["The cat."], "a\nb"]}]
    references = write_lines(tmp_path / "corpus.jsonl", corpus)
    candidates = write_lines(tmp_path / "mine.jsonl", [{"id": "7", "summary": ["The cat."]}])
    assert list(as_json("--candidates", candidates, "--references", references)["systems"]) == ["mine"]
    write(candidates, b'\xef\xbb\xbf{"id": "7", "summary": "x y"}\r\n\r\n')  # a mark of the byte order, CR LF
    assert as_json("--candidates", candidates, "--references", references)["systems"]["mine"]["scores"].keys() == {"7"}


CANDIDATE, REFERENCE = '{"id": "a", "summary": "x"}\n', '{"id": "a", "references": ["x"]}\n'


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (CANDIDATE * 2, REFERENCE, "c.jsonl, line 2: the id 'a' occurs a second time"),
        (CANDIDATE, REFERENCE * 2, "r.jsonl, line 2: the id 'a' occurs a second time"),
        (CANDIDATE, '{"id": "a", "references": []}', "has no reference"),
        (CANDIDATE, '{"id": "a"}', '"references" must be a list of texts, but is None'),
        (CANDIDATE, '{"id": "a", "references": [3]}', "a reference must be a string or a list of sentences"),
        (CANDIDATE, '{"id": "b", "references": ["x"]}', "have no id in common"),
        ("[1]", REFERENCE, "must be a JSON object, but is [1] (list)"),
        ('{"summary": "x"}', REFERENCE, 'must have an "id"'),
        ('{"id": "a", "text": "x"}', REFERENCE, 'must have the field "summary", but has id, text'),
        ("", REFERENCE, "holds no candidate"),
        (CANDIDATE, "", "holds no reference"),
    ],
)
def test_bad_lines(tmp_path, candidates, references, message):
    paths = write(tmp_path / "c.jsonl", candidates), write(tmp_path / "r.jsonl", references)
    assert message in " ".join(refusal("--candidates", paths[0], "--references", paths[1]).split())


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"sys/A/x": "1", "sys/y.txt": "2", "ref/x": "3"}, "not the folder A and files"),
        ({"sys/x": "1", "sys/x.txt": "2", "ref/x": "3"}, "the id 'x' occurs a second time"),
        ({"sys/x": "1", "ref/x/.keep": ""}, "has no reference"),
        ({"sys/A/.keep": "", "ref/x": "3"}, "must hold a text file for each topic"),
        ({"sys/t1.txt": b"caf\xe9 cat", "ref/t1.txt": "3"}, "t1.txt is not valid utf-8: byte 3 (0xe9) cannot be read"),
    ],
)
def test_bad_folders(tmp_path, texts, message):
    write_all(tmp_path, **texts)
    assert message in refusal("--candidates", tmp_path / "sys", "--references", tmp_path / "ref")


def test_help_imports_no_command():
    code = "import sys; from dpplearn.cli import main; main(['--help'], standalone_mode=False)"
    code += "; print([m for m in ('sklearn', 'numba', 'dpplearn.rouge') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Score summaries against references" in done.stdout
    assert done.stdout.rstrip().endswith("[]")
