"""summary(): tables for a terminal and for a notebook."""

import numpy as np
import pytest
from scipy.stats import norm

from dpplearn import ConditionalDPP, ItemSet

ITEMS = ItemSet([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], phi=np.eye(3), names=["constant", "<b>size</b>"])


def fitted():
    return ConditionalDPP(prior_variance=10.0, nugget=0.2).fit([ITEMS] * 3, [[1, 2], [2], [0, 2]])


def test_weights_errors_z_p_and_intervals():
    model = fitted()
    shown = model.summary()
    weights, similarity = shown.tables
    for row, theta, std, ends in zip(weights.rows, model.theta_, model.theta_std_, model.intervals(), strict=True):
        figures = [float(x) for x in row[1:]]
        expected = [theta, std, theta / std, 2 * norm.sf(abs(theta / std)), *ends]
        assert figures == pytest.approx(expected, abs=0.06)
    assert [row[:2] for row in similarity.rows] == [
        ("own (nugget)", "0.200"),
        ("all (constant)", "0.000"),
        ("cosines", "0.800"),
    ]
    lines = str(shown).splitlines()
    assert lines[0] == "ConditionalDPP"
    assert repr(shown) == str(shown)
    assert len({len(line.rstrip()) for line in lines if line.startswith(("constant", "<b>", "feature"))}) == 1


def test_weights_that_the_data_do_not_determine():
    """Their error is the prior's, or infinite without one."""
    X = [ItemSet(np.column_stack([x, np.zeros(4)]), phi=np.eye(4), names=["x", "dead"]) for x in np.eye(4)]
    y = [[0], [1, 2], [0, 3], [3]]
    shown = ConditionalDPP(4.0, nugget=0.2).fit(X, y).summary()
    rows = {row[0]: row for row in shown.tables[0].rows}
    assert rows["dead"][2] == "2.0"
    assert (rows["dead"][-1], rows["x"][-1]) == ("undetermined", "")
    assert shown.facts["prior"] == "variance 4"
    twice = [ItemSet(x.features[:, [0, 0]], phi=np.eye(4), names=["x", "again"]) for x in X]
    with pytest.warns(UserWarning, match="do not determine"):
        shown = ConditionalDPP(None, nugget=0.2).fit(twice, y).summary()
    assert shown.tables[0].rows[-1][-1] == "undetermined"
    assert shown.facts["prior"] == "none"
