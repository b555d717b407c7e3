"""The measures of scripts/similarity_study.py by their definition, and its tables, which the page quotes."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("similarity_study", ROOT / "scripts" / "similarity_study.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_tables_of_what_was_found(study):
    page = (ROOT / "docs" / "learned-similarity.md").read_text(encoding="utf-8")
    figures = json.loads((ROOT / "docs" / "assets" / "similarity_study.json").read_text(encoding="utf-8"))
    for which, table in study.tables(figures).items():
        assert table in page, which


def test_differences_are_paired(study):
    base = {"kind": "fixed", "x": [1.0, 2.0, 6.0]}
    other = {"kind": "mixture", "x": [2.0, 2.0, 8.0]}
    assert study.against(base, base, "x", 1) == "3.0"
    assert study.against(other, base, "x", 2) == "4.00 (+1.00 ± 0.58)"  # 1, 0, 2: 1 / sqrt(3)


def test_the_percentile_of_an_item_is_that_of_its_determinant(study, monkeypatch):
    monkeypatch.setattr(study, "ITEMS", 6)
    A = np.random.default_rng(0).standard_normal((6, 6))
    L, basket = A @ A.T, np.array([0, 2, 5])
    rest = [0, 5]
    det = {i: np.linalg.det(L[np.ix_([*rest, i], [*rest, i])]) for i in (1, 2, 3, 4)}
    share = np.mean([det[i] <= det[2] for i in det])
    assert study.percentile(L, basket, 2) == pytest.approx(100 * share)


def test_a_small_run_of_made_up_data(study, monkeypatch):
    monkeypatch.setattr(study, "DRAWS", 1)
    monkeypatch.setattr(study, "T", 12)
    found = study.star(study.made_up, ("one part", False, "mixture"))
    assert np.isfinite(found["log-likelihood"]).all()
    assert 0 <= found["agreement"][0] <= 100


def test_agreement_counts_items_found(study):
    class Known:
        def decode(self, x, k):  # noqa: ARG002  # the model's signature
            return type("Found", (), {"subset": np.arange(k)})

    sets = [np.array([0, 3]), np.array([1, 2, 0]), np.empty(0, int)]
    assert study.agreement(Known(), [None] * 3, sets) == 75.0  # one of two, three of three
