"""Faults of summaries that readers mind and ROUGE does not see, counted in any system's text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.text.introductions import unknown_people
from dpplearn.summarize.text.sentences import split_sentences
from dpplearn.summarize.text.standing import Lack, why_not_alone
from dpplearn.summarize.text.words import listed_language, match_words, small_words

SAME = 0.6  # share of its words that a sentence has in common with another, from which on it tells the same matter


class Faults(NamedTuple):
    """How many a summary has, or, averaged, how many a system's summaries have each."""

    dependent: float  # sentences that do not stand alone
    leaning_openings: float  # 1 where the first sentence leans on one before it
    repeated: float  # sentences that tell what another one tells
    unintroduced: float  # people by surname whom nothing before introduces


def count_faults(summary: str, cluster: Cluster) -> Faults:
    """The faults of a summary of a cluster, whoever made it.

    Examples
    --------
    >>> source = "Ruth Calloran, a judge, was named on Monday. Calloran will report to the government in May."
    >>> count_faults("But Calloran will report to the government in May.", Cluster.from_texts([source]))
    Faults(dependent=1, leaning_openings=1, repeated=0, unintroduced=1)
    """
    language = listed_language(cluster.language, [summary])
    sentences = [line[start:end] for line in summary.split("\n") for start, end in split_sentences(line)]
    lacks = [why_not_alone(sentence, language) for sentence in sentences]
    told = [frozenset(match_words(sentence, cluster.language)) - small_words() for sentence in sentences]
    same = {
        number
        for (i, one), (j, other) in combinations(enumerate(told), 2)
        if len(one & other) >= SAME * min(len(one), len(other)) > 0
        for number in (i if len(one) < len(other) else j,)
    }
    source = "\n".join(document.text for document in cluster.documents)
    before = ["\n".join(sentences[:i]) for i in range(len(sentences))]
    unknown = [unknown_people(line, ahead, source) for line, ahead in zip(sentences, before, strict=True)]
    return Faults(sum(map(bool, lacks)), int(lacks[:1] == [Lack.LEANS]), len(same), sum(map(len, unknown)))


def mean_faults(faults: Sequence[Faults]) -> Faults:
    """The mean over summaries.

    Examples
    --------
    >>> mean_faults([Faults(1, 0, 0, 0), Faults(0, 0, 1, 0)])
    Faults(dependent=0.5, leaning_openings=0.0, repeated=0.5, unintroduced=0.0)
    """
    return Faults(*np.mean(faults, axis=0).tolist())
