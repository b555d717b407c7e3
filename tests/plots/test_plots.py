"""The plots show the numbers they are given, on the axes they are given, and leave the user's settings alone."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from dpplearn import ConditionalDPP, ItemSet, KernelDPP
from dpplearn.plots import plot_together, plot_weights
from dpplearn.plots.style import BLUE, RC_SETTINGS, VERMILION, style


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


def test_the_users_settings_stay():
    matplotlib.rcParams["font.size"] = 17
    try:
        before = dict(matplotlib.rcParams)
        plot_weights([1.0, 2.0])
        with style():
            assert matplotlib.rcParams["font.size"] == RC_SETTINGS["font.size"]
        with pytest.raises(RuntimeError), style():
            raise RuntimeError
        assert dict(matplotlib.rcParams) == before
    finally:
        matplotlib.rcdefaults()


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


def test_what_goes_with_an_item_is_right_and_what_replaces_it_left():
    model = KernelDPP(nonsymmetric=True, alpha=0.5).fit(30 * [["bib", "bottle"], ["cot"], ["pram", "cot"], ["bib"]])
    ax = plot_together(model, "bib", k=2)
    widths = [bar.get_width() for bar in ax.patches]
    known = [one.correlation for one in [*model.alike("bib", 2), *reversed(model.together("bib", 2))]]
    assert widths == [x for x in known if abs(x) > 1 / np.sqrt(120)]  # no row without a bar to be seen
    assert [bar.get_facecolor() for bar in ax.patches] == [to_rgba(VERMILION if w < 0 else BLUE) for w in widths]
    assert ax.get_yticklabels()[-1].get_text() == "bottle"
    assert ax.get_title(loc="left") == "What goes with bib, and what replaces it"
    with pytest.raises(ValueError, match="no item 'spoon'"):
        plot_together(model, "spoon")
