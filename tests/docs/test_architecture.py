"""docs/architecture.md and its picture are those of the code, and what draws them reads a changed tree."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def architecture(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import architecture

    return architecture


@pytest.fixture
def tree(tmp_path):
    """A copy of what the script reads."""
    shutil.copytree(ROOT / "src" / "dpplearn", tmp_path / "src" / "dpplearn", ignore=shutil.ignore_patterns("data"))
    (tmp_path / "docs" / "assets").mkdir(parents=True)
    for name in ("CONTRIBUTING.md", "docs/architecture.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_page_and_the_picture_match_the_code():
    command = [sys.executable, ROOT / "scripts" / "architecture.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_new_module_changes_both(architecture, tree):
    (tree / "src" / "dpplearn" / "_linalg.py").write_text('"""Now about something else. And more."""\n')
    (tree / "src" / "dpplearn" / "decoding" / "random_choice.py").write_text("from dpplearn.mrf import PairwiseMRF\n")
    files = architecture.write(tree)
    assert "Now about something else." in files[architecture.PICTURE]
    assert "And more" not in files[architecture.PICTURE]
    [row] = [line for line in files[architecture.PAGE].splitlines() if line.startswith("| `decoding` |")]
    assert "`random_choice`" in row
    assert "`mrf`" in row


def test_a_room_without_a_layer_is_an_error(architecture, tree):
    (tree / "src" / "dpplearn" / "cellar.py").write_text("")
    with pytest.raises(SystemExit, match="cellar: not in the table"):
        architecture.write(tree)
