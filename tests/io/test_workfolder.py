"""A folder for what is made on the way: one command at a time, and none removes that of another."""

import shutil
from pathlib import Path

import pytest

from dpplearn._io.jsonfile import write_record
from dpplearn._io.workfolder import LOCK, WorkFolder


@pytest.mark.parametrize("moment", [LOCK, "work"])
def test_a_command_that_begins_while_another_ends_keeps_its_folder(tmp_path, monkeypatch, moment):
    """Just before the lock, or the folder itself, is removed."""
    begun = []

    def begin(remove):
        def call(path, **options):
            if path.name == moment and not begun:
                begun.append(path)
                other = WorkFolder(tmp_path / "work", {})
                if moment == LOCK:
                    with pytest.raises(ValueError, match="Another command works"):
                        other.__enter__()
                else:
                    begun[0] = other.__enter__()
            remove(path, **options)

        return call

    with WorkFolder(tmp_path / "work", {}):
        monkeypatch.setattr(Path, "unlink", begin(Path.unlink))
        monkeypatch.setattr(Path, "rmdir", begin(Path.rmdir))
    if moment == "work":
        begun[0].file("stage", 1, ".json").write_text("{}")
        assert len(begun[0].known("stage", ".json")) == 1
        begun[0].__exit__(None, None, None)
    assert begun
    assert not list(tmp_path.iterdir())


def test_a_folder_that_was_being_removed_is_gone_after_the_next_run(tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    work = WorkFolder(tmp_path / "work", {}).__enter__()
    write_record(work.file("stage", 1, ".json"), {})
    remove = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", stopped)
    with pytest.raises(KeyboardInterrupt):
        work.__exit__(None, None, None)
    monkeypatch.setattr(shutil, "rmtree", remove)
    with WorkFolder(tmp_path / "work", {}) as work:
        assert len(work.known("stage", ".json")) == 1
    assert not list(tmp_path.iterdir())


def test_a_stopped_command_sweeps_under_its_lock(tmp_path, monkeypatch):
    swept, sweep = [], WorkFolder._sweep

    def alone(self):
        with pytest.raises(ValueError, match="Another command works"):
            WorkFolder(self.path, {}).__enter__()
        swept.append(sweep(self))

    work = WorkFolder(tmp_path / "work", {}).__enter__()
    monkeypatch.setattr(WorkFolder, "_sweep", alone)
    with pytest.raises(KeyboardInterrupt):
        work.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert swept


def test_other_work_is_told_by_what_differs(tmp_path):
    was = {"options": {"budget": 30, "unit": "words"}, "corpus": ["a.jsonl", 10], "explain": False}
    now = {**was, "options": {"budget": 31, "unit": "words"}}
    with pytest.raises(KeyboardInterrupt), WorkFolder(tmp_path / "work", was):
        raise KeyboardInterrupt
    with pytest.raises(ValueError, match=r"begun otherwise \(budget: 30 there, 31 now\)\. To go on"):
        WorkFolder(tmp_path / "work", now).__enter__()
    with (
        pytest.warns(UserWarning, match=r"otherwise \(budget: 30 there, 31 now\): it is begun anew"),
        WorkFolder(tmp_path / "work", now, anew=True),
    ):
        pass


def test_a_stop_says_what_is_kept(tmp_path):
    with pytest.raises(KeyboardInterrupt, match="work keeps what is done"), WorkFolder(tmp_path / "work", {}):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt, match="Nothing is kept: with work=FOLDER"), WorkFolder(None, {}) as folder:
        raise KeyboardInterrupt("state.json holds the weights so far")  # it is gone with the folder
    assert not folder.path.exists()
