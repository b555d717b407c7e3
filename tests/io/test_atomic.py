"""Where results are written: links, devices, FIFOs and modes stay as they are."""

import os
import stat
import sys
from threading import Thread

import pytest

from commands import output, write_lines
from dpplearn._io.atomic import replace_file


def write(path, text="new"):
    with replace_file(path, "w") as file:
        file.write(text)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_there_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_file_for_which_there_is_no_room_is_named(tmp_path):
    import resource

    path, (soft, hard) = tmp_path / "a.txt", resource.getrlimit(resource.RLIMIT_FSIZE)
    path.write_text("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(OSError, match=r"Cannot write .*a\.txt: File too large\. Make room"):
            write(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("a.txt", "old")]


@pytest.mark.parametrize("there", [True, False])
def test_links_are_written_through(there, tmp_path):
    target, link, chain = tmp_path / "there" / "a", tmp_path / "link", tmp_path / "chain"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    link.symlink_to("there/a")
    chain.symlink_to(link)
    write(chain)
    assert link.is_symlink()
    assert chain.is_symlink()
    assert target.read_text() == "new"
    assert not target.is_symlink()
    assert sorted(path.name for path in target.parent.iterdir()) == ["a"]


def test_a_fifo_is_written_to(tmp_path):
    path, read = tmp_path / "fifo.jsonl", []
    os.mkfifo(path)
    reader = Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    items = write_lines(tmp_path / "items.jsonl", [{"text": "rain"}, {"text": "snow"}])
    output("select", items, "-k", 1, "--out", path)
    reader.join(300)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert read == ['{"text": "rain"}\n']
