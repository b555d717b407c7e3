"""summary(): tables for a terminal and for a notebook."""

import numpy as np
import pytest

from dpplearn import ConditionalDPP, ItemSet, KernelDPP
from dpplearn.learning import ConditionalDPPCV
from dpplearn.learning.summary import weight_table

ITEMS = ItemSet([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], phi=np.eye(3), names=["constant", "<b>size</b>"])


def fitted():
    return ConditionalDPP(prior_variance=10.0, nugget=0.2).fit([ITEMS] * 3, [[1, 2], [2], [0, 2]])


def test_weights_errors_and_z():
    model = fitted()
    shown = model.summary()
    weights, similarity = shown.tables
    for row, theta, std in zip(weights.rows, model.theta_, model.theta_std_, strict=True):
        assert float(row[1]) == pytest.approx(theta, abs=0.05)
        assert float(row[2]) == pytest.approx(std, abs=0.05)
        assert float(row[3]) == pytest.approx(theta / std, abs=0.06)
    assert [row[:2] for row in similarity.rows] == [("own", "0.200"), ("all", "0.000"), ("cosines", "0.800")]
    lines = str(shown).splitlines()
    assert lines[0] == "ConditionalDPP"
    assert repr(shown) == str(shown)
    assert len({len(line.rstrip()) for line in lines if line.startswith(("constant", "<b>", "feature"))}) == 1


def test_html_is_escaped():
    page = fitted().summary()._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;size&lt;/b&gt;" in page
    assert page.count("<table>") == 2


def test_errors_that_are_not_known_or_small():
    table = weight_table("w", ["a", "b", "c", "d"], [1.0, 0.00123, 2.0, 250.0], [np.nan, 0.00041, np.inf, 33.0])
    assert table.rows == (
        ("a", "+1.000", "", ""),
        ("b", "+0.00123", "0.00041", "+3.0"),
        ("c", "+2.000", "inf", ""),
        ("d", "+250.0", "33.0", "+7.6"),
    )


def test_of_other_models():
    assert "0.5" in str(ConditionalDPP.from_weights([0.5], names=["x"]).summary())
    search = ConditionalDPPCV([1.0], cv=3).fit([ITEMS] * 6, [[1, 2], [2], [0, 2]] * 2)
    assert "prior variance: 1" in str(search.summary())
    model = KernelDPP(alpha=1.0).fit(30 * [["bib", "bottle"]] + 30 * [["cot"], ["pram"]])
    shown = model.summary(most=2)
    assert "2 most frequent of 4" in str(shown)
    assert float(shown.tables[0].rows[0][3]) == pytest.approx(model.dpp_.marginals[0], abs=1e-4)
    with pytest.raises(Exception, match="not fitted"):
        ConditionalDPP().summary()
