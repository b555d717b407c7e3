"""The fast scorer against the literal one on random texts, and what must hold for any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpplearn.rouge import Rouge, score
from dpplearn.rouge.corpus import intervals
from rouge_literal import literal_average, literal_score

METRICS = ("rouge-1", "rouge-2", "rouge-3", "rouge-5", "rouge-su4", "rouge-l", "rouge-w-1.2", "rouge-w-2")
WORDS = ["the", "cats", "cat", "Sat", "relational", "children", "was", "naïve", "21st", "a", "b", "中", "--", "K"]
word = st.sampled_from(WORDS) | st.text("ab1é .", min_size=1, max_size=5)
line = st.lists(word, max_size=12).map(" ".join)
glue = st.sampled_from(["\n", "\n", " \n", "\n\n", "\r\n", "\n\t", "\n \n"])


@st.composite
def texts(draw):
    """A few lines, most of whose words recur, with awkward white space between."""
    parts = draw(st.lists(line, max_size=5))
    return "".join(part + draw(glue) for part in parts[:-1]) + "".join(parts[-1:])


limits = st.one_of(
    st.just({}),
    st.integers(1, 80).map(lambda n: {"bytes": n}),
    st.integers(1, 20).map(lambda n: {"words": n}),
)
references = st.lists(texts(), min_size=1, max_size=4)


@pytest.mark.filterwarnings("ignore:Reference .* has no token")
@settings(max_examples=150, deadline=None)
@given(texts(), references, limits, st.booleans(), st.sampled_from(["average", "best"]))
def test_scores_equal_the_literal_ones(candidate, references, limit, stem, combine):
    found = score(candidate, references, METRICS, **limit, stem=stem, combine=combine)
    for name in METRICS:
        n_bytes, n_words = limit.get("bytes"), limit.get("words")
        assert found[name] == literal_score(candidate, references, name, n_bytes, n_words, stem, combine), name
    rouge = Rouge(references, METRICS, **limit, stem=stem, combine=combine)
    assert rouge.score(candidate) == found
    assert rouge.score_many([references[0], candidate, "", candidate])[1::2] == [found, found]


@settings(deadline=None)
@given(texts())
def test_a_text_against_itself(text):
    for scores in score(text, [text], ("rouge-1", "rouge-2", "rouge-l", "rouge-su4")).values():
        assert scores in ((1, 1, 1), (0, 0, 0))  # 0 where there is nothing to count
    if any(c.isascii() and c.isalnum() for c in text):
        assert score(text, text)["rouge-1"].recall == 1


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 100_000)] * 3), min_size=1, max_size=40), st.integers(2, 60))
def test_averages_equal_the_literal_ones(rows, resamples):
    triples = [[x / 100_000 for x in row] for row in rows]
    for confidence in (95, 90, 50):
        if resamples * (100 - confidence) / 200 < resamples - 2:
            assert intervals(triples, resamples, confidence) == literal_average(triples, confidence, resamples)
