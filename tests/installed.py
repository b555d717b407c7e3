"""What is installed here beside what the tests need."""

from importlib.util import find_spec

from dpplearn.learning.evaluators import EVALUATORS


def has_torch():
    """Whether torch is; a folder of that name, such as tests/torch, is none."""
    spec = find_spec("torch")
    return spec is not None and spec.origin is not None


HERE = [name for name in EVALUATORS if name != "torch" or has_torch()]  # `make test-torch` runs those of torch
