"""The plots show the numbers they are given, on the axes they are given, and leave the user's settings alone."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from brute import random_kernel
from dpplearn import DPP, KDPP, ConditionalDPP, ImplicitDPP, ItemSet, KernelDPP, LowRankDPP
from dpplearn.decoding import greedy_map
from dpplearn.mrf import PairwiseMRF
from dpplearn.plots import plot_kernel, plot_marginals, plot_selection, plot_together, plot_weights
from dpplearn.plots.style import BLUE, SETTINGS, VERMILION, style
from dpplearn.summarize import Summarizer


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def dpp(rng):
    return DPP(random_kernel(6, rng))


@pytest.fixture
def model(rng):
    X = [
        ItemSet(rng.standard_normal((5, 3)), phi=rng.standard_normal((5, 4)), names=["a", "b", "c"]) for _ in range(20)
    ]
    return ConditionalDPP().fit(X, [[0, 2]] * 20)


def image(ax):
    return np.asarray(ax.images[0].get_array())


def heights(ax):
    """Of the bars, from left to right."""
    return np.array([bar.get_height() for bar in sorted(ax.patches, key=lambda bar: bar.get_x())])


def segments(ax):
    """Ends of the intervals, from the top."""
    return np.array([line[:, 0] for line in ax.collections[0].get_segments()])


# plot_kernel


def test_kernel_of_a_dpp(dpp):
    S = dpp.L / np.sqrt(np.outer(dpp.L.diagonal(), dpp.L.diagonal()))
    for which, expected in {None: dpp.L, "L": dpp.L, "K": dpp.K, "S": S}.items():
        np.testing.assert_allclose(image(plot_kernel(dpp, which=which)), expected, atol=1e-12)


def test_data_frames_are_arrays(rng):
    p = pd.Series([0.2, 0.4], index=["a", "b"])
    np.testing.assert_array_equal(heights(plot_marginals(p, labels=list(p.index))), p)
    np.testing.assert_array_equal(image(plot_kernel(pd.DataFrame(np.eye(2)))), np.eye(2))
    points = pd.DataFrame(rng.random((3, 2)))
    np.testing.assert_array_equal(plot_selection(points).collections[0].get_offsets().data, points)
    np.testing.assert_array_equal(plot_weights(p).collections[0].get_offsets().data[:, 0], p)


def test_kernel_order_and_labels(dpp):
    order = [4, 0, 2, 5, 1, 3]
    ax = plot_kernel(dpp, order=order, labels=list("abcdef"))
    np.testing.assert_array_equal(image(ax), dpp.L[np.ix_(order, order)])
    assert [text.get_text() for text in ax.get_yticklabels()] == list("eacfbd")


def test_kernel_colours_start_at_zero_and_similarities_end_at_one():
    assert plot_kernel([[0.5, 0.2], [0.2, 0.4]], which="S").images[0].get_clim() == (0.0, 1.0)
    assert plot_kernel([[3.0, 1.0], [1.0, 2.0]]).images[0].get_clim() == (0.0, 3.0)
    assert plot_kernel([[1.0, -3.0], [-3.0, 1.0]]).images[0].get_clim() == (-3.0, 3.0)  # white is 0
    assert plot_kernel(np.zeros((2, 2))).images[0].get_clim() == (0.0, 1.0)


@pytest.mark.parametrize(
    ("kernel", "options", "error", "message"),
    [
        (np.zeros((2, 3)), {}, ValueError, r"kernel .*square.*\(2, 3\)"),
        (KDPP(DPP(np.eye(2)), 1), {}, TypeError, r"kdpp\.dpp"),
        (ImplicitDPP(lambda a, b: np.ones((len(a), len(b))), 3), {}, TypeError, "ImplicitDPP holds no matrix"),
        (np.eye(2), {"order": [2]}, IndexError, "order .*0 to 1, found 2"),
        (np.eye(3), {"order": [1, 2]}, ValueError, "found 2 .*block"),
        (np.eye(2), {"labels": ["a"]}, ValueError, r"labels .*item \(2\), found 1"),
        (np.eye(2), {"labels": "ab"}, TypeError, "labels must be a list of strings"),
    ],
)
def test_kernel_errors(kernel, options, error, message):
    with pytest.raises(error, match=message):
        plot_kernel(kernel, **options)
    assert not plt.get_fignums()  # no empty figure is left behind


# plot_marginals


def test_marginals_are_the_distributions(dpp, rng):
    low_rank = LowRankDPP(rng.random((7, 3)))
    mrf = PairwiseMRF([0.5, -0.5], [[0.0, -1.0], [-1.0, 0.0]])
    for distribution in (dpp, low_rank, KDPP(dpp, 2), mrf):
        np.testing.assert_array_equal(heights(plot_marginals(distribution)), distribution.marginals)
    np.testing.assert_array_equal(heights(plot_marginals([0.1, 1.0, 0.0])), [0.1, 1.0, 0.0])
    np.testing.assert_array_equal(heights(plot_marginals(np.zeros(3))), np.zeros(3))


def test_marginals_mark_the_chosen_set(dpp):
    chosen = greedy_map(dpp, k=2)
    ax = plot_marginals(dpp, chosen=chosen)
    marked = [round(bar.get_x() + bar.get_width() / 2) for bar in ax.patches if bar.get_fc() == to_rgba(VERMILION)]
    assert marked == chosen.sorted_subset.tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["chosen"]
    np.testing.assert_array_equal(heights(ax), dpp.marginals)


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ([0.5, 1.5], {}, ValueError, r"marginals\[1\] is 1\.5"),
        ([], {}, ValueError, "nothing to draw"),
        (ConditionalDPP(), {}, TypeError, r"model\.marginals\(items\)"),
        ([0.5], {"chosen": [1]}, IndexError, "chosen .*0 to 0, found 1"),
    ],
)
def test_marginals_errors(given, options, error, message):
    with pytest.raises(error, match=message):
        plot_marginals(given, **options)


# plot_weights


def test_weights_have_their_intervals(model):
    ax = plot_weights(model)
    np.testing.assert_allclose(segments(ax), model.intervals(0.95))
    np.testing.assert_allclose(segments(ax)[:, 1] - model.theta_, 1.959964 * model.theta_std_, rtol=1e-6)
    np.testing.assert_array_equal(ax.collections[1].get_offsets().data[:, 0], model.theta_)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["constant", "a", "b", "c"]
    np.testing.assert_allclose(segments(plot_weights(model, level=0.5)), model.intervals(0.5))


def test_weights_are_hollow_where_the_interval_holds_zero():
    faces = plot_weights([1.0, 0.1, -0.5], std=[0.5, 0.5, 0.2]).collections[1].get_facecolors()
    np.testing.assert_allclose(faces, [to_rgba(BLUE), to_rgba("white"), to_rgba(BLUE)])


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        (Summarizer(), {}, Exception, "fit|load"),
        (ConditionalDPP(), {}, Exception, "not fitted"),
        (Summarizer.load(), {"std": [1.0]}, TypeError, "a Summarizer has its own"),
        ([1.0, 2.0], {"std": [1.0]}, ValueError, r"std .*\(2\), found 1"),
        ([1.0], {"names": ["a", "b"]}, ValueError, r"names .*weight \(1\), found 2"),
        ([1.0], {"level": 1}, ValueError, "level must be between 0 and 1"),
        ([], {}, ValueError, "nothing to draw"),
    ],
)
def test_weights_errors(given, options, error, message):
    with pytest.raises(error, match=message):
        plot_weights(given, **options)


# plot_selection


def test_selection_shows_places_quality_and_choice(rng):
    points, q = rng.random((8, 2)), np.linspace(1.0, 3.0, 8)
    ax = plot_selection(points, chosen=[6, 1], quality=q, labels=list("abcdefgh"))
    rest, chosen = ax.collections
    np.testing.assert_array_equal(chosen.get_offsets().data, points[[1, 6]])
    np.testing.assert_array_equal(rest.get_offsets().data, points[[0, 2, 3, 4, 5, 7]])
    np.testing.assert_allclose(chosen.get_sizes() / q[[1, 6]], rest.get_sizes()[0] / q[0])  # area in proportion
    assert [text.get_text() for text in ax.texts] == ["b", "g"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["left out", "chosen"]


@pytest.mark.parametrize(
    ("points", "options", "error", "message"),
    [
        (np.zeros((4, 3)), {}, ValueError, r"2 columns.*\(4, 3\).*Project"),
        (np.zeros((2, 2)), {"quality": [1.0, -1.0]}, ValueError, r"below 0, but quality\[1\]"),
    ],
)
def test_selection_errors(points, options, error, message):
    with pytest.raises(error, match=message):
        plot_selection(points, **options)


# All of them

PLOTS = {
    plot_kernel: np.eye(2),
    plot_marginals: [0.5, 0.2],
    plot_weights: [1.0, 2.0],
    plot_selection: [[0.0, 1.0], [1.0, 0.0]],
}


@pytest.mark.parametrize("plot", PLOTS)
def test_axes_given_are_the_axes_returned(plot):
    left, right = Figure().subplots(1, 2)
    assert plot(PLOTS[plot], right) is right
    assert not left.has_data()
    assert not plt.get_fignums()
    assert plot(PLOTS[plot]).figure.number == 1  # a new pyplot figure


@pytest.mark.parametrize("plot", PLOTS)
def test_axes_must_be_axes(plot):
    with pytest.raises(TypeError, match=r"ax .*ndarray.*one of them"):
        plot(PLOTS[plot], Figure().subplots(1, 2))
    with pytest.raises(TypeError, match="found Figure"):
        plot(PLOTS[plot], Figure())


def test_the_users_settings_stay():
    matplotlib.rcParams["font.size"] = 17
    try:
        before = dict(matplotlib.rcParams)
        for plot, data in PLOTS.items():
            plot(data)
        with style():
            assert matplotlib.rcParams["font.size"] == SETTINGS["font.size"]
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
        "try:\n    from dpplearn.plots import plot_kernel\nexcept ImportError as error:\n    print(error)"
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


def test_all_items_are_in_the_order_of_their_clusters():
    rng = np.random.default_rng(0)
    kinds = [["a1", "b1", "c1"], ["a2", "b2", "c2"]]
    baskets = [[name for name in kinds[t % 2] if rng.random() < 0.6] for t in range(600)]
    model = KernelDPP(nonsymmetric=True, alpha=0.5).fit(baskets)
    ax = plot_together(model)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert {frozenset(names[:3]), frozenset(names[3:])} == {frozenset(kind) for kind in kinds}
    shown = ax.images[0].get_array().data
    order = [model.items_.tolist().index(name) for name in names]
    known = model.dpp_.correlations()[np.ix_(order, order)] - np.eye(6)
    assert shown == pytest.approx(known, abs=1e-9)
    assert len(plot_together(model, k=2).get_yticklabels()) == 2
