"""The plots show the numbers they are given, on the axes they are given, and leave the user's settings alone."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from dpplearn import ConditionalDPP, ItemSet
from dpplearn.plots import plot_weights


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def model(rng):
    sizes, names = ((5, 3), (5, 4)), ["a", "b", "c"]
    X = [ItemSet(F, phi=phi, names=names) for F, phi in ([rng.standard_normal(s) for s in sizes] for _ in range(20))]
    return ConditionalDPP().fit(X, [[0, 2]] * 20)


def segments(ax):
    """Ends of the intervals, from the top."""
    return np.array([line[:, 0] for line in ax.collections[0].get_segments()])


# plot_weights


def test_weights_have_their_intervals(model):
    ax = plot_weights(model)
    np.testing.assert_allclose(segments(ax), model.intervals(0.95))
    np.testing.assert_allclose(segments(ax)[:, 1] - model.theta_, 1.959964 * model.theta_std_, rtol=1e-6)
    np.testing.assert_array_equal(ax.collections[1].get_offsets().data[:, 0], model.theta_)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["constant", "a", "b", "c"]
    np.testing.assert_allclose(segments(plot_weights(model, level=0.5)), model.intervals(0.5))


# All of them


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_matplotlib_is_imported_late_and_missed_politely():
    assert run("import dpplearn.plots.figures, sys; print('matplotlib' in sys.modules)") == "False\n"
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "try:\n    from dpplearn.plots import plot_weights\nexcept ImportError as error:\n    print(error)"
    )
    assert run(code) == "dpplearn.plots needs matplotlib: pip install 'dpplearn[plots]'\n"


# plot_together
