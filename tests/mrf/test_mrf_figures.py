"""Figures 3 and 4 and the two studies show what they say."""

import numpy as np
import pytest
from benchmarks.studies import dpp_like_page, field_methods

from dpplearn.mrf import PairwiseMRF, ternary_factors
from dpplearn.plots.figures import factors, realizable


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
            code = formula.strip("$").replace("e^{", "exp(").replace("_{", "").replace("}", "").replace("^2", "**2")
            code = code.replace("S12S13S23", "*S12*S13*S23")
            code += ")" * (code.count("(") - code.count(")"))
            assert eval(code, {"exp": np.exp, **names}) == pytest.approx(entry)


def test_the_surfaces_of_figure_4(monkeypatch):
    """The entries 111 of the caption, for both models; the overlay and the closed surface at 0.1."""
    monkeypatch.setattr(realizable, "SMOOTH", 10)
    monkeypatch.setattr(realizable, "FINE", 12)
    mrf, dpp, both, closed = ([surface for surface, _ in panel] for panel in realizable.panels().values())
    assert [s.entry for s in mrf] == [s.entry for s in dpp] == [0.001, 0.25, 0.5, 0.75]
    assert {s.entry for s in both + closed} == {0.1}
    for surface in (*mrf, both[1]):
        np.testing.assert_allclose(surface.points.prod(axis=1), surface.entry)
        assert (surface.parameters <= 0).all()
    for surface in (*dpp, both[0], *closed):
        product = surface.parameters.prod(axis=1)
        np.testing.assert_allclose(surface.points.sum(axis=1) - 2 + 2 * product, surface.entry)
        assert (product <= 0).all() if surface is closed[1] else (surface.parameters >= 0).all()
    figure = realizable.draw()
    assert [ax.get_xlabel() + ax.get_ylabel() + ax.get_zlabel() for ax in figure.axes] == ["110101011"] * 4
    for ax, surfaces in zip(figure.axes, (mrf, dpp, both, closed), strict=True):
        assert len(ax.collections[0].get_facecolor()) == sum(len(s.triangles) for s in surfaces)


def test_the_page_has_the_tables_of_what_is_stored():
    page = dpp_like_page.PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- study:") == len(dpp_like_page.SECTIONS)
    assert dpp_like_page.filled(page) == page, "run python -m benchmarks.studies.dpp_like_page"


def test_belief_propagation_and_trees_are_exact_on_a_tree(rng):
    """What the study compares with must be right too."""
    n = 8
    W = np.zeros((n, n))
    for i in range(1, n):
        j = rng.integers(i)
        W[i, j] = W[j, i] = rng.normal(scale=2.0)
    mrf = PairwiseMRF(rng.standard_normal(n), W, repulsive=False)
    for method in (field_methods.belief_propagation, field_methods.tree_reweighted):
        found = method(mrf.w, mrf.W)
        assert found.log_z == pytest.approx(mrf.log_normalizer, abs=1e-6)
        np.testing.assert_allclose(found.pairs.diagonal(), mrf.marginals, atol=1e-4)
    pairs = field_methods.gibbs(mrf.w, mrf.W, 20_000, 50, rng)
    np.testing.assert_allclose(pairs, mrf.pair_probs(), atol=0.02)
