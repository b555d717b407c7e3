"""A fit of KernelDPP that is stopped, or stops early, says so."""

import signal
import warnings

import pytest

from dpplearn import KernelDPP
from dpplearn._run.progress import Progress


class Stops(Progress):
    """Ctrl-C after the fourth iteration."""

    def finish(self, iteration, log_likelihood, gradient):
        super().finish(iteration, log_likelihood, gradient)
        if iteration == 4:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("many", [10, 300_000], ids=["batches", "all"])
def test_a_stopped_fit_says_that_nothing_is_kept(many, draws, monkeypatch):
    monkeypatch.setattr("dpplearn.baskets.kernel.MANY_BASKETS", many)
    with pytest.raises(KeyboardInterrupt, match="nothing is kept"):
        KernelDPP(alpha=1.0, max_iter=30, progress=Stops(False)).fit(draws)


def test_a_fit_that_stops_early_says_so(draws):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Raise max_iter"):
            KernelDPP(nonsymmetric=True, alpha=0.1, max_iter=3).fit(draws)
