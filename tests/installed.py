"""What is installed here beside what the tests need."""

from importlib.util import find_spec

from dpplearn.learning.fit import EVALUATORS


def has_torch():
    """Whether torch is."""
    return find_spec("torch") is not None


HERE = [name for name in EVALUATORS if name != "torch" or has_torch()]  # `make test-torch` runs those of torch
