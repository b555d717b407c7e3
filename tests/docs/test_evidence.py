"""The studies of benchmarks/evidence: measures by hand and by enumeration, and every study on a tiny folder of data."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from benchmarks.evidence import __main__ as evidence
from benchmarks.evidence import arguments, baskets, people
from benchmarks.evidence.page import interval, page, signed

ROOT = Path(__file__).parents[2]

MAKES = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1]], bool)


def test_alpha_ndcg_by_hand_and_by_enumeration():
    by_hand = 1 + 0.5 / np.log2(3) + 1 / np.log2(4)  # the second for the first key point counts half
    assert arguments.discounted(MAKES, np.array([0, 1, 2])) == pytest.approx(by_hand)
    best = max(arguments.discounted(MAKES, np.array(order)) for order in permutations(range(5), 3))
    assert arguments.discounted(MAKES, arguments.ideal(MAKES, 3)) == pytest.approx(best)
    assert arguments.alpha_ndcg(MAKES, arguments.ideal(MAKES, 3)) == pytest.approx(1.0)


def test_recall_and_precision_by_hand():
    order = np.array([0, 3, 4])
    assert arguments.recall(MAKES, order) == 1.0
    assert arguments.recall(MAKES, order[:2]) == pytest.approx(1 / 3)
    assert arguments.precision(MAKES, order) == pytest.approx(3 / 9)


def test_covering_sets_make_all_key_points_and_nothing_else(rng):
    for subset in arguments.covering_sets(MAKES, 3, 20, rng):
        assert MAKES[subset].any(axis=0).all()
        assert MAKES[subset].any(axis=1).all()
        assert subset.size == 3
    assert arguments.covering_sets(MAKES, 9, 1, rng)[0].tolist() == [0, 1, 2, 4]  # all that make a key point


def test_a_difference_has_its_interval():
    mean, low, high, p = interval([1.0, 2.0, 3.0])
    assert (mean, p < 0.1) == (2.0, True)
    assert low == pytest.approx(2 - 4.302653 / np.sqrt(3))
    assert high - mean == pytest.approx(mean - low)
    assert signed([1.0, 1.1, 0.9], 1) == "+1.0 [+0.8, +1.2]*"
    assert not signed([1.0, -1.0]).endswith("*")


def test_rules_and_counts_rank_what_was_bought_together():
    train = 20 * [[1, 2, 3]] + 10 * [[1, 4]] + 5 * [[2, 5]]
    found = baskets.counts_of(train)
    number = {item: j for j, item in enumerate(found["popularity"].items_)}
    scores = found["association rules"].next_scores(np.array([number[1], number[2]]))
    assert scores[number[3]] == 1.0  # of baskets with 1 and 2, all have 3
    assert scores[number[4]] == pytest.approx(1 / 3)  # of those with 1; with both, none
    assert found["popularity"].next_scores(np.array([0])).tolist() == [30, 25, 20, 10, 5]


def test_agreement_is_within_topics_and_of_means():
    grades = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])
    within, between = people.agreement(np.array([[1.0, 2.0, 3.0], [9.0, 8.0, 7.0]]), grades)
    assert within.tolist() == pytest.approx([1.0, -1.0])
    assert between == pytest.approx(0.0) or np.isnan(between)
    assert people.agreement(np.zeros((2, 3)), grades)[0].size == 0  # all the same: nothing agrees


def test_a_study_that_fails_says_so_and_the_others_go_on(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    where = ["--results", str(tmp_path / "results"), "--out", str(tmp_path / "docs" / "evidence.md")]
    evidence.main(["--data", str(tmp_path / "empty"), "--quick", "--only", "baskets", "speed", *where])
    text = (tmp_path / "docs" / "evidence.md").read_text(encoding="utf-8")
    for words in ("Not run here: FileNotFoundError", "FOLDER/registries_apparel.csv", "## 5. Speed\n\n**Question.**"):
        assert words in text
    assert "failed" in capsys.readouterr().out


def test_the_page_is_that_of_the_stored_results():
    there = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    assert page(ROOT / "benchmarks" / "results" / "evidence", evidence.STUDIES, {}) == there


def test_the_page_on_learned_similarity_has_the_stored_tables(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import similarity_page

    page = similarity_page.PAGE.read_text(encoding="utf-8")
    assert similarity_page.filled(page, similarity_page.stored_tables()) == page
