"""Shell completion: scripts that a shell can read, and what they offer."""

import shutil
import subprocess
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class
from click.testing import CliRunner

from dpplearn.cli import COMMANDS, main


def script(shell):
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0, result.output
    return result.stdout


def complete(*words):
    """What the script asks for, with the last word begun."""
    kind = get_completion_class("bash")
    return [
        one.value for one in kind(main, {}, "dpplearn", "_DPPLEARN_COMPLETE").get_completions([*words[:-1]], words[-1])
    ]


def test_commands_options_and_values_are_completed():
    assert complete("") == sorted(COMMANDS)
    assert complete("summarize", "--ex") == ["--explain"]
    assert complete("summarize", "--decoder", "gr") == ["greedy"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_can_read_its_script(tmp_path, shell):
    text = script(shell)
    assert f"_DPPLEARN_COMPLETE={shell}_complete" in text
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here: its script was written, not read")
    path = Path(tmp_path / "script")
    path.write_text(text)
    subprocess.run([shell, "-n", str(path)], check=True)
