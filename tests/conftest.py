import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("dpplearn", deadline=None, max_examples=40, derandomize=True, print_blob=False)
settings.load_profile("dpplearn")


@pytest.fixture
def rng():
    return np.random.default_rng(20111)
