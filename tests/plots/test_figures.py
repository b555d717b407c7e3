"""Each figure draws what it says; the command writes it, the same each time, or says what is wrong first."""

import re
from functools import partial

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Polygon

from brute import pmf
from commands import output
from dpplearn.plots import figures as saving
from dpplearn.plots.figures import FIGURES, cluster, geometry, points
from dpplearn.summarize import Cluster, Summarizer


@pytest.fixture(scope="module")
def drawn():
    """Every figure, once."""
    before = dict(matplotlib.rcParams)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpplearn.plots.figures.realizable.SMOOTH", 10)
        patch.setattr("dpplearn.plots.figures.realizable.FINE", 12)
        patch.setattr(points, "draw_points", partial(points.draw_points, 600))
        figures = {name: saving.draw(name) for name in FIGURES}
    assert dict(matplotlib.rcParams) == before
    return figures


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts] + [text.get_text() for text in figure.texts]


def area(patch):
    """Of a polygon, by the shoelace formula."""
    x, y = patch.get_xy()[:-1].T
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


# Figure 1


def test_points_keep_apart(drawn):
    left, right = (ax.collections[0].get_offsets().data for ax in drawn["points"].axes)
    assert left.shape == right.shape == (100, 2)
    assert min(left.min(), right.min()) >= 0
    assert max(left.max(), right.max()) <= 1
    assert points.nearest_distance(left) > 1.3 * points.nearest_distance(right)
    for ax, shown in zip(drawn["points"].axes, (left, right), strict=True):
        assert f"{points.nearest_distance(shown):.3f}" in ax.get_xlabel()


# Figure 2


def test_areas_are_determinants(drawn):
    """In panels (b) and (c) the parallelogram drawn has area sqrt(det L_Y), which the text below squares."""
    panels = drawn["geometry"].axes[3:]
    for ax, B in zip(panels, geometry.QUALITY + geometry.SIMILARITY, strict=True):
        L = B @ B.T
        [drawn_area] = [area(patch) for patch in ax.patches if isinstance(patch, Polygon) and patch.get_alpha()]
        assert drawn_area**2 == pytest.approx(np.linalg.det(L))
        said = texts_of(ax)
        assert f"det $L_Y$ = {np.linalg.det(L):.2f}" in said
        assert f"$P(Y)$ = {pmf(L)[0, 1]:.2f}" in said


def texts_of(ax):
    return "\n".join(text.get_text() for text in ax.texts)


def test_quality_raises_and_similarity_lowers_every_set_they_should():
    old, new = (pmf(B @ B.T) for B in geometry.QUALITY)
    for Y in old:  # of the second item
        assert (new[Y] > old[Y]) == (1 in Y)
    old, new = (pmf(B @ B.T) for B in geometry.SIMILARITY)
    assert new[0, 1] < old[0, 1]
    q = [np.linalg.norm(B, axis=1) for B in geometry.SIMILARITY]
    np.testing.assert_allclose(q[0], q[1])  # only the angle changes
    first, second = geometry.QUALITY
    np.testing.assert_allclose(first[1] / np.linalg.norm(first[1]), second[1] / np.linalg.norm(second[1]))  # the length


# Figure 5


def test_cluster_shows_the_extract_where_it_stands(drawn):
    summary = Summarizer.load().summarize(Cluster.example(), 665, "bytes", annotate=False)
    shown = " ".join(texts(drawn["cluster"]))
    for i, sentence in enumerate(summary.sentences):
        marked = f"{cluster.NUMBERS[i]} {sentence.text}"
        assert shown.count(marked) == 2, marked  # in its document and in the extract
    for line in Cluster.example().references[0].splitlines():
        assert line in shown
    for document in Cluster.example().documents:
        assert document.title in shown
        assert document.date in shown
    grounds = [patch.get_fc() for patch in drawn["cluster"].axes[0].patches]
    for ground in cluster.GROUNDS[: len(summary.sentences)]:
        assert to_rgba(ground) in grounds


# Names, files, the command


def test_files_are_the_same_each_time(drawn, tmp_path):
    made = []
    for figure in (drawn["geometry"], geometry.draw()):
        paths = saving.save(figure, "geometry", tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted(paths)  # no temporary file is left
        made.append([path.read_bytes() for path in paths])
    assert made[0] == made[1]
    assert not any(re.search(rb"<dc:date>|CreationDate", data) for data in made[0])


def test_command_writes_and_prints_paths(tmp_path):
    out = tmp_path / "new" / "folder"
    expected = [out / f"geometry.{kind}" for kind in ("pdf", "svg", "png")]
    assert output("figures", "2", "geometry", "--out", out).split() == [str(path) for path in expected]
    for path, start in zip(expected, (b"%PDF", b"<?xml", b"\x89PNG"), strict=True):
        assert path.read_bytes().startswith(start)
