"""Some faults of scripts/faults.py, each at a moment that is known; `make faults` has more, and at random moments."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "scripts" / "faults.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """Trials of commands by name, each of which is run undisturbed first."""
    spec = importlib.util.spec_from_file_location("faults", PATH)
    faults = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(faults)
    folder, made = tmp_path_factory.mktemp("faults"), {}

    def of(name):
        if name not in made:
            made[name] = faults.Trial(name, folder)
        return made[name]

    return of


@pytest.mark.parametrize("kind", ["SIGTERM", "worker"])
def test_a_killed_evaluation_leaves_no_process_and_goes_on(trial, kind):
    before = trial("evaluate").counts[kind]
    trial("evaluate").survive(kind)  # which compares with an undisturbed run
    assert trial("evaluate").counts[kind] == before + 1


@pytest.mark.parametrize(
    ("kind", "stage"),
    [("SIGINT", "counted/*.json"), ("SIGKILL", "theta.json")],
    ids=["reading", "fitting"],
)
def test_a_killed_training_leaves_no_process_and_goes_on(trial, kind, stage):
    trial("train").survive(kind, f"model.json.work/{stage}")
    assert trial("train").counts[kind] == 1


def test_training_without_room_for_a_file_keeps_the_work(trial):
    """Of the size of its model."""
    train = trial("train")
    size = len(train.truth["model.json"]) - 1
    command = train.start("no-room", size)
    assert command.fill()
    said = command.messages.read_text()
    assert "File too large. Make room there" in said
    assert "model.json.work keeps what is done" in said
    assert (command.out / "model.json.work" / "work.json").exists()
    train.compare("no room", command, "no-room")
