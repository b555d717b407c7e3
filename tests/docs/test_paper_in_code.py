"""docs/paper-in-code.md leaves nothing of the paper out, and every function and test that it names is there."""

import pydoc
import re
from pathlib import Path

import numpy as np
import pytest

from brute import pmf, random_kernel, subsets
from dpplearn import DPP, ConditionalDPP, ItemSet
from dpplearn.summarize.model.features import mean_similarity

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "paper-in-code.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in PAGE.splitlines() if line[:1] == "|"]
CHECKED = [row for row in ROWS if len(row) == 4 and row[0] != "paper" and not set(row[0]) <= set("-:")]
FUNCTIONS = sorted({name for row in CHECKED for name in re.findall(r"`(dpplearn\.[\w.]+)`", row[2])})
NAMED_TESTS = sorted({name for row in CHECKED for name in re.findall(r"`(test_\w+\.py::\w+)`", row[3])})


def test_everything_of_the_paper_is_here_with_a_function_and_a_test():
    labels = {row[0] for row in CHECKED}
    expected = {f"({n})" for n in range(1, 22)} | {f"Figure {n}" for n in range(1, 6)} | {"Proposition 1"}
    expected |= {"Algorithm 1", "Algorithm 2", "Table 1", "Table 2"}
    assert expected <= labels, f"missing: {sorted(expected - labels)}"
    for row in CHECKED:
        assert re.search(r"`dpplearn\.[\w.]+`", row[2]), row
        assert re.search(r"`test_\w+\.py::\w+`", row[3]), row


def test_functions_and_tests_that_are_named_exist():
    for name in FUNCTIONS:
        assert pydoc.locate(name) is not None, name
    for name in NAMED_TESTS:
        file, function = name.split("::")
        (path,) = TESTS.rglob(file)
        assert f"\ndef {function}(" in path.read_text(encoding="utf-8"), name


# Equations that no other test checks as the paper writes them.


def test_equations_6_and_7_agree(rng):
    L = random_kernel(6, rng)
    p, V = DPP(L).spectrum[:2]
    np.testing.assert_allclose((V * p) @ V.T, np.linalg.inv(L + np.eye(6)) @ L, atol=1e-12)
    np.testing.assert_allclose(DPP(L).K, np.linalg.inv(L + np.eye(6)) @ L, atol=1e-12)


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


@pytest.mark.parametrize("d", [3, 8])  # a low-rank DPP, and one of a full kernel
def test_equations_14_to_16(d, rng):
    """P(Y | X) is proportional to det(L_Y(X)), L_ij = q_i phi_i . phi_j q_j, q_i = exp(theta . f_i / 2)."""
    F, phi = rng.standard_normal((5, 2)), rng.standard_normal((5, d))
    phi /= np.linalg.norm(phi, axis=1, keepdims=True)
    x = ItemSet(F, phi=phi)
    model = ConditionalDPP(constant=False).fit([x, x], [[0, 3], [1, 2]])
    q = np.array([np.exp(model.theta_ @ f / 2) for f in F])
    np.testing.assert_allclose(model.qualities(x), q)
    L = np.array([[q[i] * (phi[i] @ phi[j]) * q[j] for j in range(5)] for i in range(5)])
    np.testing.assert_allclose(model.dpp(x).L, L, atol=1e-12)
    for Y, p in pmf(L).items():
        if len(Y) <= d:
            assert np.exp(model.log_prob([x], [Y])[0]) == pytest.approx(p)


def test_mean_similarity(rng):
    """Section 7.2: the average cosine to all other sentences."""
    phi = rng.random((5, 3))
    phi /= np.linalg.norm(phi, axis=1, keepdims=True)
    C = phi @ phi.T
    others = [[C[i, j] for j in range(5) if j != i] for i in range(5)]
    np.testing.assert_allclose(mean_similarity(phi), np.mean(others, axis=1))
