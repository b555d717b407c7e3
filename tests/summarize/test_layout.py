"""Where lines of plain text end something: headings above their text, forced line ends, rows; wraps stay wraps."""

import textwrap

import pytest

from dpplearn.summarize import Cluster
from dpplearn.summarize.text.blocks import find_blocks

RUNNING = (
    "The ferry company has promised to run a second boat on Fridays, because the queue at the pier reached the church "
    "last summer and several people missed their trains. Mrs Lind said that Harbour Street was blocked for two hours. "
    "Nobody could say who would pay for the crew, and the talks with Northern Rail go on."
)


def kinds(text):
    return [(block.kind, " ".join(text[block.start : block.end].split())) for block in find_blocks(text)]


@pytest.mark.parametrize("width", [50, 72, 90, 120])
@pytest.mark.parametrize(
    "heading", ["2. Second boat on Fridays", "Report of the harbour master", "Queues", "12) Any other matters"]
)
def test_a_heading_right_above_its_text(heading, width):
    text = heading + "\n" + "\n".join(textwrap.wrap(RUNNING, width))
    found = kinds(text)
    assert found == [
        ("heading", heading.split(None, 1)[1] if heading[0].isdigit() else heading),
        ("paragraph", RUNNING),
    ]


@pytest.mark.parametrize("width", range(38, 120, 3))
def test_wraps_are_no_headings(width):
    text = "\n".join(textwrap.wrap(RUNNING, width))
    assert kinds(text) == [("paragraph", RUNNING)]
    two = "\n\n".join([text, text])
    assert kinds(two) == [("paragraph", RUNNING)] * 2


HEARD = (
    "so we went up to the mill before it was light and the door was open and nobody was there but the wheel was "
    "turning and we could hear the water under the floor and then my uncle found a letter on the table that said the "
    "miller had gone to the city to sell his plates and he would be back in spring and we waited for an hour because "
    "it was raining so hard that the road was a stream and in the end we took two plates and left the money in a cup "
    "and on the way home the bridge was gone so we had to walk round by the sawmill which took until night"
)


def test_a_text_without_stops_is_cut_into_clauses():
    cluster = Cluster.from_texts([HEARD])
    found = cluster.sentences()
    assert len(found) >= 6
    assert max(len(s.text.split()) for s in found) <= 45
    assert all(HEARD[s.start : s.end] == s.text for s in found)
    assert not any(s.text.startswith("and ") for s in found)
    assert "the door was open" in " ".join(s.text for s in found)


def test_a_long_sentence_among_others_stays_whole():
    long = HEARD.capitalize() + "."
    others = " ".join(f"The mill was sold again in 19{i}." for i in range(10, 50))
    assert long in [s.text for s in Cluster.from_texts([f"{long} {others}"]).sentences()]
