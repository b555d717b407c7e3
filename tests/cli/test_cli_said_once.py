"""What is said while a corpus is read, is said once, whoever reads it."""

import click
import pytest
from click.testing import CliRunner

from dpplearn._run.progress import notice
from dpplearn.cli import COMMANDS, main


def test_what_readers_say_of_files_is_said_once_whoever_reads(tmp_path):
    """Of an attachment: in words, not as Python's warnings of a worker."""
    mail = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/plain\n\n{}\n--x\n'
    )
    mail += 'Content-Type: application/pdf\nContent-Disposition: attachment; filename="a.pdf"\n\nabc\n--x--\n'
    for k in range(3):
        documents = tmp_path / "corpus" / f"c{k}" / "documents"
        documents.mkdir(parents=True)
        (documents / "a.eml").write_text(mail.format(f"A storm sank {k + 2} boats near Brenn. Nobody was hurt."))
        (documents.parent / "references").mkdir()
        (documents.parent / "references" / "r.txt").write_text("A storm sank boats near Brenn.")
    command = [
        "train",
        tmp_path / "corpus",
        "--out",
        tmp_path / "m.json",
        "--budget",
        30,
        "--unit",
        "words",
        "--jobs",
        1,
    ]
    stderr = CliRunner().invoke(main, list(map(str, command))).stderr
    said = [line for line in stderr.splitlines() if "attachment" in line]
    assert len(said) == 3, stderr
    assert all(line.startswith("Warning: ") for line in said), stderr
    assert "SkippedWarning" not in stderr


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_says_once_that_it_compiles(name, monkeypatch):
    def work():
        notice.announce()
        notice.announce()

    monkeypatch.setattr("dpplearn.cli.load_command", lambda _: click.Command(name, callback=work))
    assert CliRunner().invoke(main, [name]).stderr.count("First run on this machine") == 1
