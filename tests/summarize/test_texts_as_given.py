"""Texts that are pages or Markdown without being called so, shares of short ones, and marks of Markdown."""

import pytest

from dpplearn.summarize import summarize
from dpplearn.summarize.corpora.documents import as_cluster
from dpplearn.summarize.text.markdown import is_markdown
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
