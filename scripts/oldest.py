"""Print pip constraints that pin what pyproject.toml declares with >= to exactly that: the oldest versions we promise.

`make test-oldest` installs with them and runs the tests.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

EXTRAS = ("web", "dask", "plots", "documents", "tables")  # what `all` holds

if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]
    print("\n".join(one.replace(">=", "==") for one in needed))
