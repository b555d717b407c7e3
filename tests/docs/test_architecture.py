"""docs/architecture.md and its picture are those of the code, and what draws them reads a changed tree."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_and_the_picture_match_the_code():
    command = [sys.executable, ROOT / "scripts" / "architecture.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
