"""Read a Markdown file as blocks of known kinds: markdown-it-py makes a page of it, which is read as any page is."""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from dpplearn.summarize.text.blocks import Part
from dpplearn.summarize.text.page import read_html
from dpplearn.summarize.text.sentences import CODE

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

NESTING = 60  # of lists and quotations; the parser drops deeper ones
BRACKETS = 10  # in each other; deeper ones are text. The parser's time grows by as many times
_MANY_MARKS = re.compile(r"^[>*+\- \t]{40,}", re.MULTILINE)  # at the head of a line
_LINE_HEAD = re.compile(r"(?:[*+\-0-9.) \t]*(?:>[*+\-0-9.) \t]*)*>)?")
_MOST_ENDS = 5  # of quotations without a blank line between them
_FRONT = {"---": ("---", "..."), "+++": ("+++",)}  # YAML, TOML
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,60}\](:\s?)?")  # footnotes, which CommonMark does not know
_TASK = re.compile(r"^\s*(?:\[[ xX]\]\s+|\[![A-Za-z]{3,20}\][+-]?\s*)")  # [x] of a task, [!NOTE] of a quotation
_SETTINGS = re.compile(r"---[ \t]*\r?\n[A-Za-z][\w-]{0,40}:[ \t\r\n]|\+\+\+[ \t]*\r?\n[A-Za-z][\w-]{0,40} ?=")
_HEADING = re.compile(r"(?:\A|\n\r?\n)#{1,6} [^\s#][^\n]{0,200}(?:\n\r?\n|\Z)")
_OTHER_MARKS = re.compile(r"\]\([^()\s]{1,300}\)|\*\*[^*\s][^*\n]{0,200}\*\*|^```|^\|? ?:?-{3,}:? ?\|", re.MULTILINE)
_MARKED = re.compile(r"(?<![=\w])==(?=\S)([^=\n]{1,300})(?<=\S)==(?![=\w])")
_DEFINITION = re.compile(r"^:[ \t]+(?=[^\W_]|[\"'*`(])", re.MULTILINE)  # under the term that it defines
_DIRECTIVE = re.compile(r":::|!!!\s|\?\?\?\+?\s|\{%|\{\{|\[TOC\]|\[\[toc\]\]", re.IGNORECASE)  # of site generators
_STOPPED = re.compile(r"[^\W\d_]{3}[.!?][\"')]?\s$")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only where there is Markdown to read

    shallow = MarkdownIt("commonmark", {"maxNesting": BRACKETS}).enable("strikethrough")

    def inline(state: StateCore) -> None:
        for token in state.tokens:
            if token.type == "inline" and token.children is not None:
                shallow.inline.parse(token.content, shallow, state.env, token.children)

    def name_paragraphs(state: StateCore) -> None:
        tokens = state.tokens
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if token.type == "inline":
                tag = _clean_inline(token, top=before.level == 0)
                if tag != "p" and before.type == "paragraph_open":
                    for end in (before, after):
                        end.tag, end.hidden = tag, False

    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable("table")
    parser.core.ruler.at("inline", inline)
    parser.core.ruler.push("name_paragraphs", name_paragraphs)
    return parser


def read_markdown(source: str) -> tuple[list[Part], str | None]:
    """Return the blocks of a Markdown file and its title, which is its first heading of level 1.

    Front matter, what is struck out, link targets and images in a text are dropped. A paragraph in bold is a heading,
    one of images a caption, as is a footnote; one of links is navigation. The rest is as in `read_html`.

    Examples
    --------
    >>> read_markdown("# Rain\\n\\nIt *rained* in [Oslo](x.md).\\n\\n- Wet\\n\\na | b\\n--|--\\n1 | 2")
    ([('paragraph', 'It rained in Oslo.'), ('item', 'Wet'), ('row', 'a | b'), ('row', '1 | 2')], 'Rain')
    """
    source = source.removeprefix("\ufeff")
    return read_html(_parser().render(_plain_marks(source[len(front_matter(source)) :])), fragment=True)


def is_markdown(text: str) -> bool:
    """Whether a text is Markdown beyond doubt: it has front matter, or a heading and other marks.

    Examples
    --------
    >>> [is_markdown(text) for text in ("# Rain\\n\\nIt *is* **wet** in [Oslo](x.md).", "# make it so\\nx = 1")]
    [True, False]
    """
    text = text.removeprefix("\ufeff")
    if _SETTINGS.match(text):
        return front_matter(text) != ""
    return _HEADING.search(text) is not None and _OTHER_MARKS.search(text) is not None


def _plain_marks(source: str) -> str:
    """A Markdown text without marks that nobody writes, are deeper than the parser goes, or cost it much time.

    The parser looks for the end of a quotation as far as the next blank line. Where quotations end again and again, a
    blank line is put between them.
    """
    source = _DEFINITION.sub("\n- ", source.replace("\r\n", "\n").replace("\r", "\n"))
    source = _MANY_MARKS.sub(lambda match: match[0] if match[0].isspace() else match[0][:20], source)
    if ">" not in source:
        return source
    lines, depth, ends = list[str](), 0, 0
    for line in source.split("\n"):
        before, depth = depth, _LINE_HEAD.match(line)[0].count(">")  # type: ignore[index]  # it matches nothing, too
        ends = ends + (depth < before) if line.strip() else 0
        if ends > _MOST_ENDS:
            lines.append("")
            ends = 0
        lines.append(line)
    return "\n".join(lines)


def _clean_inline(inline: Token, top: bool) -> str:
    """Take from a block what is struck out, images, tags and marks that CommonMark does not know.

    Returns the name of the element that a paragraph with this content is.
    """
    kept: list[Token] = []
    images: list[Token] = []
    struck, before = 0, ""
    for token in inline.children or ():
        struck += token.nesting * (token.tag == "s")
        if struck or token.tag == "s" or (token.type == "html_inline" and token.content[:3].lower() != "<br"):
            continue
        if token.type == "text":
            token.content = _MARKED.sub(r"\1", token.content)
        elif token.type == "code_inline" and _STOPPED.search(before):
            token.content = CODE + token.content  # a name in small letters, which may begin a sentence
        before = before if token.nesting else token.content
        (images if token.type == "image" else kept).append(token)
    text = "".join(token.content for token in kept).strip()
    inline.children = kept
    if not text:
        alts = ("".join(part.content for part in image.children or ()) for image in images)
        for image in images[:1]:
            image.type, image.content, inline.children = "text", ", ".join(filter(None, alts)), [image]
        return "figcaption"
    head = next(token for token in kept if token.content.strip())
    if head.type == "text" and not top:
        head.content = _TASK.sub("", head.content)
    note = _FOOTNOTE.match(head.content)
    for token in kept:
        token.content = _FOOTNOTE.sub("", token.content) if token.type == "text" else token.content
    if note and note[1]:
        return "figcaption"
    if _DIRECTIVE.match(text):
        return "pre"
    depth = accumulate(token.nesting * (token.tag == "strong") for token in kept)
    bold = all(d or not token.content.strip() for d, token in zip(depth, kept, strict=True))
    linked = any(token.tag == "a" for token in kept)
    return "h6" if bold and top and not linked and text[-1] not in ".!?。！？।:" else "p"


def front_matter(source: str) -> str:
    """The settings of a site generator at the head of a file, or nothing."""
    lines = source.removeprefix("\ufeff").splitlines(keepends=True)
    ends = _FRONT.get(lines[0].rstrip()) if lines else None
    last = next((k for k, line in enumerate(lines[1:], 2) if line.rstrip() in ends), 0) if ends else 0
    return "".join(lines[:last])
