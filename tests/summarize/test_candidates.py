"""Which pieces of documents a summary may be made of, and what is said of the others."""

import pytest

from dpplearn.summarize import Cluster, Document
from dpplearn.summarize.corpora.documents import parse_document
from dpplearn.summarize.text.blocks import BLOCK_KINDS


def texts(cluster, **options):
    return [sentence.text for sentence in cluster.sentences(**options)]


def document(name, *blocks):
    return Document.of_blocks(name, blocks)


def read(name, source):
    return Cluster(parse_document(source.encode(), name, name))


ALL = [(kind, f"The {kind} of this page was written by hand.") for kind in BLOCK_KINDS]


def test_only_running_text_is_a_candidate():
    cluster = Cluster([document("a", *ALL)])
    running = [text for kind, text in ALL if kind in ("paragraph", "item", "quotation")]
    assert texts(cluster) == running
    assert {piece.kind: piece.code for piece in cluster.candidates().set_aside} == dict.fromkeys(
        BLOCK_KINDS[3:], "kind"
    )
    assert texts(cluster, keep_all=True) == [text for _, text in ALL]


def test_a_sentence_knows_its_section():
    cluster = read(
        "a.md", "Rain fell.\n\n## The north\n\nSnow fell. It thawed.\n\n### Roads\n\n- Two were closed on Friday."
    )
    assert [(s.section, s.kind) for s in cluster.sentences()] == [
        (None, "paragraph"), ("The north", "paragraph"), ("The north", "paragraph"), ("Roads", "item")
    ]  # fmt: skip
    assert "section" not in repr(cluster.sentences()[1])


def test_what_is_no_sentence_is_set_aside_and_can_be_kept():
    cluster = Cluster.from_texts(["Patents. The owner grants a licence to everyone. Files.\n\n| Opening | 2031 |"])
    assert texts(cluster) == ["The owner grants a licence to everyone."]
    assert [(x.text, x.code) for x in cluster.candidates().set_aside] == [
        ("Patents.", "no-sentence"), ("Files.", "no-sentence"), ("Opening | 2031 |", "kind")
    ]  # fmt: skip
    for piece in cluster.candidates().set_aside:
        assert cluster.documents[piece.document].text[piece.start : piece.end] == piece.text
    assert len(texts(cluster, keep_all=True)) == 4


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        # headings that are sentences before other fragments, fragments before labels, labels before the rest
        ("# Mayor says tram line will stay\n\n# Sport\n\nNew plans", ["Mayor says tram line will stay"]),
        ("# Sport\n\n- Great value for little money\n\n| 1 | 2 |", ["Great value for little money"]),
        ("# Sport\n\n# Weather\n\n---", ["Sport", "Weather"]),
        ("| 1 | 2 |\n\n| 3 | 4 |", ["1 | 2 |", "3 | 4 |"]),
    ],
)
def test_a_document_without_sentences_offers_the_next_best(text, kept):
    assert texts(Cluster.from_texts([text])) == kept


STORY = "The dam at Hollow Creek broke on Monday. Two bridges were lost."


def test_a_paragraph_of_several_files_counts_once():
    again = STORY.upper().replace(" ", "\n").replace(".", " .")
    cluster = Cluster.from_texts([STORY, f"The river rose by a metre.\n\n{again}", "Nobody was hurt."])
    assert texts(cluster) == [*STORY.replace(". ", ".|").split("|"), "The river rose by a metre.", "Nobody was hurt."]
    assert {(x.code, x.reason) for x in cluster.candidates().set_aside} == {("repeated", "repeated from document 1")}
    assert len(texts(cluster, keep_all=True)) == 6
    assert len(texts(Cluster.from_texts([f"{STORY}\n\n{STORY}"]))) == 4  # in one file it may be meant


@pytest.mark.parametrize(
    "story",
    [
        STORY,
        "Το φράγμα έσπασε τη Δευτέρα και ο ποταμός πήρε τις δύο γέφυρες της πόλης.",
        "انهار السد يوم الاثنين وجرف النهر الجسرين معا إلى البحر القريب.",
    ],
)
def test_a_paragraph_is_the_same_in_other_marks_in_any_script(story):
    first, rest = story.split(" ", 1)
    again = f"“{first.upper()}  {rest}”"
    changed = f"{story[:-1]} 2031."
    found = Cluster.from_texts([story, again, changed]).candidates()
    assert {(x.document, x.reason) for x in found.set_aside} == {(1, "repeated from document 1")}


PAGES = [
    "The river rose by a metre on Monday.",
    "Nine roads in the valley were closed.",
    "Schools will open again in May.",
    "The army sent two hundred soldiers.",
    "A farmer lost forty sheep.",
]
TWEETS = "You can add places to what you write."


def test_what_most_files_say_word_for_word_is_no_candidate():
    pages = [
        f"{text} It was a long and wet week for everyone there, said {i}.\n\n{TWEETS}" for i, text in enumerate(PAGES)
    ]
    found = Cluster.from_texts(pages).candidates()
    assert TWEETS not in [s.text for s in found.sentences]
    assert sum(x.code == "boilerplate" for x in found.set_aside) == 5
    assert len(found.sentences) == 10
    few = Cluster.from_texts(pages[:3]).candidates()  # of three files "most" says little: it counts once
    assert [s.text for s in few.sentences].count(TWEETS) == 1
    some = [page if i < 2 else PAGES[i] for i, page in enumerate(pages)]  # in two of five
    assert texts(Cluster.from_texts(some)).count(TWEETS) == 1


def test_a_story_that_most_papers_took_from_an_agency_is_no_boilerplate():
    papers = [f"{lead}\n\n{STORY} Nobody was hurt, the mayor of the town told reporters." for lead in PAGES]
    found = texts(Cluster.from_texts([*papers, "It rained for nine days in the north."]))
    assert found.count("Two bridges were lost.") == 1
    assert len(found) == 5 + 3 + 1


NEWS = "The river rose by a metre on Monday after the storm. Nine roads in the valley were closed to cars."
FLUSS = "Der Fluss stieg am Montag nach dem Sturm um einen Meter an. Neun Straßen im Tal wurden für Autos gesperrt."


def test_where_most_is_in_one_language_the_rest_is_set_aside():
    other = "The dam at Orrin holds, and the council, which has met on Friday, will vote on the walls that they want."
    for text in (FLUSS, "青岭县最大的茶园今年春天第一次使用无人机采摘茶叶。"):
        found = Cluster.from_texts([f"{NEWS}\n\n{text}", other, f"{other[:-1]} for the mill."]).candidates()
        assert {x.code for x in found.set_aside if x.text in text} == {"language"}
        assert not any(s.text in text for s in found.sentences)
        assert len(found.sentences) == 4
    mixed = f"{NEWS} It is not known whether they will open. Der Damm ist alt, aber er wird halten, und das ist gut."
    assert [x.text[:8] for x in Cluster.from_texts([mixed, other]).candidates().set_aside] == ["Der Damm"]
    assert len(texts(Cluster.from_texts([f"{other} He is Herr von und zu Stein, and is not amused."]))) == 2
    assert len(texts(Cluster.from_texts([NEWS, FLUSS]))) == 4  # neither is most of it
    assert len(texts(Cluster.from_texts([NEWS, other, "Bravo! Neun Straßen."]), keep_all=True)) == 5
