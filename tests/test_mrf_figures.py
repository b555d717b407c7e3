"""Figures 3 and 4 and that of the conjecture show what they say."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpplearn.mrf import PairwiseMRF, factor_surface, fit_dpp_to, ternary_factors, transitivity
from dpplearn.plots.figures import conjecture, factors, realizable

ROOT = Path(__file__).parent.parent


def test_the_example_of_figure_3_agrees_but_for_one_entry():
    S = factors.matching_similarities(factors.W_EXAMPLE)
    table = ternary_factors(factors.W_EXAMPLE, S)
    differs = ~np.isclose(table.mrf, table.dpp)
    assert [state for state, apart in zip(table.states, differs, strict=True) if apart] == ["011"]
    said = [text.get_text() for ax in factors.draw().axes for text in ax.texts]
    for state, mrf, dpp in zip(table.states, table.mrf, table.dpp, strict=True):
        at = said.index(state)
        assert said[at + 3 : at + 5] == [f"{mrf:.2f}", f"{dpp:.2f}"]


def test_the_formulas_of_figure_3_are_those_of_the_table(rng):
    """Each formula, read as Python, gives the entry."""
    w, S = -rng.exponential(size=3), rng.uniform(0, 0.5, 3)
    table = ternary_factors(w, S)
    names = {
        f"{letter}{pair}": x
        for letter, v in (("w", w), ("S", S))
        for pair, x in zip(("12", "13", "23"), v, strict=True)
    }
    for column, formulas in ((table.mrf, factors.MRF_ENTRIES), (table.dpp, factors.DPP_ENTRIES)):
        for entry, formula in zip(column, formulas, strict=True):
            code = formula.strip("$").replace("e^{", "exp(").replace("_{", "").replace("^2", "**2")
            code = code.replace("S12S13S23", "*S12*S13*S23").replace("}", "")
            code += ")" * (code.count("(") - code.count(")"))
            assert eval(code, {"exp": np.exp, **names}) == pytest.approx(entry)


def test_the_surfaces_of_figure_4():
    figure = realizable.draw()
    assert [ax.get_xlabel() + ax.get_ylabel() + ax.get_zlabel() for ax in figure.axes] == ["110101011"] * 4
    assert list(realizable.ENTRIES) == [0.001, 0.25, 0.5, 0.75]
    shown = [ax.collections[0]._vec for ax in figure.axes]
    for corners, model in zip(shown[:2], ("mrf", "dpp"), strict=True):
        surfaces = [factor_surface(model, entry) for entry in realizable.ENTRIES]
        points = np.concatenate([surface.points[surface.triangles].reshape(-1, 3) for surface in surfaces])
        np.testing.assert_allclose(corners[:3].T, points)
    x, y, z = shown[3][:3]  # the closed surface: on it, xyz is no product but a determinant
    S = np.sqrt(np.maximum(1 - np.stack([x, y, z]), 0.0))
    plus, minus = (x + y + z - 2 + 2 * sign * S.prod(axis=0) for sign in (1, -1))
    assert np.minimum(abs(plus - 0.1), abs(minus - 0.1)).max() < 1e-9
    assert (abs(plus - 0.1) < 1e-9).any()
    assert (abs(minus - 0.1) < 1e-9).any()


def test_the_lines_of_the_conjecture_are_those_of_the_study():
    study = conjecture.read_study()
    left, middle, right = conjecture.draw().axes
    assert [line.get_label() for line in left.lines] == [str(n) for n in range(3, 11)]
    for line in left.lines:
        cells = [
            c for c in study["cells"] if (c["field"], c["kind"], c["n"]) == ("plain", "random", int(line.get_label()))
        ]
        np.testing.assert_allclose(line.get_ydata(), [np.mean(c["divergence"]) for c in cells])
    assert len(middle.containers) == 3
    assert sum(len(c.get_offsets()) for c in right.collections) == 3 * 8 * 6 * 10


def test_the_study_can_be_repeated(monkeypatch):
    """Three cells of what is stored, computed again by the script."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import conjecture_study

    stored = {(c["field"], c["kind"], c["n"], c["strength"]): c for c in conjecture.read_study()["cells"]}
    for cell in (("plain", "random", 4, 2.0), ("plain", "across", 3, 4.0), ("balanced", "groups", 5, 1.0)):
        measures = conjecture_study.study((*cell, 10))
        for name, values in measures.items():
            np.testing.assert_allclose(values, stored[cell][name], rtol=0.01, atol=1e-6)
    assert len(json.dumps(conjecture.read_study())) < 150_000


def test_what_the_study_measures(rng):
    """`missed` is a share of the dependence, which a DPP of independent items misses whole."""
    W = np.zeros((3, 3))
    W[0, 1] = W[1, 0] = -2.0
    mrf = PairwiseMRF(rng.standard_normal(3), W)  # two items that repel and one apart: a DPP
    assert fit_dpp_to(mrf).divergence < 1e-9
    assert transitivity(mrf).mean_angle_violation == 0.0
