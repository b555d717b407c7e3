"""A Markdown extension that turns formulas into MathML for `make docs`; browsers draw MathML without help.

`pymdownx.arithmatex` finds and marks the formulas (`$...$`, `\\(...\\)`, `$$...$$`, `\\[...\\]`), and this extension
converts them while the page is built. So a page needs no script, font or network for its formulas.

>>> from markdown import markdown
>>> page = markdown("$q_i$", extensions=["pymdownx.arithmatex", Formulas()], extension_configs=ARITHMATEX)
>>> page.startswith('<p><math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">')
True
"""

from __future__ import annotations

import re
from html import unescape

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor

ARITHMATEX = {"pymdownx.arithmatex": {"generic": True}}
MARKED = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
TAG = re.compile(r"\\tag\{([^}]*)\}")  # the number of an equation, shown at its end
LEFT_OVER = re.compile(r"\\[A-Za-z]+|<mi>&</mi>")


def to_mathml(tex: str, display: str = "inline") -> str:
    """The MathML of a formula; an error names the commands that cannot be drawn.

    >>> to_mathml(r"\\foo{x}")
    Traceback (most recent call last):
        ...
    ValueError: the formula \\foo{x} has commands that cannot be drawn: \\foo. Write it with commands of plain LaTeX.
    """
    mathml = convert(TAG.sub(r"\\qquad (\1)", tex.strip()), display=display)
    unknown = LEFT_OVER.findall(mathml)
    if unknown:
        raise ValueError(
            f"the formula {tex.strip()} has commands that cannot be drawn: {', '.join(unknown)}. "
            "Write it with commands of plain LaTeX."
        )
    return mathml


class Draw(Postprocessor):
    """Replace the formulas that arithmatex marked."""

    def run(self, text: str) -> str:
        return MARKED.sub(lambda match: to_mathml(unescape(match[2]), "block" if match[1] == "div" else "inline"), text)


class Formulas(Extension):
    """The extension; it runs after raw HTML, where arithmatex keeps its blocks, is put back (priority 30)."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.postprocessors.register(Draw(md), "formulas", 5)


def makeExtension(**options: object) -> Formulas:
    return Formulas(**options)
