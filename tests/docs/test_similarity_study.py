"""The measures of scripts/similarity_study.py by their definition, and its tables, which a page quotes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def study():
    return script("similarity_study")


@pytest.fixture(scope="module")
def page():
    return script("similarity_page")


def test_the_page_has_the_tables_of_what_was_found(page):
    there = page.PAGE.read_text(encoding="utf-8")
    assert page.written(there, page.found()) == there


def test_differences_are_paired(page):
    base = {"kind": "fixed", "x": [1.0, 2.0, 6.0], "of": "a"}
    other = {"kind": "mixture", "x": [2.0, 2.0, 8.0], "of": "a"}
    assert page.against(base, base, "x", 1) == "3.0"
    assert page.against(other, base, "x", 2) == "4.00 (+1.00 ± 0.58)"  # 1, 0, 2: 1 / sqrt(3)
    assert page.wide([base, other], "x", 1, ["of"]).splitlines()[2] == "| a | 3.0 | +1.0 ± 0.6 |"
    with pytest.raises(SystemExit, match="one place"):
        page.written("no places", {"a table": "| |"})


def test_the_percentile_of_an_item_is_that_of_its_determinant(study, monkeypatch):
    monkeypatch.setattr(study, "ITEMS", 6)
    A = np.random.default_rng(0).standard_normal((6, 6))
    L, basket = A @ A.T, np.array([0, 2, 5])
    rest = [0, 5]
    det = {i: np.linalg.det(L[np.ix_([*rest, i], [*rest, i])]) for i in (1, 2, 3, 4)}
    share = np.mean([det[i] <= det[2] for i in det])
    assert study.percentile(L, basket, 2) == pytest.approx(100 * share)
