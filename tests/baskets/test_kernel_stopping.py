"""A fit of KernelDPP that is stopped: its work file, Ctrl-C, and what it says."""

import itertools
import signal
import warnings

import numpy as np
import pytest

from dpplearn import KernelDPP
from dpplearn._numba import compiled_always
from dpplearn._run.progress import Progress
from dpplearn.baskets import likelihood


@pytest.fixture(autouse=True)
def compiled():
    """Loops that run in Python at first, and compiled later, differ in the last digit, which L-BFGS makes larger."""
    with compiled_always():
        yield


class Stops(Progress):
    """Ctrl-C after the fourth iteration."""

    def finish(self, iteration, log_likelihood, gradient):
        super().finish(iteration, log_likelihood, gradient)
        if iteration == 4:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("solver", ["lbfgs", "stochastic"])
def test_a_stopped_fit_goes_on(solver, draws, tmp_path):
    path = tmp_path / "state.json"
    options = {"nonsymmetric": True, "alpha": 0.0, "solver": solver}
    options |= {"max_iter": 8 if solver == "stochastic" else 1000, "batch_size": 8, "tol": 1e-6}
    whole = KernelDPP(**options).fit(draws)
    options["work"] = path
    with pytest.raises(KeyboardInterrupt, match=r"state\.json holds"):
        KernelDPP(**options, progress=Stops(False)).fit(draws)
    model = KernelDPP(**options).fit(draws)
    assert model.history_[0].iteration == 5
    near = 6.0 if solver == "lbfgs" else 0.5  # of 3000 baskets; what L-BFGS knew of the curvature is not in the file
    assert model.log_likelihood_ == pytest.approx(whole.log_likelihood_, abs=near)
    if solver == "stochastic":  # nothing but its moments to remember
        assert np.array_equal(model.factors_.W, whole.factors_.W)
        assert model.history_ == whole.history_[4:]
    with pytest.raises(ValueError, match="another fit: its items"):
        KernelDPP(**options).fit(draws, items=range(7))
    path.write_text(path.read_text()[:-40])
    with pytest.warns(UserWarning, match="is damaged: the fit begins anew"):
        again = KernelDPP(**options).fit(draws)
    assert again.log_likelihood_ == whole.log_likelihood_


def test_ctrl_c_in_the_middle_of_a_pass_keeps_the_last_whole_one(draws, tmp_path, monkeypatch):
    options = {"nonsymmetric": True, "alpha": 1.0, "solver": "stochastic", "batch_size": 8, "max_iter": 6}
    whole = KernelDPP(**options).fit(draws)
    steps, evaluate = itertools.count(1), likelihood.BasketShard.evaluate

    def stops(shard, arrays):
        if next(steps) == 30:  # 8 batches in a pass
            raise KeyboardInterrupt
        return evaluate(shard, arrays)

    monkeypatch.setattr(likelihood.BasketShard, "evaluate", stops)
    with pytest.raises(KeyboardInterrupt, match=r"iteration 4.* holds"):
        KernelDPP(**options, work=tmp_path / "state.json").fit(draws)
    again = KernelDPP(**options, work=tmp_path / "state.json").fit(draws)
    assert np.array_equal(again.factors_.W, whole.factors_.W)


def test_a_work_file_that_is_not_there_is_not_promised(draws, tmp_path, monkeypatch):
    def stops(*_):
        raise KeyboardInterrupt

    with pytest.raises(FileNotFoundError, match="no folder"):
        KernelDPP(work=tmp_path / "none" / "state.json").fit(draws)
    monkeypatch.setattr("dpplearn.baskets.fit.choose_alpha", stops)
    with pytest.raises(KeyboardInterrupt) as stopped:
        KernelDPP(work=tmp_path / "state.json").fit(draws)
    assert "holds" not in str(stopped.value)


def test_a_fit_that_stops_early_says_so(draws):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Raise max_iter"):
            KernelDPP(nonsymmetric=True, alpha=0.1, max_iter=3).fit(draws)
