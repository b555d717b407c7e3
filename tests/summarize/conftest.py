"""The model that comes with dpplearn, read once for all tests of summaries; a test that changes it undoes that."""

import pytest

from dpplearn.summarize import Summarizer


@pytest.fixture(scope="session")
def bundled():
    return Summarizer.load()
