"""Writes docs/architecture.md and its picture from the code: `python scripts/architecture.py`, or --check to compare.

It parses the modules of src/dpplearn and imports none. The layers are those of the table in CONTRIBUTING.md. The first
sentence of a room's docstring says what the room is for, and its imports say what it uses. Each arrow of the flow is a
public function or method whose annotations take one class and return the other.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from html import escape
from itertools import pairwise
from pathlib import Path

from source_map import PACKAGE, ROOT, Code, Module

PICTURE, PAGE = "docs/assets/architecture.svg", "docs/architecture.md"
BEGIN, END = "<!-- below: written by scripts/architecture.py -->", "<!-- end of what it writes -->"

# Each line: what a user has (or ""), and the classes that it becomes. The code says which functions lie between them.
FLOW = (
    ("texts, files", "Cluster", "ItemSet", "DPP", "Selection"),
    ("", "Cluster", "Summary", "Explanation"),
    ("", "ItemSet", "ConditionalDPP", "DPP"),
    ("a kernel", "DPP", "Subsets"),
    ("embeddings, scores", "DiverseSelection"),
)


# Rooms and layers


@dataclass(frozen=True)
class Room:
    """A module or package directly under dpplearn: its idea, its modules, and the rooms that it uses."""

    name: str
    layer: int
    idea: str
    modules: tuple[str, ...]  # of a package, with their folders
    folders: tuple[str, ...]  # of a package, each after those it uses
    uses: tuple[str, ...]  # rooms, highest layer first


def read_layers(root: Path = ROOT) -> tuple[dict[str, int], dict[int, str]]:
    """The layer of each room and the title of each layer, from the table of CONTRIBUTING.md.

    A row is `| number | title | names in backticks |`; the title may be missing.
    """
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    layers: dict[str, int] = {}
    titles: dict[int, str] = {}
    for number, cells in re.findall(r"^\| *(\d+) *\|(.+)\|$", text, re.MULTILINE):
        *title, names = cells.split("|")
        titles[int(number)] = title[0].strip() if title else ""
        layers |= {name.strip("/"): int(number) for name in re.findall(r"`([^`]+)`", names)}
    return layers, titles


def read_rooms(code: Code, layers: dict[str, int]) -> list[Room]:
    """Every room, lowest layer first, in the order of the table."""
    names = {module.room for module in code.modules.values() if module.name != PACKAGE}
    if unknown := sorted(names - layers.keys()):
        raise SystemExit(f"{', '.join(unknown)}: not in the table of layers in CONTRIBUTING.md.")
    return [read_room(name, code, layers, names) for name in layers if name in names]


def read_room(name: str, code: Code, layers: dict[str, int], names: set[str]) -> Room:
    prefix = f"{PACKAGE}.{name}"
    members = [m for m in code.modules.values() if m.name == prefix or m.name.startswith(f"{prefix}.")]
    used = {target.split(".")[1] for module in members for target in module.imports} & names - {name}
    below = [m.name.removeprefix(f"{prefix}.") for m in members if m.name != prefix]
    folders = [m.name.removeprefix(f"{prefix}.") for m in members if m.is_package and m.name != prefix]
    return Room(
        name=name,
        layer=layers[name],
        idea=code.modules[prefix].idea if prefix in code.modules else "",
        modules=tuple(sorted(path for path in below if path not in folders)),
        folders=in_order({f for f in folders if "." not in f}, prefix, members),
        uses=tuple(sorted(used, key=lambda other: (-layers[other], other))),
    )


def in_order(folders: set[str], prefix: str, members: list[Module]) -> tuple[str, ...]:
    """Folders of a package, each after those it imports from; sorted by name if the imports form a circle."""
    uses: dict[str, set[str]] = {folder: set() for folder in sorted(folders)}
    depth = prefix.count(".") + 1
    for module in members:
        home = module.name.split(".")[depth : depth + 1]
        for target in module.imports:
            other = target.split(".")[depth : depth + 1]
            if target.startswith(f"{prefix}.") and home != other and set(home + other) <= folders and home:
                uses[home[0]].update(other)
    try:
        return tuple(TopologicalSorter({folder: sorted(used) for folder, used in uses.items()}).static_order())
    except CycleError:
        return tuple(uses)


# The picture

WIDTH, MARGIN, GUTTER, GAP, PAD = 920, 16, 108, 10, 12  # a page shows it about 700 pixels wide
SIZE, SMALL = 13, 12  # font sizes
CLASS, INPUT = 146, 84  # widths in the flow: of a class, and of what a user has
STYLE = """
  svg { --paper: #ffffff; --ink: #1c2330; --soft: #5b6472; --line: #c9d0da; --box: #f6f8fb; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #15181e; --ink: #e9edf3; --soft: #a3adbb; --line: #3b4452; --box: #1e232c; }
  }
  .paper { fill: var(--paper); }
  .box { fill: var(--box); stroke: var(--line); }
  .band { fill: none; stroke: var(--line); stroke-dasharray: 2 4; }
  .arrow { stroke: var(--soft); stroke-width: 1.5; fill: none; }
  .head { fill: var(--soft); }
  text { font-family: Helvetica, Arial, sans-serif; font-size: 13px; fill: var(--ink); }
  .title { font-size: 18px; font-weight: bold; }
  .name { font-size: 14px; font-weight: bold; }
  .soft, .step { fill: var(--soft); }
  .step { font-size: 12px; }
