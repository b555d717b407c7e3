"""Figure 5: the documents of the example cluster, a reference summary, and an extract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from dpplearn.plots.style import LIGHT, TITLE_SIZE, TWO_COLUMNS, style
from dpplearn.summarize.corpora.cluster import Cluster, Sentence
from dpplearn.summarize.summarizer import Summarizer

BUDGET = 665  # bytes, as in section 7
GROUNDS = ("#BFE0F2", "#FBD9A8", "#BCE5D5", "#F2CFE0", "#F7F2A0", "#D9D9D9", "#F4C7AC")  # tints of the palette
NUMBERS = "①②③④⑤⑥⑦⑧⑨"
WIDTH, HEIGHT = 72 * TWO_COLUMNS, 372.0  # points
SIZE, HEAD, SMALL_SIZE = 6.2, 6.8, 5.6
PAD, GAP, TOP = 5.0, 8.0, 18.0
LEADING = 1.22  # distance of lines in type sizes
Word = tuple[str, str | None]  # a word, and the colour behind it, if any


def words(text: str, ground: str | None = None) -> list[Word]:
    return [(part, ground) for part in text.split()]


def width_of(text: str, size: float, weight: str = "normal") -> float:
    """The width of a text in points, in matplotlib's current font; it is the same for every backend."""
    font = FontProperties(size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def wrap(text: Iterable[Word], width: float, size: float, weight: str = "normal") -> list[list[Word]]:
    """Break words into lines of at most `width` points; a wider word gets a line of its own."""
    lines: list[list[Word]] = []
    space, used = width_of(" ", size, weight), 0.0
    for word in text:
        wide = width_of(word[0], size, weight)
        if not lines or used + space + wide > width:
            lines.append([])
            used = -space
        lines[-1].append(word)
        used += space + wide
    return lines


def draw_lines(
    ax: Axes, lines: list[list[Word]], x: float, y: float, size: float, *, color: str = "black", weight: str = "normal"
) -> float:
    """Draw lines from the corner (x, y) down, on axes whose unit is a point, and return the y below them.

    Neighbouring words on the same ground are drawn as one text.
    """
    for line in lines:
        base, at = y + 0.95 * size, x
        for ground, group in groupby(line, key=itemgetter(1)):
            text = " ".join(word for word, _ in group)
            wide = width_of(text, size, weight)
            if ground is not None:
                box = Rectangle((at - 0.8, y + 0.1 * size), wide + 1.6, 1.1 * size, color=ground, lw=0, zorder=1)
                ax.add_patch(box)
            ax.text(at, base, text, size=size, color=color, weight=weight, va="baseline", parse_math=False, zorder=2)
            at += wide + width_of(" ", size, weight)
        y += LEADING * size
    return y


def marked(sentence: Sentence, marks: Mapping[Sentence, int]) -> list[Word]:
    """The words of a sentence; a sentence of the extract gets its number and its ground."""
    if sentence not in marks:
        return words(sentence.text)
    i = marks[sentence]
    return words(f"{NUMBERS[i % len(NUMBERS)]} {sentence.text}", GROUNDS[i % len(GROUNDS)])


def excerpt(sentences: Sequence[Sentence], marks: Mapping[Sentence, int], width: float, lines: int) -> list[list[Word]]:
    """As much of a document as fits: the sentences of the extract, then the first words, with "…" for the rest."""
    texts, shown = [marked(sentence, marks) for sentence in sentences], list[list[Word]]()
    first = sorted(range(len(texts)), key=lambda i: sentences[i] not in marks)
    taken = [i for i in first for _ in texts[i]]  # the sentence of each word, in the order of taking
    for count in range(1, len(taken) + 1):
        kept, text = Counter(taken[:count]), list[Word]()
        for i, whole in enumerate(texts):
            text += whole[: kept[i]]
            if kept[i] < len(whole) and text[-1:] != words("…"):
                text += words("…")
        wrapped = wrap(text, width, SIZE)
        if len(wrapped) > lines + 1:
            break
        if len(wrapped) <= lines:
            shown = wrapped
    return shown


@style()
def draw() -> Figure:
    """Articles on the left, in which the extract is marked; a reference and the extract on the right."""
    summary = Summarizer.load().summarize(Cluster.example(), BUDGET, "bytes", annotate=False)
    cluster = summary.split.cluster
    sentences = summary.split.sentences
    marks = {sentence: i for i, sentence in enumerate(summary.sentences)}
    figure = Figure(figsize=(TWO_COLUMNS, HEIGHT / 72))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    ax.axis("off")

    column, across = 152.0, 2
    rows = -(-len(cluster.documents) // across)
    tall = (HEIGHT - TOP - (rows - 1) * GAP - 1) / rows
    for k, document in enumerate(cluster.documents):
        x, y = 1 + (column + GAP) * (k % across), TOP + (tall + GAP) * (k // across)
        card(ax, x, y, column, tall)
        inside = column - 2 * PAD
        title = wrap(words(document.title or ""), inside, HEAD, "bold")
        down = draw_lines(ax, title, x + PAD, y + PAD, HEAD, weight="bold")
        place = [words(f"{document.id.removesuffix('.txt')}, {document.date}")]
        down = draw_lines(ax, place, x + PAD, down, SMALL_SIZE, color="#5F5F5F") + 2
        room = int((y + tall - PAD - down) / (LEADING * SIZE))
        text = excerpt([s for s in sentences if s.document == k], marks, inside, room)
        draw_lines(ax, text, x + PAD, down, SIZE)
    right = 1 + across * (column + GAP) + 6
    wide = WIDTH - right - 1
    reference = [wrap(words(line), wide - 2 * PAD, SIZE + 1) for line in cluster.references[0].splitlines()]
    chosen = [wrap(marked(sentence, marks), wide - 2 * PAD, SIZE + 1) for sentence in summary.sentences]
    y = TOP
    for heading, parts in (
        (f"Reference summary, one of {len(cluster.references)}", reference),
        (f"Extract, {summary.length:g} bytes", chosen),
    ):
        draw_lines(ax, [words(heading)], right, y - TOP + 2, TITLE_SIZE)
        height = 2 * PAD + sum(len(part) for part in parts) * LEADING * (SIZE + 1) + 3 * (len(parts) - 1)
        card(ax, right, y, wide, height)
        down = y + PAD
        for part in parts:
            down = draw_lines(ax, part, right + PAD, down, SIZE + 1) + 3
        y += height + GAP + TOP
    heading = f"Cluster of {len(cluster.documents)} articles, {len(sentences)} sentences"
    draw_lines(ax, [words(heading)], 1, 2, TITLE_SIZE)
    return figure


def card(ax: Axes, x: float, y: float, width: float, height: float) -> None:
    ax.add_patch(Rectangle((x, y), width, height, fc="white", ec=LIGHT, lw=0.7, zorder=0))
