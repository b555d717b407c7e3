"""Whether two sentences tell the same, and whether one says all of another."""

from pathlib import Path

import pytest

from dpplearn.summarize import Cluster, Document, Summarizer
from dpplearn.summarize.text.matter import Matters, matter

LINES = Path(__file__).parent / "lines"


class Alone(Matters):
    """Sentences of no cluster: every word counts the same."""

    def weight(self, stems):
        return float(len([*stems]))


@pytest.mark.parametrize(("name", "precision", "recall"), [("pairs.tsv", 0.75, 0.95), ("pairs-held.tsv", 0.75, 0.95)])
def test_labelled_pairs(name, precision, recall):
    rows = [line.split("\t") for line in (LINES / name).read_text("utf-8").splitlines()]
    labels = [label == "same" for label, *_ in rows]
    told = [Alone(pair).repeats(0, 1) for _, _, *pair in rows]
    both = sum(a and b for a, b in zip(labels, told, strict=True))
    assert len(rows) == 2 * sum(labels) == 30
    assert both / sum(told) >= precision
    assert both / sum(labels) >= recall


STORM = "The storm closed the bridge over the river on Monday, said the mayor of Brenn."
DELAY = "The opening of the new airport near Osthafen was put off by six months because of faulty alarms."


@pytest.mark.parametrize(
    ("said", "text", "says"),
    [
        (STORM, "The storm closed the bridge over the river.", True),
        (STORM, "The mayor of Brenn said that the storm closed the bridge.", True),
        (STORM, "The storm closed 12 bridges over the river.", False),  # a figure
        (STORM, "The storm closed the bridge over the river in Ostrel.", False),  # a name
        (STORM, "The flood destroyed houses and schools in the valley.", False),
        (STORM, "Das Wasser stieg in der Nacht.", False),  # shares no word
        (DELAY, "Die Eröffnung des neuen Flughafens bei Osthafen verzögert sich um sechs Monate.", False),
        (DELAY, "Work on the new airport near Osthafen was stopped for a pause of two hours.", False),
        (DELAY, "The new airport opens six months late because of faulty alarms.", True),
        ("Der Flughafen öffnet sechs Monate später.", DELAY, False),
        ("大桥因强风于周一关闭。", "大桥于周一关闭。", True),
        ("大桥因强风于周一关闭。", "学校将于周五重新开放。", False),
    ],
)
def test_a_sentence_is_said_already_only_where_its_matter_names_and_figures_are(said, text, says):
    more = "A train to Ostrel was late. Other trains to Ostrel ran. The bridge in Brenn is old, as the storm showed."
    read = Summarizer.load().prepare(Cluster.from_texts([f"{said} {more}", text]), keep_all=True).split
    place = {sentence: i for i, sentence in enumerate(read.texts)}
    assert read.matters.says(place[said], place[text]) == says


def test_no_event_is_told_twice():
    """Of two that tell the same, the one that tells more stays; what the caller includes stays anyway."""
    fuller = "A freight train with 40 wagons left the rails near Dolmar on Tuesday and blocked the line to the coast."
    shorter = "A freight train derailed near Dolmar on Tuesday, blocking the line to the coast."
    rest = "Passengers were taken to Orrin by bus. The cause of the accident is not known yet, the railway said."
    cluster = Cluster(
        [Document("a", f"{fuller} {rest}"), Document("b", f"{shorter} Nobody on the train was hurt at all.")]
    )
    model = Summarizer.load()
    prepared = model.prepare(cluster)
    at = [prepared.split.texts.index(text) for text in (fuller, shorter)]
    assert prepared.split.matters.repeats(*at)
    for decoder in ("consensus", "greedy"):
        found = model.summarize(prepared, 70, "words", decoder=decoder).subset
        assert (at[0] in found, at[1] in found) == (True, False)
    summary = model.summarize(prepared, 70, "words", include=[at[1]])
    assert at[1] in summary.subset
    assert at[0] not in summary.subset
    assert summary.why(at[0]).code == "redundant"
    assert set(at) <= set(model.summarize(prepared, 70, "words", include=at).subset)


def test_any_text_has_a_matter():
    for text in ("", " ", "?", "1", "a" * 10_000, "1 " * 3_000, "he said that " * 2_000, "\x00", "A" * 9_000):
        assert matter(text).stems >= matter(text).figures
        told = Matters([text, text])
        assert not told.says(0, 1) or matter(text).stems
