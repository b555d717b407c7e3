"""The measures of scripts/search_study.py, by enumeration, and a small run of it."""

import importlib.util
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "scripts" / "search_study.py"


@pytest.fixture(scope="module")
def apple():
    spec = importlib.util.spec_from_file_location("search_study", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_alpha_ndcg_by_hand_and_by_enumeration(apple):
    intents, relevant = np.array([0, 0, 1, 0, 2, 1]), np.array([True, True, True, False, True, False])
    query = apple.Query(None, intents, relevant, None)
    by_hand = 1 + 0.5 / np.log2(3) + 1 / np.log2(4)  # the second of intent 0 counts half
    assert apple.discounted(np.array([0, 1, 2]), query) == pytest.approx(by_hand)
    best = max(apple.discounted(np.array(order), query) for order in permutations(range(6)))
    assert apple.discounted(apple.ideal(query), query) == pytest.approx(best)
    assert apple.alpha_ndcg(apple.ideal(query), query) == pytest.approx(1.0)
    assert apple.coverage(np.array([0, 1, 3]), query) == pytest.approx(1 / 3)


@pytest.mark.filterwarnings("ignore:The learned similarity")  # so few queries say little of a nugget
def test_a_small_run(apple, tmp_path):
    values = apple.experiment(seeds=1, n_train=12, n_test=5)
    assert values.shape == (1, 4, 3)
    assert np.isnan(values[:, 1, 2]).all()  # MMR has no likelihood
    assert ((values[:, :, :2] > 0) & (values[:, :, :2] <= 1)).all()
    apple.plot(values, str(tmp_path / "search.png"))
    assert (tmp_path / "search.png").stat().st_size > 10_000
