"""Compiled loops on disk: found again, sealed folders included; what is damaged or out of date is compiled anew."""

import pytest

from dpplearn import _numba


def twice(x):
    return x + x


@pytest.fixture
def named(tmp_path, monkeypatch):
    monkeypatch.setattr(_numba, "USER_FOLDER", str(tmp_path))
    _numba.folder.cache_clear()
    yield tmp_path
    _numba.folder.cache_clear()


@pytest.fixture
def compiled(monkeypatch):
    """Call a loop as a new process would; returns whether it had to be compiled."""

    def run():
        said = []
        _numba.folder.cache_clear()
        monkeypatch.setattr(_numba.notice, "announce", lambda: said.append(True))
        assert _numba.strict_jit(twice)(1.5) == 3.0
        return bool(said)

    return run


@pytest.mark.parametrize(("ending", "damage"), [("nbi", b""), ("nbc", b"\x80garbage" * 9)])
def test_a_damaged_file_is_made_anew(named, compiled, ending, damage):
    assert (compiled(), compiled()) == (True, False)
    (file,) = named.rglob(f"*.{ending}")
    file.write_bytes(damage)
    with pytest.warns(RuntimeWarning, match="could not be read from disk or kept there"):
        assert compiled()
    assert (compiled(), compiled()) == (True, False)


@pytest.mark.usefixtures("named")
def test_other_sources_are_compiled_anew(compiled, monkeypatch):
    assert (compiled(), compiled()) == (True, False)
    monkeypatch.setattr(_numba, "CONSTANTS", ())  # another digest
    assert (compiled(), compiled()) == (True, False)


def test_a_sealed_folder_is_read(named, compiled, monkeypatch):
    def refuse(**_):
        raise PermissionError  # as where who tests is not root

    compiled()
    for path in [*named.rglob("*"), named]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    monkeypatch.setattr(_numba, "TemporaryFile", refuse)
    try:
        assert not compiled()
        assert not _numba.folder().is_relative_to(named)
    finally:
        for path in [named, *named.rglob("*")]:
            path.chmod(0o700)
