"""Files of learning: models, checkpoints, shards."""

import os
from typing import Any


def whole_number(x: Any, name: str, path: str | os.PathLike[str]) -> int:
    """A count that was read from a file."""
    if not isinstance(x, int) or isinstance(x, bool) or x < 0:
        raise ValueError(f"{name} in {path} must be a whole number that is not negative, found {x!r}.")
    return x
