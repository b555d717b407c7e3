"""Two faults of scripts/faults.py, each as soon as something is done; `make faults` has more, at random moments."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "scripts" / "faults.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("faults", PATH)
    faults = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(faults)
    return faults.Trial("evaluate", tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("kind", ["SIGTERM", "worker"])
def test_a_killed_evaluation_leaves_no_process_and_goes_on(trial, kind):
    before = trial.counts[kind]
    trial.survive(kind)  # which compares with an undisturbed run
    assert trial.counts[kind] == before + 1
