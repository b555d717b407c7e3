"""The command line, run in this process, and files for it."""

import json

from click.testing import CliRunner

from dpplearn.cli import main


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, [str(one) for one in arguments], input=stdin)


def output(*arguments, stdin=None):
    """What a command prints that succeeds."""
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 0, done.output
    return done.stdout


def records(*arguments, stdin=None):
    """The JSON objects that it prints, a line each."""
    return [json.loads(line) for line in output(*arguments, stdin=stdin).splitlines()]


def refusal(*arguments, stdin=None):
    """What is said on standard error by a command that refuses, which prints nothing."""
    done = run(*arguments, stdin=stdin)
    assert done.exit_code in (1, 2), done.output
    assert isinstance(done.exception, SystemExit), done.exception  # no traceback
    assert done.stdout == ""
    return done.stderr


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def write_lines(path, rows):
    """JSON Lines."""
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))
