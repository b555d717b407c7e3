"""The paired test where differences hardly differ."""

import pytest

from dpplearn.rouge import paired_bootstrap, score_corpus


@pytest.mark.parametrize("other", ["the dog", "the dog sat on a log and slept"])
def test_a_difference_that_is_the_same_nearly_everywhere_is_sure(other):
    references = {str(k): ["the cat sat on the mat"] for k in range(10)}
    first = score_corpus(dict.fromkeys(references, "the cat sat on the mat"), references)
    second = score_corpus({**dict.fromkeys(references, "the dog"), "0": other}, references)
    found = paired_bootstrap(first, second, "rouge-1", "f")
    assert found.p_value < 0.01
    assert paired_bootstrap(first, first, "rouge-1", "f").p_value == 1.0