"""
# One colour for each layer, from 1. Most colour-blind people can distinguish them, on light and dark pages.
COLOURS = ("#7f8894", "#5b8fd6", "#0f8b8d", "#3a9d4f", "#c98a00", "#d9622b", "#b65aa8", "#8a6fd1")


def width_of(text: str, size: float = SIZE) -> float:
    """A generous estimate of the width in pixels, for DejaVu Sans, the widest likely replacement font."""
    wide, narrow = set("mwMW@%—…→"), set("ijl.,:;'|()[]`!ftrI ")
    return size * sum(0.95 if c in wide else 0.4 if c in narrow else 0.72 if c.isupper() else 0.62 for c in text)


def wrap(text: str, width: float, size: float = SIZE) -> list[str]:
    """Lines of at most this width in pixels."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def text_at(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    more = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(text)}</text>'


def box_at(x: float, y: float, width: float, height: float, colour: str) -> list[str]:
    """A box with a coloured left edge."""
    return [
        f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>',
        f'<rect x="{x:g}" y="{y:g}" width="5" height="{height:g}" rx="2" fill="{colour}"/>',
    ]


def draw_flow(code: Code, layers: dict[str, int], top: float) -> tuple[list[str], float]:
    """Draw lanes of classes, with the functions between them; a lane begins under its first class in the first lane."""
    out = [text_at(MARGIN, top, "How data flows: the classes, and the functions between them", "title")]
    columns = FLOW[0][1:]
    step = (WIDTH - 2 * MARGIN - INPUT) / len(columns)
    y = top + 18
    for source, *classes in FLOW:
        first = columns.index(classes[0]) if classes[0] in columns else len(columns) - len(classes)
        tallest = 0
        for i, name in enumerate(classes):
            x = WIDTH - MARGIN - CLASS - (len(columns) - 1 - first - i) * step
            colour = COLOURS[layers[code.find(name).split(".")[1]] - 1]
            out += [*box_at(x, y, CLASS, 34, colour), text_at(x + CLASS / 2 + 2, y + 22, name, "name", "middle")]
            start, end, before = x - step + CLASS + 6, x - 5, classes[i - 1] if i else ""
            if source and not before:
                out.append(text_at(start - 6, y + 22, source, "", "end"))
            if source or before:
                out.append(f'<path class="arrow" d="M{start:g} {y + 17:g}H{end - 6:g}"/>')
                out.append(f'<path class="head" d="M{end:g} {y + 17:g}l-8 -4v8z"/>')
                functions = labels(code.between(before, name), before, name, step - 8)
                middle, tallest = (start + end) / 2, max(tallest, len(functions))
                out += [text_at(middle, y + 48 + 14 * k, line, "step", "middle") for k, line in enumerate(functions)]
        y += 34 + 14 * tallest + 16
    return out, y


def labels(names: list[str], start: str, end: str, width: float) -> list[str]:
    """Labels of at most three functions, in lines that fit; methods of the two classes are shown without the class."""
    short = [name.removeprefix(f"{start}.").removeprefix(f"{end}.") for name in names]
    lines: list[str] = []
    for name in short[:3]:
        lines += [name] if width_of(name, SMALL) <= width else [part for part in re.split(r"(?=\.)", name) if part]
    return [*lines, "…"] if len(short) > 3 else lines


