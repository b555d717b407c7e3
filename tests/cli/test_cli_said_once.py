"""What is said while a corpus is read, is said once, whoever reads it."""

import subprocess
import sys
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from dpplearn._run.notice import notice
from dpplearn.cli import COMMANDS, main


def test_what_readers_say_of_files_is_said_once_whoever_reads(tmp_path):
    """Of an attachment, and of a PDF file that is none: in words, not as Python's warnings of a worker."""
    mail = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/plain\n\n{}\n--x\n'
    )
    mail += 'Content-Type: application/pdf\nContent-Disposition: attachment; filename="a.pdf"\n\nabc\n--x--\n'
    for k in range(3):
        documents = tmp_path / "corpus" / f"c{k}" / "documents"
        documents.mkdir(parents=True)
        (documents / "a.eml").write_text(mail.format(f"A storm sank {k + 2} boats near Brenn. Nobody was hurt."))
        (documents / "b.pdf").write_text("The council met on Friday to speak of the storm. It will meet again.")
        (documents.parent / "references").mkdir()
        (documents.parent / "references" / "r.txt").write_text("A storm sank boats near Brenn.")
    for jobs in (2,):
        out = tmp_path / f"m{jobs}.json"
        command = ["train", tmp_path / "corpus", "--out", out, "--budget", 30, "--unit", "words", "--jobs", jobs]
        stderr = in_a_process(*command)
        said = [line for line in stderr.splitlines() if "attachment" in line or "plain text" in line]
        assert len(said) == 6, stderr
        assert all(line.startswith("Warning: ") for line in said), stderr
        assert "SkippedWarning" not in stderr


def in_a_process(*command):
    """Standard error of a command: workers write to it past click's runner."""
    code = "from dpplearn.cli import main; main(prog_name='dpplearn')"
    done = subprocess.run([sys.executable, "-c", code, *map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_says_once_that_it_compiles(name, monkeypatch):
    def work():
        notice.announce()
        notice.announce()

    monkeypatch.setattr(import_module(f"dpplearn.cli.{name}"), "command", click.Command(name, callback=work))
    assert CliRunner().invoke(main, [name]).stderr.count("First run on this machine") == 1
