"""Print pip constraints that pin what pyproject.toml declares with >= to exactly that: the oldest versions we promise.

`make test-oldest` installs with them and runs the tests.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

EXTRAS = ("web", "dask", "plots")


def oldest(project: dict[str, object]) -> list[str]:
    """name==version for every requirement of the package and of the extras that `all` holds."""
    extras: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]
    needed: list[str] = [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]  # type: ignore[misc]
    return [re.sub(r">=", "==", one) for one in needed]


if __name__ == "__main__":
    with (Path(__file__).parent.parent / "pyproject.toml").open("rb") as file:
        print("\n".join(oldest(tomllib.load(file)["project"])))
