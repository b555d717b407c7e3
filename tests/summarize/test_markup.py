"""Pages and Markdown: what their blocks are, whatever is broken in them."""

import pytest

from dpplearn.summarize.text.blocks import find_blocks, join_blocks
from dpplearn.summarize.text.markdown import read_markdown
from dpplearn.summarize.text.page import read_html

PAGE = """<body class="has-sidebar"><header><h1>Ferry</h1><p>We use cookies to measure visits.</p></header>
<div id="cookieConsent"><p>We value your privacy. <a href="/x">More</a></p></div>
<ul class='breadcrumbs'><li><a href=/>Home</a><li>News</ul>
<article><header><p class="byline">By ANNA OSEI</p><p>The ferry sails again.</p></header><p>It left at nine.</p>
<h2>Figures</h2><table><caption>Tickets</caption><tr><th>Year<td>Sold<tr><td>2031</td><td>12</td></tr></table>
<table><tr><td><p>A page made with tables says this.</p></td></tr></table>
<figure><img alt=x><figcaption>The old pier.</figcaption></figure><blockquote><p>We are glad.</p>
<footer>The captain</footer></blockquote><pre>a  = 1
b</pre><ul><li>Bring a coat. <li><a href="b.html">Timetable for the winter</a></ul>
<div class="share-buttons">Tell your friends about it.</div><p><a href="x">Read the next story on ferries</a></p>
<p>8 May 2031</p></article><aside><p>Most read.</p></aside><footer>Imprint</footer>"""
MARKDOWN = """---
tags: x
---
Rain *today*
============

**Summary**

It **rained** in [Oslo][1], `again`, on snake_case.[^n]
See ![a map](map.png) and <https://a.example>.

- [Roads](#roads)

## Roads ##
> Closed.

| Opening | 2031 |
|---------|:----:|
| Length  | *3* km |

```python
code = 1
```
***
* one
* [ ] two

  still two

![The *old* pier](pier.png)

<p class="newsletter">Join us.</p>

<p>More &amp; <i>more</i>.</p>

!!! note

[^n]: By the gauge.

[1]: https://oslo.example
"""


def joined(parts):
    return join_blocks(parts)[0]


def kinds(parts):
    text, blocks = join_blocks(parts)
    return [(block.kind, text[block.start : block.end]) for block in blocks]


def test_a_page_keeps_what_its_blocks_are():
    made, title = read_html(PAGE)
    assert title == "Ferry"
    assert kinds(made) == [
        ("banner", "We use cookies to measure visits."),
        ("banner", "We value your privacy. More"),
        ("navigation", "Home"),
        ("navigation", "News"),
        ("byline", "By ANNA OSEI"),
        ("paragraph", "The ferry sails again."),
        ("paragraph", "It left at nine."),
        ("heading", "Figures"),
        ("caption", "Tickets"),
        ("row", "Year | Sold"),
        ("row", "2031 | 12"),
        ("paragraph", "A page made with tables says this."),
        ("caption", "The old pier."),
        ("quotation", "We are glad."),
        ("byline", "The captain"),
        ("code", "a = 1\nb".replace("a =", "a  =")),
        ("item", "Bring a coat."),
        ("navigation", "Timetable for the winter"),
        ("navigation", "Tell your friends about it."),
        ("navigation", "Read the next story on ferries"),
        ("byline", "8 May 2031"),
        ("navigation", "Most read."),
        ("navigation", "Imprint"),
    ]


@pytest.mark.parametrize(
    "seed", ["<", "<!--", "<a ", '<a b="', "</", "&", "<script>", "<p>", "<!", '<a b=">'], ids=repr
)
def test_broken_html_is_no_trap(seed):
    made, _ = read_html("<p>Rain fell.</p>" + seed * (300_000 // len(seed)))
    assert joined(made).startswith("Rain fell.")


def test_markdown():
    made, title = read_markdown(MARKDOWN)
    assert title == "Rain today"
    assert kinds(made) == [
        ("heading", "Summary"),
        ("paragraph", "It rained in Oslo, again, on snake_case. See and https://a.example."),
        ("navigation", "Roads"),
        ("heading", "Roads"),
        ("quotation", "Closed."),
        ("row", "Opening | 2031"),
        ("row", "Length | 3 km"),
        ("code", "code = 1"),
        ("item", "one"),
        ("item", "two"),
        ("item", "still two"),
        ("caption", "The old pier"),
        ("banner", "Join us."),
        ("paragraph", "More & more."),
        ("code", "!!! note"),
        ("caption", "By the gauge."),
    ]


@pytest.mark.parametrize(
    ("head", "left"),
    [
        ("---\na: b\n---\n", "Rain."),
        ("---\na: b\n...\n", "Rain."),
        ("+++\na = 1\n+++\n", "Rain."),
        ("---\r\na: b\r\n---\r\n", "Rain."),
        ("---\na: b\n\n", "a: b\n\nRain."),  # never closed: a rule
    ],
)
def test_front_matter_is_no_text(head, left):
    assert joined(read_markdown(head + "Rain.")[0]) == left


def test_deep_markdown_is_no_trap():
    assert joined(read_markdown("> " * 3_000 + "deep.")[0]).endswith("deep.")
    assert joined(read_markdown("- " * 3_000 + "deep.")[0]).endswith("deep.")


def test_what_is_bounded_in_markdown_keeps_its_text():
    """Deep quotations, brackets and tables whose rows lack cells: all their words are there, and what they are."""
    made = read_markdown("> > > > > > > > It rained.\n>>>>>>> It poured.\n")[0]
    assert [text for _, text in kinds(made)] == ["It rained. It poured."]
    assert kinds(made)[0][0] == "quotation"
    words = " ".join(f"w{i}" for i in range(20))
    assert joined(read_markdown("[" * 20 + words + "]" * 20)[0]) == "[" * 20 + words + "]" * 20
    assert joined(read_markdown("A [![map](m.png) of **the** *sea*](z).")[0]) == "A of the sea."
    rows = [f"| part {i} |" if i % 5 == 0 else f"| row {i} | of | the | whole | table | {i} |" for i in range(40)]
    found = kinds(read_markdown("| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n" + "\n".join(rows))[0])
    assert [kind for kind, _ in found] == ["row"] * 41  # a row of a single cell, now and then, ends no table


def test_tags_that_a_corpus_left_before_sentences_are_not_said():
    text = '<S sid ="5" ssid = "1">The river rose by two meters.\n<S sid="6" ssid="2">If a<b, the bridge closes.'
    sentences = [text[block.start : block.end] for block in find_blocks(text)]
    assert sentences == ["The river rose by two meters.", "If a<b, the bridge closes."]
