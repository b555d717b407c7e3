"""Two rounds on Dask: candidates of parts, then one choice; lost workers, going on, limits."""

import os
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest

from dpplearn import diversify
from dpplearn._run.progress import Progress
from dpplearn.decoding import dask as two_rounds
from dpplearn.decoding.diversify import Settings

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each, on this machine."""
    with warnings.catch_warnings():  # a busy machine, and links of a killed worker, make distributed warn
        warnings.simplefilter("ignore")
        with (
            dd.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
            ) as cluster,
            dd.Client(cluster) as client,
        ):
            yield client


def problem(rng, n=400, d=6):
    centers = rng.standard_normal((20, d))
    return centers[rng.integers(0, 20, n)] + 0.3 * rng.standard_normal((n, d)), rng.standard_normal(n)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("columns", [-1, 4])
def test_all_candidates_of_every_part_give_the_same_choice(columns, rng):
    E, s = problem(rng)
    parts = da.from_array(E, chunks=(90, columns))
    for k in (4, 50):
        one = diversify(E, s, k=k, nugget=1e-6)
        two = diversify(parts, da.from_array(s), k=k, nugget=1e-6, per_part=400)
        np.testing.assert_array_equal(two.subset, one.subset)
        np.testing.assert_allclose(two.gains, one.gains, rtol=1e-6)
        assert two.parameters["parts"] == 5
    np.testing.assert_array_equal(two.nearest.items, one.nearest.items)
    np.testing.assert_allclose(two.nearest.similarity, one.nearest.similarity, atol=1e-12)
    assert [k[:2] for k in two.kept] == [k[:2] for k in one.kept]
    assert [k.reason for k in two.skipped] == [k.reason for k in one.skipped]
    with pytest.raises(RuntimeError, match="choice in parts"):
        _ = two.log_prob


CASES = {
    "few": {"k": 4},
    "past the rank": {"k": 30},
    "past the rank by directions": {"k": 30, "kernel": "linear"},
    "auto": {"k": "auto"},
    "no limit": {},
    "budget": {"budget": 20.0, "cost": np.linspace(1.0, 3.0, 60)},
    "budget and rule": {"budget": 20.0, "cost": np.linspace(1.0, 3.0, 60), "gain": "log", "cost_power": 0.5},
    "no gain": {"k": 12, "stop": "no-gain"},
    "groups": {"k": 9, "groups": np.arange(60) % 5, "max_per_group": 1},
    "backfill": {"k": 9, "groups": np.arange(60) % 5, "max_per_group": 1, "backfill": True},
    "owed": {"k": 9, "groups": np.arange(60) % 5, "min_per_group": 1, "diversity": 0.2},
    "given": {"k": 9, "given": [3, 50], "exclude": np.arange(60) == 7, "include": [8]},
    "given rows": {"k": 9, "given": np.eye(16)[:2], "exclude": [7]},
    "given past the rank": {"k": 10, "given": np.arange(20, 30)},
    "by score": {"k": 5, "diversity": 0},
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("case", list(CASES))
def test_where_every_row_fits_the_answer_is_that_of_an_array(case, rng):
    E, s = rng.standard_normal((60, 16)), rng.standard_normal(60)
    one, two = diversify(E, s, **CASES[case]), diversify(da.from_array(E, chunks=(20, -1)), s, **CASES[case])
    np.testing.assert_array_equal(two.subset, one.subset)
    np.testing.assert_allclose(two.gains, one.gains, rtol=1e-9)
    assert two.reason == one.reason
    assert two.parameters == one.parameters | {"parts": 3, "candidates": 60}


class Told(Progress):
    def __init__(self):
        super().__init__(False)
        self.seen = []

    def stage(self, what, done, total):  # noqa: ARG002  # Progress's
        self.seen.append((done, total))


def asked(k):
    return Settings(nugget=1e-6, kernel="linear"), {"k": k}


def parts_of(tmp_path, E):
    path = str(tmp_path / "E.npy")
    np.save(path, E)
    return [
        two_rounds.Part(a, a + 100, two_rounds.read_array, (path, a, a + 100), f"E-{a}") for a in range(0, 400, 100)
    ]


@pytest.mark.usefixtures("client")
def test_going_on_reads_only_what_is_missing(tmp_path, rng):
    E, s = problem(rng)
    parts, kept = parts_of(tmp_path, E), tmp_path / "kept"
    told, again, other = Told(), Told(), Told()
    first = two_rounds.choose_in_parts(parts, 6, s, *asked(30), work=kept, progress=told)
    assert told.seen == [(i, 4) for i in range(5)]
    np.testing.assert_array_equal(first.subset, diversify(E, s, k=30, nugget=1e-6).subset)
    sorted(kept.iterdir())[0].unlink()
    second = two_rounds.choose_in_parts(parts, 6, s, *asked(30), work=kept, progress=again)
    np.testing.assert_array_equal(second.subset, first.subset)
    assert again.seen == [(3, 4), (4, 4)]
    Path(parts[0].args[0]).unlink()  # all is kept: the data are not asked for
    third = two_rounds.choose_in_parts(parts, 6, s, *asked(30), work=kept)
    np.testing.assert_array_equal(third.subset, first.subset)
    np.save(parts[0].args[0], E)
    two_rounds.choose_in_parts(parts, 6, s + np.arange(400), *asked(30), work=kept, progress=other)
    assert other.seen[0] == (0, 4)  # other scores: nothing that was kept is of use


def test_a_killed_worker_costs_its_part_alone(tmp_path, rng, client):
    E, s = problem(rng)
    killed = []

    class Kill(Told):
        def stage(self, what, done, total):
            super().stage(what, done, total)
            if done == 1 and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

    told = Kill()
    found = two_rounds.choose_in_parts(parts_of(tmp_path, E), 6, s, *asked(30), client=client, progress=told)
    assert killed
    np.testing.assert_array_equal(found.subset, diversify(E, s, k=30, nugget=1e-6).subset)
    assert told.seen == [(i, 4) for i in range(5)]  # each part answered once


@pytest.mark.usefixtures("client")
def test_what_is_refused(rng):
    E, s = problem(rng)
    E[123] = np.nan
    parts = da.from_array(E, chunks=(100, -1))
    with pytest.raises(ValueError, match="row 123 is not"):
        diversify(parts, s, k=3)
    with pytest.raises(ValueError, match="400 rows, 399 scores"):
        diversify(parts, s[:399], k=3)
    with pytest.raises(ValueError, match="greedy"):
        diversify(parts, s, k=3, decoder="local")
    with pytest.raises(ValueError, match="must not share items, but both hold 7"):
        diversify(parts, s, k=3, given=[7], include=np.arange(400) == 7)
    with pytest.raises(TypeError, match=r"no option 'per_block'; its own are gain, .*client, per_part and"):
        diversify(parts, s, k=3, per_block=5)
    with pytest.raises(ValueError, match="known shape"):
        diversify(parts[parts[:, 0] > 0], s, k=3)
