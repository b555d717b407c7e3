"""docs/paper-in-code.md leaves nothing of the paper out, and every function and test that it names is there."""

import ast
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from brute import pmf, random_kernel, subsets
from dpplearn import DPP
from dpplearn.kernels import L_to_K
from dpplearn.mrf import PairwiseMRF, factor_surface, pair_to_dpp, pair_to_mrf, ternary_factors, triangle_inequality

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "paper-in-code.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in PAGE.splitlines() if line[:1] == "|"]
CHECKED = [row for row in ROWS if len(row) == 4 and row[0] != "paper" and not set(row[0]) <= set("-:")]
FUNCTIONS = sorted({name for row in CHECKED for name in re.findall(r"`(dpplearn\.[\w.]+)`", row[2])})
NAMED_TESTS = sorted({name for row in CHECKED for name in re.findall(r"`(test_\w+\.py::\w+)`", row[3])})


def test_everything_of_the_paper_is_here():
    labels = {row[0] for row in CHECKED}
    expected = {f"({n})" for n in range(1, 22)} | {f"Figure {n}" for n in range(1, 6)} | {"Proposition 1"}
    expected |= {"Algorithm 1", "Algorithm 2", "Table 1", "Table 2"}
    assert expected <= labels, f"missing: {sorted(expected - labels)}"


@pytest.mark.parametrize("row", CHECKED, ids=lambda row: row[0])
def test_every_row_names_a_function_and_a_test(row):
    assert re.search(r"`dpplearn\.[\w.]+`", row[2])
    assert re.search(r"`test_\w+\.py::\w+`", row[3])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_exist(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):  # the longest part of the name that is a module
        try:
            found = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        assert found is not None
        return
    pytest.fail(f"{name} does not exist")


@pytest.mark.parametrize("name", NAMED_TESTS)
def test_tests_exist(name):
    file, function = name.split("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


# Equations that no other test checks as the paper writes them.


def test_equations_6_and_7_agree(rng):
    L = random_kernel(6, rng)
    p, V = DPP(L).spectrum[:2]
    np.testing.assert_allclose((V * p) @ V.T, np.linalg.inv(L + np.eye(6)) @ L, atol=1e-12)
    np.testing.assert_allclose(L_to_K(L), np.linalg.inv(L + np.eye(6)) @ L, atol=1e-12)


def test_equation_9(rng):
    S = np.corrcoef(random_kernel(5, rng))
    q = rng.uniform(0.5, 2.0, 5)
    weights = {Y: np.prod(q[list(Y)] ** 2) * np.linalg.det(S[np.ix_(Y, Y)]) for Y in subsets(5)}
    dpp, total = DPP.from_quality(q, S), sum(weights.values())
    for Y, weight in weights.items():
        assert np.exp(dpp.log_prob(Y)) == pytest.approx(weight / total)


def test_equation_10(rng):
    """P(Y = A + B | A in Y) = det(L_{A + B}) / det(L + I without ones on A), by `condition` and by the listing."""
    L, A = random_kernel(5, rng), [1, 3]
    rest = [0, 2, 4]
    given, P = DPP(L).condition(include=A), pmf(L)
    having = sum(p for Y, p in P.items() if set(A) <= set(Y))
    ones = np.diag([0.0 if i in A else 1.0 for i in range(5)])
    for B in subsets(3):
        Y = sorted(A + [rest[i] for i in B])
        equation = np.linalg.det(L[np.ix_(Y, Y)]) / np.linalg.det(L + ones)
        assert np.exp(given.log_prob(B)) == pytest.approx(equation)
        assert equation == pytest.approx(P[tuple(Y)] / having)


def test_equation_11(rng):
    w, W = rng.standard_normal(4), -rng.random((4, 4))
    W = np.triu(W, 1) + np.triu(W, 1).T
    weights = {Y: np.exp(w[list(Y)].sum() + sum(W[i, j] for i in Y for j in Y if i < j)) for Y in subsets(4)}
    mrf, total = PairwiseMRF(w, W), sum(weights.values())
    for Y, weight in weights.items():
        assert np.exp(mrf.log_prob(Y)) == pytest.approx(weight / total)


def test_equation_12(rng):
    for _ in range(20):
        assert triangle_inequality(DPP(random_kernel(6, rng, rank=3))).holds
    S = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])  # alike, alike, not alike: of no kernel
    assert np.linalg.eigvalsh(S)[0] < 0
    assert triangle_inequality(S).violation == pytest.approx(1.0 - 2 * np.sqrt(1 - 0.81))


def test_equation_13(rng):
    """Two items: any distribution with p12 <= p1 p2 is a DPP and a repulsive MRF, and no other is."""
    for _ in range(20):
        p1, p2 = rng.uniform(0.1, 0.9, 2)
        p12 = rng.uniform(max(p1 + p2 - 1, 0.0), p1 * p2)
        for model in (pair_to_dpp(p1, p2, p12).dpp(), pair_to_mrf(p1, p2, p12).mrf()):
            np.testing.assert_allclose(model.marginals, [p1, p2])
            assert model.inclusion_prob([0, 1]) == pytest.approx(p12)
        for construct in (pair_to_dpp, pair_to_mrf):
            with pytest.raises(ValueError, match="p1"):
                construct(p1, p2, (p1 * p2 + min(p1, p2)) / 2)


def test_figure_3_table(rng):
    """What is left of the probabilities when the potentials of the nodes are taken out."""
    w12, w13, w23 = w = -rng.random(3)
    S = np.corrcoef(random_kernel(3, rng))
    factors = ternary_factors(w, [S[0, 1], S[0, 2], S[1, 2]])
    assert factors.states[-4:] == ("110", "101", "011", "111")
    np.testing.assert_allclose(factors.mrf[-4:], np.exp([w12, w13, w23, w12 + w13 + w23]))
    minors = [np.linalg.det(S[np.ix_(Y, Y)]) for Y in ([0, 1], [0, 2], [1, 2], [0, 1, 2])]
    np.testing.assert_allclose(factors.dpp[-4:], minors, atol=1e-12)


@pytest.mark.parametrize("entry", [0.001, 0.1, 0.25, 0.5, 0.75])
def test_figure_4_surfaces(entry):
    for model, sign in (("mrf", 1), ("dpp", 1), ("dpp", -1)):
        surface = factor_surface(model, entry, sign=sign, resolution=8)
        for parameters, point in zip(surface.parameters, surface.points, strict=True):
            if model == "mrf":
                factors = ternary_factors(parameters, np.zeros(3)).mrf
            else:
                assert sign * parameters.prod() >= 0
                factors = ternary_factors(np.zeros(3), parameters).dpp
            np.testing.assert_allclose(factors[-4:], [*point, entry], atol=1e-9)
