"""Shell completion: the scripts are written, and bash completes with its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpplearn.cli import COMMANDS, main

START = "import sys; sys.argv[0] = 'dpplearn'; from dpplearn.cli import main; main()"


def script(shell):
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0, result.output
    return result.stdout


def complete(tmp_path, *words):
    """What bash offers for the last of the words, with a program `dpplearn` on its path."""
    program = tmp_path / "dpplearn"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{START}" "$@"\n')
    program.chmod(0o755)
    line = " ".join(f"'{word}'" for word in words)
    code = (
        f"{script('bash')}\nshopt -s progcomp\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
        "$(complete -p dpplearn | sed 's/.*-F \\([^ ]*\\) .*/\\1/') dpplearn\n"
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["bash", "--norc", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    return run.stdout.split()


bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@bash
def test_bash_completes_commands_options_and_values(tmp_path):
    assert complete(tmp_path, "dpplearn", "") == sorted(COMMANDS)
    assert "--explain" in complete(tmp_path, "dpplearn", "summarize", "--ex")
    assert "greedy" in complete(tmp_path, "dpplearn", "summarize", "--decoder", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_can_read_its_script(tmp_path, shell):
    text = script(shell)
    assert f"_DPPLEARN_COMPLETE={shell}_complete" in text
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here: its script was written, not read")
    path = Path(tmp_path / "script")
    path.write_text(text)
    subprocess.run([shell, "-n", str(path)], check=True)


def test_another_shell():
    result = CliRunner().invoke(main, ["completion", "tcsh"])
    assert result.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in result.output
