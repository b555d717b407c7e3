"""Progress is shown on a terminal and nowhere else; Ctrl-C ends a command with a line, and reaches no worker."""

import json
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

from dpplearn.cli import main
from dpplearn.summarize import Cluster
from dpplearn.summarize.model import training as training_module


@pytest.fixture
def corpus(tmp_path):
    example = Cluster.example()
    path = tmp_path / "corpus.jsonl"
    with path.open("w") as file:
        for k in range(3):
            texts = [{"id": d.id, "text": d.text} for d in example.documents[k : k + 3]]
            file.write(json.dumps({"id": f"c{k}", "documents": texts, "references": list(example.references)}) + "\n")
    return path


def in_terminal(*arguments):
    """Run a command with a pseudo-terminal as standard output and error, and return what it wrote there."""
    ours, theirs = pty.openpty()
    code = "from dpplearn.cli import main; main(prog_name='dpplearn')"
    with subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        out = b""
        try:
            while chunk := os.read(ours, 65536):
                out += chunk
        except OSError:  # the other end was closed: all is read
            pass
    os.close(ours)
    return process.returncode, out.decode()


def test_bars_only_on_a_terminal(corpus, tmp_path):
    command = ["train", corpus, "--out", tmp_path / "m.json", "--budget", 40, "--unit", "words", "--jobs", 1]
    code, out = in_terminal(*command)
    assert code == 0, out
    for said in ("Reading clusters", "3/3", "Learning weights, iteration", "Learned 10 weights"):
        assert said in out
    stderr = CliRunner().invoke(main, [str(argument) for argument in command]).stderr
    assert [line.split()[0] for line in stderr.splitlines()] == ["Read", "Learned"]


def test_ctrl_c_is_a_line(corpus, tmp_path, monkeypatch):
    def stops(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(training_module, "check_empty", stops)
    out = tmp_path / "m.json"
    train = ["train", str(corpus), "--out", str(out), "--budget", "40", "--unit", "words", "--jobs", "1"]
    result = CliRunner().invoke(main, train)
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith(f"Stopped. {out}.work keeps what is done: run the same command")
    assert not out.exists()
    result = CliRunner().invoke(
        main, ["experiment", "--train", str(corpus), "--test", str(corpus), "--jobs", "1", "--systems", "begin"]
    )
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith("Stopped.")
