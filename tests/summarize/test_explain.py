"""What `summary.explain()` says is true of the chosen set, and of every sentence that is not in it."""

import itertools
from collections import Counter

import numpy as np
import pytest

from dpplearn.decoding.limits import fits
from dpplearn.decoding.registry import DECODERS
from dpplearn.summarize import Cluster, Document
from dpplearn.summarize.text.units import joined_length
from made_up import made_up


def tenths(text):
    """A length with fractions, which binary numbers only come near to."""
    return len(text) * 0.1


@pytest.fixture(scope="module")
def repeating():
    """The example, with two of its articles once more: word for word, and without commas."""
    documents = Cluster.example().documents
    again = [Document("again", documents[1].text), Document("no commas", documents[2].text.replace(",", ""))]
    return Cluster([*documents, *again])


BUDGETS = [
    (100, "words"), (4, "words"), (665, "bytes"), (2.5, "sentences"), (60.5, "tokens"), (30.0, tenths),
]  # fmt: skip


@pytest.mark.parametrize("decoder", ["greedy", "consensus"])
@pytest.mark.parametrize(("budget", "unit"), BUDGETS)
def test_every_reason_is_true(bundled, repeating, decoder, budget, unit):
    check_reasons(bundled, repeating, decoder, budget, unit, {"exclude": [0, 3, 9, 21], "diversity": 0.8})


@pytest.mark.parametrize("decoder", list(DECODERS))
@pytest.mark.parametrize("seed", range(2))
def test_every_reason_is_true_of_made_up_clusters(bundled, decoder, seed):
    for budget, unit in ((12, "words"), (40, "words"), ("30%", "words"), (None, "words"), (3, "sentences")):
        check_reasons(bundled, made_up(seed), decoder, budget, unit, {"exclude": [0]})


def check_reasons(bundled, cluster, decoder, asked, unit, more):
    prepared, codes = bundled.prepare(cluster), Counter()
    read, q, told = prepared.split, prepared.dpp.quality, prepared.split.matters
    for options in ({}, more):
        excluded = set(options.get("exclude", ()))
        summary = bundled.summarize(prepared, asked, unit, decoder=decoder, n_samples=2_000, **options)
        budget = summary.budget
        explanation, chosen = summary.explain(), set(summary.subset.tolist())
        lines = [read.texts[i] for i in summary.subset]
        within = {i: fits(joined_length([read.texts[i]], unit), budget) for i in range(prepared.n)}
        assert bool(summary.note) == (not any(within[i] for i in range(prepared.n) if i not in excluded))
        assert sorted([*chosen, *(x.number for x in explanation.best_left_out(None))]) == [*range(prepared.n)]
        usual = np.average(q[summary.subset], weights=read.costs(unit)[summary.subset])
        for x in explanation.best_left_out(None):
            i = x.number
            longer = joined_length([*lines, read.texts[i]], unit)
            beside = fits(longer, budget)
            twins = {j for j in range(prepared.n) if j != i and read.twins[j] == read.twins[i]} - excluded
            said = bool(twins & chosen)
            holds = {
                "excluded": i in excluded,
                "same-words": said or (bool(twins) and min(twins) < i),
                "too-long": not within[i] and not said,
                "redundant": within[i]
                and not said
                and all(j in chosen and (told.says(j, i) or told.repeats(j, i)) for j in x.by),
                "not-alone": summary.choice.leaning is not None and i in summary.choice.leaning,
                "weaker": q[i] < usual,
                "does-not-fit": not beside and (q[i] >= usual or not summary.decision.quality_counts),
                "adds-nothing": beside and unit != "sentences" and summary.choice.chance[i] < summary.choice.least,
                "better-without": beside,
            }
            assert holds[x.code], (x.code, x.reason)
            if x.code in ("does-not-fit", "adds-nothing", "better-without", "weaker"):
                assert within[i]
                assert not twins or i < min(twins)
            codes[x.code] += 1
            assert summary.why(i) == x
        listed = {x.number for x in explanation.redundant}
        good = {x.number for x in explanation.best_left_out(None) if x.quality >= np.median(q)}
        assert listed <= good & {  # those, and only those, of which the reason says that the summary has them
            x.number
            for x in explanation.best_left_out(None)
            if x.code == "redundant" or (x.code == "same-words" and x.by)
        }
    return codes


def test_reasons_of_every_kind_were_given(bundled):
    """Else the check above would prove nothing."""
    codes = Counter()
    for seed, budget in itertools.product(range(8), (12, 40)):
        codes += check_reasons(bundled, made_up(seed), "consensus", budget, "words", {})
    assert min(codes[code] for code in ("redundant", "weaker", "does-not-fit", "same-words")) >= 2, codes
