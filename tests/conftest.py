import fcntl
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from docs_site import ROOT, build
from offline import sitecustomize  # noqa: F401  # cuts the network, here and in processes that tests start

os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent / "offline"), *filter(None, [os.environ.get("PYTHONPATH")])]
)
settings.register_profile("dpplearn", deadline=None, max_examples=25, derandomize=True, print_blob=False)
settings.register_profile("fuzz", deadline=None, max_examples=2000, database=None, print_blob=False)
settings.load_profile("dpplearn")


def pytest_collection_modifyitems(items):
    """DPPLEARN_SHUFFLE=7 runs files, and the tests of each, in an order of its own: none may need another before it."""
    if seed := os.environ.get("DPPLEARN_SHUFFLE"):
        draw = random.Random(seed)
        files = {item.path: draw.random() for item in items}
        items.sort(key=lambda item: (files[item.path], draw.random()))


@pytest.fixture
def rng():
    return np.random.default_rng(20111)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The documentation site as `make docs` builds it, from copies of what it is made of; once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
        here = folder / "site"
        if not here.exists():
            for name in ("docs", "examples", "scripts", "src"):
                shutil.copytree(ROOT / name, here / name, ignore=shutil.ignore_patterns("__pycache__"))
            (here / "benchmarks").mkdir()
            shutil.copy(ROOT / "benchmarks" / "README.md", here / "benchmarks")
            shutil.copy(ROOT / "mkdocs.yml", here)
            done = build(here)
            assert done.returncode == 0, done.stdout + done.stderr
    return here / "site"
