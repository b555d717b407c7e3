"""What objects show of themselves: short reprs, and cards of HTML that hold no markup of the user's."""

from html.parser import HTMLParser

import numpy as np
import pytest

from dpplearn import ConditionalDPP, ItemSet
from dpplearn.summarize import Cluster, Document, Summarizer

NASTY = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"
RNG = np.random.default_rng(0)


def objects():
    """Every kind of object that has a card, with hostile names and texts."""
    F = RNG.normal(size=(6, 2))
    items = ItemSet(F, phi=np.eye(6), names=[NASTY, "b"])
    model = ConditionalDPP().fit([items] * 3, [[0, 1], [2], [3, 4]])
    text = f"A storm {NASTY} sank ten boats on Friday. Nobody was hurt. {NASTY} rose."
    cluster = Cluster([Document(NASTY, text, title=NASTY, date=NASTY), Document("b", 40 * text)], [text], NASTY)
    summarizer = Summarizer.load()
    summary = summarizer.summarize(cluster, 8, "words")
    return [model, ConditionalDPP(), cluster, summary, model.summary()]


SHOWN = objects()


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen |= {tag, *(name for name, _ in attrs)}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("one", SHOWN, ids=lambda one: type(one).__name__)
def test_cards_are_light_whole_and_escaped(one):
    page = one._repr_html_()
    assert len(page) < 40_000
    tags = Tags(page)
    assert not tags.open  # every tag is closed
    assert tags.seen <= {
        *("div", "style", "h4", "p", "small", "table", "tr", "td", "th", "ol", "li"),
        *("class", "dir"),
    }
    assert "http" not in page
    assert "<script" not in page
    assert "color-scheme:light dark" in page
