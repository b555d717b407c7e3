"""HTML inside other files (books, e-mails), as blocks."""

from __future__ import annotations

from collections.abc import Iterator

from dpplearn.summarize.text.blocks import MARKS
from dpplearn.summarize.text.markup import html_to_text


def page_blocks(source: str) -> Iterator[tuple[str, str]]:
    """Kinds and texts of the blocks of a page; the title, where it stands in the page itself, is a heading.

    Examples
    --------
    >>> list(page_blocks("<h1>One</h1><p>It rained.<ul><li>Wet</ul>"))
    [('heading', 'One'), ('paragraph', 'It rained.'), ('item', 'Wet')]
    """
    text, title = html_to_text(source)
    if title:
        yield "heading", title
    for block in text.split("\n\n"):
        found = next(((kind, mark) for kind, mark in MARKS.items() if block.startswith(mark)), ("paragraph", ""))
        yield found[0], block.removeprefix(found[1])
