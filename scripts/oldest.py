"""Prints pip constraints that pin each requirement of pyproject.toml to its oldest promised version.

`make test-oldest` installs these versions and runs the tests.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

EXTRAS = ("web", "dask", "plots", "documents", "tables")  # those in `all`

if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(name for extra in EXTRAS for name in extras[extra])]
    print("\n".join(requirement.replace(">=", "==") for requirement in requirements))
