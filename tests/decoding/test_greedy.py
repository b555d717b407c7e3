"""greedy_map against the paper's listing, on every kind of input; its limits, knob and bad input."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from brute_decoding import algorithm_2, kernel, log_minor, random_problem
from dpplearn import DPP, LowRankDPP
from dpplearn.decoding import Selection, greedy_map

FORMS = {
    "kernel": lambda q, phi: DPP(kernel(q, phi)),
    "rows": lambda q, phi: LowRankDPP(q[:, None] * phi),
    "sparse rows": lambda q, phi: LowRankDPP(sparse.csr_array(q[:, None] * phi)),
    "features": lambda q, phi: (q, 3.0 * phi),  # directions count, not lengths
    "sparse": lambda q, phi: (q, sparse.csr_array(phi)),
    "float32": lambda q, phi: (q, phi.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", ["probability", "log"])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_equals_the_listing(form, rule, power):
    for seed in range(12):
        q, phi, cost, budget = random_problem(seed, n=9)
        limits = [{}, {"k": 3}, {"include": [4], "exclude": [1]}, {"stop": "no-gain"}][seed % 4]
        include = limits.get("include", ())
        if sum(cost[i] for i in include) > budget:
            continue
        chosen = greedy_map(FORMS[form](q, phi), cost, budget, gain=rule, cost_power=power, **limits)
        only = {"only_gains": limits.pop("stop", None) is not None}
        assert chosen.subset.tolist() == algorithm_2(kernel(q, phi), cost, budget, rule, power, **limits, **only)


@pytest.mark.parametrize("form", FORMS)
def test_gains_add_up(form):
    q, phi, cost, budget = random_problem(3)
    dpp, tol = DPP(kernel(q, phi)), 1e-5 if form == "float32" else 1e-9
    chosen = greedy_map(FORMS[form](q, phi), cost, budget)
    assert chosen.log_prob == pytest.approx(dpp.log_prob(chosen.subset), abs=tol)
    assert chosen.gains.sum() + dpp.log_prob([]) == pytest.approx(chosen.log_prob, abs=tol)
    steps = [log_minor(dpp.L, chosen.subset[: t + 1]) for t in range(len(chosen))]
    assert np.diff([0.0, *steps]) == pytest.approx(chosen.gains, abs=tol)
    assert chosen.cost == pytest.approx(cost[chosen.subset].sum())
    assert chosen.sorted_subset.tolist() == sorted(chosen.subset.tolist())


@pytest.mark.parametrize("form", FORMS)
def test_auto_is_the_most_probable_of_three_runs_that_divide_gains_and_not_losses(form):
    for seed in range(30):
        q, phi, cost, budget = random_problem(seed, n=9)
        L = kernel(q, phi)
        runs = [algorithm_2(L, cost, budget, "signed", r) for r in (0.0, 0.5, 1.0)]
        assert greedy_map(FORMS[form](q, phi), cost, budget).subset.tolist() == max(
            runs, key=lambda Y: round(log_minor(L, Y), 9)
        )


@pytest.mark.parametrize("form", FORMS)
def test_of_equal_scores_the_cheaper_comes_first(form):
    q, cost = np.full(6, 0.5), np.array([3.0, 1.0, 2.0, 1.0, 3.0, 2.0])
    assert greedy_map(FORMS[form](q, np.eye(6)), cost, 9).subset.tolist() == [1, 3, 2, 5, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cost": [1, -1, 1]}, "cost must be positive"),
        ({"cost": [1, 0, 1]}, "cost must be positive"),
        ({"cost": [1, np.nan, 1]}, "cost must be finite"),
        ({"cost": [1, 1]}, "one entry per item"),
        ({"budget": np.nan}, "budget must be a number"),
        ({"budget": -1}, "budget must be a number"),
        ({"k": -1}, "k must be at least 0"),
        ({"cost": [2, 2, 2], "budget": 3, "include": [0, 1]}, "include must fit the budget"),
        ({"k": 1, "include": [0, 1]}, "include must fit the size limit"),
        ({"include": [0], "exclude": [0]}, "must not share items"),
        ({"gain": "probabilty"}, "gain must be one of"),
        ({"stop": "never"}, "stop must be one of"),
        ({"cost_power": -1.0}, "cost_power"),
        ({"diversity": 1.5}, "diversity must be from 0"),
    ],
)
def test_bad_limits(changes, message):
    with pytest.raises(ValueError, match=message):
        greedy_map(DPP(np.eye(3)), **changes)


@pytest.mark.parametrize("form", ["kernel", "features"])
def test_include_of_probability_zero(form):
    with pytest.raises(ValueError, match="probability 0"):
        greedy_map(FORMS[form](np.ones(3), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])), k=3, include=[0, 1])


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (np.eye(3), TypeError, r"pass DPP\(L\)"),
        ((np.ones(3), np.zeros((3, 2))), ValueError, "no zero row"),
        ((np.ones(3), np.full((3, 2), np.nan)), ValueError, "phi must be finite"),
        ((np.ones(2), np.ones((3, 2))), ValueError, "one entry per item"),
        ((-np.ones(3), np.ones((3, 2))), ValueError, "q must not be below 0"),
        ((np.full(3, 1e200), np.ones((3, 2))), ValueError, "q must be small enough"),
        ((np.ones(0), np.ones((0, 2))), ValueError, "at least one row"),
        (DPP.from_marginal(np.eye(2)), ValueError, "no likelihood kernel"),
    ],
)
def test_bad_models(model, error, message):
    with pytest.raises(error, match=message):
        greedy_map(model, k=2)


def test_a_selection_is_frozen_and_travels():
    chosen = greedy_map(DPP(np.diag([3.0, 2.0])), k=1)
    with pytest.raises(AttributeError):
        chosen.cost = 3.0
    with pytest.raises(ValueError):
        chosen.subset[0] = 1
    for again in (pickle.loads(pickle.dumps(chosen)), copy.copy(chosen)):
        assert isinstance(again, Selection)
        assert again.log_prob == chosen.log_prob
        assert again.subset.tolist() == [0]


def test_the_reason_is_true_of_items_that_fit_without_a_gain():
    copies = DPP([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 2.0]])  # item 1 fits at cost 1, but repeats item 0
    assert greedy_map(copies, [1, 1, 5], 3).reason.endswith("left of the budget (2 of 3) and has a gain")
    assert greedy_map(copies, [1, 3, 5], 3).reason.endswith("left of the budget (2 of 3)")
