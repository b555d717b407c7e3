"""Two items (13), three items (Figures 3 and 4), and the triangle inequality (12)."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute import random_kernel
from brute_mrf import random_mrf, symmetric
from dpplearn import DPP
from dpplearn.mrf import (
    PairwiseMRF,
    factor_surface,
    kl_divergence,
    pair_to_dpp,
    pair_to_mrf,
    ternary_factors,
    triangle_inequality,
)
from dpplearn.mrf.few_items import STATES

PAIRS = ((0, 1), (0, 2), (1, 2))  # of 110, 101 and 011
PROBABILITY = st.floats(0.02, 0.98)


@given(PROBABILITY, PROBABILITY, st.floats(0.0, 1.0))
def test_two_items_are_one_distribution(p1, p2, share):
    low = max(p1 + p2 - 1, 0.0)
    p12 = low + (0.01 + 0.99 * share) * (p1 * p2 - low)  # negative correlation, every subset possible
    dpp, mrf = pair_to_dpp(p1, p2, p12), pair_to_mrf(p1, p2, p12)
    for found in (dpp, mrf):
        assert found.marginals == pytest.approx([p1, p2], rel=1e-6, abs=1e-9)
        assert found.pair_probs()[0, 1] == pytest.approx(p12, rel=1e-6, abs=1e-9)
    assert kl_divergence(mrf, dpp) < 1e-9
    assert 2 * np.log(dpp.quality) == pytest.approx(mrf.w, abs=1e-6)  # the weights that the module names
    assert 1 - dpp.similarity[0, 1] ** 2 == pytest.approx(exp(mrf.W[0, 1]), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pair_to_dpp(0.5, 0.5, 0.3), r"0\.25.*\(13\).*0\.3"),
        (lambda: pair_to_mrf(0.5, 0.5, 0.3), "equation"),
        (lambda: pair_to_dpp(1e-7, 1e-7, 1e-13), r"p1 p2 = 1e-14"),  # ten times the product
        (lambda: pair_to_dpp(0.6, 0.4, 0.0), "always chosen.*from_marginal"),
        (lambda: pair_to_mrf(0.3, 0.4, 0.0), r"P\(\{1, 2\}\) is 0"),
        (lambda: ternary_factors((-1, 0.5, 0), (0, 0, 0)), "no positive weight"),
        (lambda: ternary_factors((0, 0, 0), (0.9, 0.9, 0.0)), "no three unit vectors"),
        (lambda: factor_surface("ising", 0.5), "must be one of 'mrf', 'dpp'"),
        (lambda: factor_surface("mrf", 0.0), "above 0 and below 1"),
        (lambda: factor_surface("mrf", 0.5, sign=-1), "second sheet of the DPP"),
        (lambda: triangle_inequality([[1.0, 2.0], [2.0, 1.0]]), r"S\[0, 1\] is 2"),
        (lambda: triangle_inequality([[0.0, 0.0], [0.0, 1.0]]), "positive diagonal"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_ternary_factors_are_the_models_without_their_node_potentials(rng):
    """Figure 3: P(Y) divided by P of the empty set and by the node potentials of its items."""
    mrf, L = random_mrf(3, rng), random_kernel(3, rng)
    dpp = DPP(L)
    S = [dpp.similarity[pair] for pair in PAIRS]
    table = ternary_factors([mrf.W[pair] for pair in PAIRS], S)
    assert table.states == STATES
    for state, of_mrf, of_dpp in zip(table.states, table.mrf, table.dpp, strict=True):
        Y = [i for i in range(3) if state[i] == "1"]
        nodes = exp(sum(mrf.w[i] for i in Y)), np.prod(dpp.quality[Y] ** 2)
        assert of_mrf == pytest.approx(exp(mrf.log_prob(Y) - mrf.log_prob([])) / nodes[0])
        assert of_dpp == pytest.approx(exp(dpp.log_prob(Y) - dpp.log_prob([])) / nodes[1])
    assert table.mrf[:4].tolist() == table.dpp[:4].tolist() == [1.0] * 4


@pytest.mark.parametrize("entry", [0.001, 0.1, 0.25, 0.5, 0.75])
@pytest.mark.parametrize(("model", "sign"), [("mrf", 1), ("dpp", 1), ("dpp", -1)])
def test_points_on_the_surfaces_are_realized(model, sign, entry):
    """A point, turned into a model, gives the entries back: Figure 4."""
    surface = factor_surface(model, entry, sign=sign, resolution=6)
    for point, parameters in zip(surface.points, surface.parameters, strict=True):
        if model == "mrf":
            built = PairwiseMRF(np.zeros(3), np.minimum(symmetric(parameters), 0.0))
        else:
            built = DPP(symmetric(parameters) + np.eye(3))  # q = 1
            assert sign * parameters.prod() >= 0.0
        ratios = [exp(built.log_prob(Y) - built.log_prob([])) for Y in ([0, 1], [0, 2], [1, 2], [0, 1, 2])]
        np.testing.assert_allclose(ratios, [*point, entry], rtol=1e-8)
    assert surface.points.min() > 0.0
    assert surface.points.max() <= 1.0


def test_the_closed_surface_covers_the_hole_and_bulges_outwards():
    """The two sheets of the DPP meet in a triangle in the plane x + y + z = 2 + entry, and lie on either side of it."""
    entry = 0.1
    front, back = (factor_surface("dpp", entry, sign=sign, resolution=12) for sign in (1, -1))
    rim = (front.parameters == 0.0).any(axis=1)
    np.testing.assert_allclose(front.points[rim], back.points[rim], atol=1e-12)
    np.testing.assert_allclose(front.points[rim].sum(axis=1), 2 + entry)
    corners = {tuple(p) for p in front.points.round(9).tolist() if p.count(1.0) == 2 or max(p) > 1 - 1e-9}
    assert {(1.0, 1.0, entry), (1.0, entry, 1.0), (entry, 1.0, 1.0)} <= corners
    assert (front.points[~rim].sum(axis=1) < 2 + entry).all()
    assert (back.points[~rim].sum(axis=1) > 2 + entry).all()


@given(st.integers(3, 7), st.integers(0, 2**32 - 1), st.sampled_from([None, 1, 2]))
def test_every_kernel_satisfies_the_triangle_inequality(n, seed, rank):
    L = random_kernel(n, np.random.default_rng(seed), rank=rank)
    assert triangle_inequality(L).holds


def test_violation_by_hand():
    S = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.6], [0.0, 0.6, 1.0]])  # sines .6, .8, 1
    assert triangle_inequality(S).slack == pytest.approx(0.4)  # (12) holds: .6 + .8 - 1
    check = triangle_inequality(np.array([[1.0, 0.96, 0.0], [0.96, 1.0, 0.8], [0.0, 0.8, 1.0]]))  # sines .28, .6, 1
    assert check.slack == pytest.approx(-0.12)
    assert check.violation == pytest.approx(0.12)
    assert check.triple == (0, 1, 2)


def test_mrf_of_the_paper_violates_transitivity():
    """One item strongly anti-correlated with both others, these not with each other: section 3."""
    mrf = PairwiseMRF(np.zeros(3), symmetric([-3.0, 0.0, -3.0]))
    check = triangle_inequality(np.sqrt(-np.expm1(mrf.W)) + np.eye(3))
    assert check.triple == (0, 1, 2)
    assert check.violation == pytest.approx(1 - 2 * np.exp(-1.5))
    p = mrf.marginals
    S = np.sqrt(np.clip(1 - mrf.pair_probs() / np.outer(p, p), 0, 1)) + np.eye(3)
    assert triangle_inequality(S).violation == pytest.approx(0.313, abs=1e-3)
