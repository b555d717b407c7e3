"""Processes, a Dask cluster that loses a worker, shards in files, checkpoints: always the serial result."""

import os
import signal
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from brute_learning import random_items, training_set
from dpplearn._io.jsonfile import read_record
from dpplearn._numba import compiled_always
from dpplearn._run.progress import Progress
from dpplearn.learning import ConditionalDPP, ItemSet, load_shard, save_shard
from dpplearn.learning.itemset import Shard
from dpplearn.learning.likelihood import LikelihoodRequest, LogLinear
from dpplearn.learning.similarity import fixed_similarity
from dpplearn.learning.training_set import PreparedShard, make_backend
from waiting import until

THETA = [-1.0, 0.8, -0.5]


@pytest.fixture(scope="module")
def data():
    """Instances with dense phi, sparse phi and S, of several sizes."""
    rng = np.random.default_rng(1)
    X, y = training_set(18, 12, THETA, rng, d=6)
    for t in range(0, 18, 3):
        X[t] = ItemSet(X[t].features, phi=sparse.csr_array(X[t].phi), cost=np.ones(12))
    for t in range(1, 18, 3):
        X[t] = ItemSet(X[t].features, S=X[t].similarity_matrix())
    X.append(random_items(3, 3, rng))
    y.append([1])
    return X, y


@pytest.fixture(scope="module")
def serial(data):
    return ConditionalDPP(rho=0.3).fit(*data)


@pytest.fixture
def shards(data, tmp_path):
    X, y = data
    paths = []
    for k, part in enumerate((slice(0, 7), slice(7, 8), slice(8, None))):
        paths.append(tmp_path / f"part-{k}.npz")
        save_shard(paths[-1], X[part], y[part])
    return paths


def prepare(evaluator="numpy"):
    return partial(PreparedShard.of, evaluator=evaluator, similarity=fixed_similarity(0.3))


def assert_same(model, serial):
    np.testing.assert_allclose(model.theta_, serial.theta_, atol=1e-9)
    np.testing.assert_allclose(model.theta_std_, serial.theta_std_, atol=1e-9)
    assert model.log_likelihood_ == pytest.approx(serial.log_likelihood_, abs=1e-9)


def test_processes_give_the_serial_result(data, serial, shards):
    assert_same(ConditionalDPP(rho=0.3, n_jobs=2).fit(*data), serial)
    assert_same(ConditionalDPP(rho=0.3, n_jobs=2).fit(shards), serial)
    shards[1].write_bytes(b"no shard")
    with pytest.raises(ValueError, match=r"part-1\.npz is damaged"):
        ConditionalDPP(n_jobs=2).fit(shards)


def test_files_give_the_serial_result(serial, shards):
    model = ConditionalDPP(rho=0.3).fit(shards)
    assert_same(model, serial)
    assert (model.n_sets_, model.n_items_) == (serial.n_sets_, serial.n_items_) == (19, 18 * 12 + 3)
    assert model.score(shards) == pytest.approx(serial.log_likelihood_ / 19)


def test_a_shard_reads_back_what_was_written(data, tmp_path):
    X, y = data
    path = tmp_path / "all.npz"
    named = [ItemSet(x.features, x.parts[0].matrix, x.phi, x.cost, ["one", "two", "three"]) for x in X]
    save_shard(path, named, y, sample_weight=np.arange(19.0))
    shard = load_shard(path)
    np.testing.assert_array_equal(shard.weights, np.arange(19.0))
    for a, b, Y, Z in zip(named, shard.item_sets, y, shard.subsets, strict=True):
        np.testing.assert_array_equal(a.features, b.features)
        np.testing.assert_array_equal(a.similarity_matrix(0.3), b.similarity_matrix(0.3))
        assert (a.cost is None) == (b.cost is None)
        assert sparse.issparse(a.phi) == sparse.issparse(b.phi)
        assert b.names == ("one", "two", "three")
        np.testing.assert_array_equal(Y, Z)


def damaged(arrays, **changes):
    return {
        **{k: v for k, v in arrays.items() if k not in changes},
        **{k: v for k, v in changes.items() if v is not None},
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": np.array(99)}, "shard version 99, and this dpplearn reads 4"),
        ({"format": np.array("other")}, "not a shard of item sets"),
        ({"0 features": np.full((12, 3), np.nan)}, "damaged"),
        ({"0 ends phi": np.array([0, 5, 2])}, "damaged"),
        ({"0 columns phi": np.full(12 * 6, 7)}, "damaged"),
        ({"target 0": np.array([99] * 3)}, "damaged"),
        ({"owner": np.array([1])}, "damaged"),
    ],
)
def test_damaged_shards(change, message, data, tmp_path):
    path = tmp_path / "a.npz"
    save_shard(path, data[0][:1], [[0, 1, 2]])
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    np.savez(path, **damaged(arrays, **change))
    with pytest.raises(ValueError, match=message):
        load_shard(path)


