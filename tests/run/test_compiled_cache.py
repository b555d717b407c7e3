"""Compiled loops on disk: found again, sealed folders included, and never used when damaged or out of date."""

import pytest

from dpplearn import _numba


def twice(x):
    return x + x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(_numba, "NAMED", str(tmp_path))
    return tmp_path


@pytest.fixture
def compiled(monkeypatch):
    """Call a loop as a new process would; returns whether it had to be compiled."""

    def run():
        said = []
        monkeypatch.setattr(_numba.notice, "announce", lambda: said.append(True))
        assert _numba.strict_jit(twice)(1.5) == 3.0
        return bool(said)

    return run


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda data: data[: len(data) // 2], lambda _: b"\x80garbage" * 9, flip],
    ids=["empty", "truncated", "garbage", "one bit"],
)
def test_a_damaged_file_is_made_anew(folder, compiled, damage, tmp_path):
    assert (compiled(), compiled()) == (True, False)
    (file,) = folder.rglob("*.zip")
    file.write_bytes(damage(file.read_bytes()))
    compiled()
    assert _numba.unpack(file, str(tmp_path / "again"))
    assert not compiled()


def test_every_wrong_byte_is_noticed(folder, compiled, tmp_path):
    compiled()
    (file,) = folder.rglob("*.zip")
    whole = file.read_bytes()
    right = tmp_path / "right"
    _numba.unpack(file, str(right))
    contents = {path.name: path.read_bytes() for path in right.rglob("*") if path.is_file()}
    directory = whole.index(b"PK\x01\x02")  # which no checksum covers
    for place in [*range(0, directory, 37), *range(directory, len(whole))]:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        found = tmp_path / str(place)
        if _numba.unpack(file, str(found)):  # the byte is a date, or the like
            assert contents == {path.name: path.read_bytes() for path in found.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("folder")
def test_other_sources_are_compiled_anew(compiled, monkeypatch):
    assert (compiled(), compiled()) == (True, False)
    monkeypatch.setattr(_numba, "stamp", lambda: "another loop that this one calls has changed")
    assert (compiled(), compiled()) == (True, False)


def test_a_sealed_folder_is_read(folder, compiled):
    compiled()
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert not compiled()
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o700)


def test_the_second_folder_where_the_first_cannot_be_written(folder, compiled, monkeypatch):
    (folder / "file").touch()
    places = [folder / "file" / "below", folder / "second"]
    monkeypatch.setattr(_numba, "folders", lambda: places)
    assert (compiled(), compiled()) == (True, False)
    assert list(places[1].glob("*.zip"))
