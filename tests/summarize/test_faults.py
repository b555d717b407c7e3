"""Faults of summaries, counted in any system's text."""

from dpplearn.summarize.corpora.cluster import Cluster
from dpplearn.summarize.experiments.evaluation import Faults, count_faults

SOURCE = (
    "The old bridge of Brenn fell on Monday morning. Ruth Calloran, a judge, was named to lead the inquiry into it."
)


def faults(text):
    return count_faults(text, Cluster.from_texts([SOURCE]))


def test_a_sound_summary_has_none():
    assert faults(SOURCE) == Faults(0, 0, 0, 0)
    assert faults("") == Faults(0, 0, 0, 0)


def test_each_kind_is_counted():
    assert faults("But it fell on Monday morning with a loud noise.").leaning_openings == 1
    assert faults(SOURCE + " He asked not to be named.").dependent == 1
    again = "On Monday morning the old bridge of Brenn fell into the river."
    assert faults(SOURCE + "\n" + again).repeated == 1
    assert faults("The inquiry will be led by Calloran, the government said.").unintroduced == 1
