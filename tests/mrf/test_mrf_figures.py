"""Figure 3 and the page of the study of DPP-like fields show what they say."""

import numpy as np
from benchmarks.studies import dpp_like_page

from dpplearn.mrf import ternary_factors
from dpplearn.plots.figures import factors


def test_the_example_of_figure_3_agrees_but_for_one_entry():
    S = factors.matching_similarities(factors.W_EXAMPLE)
    table = ternary_factors(factors.W_EXAMPLE, S)
    differs = ~np.isclose(table.mrf, table.dpp)
    assert [state for state, apart in zip(table.states, differs, strict=True) if apart] == ["011"]
    said = [text.get_text() for ax in factors.draw().axes for text in ax.texts]
    for state, mrf, dpp in zip(table.states, table.mrf, table.dpp, strict=True):
        at = said.index(state)
        assert said[at + 3 : at + 5] == [f"{mrf:.2f}", f"{dpp:.2f}"]


def test_the_page_has_the_tables_of_what_is_stored():
    page = dpp_like_page.PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- study:") == len(dpp_like_page.SECTIONS)
    assert dpp_like_page.filled(page) == page, "run python -m benchmarks.studies.dpp_like_page"