def test_truncated_and_pickled_shards(data, tmp_path):
    X, y = data
    path = tmp_path / "a.npz"
    save_shard(path, X, y)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match="damaged or truncated"):
        ConditionalDPP().fit([path])
    np.savez(path, format=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="damaged"):
        load_shard(path)
    path.write_text("hello")
    with pytest.raises(ValueError, match=r"not a whole \.npz"):
        load_shard(path)
    with pytest.raises(TypeError, match="leave y and sample_weight out"):
        ConditionalDPP().fit([path], [[0]])


def test_a_worker_that_dies_is_replaced(data, shards):
    X, y = data
    request, whole = LikelihoodRequest(LogLinear(np.zeros(3)), fixed_similarity()), Shard(X, y, np.ones(len(X)))
    for given in (whole, [*map(str, shards)]):
        with compiled_always(), make_backend(None, 2, given, prepare()) as backend:
            truth = make_backend(None, 1, given, prepare()).evaluate(request)
            backend.survey()
            victim, left = (next(iter(one.pool._processes)) for one in backend.processes)
            os.kill(victim, signal.SIGKILL)
            found = backend.evaluate(request)
            assert found.value == truth.value
            assert np.array_equal(found.hessian, truth.hessian)
        with pytest.raises(ProcessLookupError):
            os.kill(left, 0)


# Dask


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of one thread each, on this machine."""
    import distributed

    # On a loaded machine the event loop may be late, and closing a killed worker's link may warn: not our subject.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def test_dask_gives_the_serial_result(data, serial, shards, cluster):
    model = ConditionalDPP(rho=0.3, backend=cluster)
    assert_same(model.fit(*data), serial)
    assert clone(model).backend is cluster
    assert_same(
        ConditionalDPP(rho=0.3, backend="dask").fit([str(path) for path in shards]), serial
    )  # the current client


def test_dask_survives_the_loss_of_a_worker(serial, shards, cluster):
    """Kill one of the two worker processes after the second iteration: its shards are loaded again elsewhere."""
    killed = []

    class Kill(Progress):
        def finish(self, iteration, log_likelihood, gradient):
            super().finish(iteration, log_likelihood, gradient)
            if iteration == 2:
                victim = next(iter(cluster.run(os.getpid).values()))
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    fitted = ConditionalDPP(rho=0.3, backend=cluster, progress=Kill(False)).fit(shards)
    assert len(killed) == 1
    np.testing.assert_allclose(fitted.theta_, serial.theta_, atol=1e-9)
    assert fitted.converged_


# Checkpoints, progress, interrupts


def test_a_fit_goes_on_from_its_checkpoint(data, serial, tmp_path):
    path = tmp_path / "fit.json"
    with pytest.warns(ConvergenceWarning):
        ConditionalDPP(rho=0.3, max_iter=2).fit(*data, work=path)
    assert read_record(path)["n_iter"] == 2
    resumed = ConditionalDPP(rho=0.3).fit(*data, work=path)
    assert_same(resumed, serial)
    assert resumed.n_iter_ == serial.n_iter_  # none was repeated, none skipped
    assert ConditionalDPP(rho=0.3).fit(*data, work=path).n_iter_ == serial.n_iter_
    with pytest.raises(ValueError, match=r"checkpoint .* is of another fit: its precision is"):
        ConditionalDPP(5.0, rho=0.3).fit(*data, work=path)
    path.write_text(path.read_text()[:50])
    with pytest.raises(ValueError, match=r"fit\.json is not a dpplearn\.checkpoint file, or was cut short"):
        ConditionalDPP(rho=0.3).fit(*data, work=path)


SCRIPT = """
import sys, time
sys.path[:0] = {path!r}
import numpy as np
from dpplearn.learning import ConditionalDPP
from dpplearn.learning import files
from brute_learning import training_set

save = files.Checkpoint.save
def slow_save(self, *state):
    save(self, *state)
    print("iteration", flush=True)
    time.sleep(20)  # stand still, so that the interrupt comes here
files.Checkpoint.save = slow_save

if __name__ == "__main__":
    X, y = training_set(8, 6, [-1.0, 0.5], np.random.default_rng(0))
    try:
        ConditionalDPP(n_jobs=2).fit(X, y, work={work!r})
    except KeyboardInterrupt as stop:
        print("stopped:", stop, flush=True)
"""


def anyone_left(session):
    """Whether a process of this session still lives."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True


def test_interrupt_keeps_the_checkpoint_and_ends_the_processes(tmp_path):
    script, kept = tmp_path / "script.py", tmp_path / "kept.json"
    here = Path(__file__).parents[1]
    script.write_text(SCRIPT.format(path=[str(here), str(here.parent / "src")], work=str(kept)))
    # A session of its own, so that the signal reaches the script and its workers as Ctrl-C does, and nobody else.
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout.readline() == "iteration\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert "stopped: Stopped in iteration 2." in out or "stopped: Stopped in iteration 1." in out
    assert "holds the weights so far" in out
    assert err == ""
    assert read_record(kept)["n_iter"] == 1
    until(lambda: not anyone_left(process.pid))
