"""HTML inside other files (books, e-mails), as blocks."""

from __future__ import annotations

from collections.abc import Iterator

from dpplearn.summarize.text.page import read_html


def page_blocks(source: str) -> Iterator[tuple[str, str]]:
    """Kinds and texts of the blocks of a page; the title, where it stands in the page itself, is a heading.

    Examples
    --------
    >>> list(page_blocks("<h1>One</h1><p>It rained.<ul><li>Wet</ul>"))
    [('heading', 'One'), ('paragraph', 'It rained.'), ('item', 'Wet')]
    """
    page, title = read_html(source)
    if title:
        yield "heading", title
    text = page.text
    for block in page.blocks:
        yield block.kind, text[block.start : block.end]
