"""Files that are larger than they look, or have no end, are refused in a line, without the memory they would fill."""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

import pytest

# Address space of a process that may not take more: decoding and parsing would make several times 1.2 GB of the bomb.
CODE = """
import gc, json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000,) * 2)
from click.testing import CliRunner
from dpplearn.cli import main
for arguments, stdin in json.loads(sys.argv[1]):
    with open(stdin or "/dev/null", "rb") as file:
        done = CliRunner().invoke(main, arguments, input=file)
    print(json.dumps([done.exit_code, repr(done.exception), done.stderr]))
    del done
    gc.collect()  # what an error held, before the next command
"""


@pytest.fixture
def bomb(tmp_path):
    """A line of JSON Lines of 1.2 GB, in 1.2 MB."""
    path = tmp_path / "bomb.jsonl.gz"
    parts = [b'{"id": "a", "documents": ["', *[b" " * 1_000_000] * 1200, b'"]}\n']
    packed = {part: gzip.compress(part) for part in set(parts)}
    path.write_bytes(b"".join(packed[part] for part in parts))
    assert path.stat().st_size < 1_300_000
    return str(path)


@pytest.fixture
def blank(tmp_path):
    """A gigabyte of lines with nothing in them, in 1 MB: to read them all would take an hour."""
    path = tmp_path / "blank.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 1_000_000) * 1_000)
    return str(path)


def run_within_limits(runs):
    """Exit code, exception and standard error of each command, in a process that may not take much memory."""
    with tempfile.TemporaryDirectory() as folder:  # where training that fails leaves its work
        done = subprocess.run(
            [sys.executable, "-c", CODE, json.dumps(runs)], stdout=subprocess.PIPE, text=True, timeout=500, check=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}, cwd=folder,
        )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def errors(said):
    """The lines on standard error but those that tell, a line a minute, how far slow work is."""
    return [line for line in said.splitlines() if not re.match(r"[^:]*: \d+ of \d+|Of \d+ s,", line)]


def test_too_much_and_what_never_begins_are_refused_in_a_line(bomb, blank):
    """Blank lines without end are not read to their end."""

    def of(path):
        train = [["train", path, "--out", f"{os.path.basename(path)}.json", "--jobs", "1"], None]
        return [train, [["rouge", "--candidates", path, "--references", path], None]]

    runs = [[["summarize", "/dev/zero"], None]]
    for path in ("/dev/zero", bomb):
        runs += [*of(path), [["info", path], None], [["select", "-"], path], [["summarize", "-"], path]]
    found = run_within_limits([*of(blank), *runs])
    for (arguments, stdin), (code, exception, said) in zip([*of(blank), *runs], found, strict=True):
        assert (code, len(errors(said))) == (1, 1), (arguments, exception, said)
        path = stdin or arguments[-1 if arguments[0] == "rouge" else 1]
        assert ("tandard input" if stdin else path) in said
        assert ("blank" if path == blank else "MB, but is longer") in said
