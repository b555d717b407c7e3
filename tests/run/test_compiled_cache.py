"""What is wrong with the files of compiled loops costs time, never an answer."""

import pickle
import warnings

import numba
import pytest

from dpplearn import _numba as jit

GONE = pickle.dumps(numba.__version__) + b"cdpplearn.sampling._spectral_loops\nTables\n."  # where the record was once


def twice(x):
    return x + x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    jit.warn_not_kept.cache_clear()
    return tmp_path


def run():
    """As a new process would: compiled or read, and how many came from files."""
    loop = jit.exact(twice)
    assert loop(1.5) == 3.0
    return sum(loop.stats.cache_hits.values())


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda data: data[: len(data) // 2], lambda _: b"\x80garbage" * 9, flip, lambda _: GONE],
    ids=["empty", "truncated", "garbage", "one bit", "of a version with other names"],
)
def test_a_cache_that_cannot_be_read_is_made_anew(folder, ending, damage):
    assert (run(), run()) == (0, 1)
    for file in folder.rglob(f"*{ending}"):
        file.write_bytes(damage(file.read_bytes()))
    run()
    assert run() == 1


@pytest.mark.usefixtures("folder")
def test_what_was_compiled_of_other_sources_is_not_used(monkeypatch):
    assert (run(), run()) == (0, 1)
    monkeypatch.setattr(jit, "sources", lambda: "another loop that this one calls has changed")
    assert (run(), run()) == (0, 1)


def test_a_full_disk_costs_the_cache_and_is_said_once(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jit.Sealed, "_save_data", full)
    with pytest.warns(RuntimeWarning, match=r"(?s)No space left.*NUMBA_CACHE_DIR"):
        assert run() == 0
    assert not list(folder.rglob("*.nbi"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run() == 0


@pytest.mark.usefixtures("folder")
def test_a_folder_where_nothing_can_be_read(monkeypatch):
    run()

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(jit.Sealed, "_load_index", denied)
    with pytest.warns(RuntimeWarning, match="Permission denied"):
        assert run() == 0
