"""Texts that are pages or Markdown without being called so, shares of short ones, and marks of Markdown."""

import pytest

from dpplearn.summarize import summarize
from dpplearn.summarize.corpora.documents import as_cluster
from dpplearn.summarize.text.blocks import join_blocks
from dpplearn.summarize.text.markdown import is_markdown, read_markdown
from dpplearn.summarize.text.sentences import split_sentences
from dpplearn.summarize.text.units import budget_in_unit

PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Mill</title></head><body><nav>Home</nav><p>The mill burned.</p></body></html>"
)


@pytest.mark.parametrize("given", [PAGE, PAGE.replace("\n", ""), PAGE.partition("\n")[2], PAGE.encode()])
def test_a_page_is_read_as_one(given):
    document = as_cluster(given).documents[0]
    assert document.title == "Mill"
    assert [block.kind for block in document.blocks] == ["navigation", "paragraph"]


def test_markdown_is_read_as_such_only_where_it_is_plain():
    marked = "# Mill\n\nThe mill **burned** on [Sunday](a.md).\n\n- Wet wood.\n"
    settings = "---\ntitle: Mill\ntags: [fire]\n---\n\nThe mill burned.\n"
    for text in (marked, settings):
        assert is_markdown(text)
        for given in (text, text.encode()):
            document = as_cluster(given).documents[0]
            assert "**" not in document.text
            assert "tags" not in document.text
    for text in (
        "# not a heading\nx = 2 ** 3 ** 4\n",
        "The mill burned.\n\n# 4 of the workers\nwere hurt.",
        "---\n\nThe mill burned.\n\n---\n",
        "He wrote **no** and [that](was it).",
        "# a comment\n\nThe mill burned.",
    ):
        assert not is_markdown(text), text


def test_a_share_has_room_for_one_sentence():
    texts = ["The bridge at Mill Lane is shut until Friday.", "Boats go."]
    assert budget_in_unit("20%", "words", texts, best=texts[0]) == 9
    assert budget_in_unit("90%", "words", texts, best=texts[0]) == 9
    assert budget_in_unit("100%", "words", texts, best=texts[0]) == 11
    assert budget_in_unit("20%", "sentences", texts, best=texts[0]) == 1
    assert str(summarize(" ".join(texts), budget="20%")) in texts


def shown(source):
    text, blocks = join_blocks(read_markdown(source)[0])
    return [(block.kind, text[block.start : block.end]) for block in blocks]


def test_marks_of_markdown():
    assert shown("It opens ~~on Monday~~ on Tuesday.") == [("paragraph", "It opens on Tuesday.")]
    assert shown("~~It opens on Monday.~~") == []
    assert shown("> [!NOTE]\n> The key is under the mat.") == [("quotation", "The key is under the mat.")]
    assert shown("The ==second gate== is shut, if a == b.") == [("paragraph", "The second gate is shut, if a == b.")]
    assert shown("Gate\n: What lets water in.\n: What lets it out.\n\nMat\n:   It lies there.") == [
        ("paragraph", "Gate"),
        ("item", "What lets water in."),
        ("item", "What lets it out."),
        ("paragraph", "Mat"),
        ("item", "It lies there."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Wir liefern in der 31. Kalenderwoche. | Danach ist zu.",
        "Das Amt in der Lindenstr. 4 ist zu. | Kommen Sie morgen.",
        "Er wohnt am 3. Platz links. | Sie nicht.",
        "Wir treffen uns am 20. | Dann gehen wir essen.",
        "La ville fut prise en 146 av. J.-C. par Rome. | Elle brûla.",
        "I am 20. | The others are older.",
        "Rep. Ann Ash, R-Tenn. was there. | She spoke.",
    ],
)
def test_periods_that_end_and_that_do_not(text):
    plain = text.replace(" | ", " ")
    assert [plain[start:end] for start, end in split_sentences(plain)] == text.split(" | ")
