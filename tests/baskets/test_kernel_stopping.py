"""A fit of KernelDPP that is stopped says where."""

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


@pytest.mark.parametrize("solver", ["lbfgs", "stochastic"])
def test_a_stopped_fit_says_where(solver, draws):
    with pytest.raises(KeyboardInterrupt, match=r"iteration 5 of at most 30\. Nothing is kept"):
        KernelDPP(alpha=1.0, solver=solver, max_iter=30, progress=Stops(False)).fit(draws)


def test_a_fit_that_stops_early_says_so(draws):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Raise max_iter"):
            KernelDPP(nonsymmetric=True, alpha=0.1, max_iter=3).fit(draws)
