"""A folder for what is made on the way: one command at a time, and none removes that of another."""

import shutil

import pytest

from dpplearn._io.jsonfile import write_record
from dpplearn._io.workfolder import WorkFolder


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
        assert len(work.finished("stage", ".json")) == 1
    assert not list(tmp_path.iterdir())


def test_one_command_at_a_time_works_in_a_folder(tmp_path):
    with WorkFolder(tmp_path / "work", {}), pytest.raises(ValueError, match="Another command works"):
        WorkFolder(tmp_path / "work", {}).__enter__()
    assert not (tmp_path / "work").exists()


def test_what_is_not_a_work_folder_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("Dear Ann")
    with pytest.raises(ValueError, match="holds other files"):
        WorkFolder(tmp_path, {}).__enter__()
    assert [one.name for one in tmp_path.iterdir()] == ["letter.txt"]


def test_other_work_is_told_by_what_differs(tmp_path):
    was = {"options": {"budget": 30, "unit": "words"}, "corpus": ["a.jsonl", 10], "explain": False}
    now = {**was, "options": {"budget": 31, "unit": "words"}}
    with pytest.raises(KeyboardInterrupt), WorkFolder(tmp_path / "work", was):
        raise KeyboardInterrupt
    with pytest.raises(ValueError, match=r"begun with another budget\. To go on"):
        WorkFolder(tmp_path / "work", now).__enter__()
    with (
        pytest.warns(UserWarning, match=r"another budget: it is begun anew"),
        WorkFolder(tmp_path / "work", now, anew=True),
    ):
        pass


def test_a_stop_says_what_is_kept(tmp_path):
    with pytest.raises(KeyboardInterrupt, match="work keeps what is done"), WorkFolder(tmp_path / "work", {}):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt, match="Nothing is kept: with work=FOLDER"), WorkFolder(None, {}) as folder:
        raise KeyboardInterrupt("state.json holds the weights so far")  # it is gone with the folder
    assert not folder.path.exists()
    with pytest.raises(ValueError, match="bad"), WorkFolder(tmp_path / "unfit", {}, anew=True):
        raise ValueError("bad")
    assert not (tmp_path / "unfit").exists()