def draw_rooms(rooms: list[Room], titles: dict[int, str], top: float) -> tuple[list[str], float]:
    """Draw a band for each layer, the highest first, with a box for each room."""
    out = [
        text_at(MARGIN, top, "The rooms: each imports from its own package and from the layers below", "title"),
    ]
    y = top + 16
    for layer in sorted({room.layer for room in rooms}, reverse=True):
        members = [room for room in rooms if room.layer == layer]
        across = -(-len(members) // -(-len(members) // 3))  # at most three in a row, in rows of equal length
        wide = (WIDTH - 2 * MARGIN - GUTTER - GAP * (across + 1)) / across
        start = y
        y += GAP
        for row in range(0, len(members), across):
            texts = [room_lines(room, wide - 2 * PAD) for room in members[row : row + across]]
            tall = 30 + 17 * max(map(len, texts)) + 6
            for i, (room, lines) in enumerate(zip(members[row : row + across], texts, strict=True)):
                x = MARGIN + GUTTER + GAP + i * (wide + GAP)
                out += [*box_at(x, y, wide, tall, COLOURS[layer - 1]), text_at(x + PAD + 2, y + 21, room.name, "name")]
                out += [text_at(x + PAD + 2, y + 40 + 17 * k, line, kind) for k, (line, kind) in enumerate(lines)]
            y += tall + GAP
        title = wrap(titles.get(layer, ""), GUTTER - 8)
        y = max(y, start + 58 + 16 * len(title))
        frame = f'x="{MARGIN}" y="{start:g}" width="{WIDTH - 2 * MARGIN}" height="{y - start:g}"'
        out.append(f'<rect class="band" {frame} rx="7"/>')
        out.append(f'<circle cx="{MARGIN + 26}" cy="{start + 28:g}" r="14" fill="{COLOURS[layer - 1]}"/>')
        number = f'<text x="{MARGIN + 26}" y="{start + 33:g}" class="name" text-anchor="middle" style="fill:#fff">'
        out.append(f"{number}{layer}</text>")
        out += [text_at(MARGIN + 12, start + 62 + 16 * i, line) for i, line in enumerate(title)]
        y += 8
    return out, y


def room_lines(room: Room, width: float) -> list[tuple[str, str]]:
    """The lines in the box of a room, with their style."""
    if room.folders:
        what = "inside: " + " → ".join(room.folders)
    else:
        what = f"{len(room.modules)} modules" if room.modules else ""
    uses = [name for name in room.uses if not name.startswith("_")]
    lines = [(line, "") for line in wrap(room.idea.replace("`", ""), width)]
    lines += [(line, "soft") for line in wrap(what, width)]
    return lines + [(line, "soft") for line in wrap(f"uses {', '.join(uses)}" if uses else "", width)]


def picture(code: Code, rooms: list[Room], layers: dict[str, int], titles: dict[int, str]) -> str:
    flow, y = draw_flow(code, layers, 40)
    bands, y = draw_rooms(rooms, titles, y + 34)
    size = f'viewBox="0 0 {WIDTH} {y + 10:g}" width="{WIDTH}" height="{y + 10:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t">'
    title = '<title id="t">The rooms of dpplearn in seven layers, and the classes that data pass through</title>'
    paper = f'<rect class="paper" width="{WIDTH}" height="{y + 10:g}"/>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", paper, *flow, *bands, "</svg>", ""])


# The page


def tables(code: Code, rooms: list[Room], titles: dict[int, str]) -> str:
    """The flow and the rooms as tables."""
    lines = ["## The flow", "", "| from | to | by |", "|---|---|---|"]
    seen = set()
    for source, *classes in FLOW:
        chain = [*([""] if source else []), *classes]
        for start, end in pairwise(chain):
            if (start, end) not in seen:
                seen.add((start, end))
                by = ", ".join(f"`{name}`" for name in code.between(start, end))
                lines.append(f"| {f'`{start}`' if start else source} | `{end}` | {by} |")
    for layer in sorted({room.layer for room in rooms}, reverse=True):
        title = f": {titles[layer]}" if titles.get(layer) else ""
        lines += ["", f"## Layer {layer}{title}", "", "| room | what it is for | modules | imports from |"]
        lines.append("|---|---|---|---|")
        for room in rooms:
            if room.layer == layer:
                modules, uses = (", ".join(f"`{name}`" for name in names) for names in (room.modules, room.uses))
                idea = room.idea.replace("|", "\\|")
                lines.append(f"| `{room.name}` | {idea} | {modules or '—'} | {uses or '—'} |")
    return "\n".join(lines)


def write(root: Path = ROOT) -> dict[str, str]:
    """The paths and texts of the files, written anew."""
    code = Code(root)
    layers, titles = read_layers(root)
    rooms = read_rooms(code, layers)
    page = (root / PAGE).read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[-1]
    return {
        PICTURE: picture(code, rooms, layers, titles),
        PAGE: f"{before}{BEGIN}\n\n{tables(code, rooms, titles)}\n\n{END}{after}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file is out of date")
    check = parser.parse_args().check
    stale = []
    for path, text in write().items():
        if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != text:
            stale.append(path)
            if not check:
                (ROOT / path).write_text(text, encoding="utf-8")
    if check and stale:
        sys.exit(f"{' and '.join(stale)} do not match the code: run python scripts/architecture.py.")
    print(f"{'up to date' if check or not stale else 'wrote ' + ' and '.join(stale)}")


if __name__ == "__main__":
    main()
