"""`make docs` in a folder of choice."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def build(folder):
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    environment = {"PYTHONPATH": f"{folder / 'scripts'}", "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
