"""A module imports only from its own room, or from one that stands before it in the table of CONTRIBUTING.md."""

import ast
import re
from pathlib import Path

import pytest

import dpplearn

ROOT = Path(dpplearn.__file__).parent
TABLE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d) \| [^|]* \| (.*) \|$", TABLE, re.MULTILINE)
LAYERS = {int(layer): re.findall(r"`(\w+)`", rooms) for layer, rooms in ROWS}
ROOMS = [room for layer in sorted(LAYERS) for room in LAYERS[layer]]
LAYER = {room: layer for layer, rooms in LAYERS.items() for room in rooms}
INNER = {"summarize": re.findall(r"`(\w+)`", re.search(r"^Inside `summarize`,.*: (.*)\.$", TABLE, re.MULTILINE)[1])}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
HEAVY = {
    "sklearn": 5,
    "click": "cli",
    "fastapi": "web",
    "matplotlib": "plots",
    "torch": "torch",
}


def imported(path):
    """Every module that a file imports, at any depth, with the name it takes from it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def check_order(order, room, other, name):
    assert other in order, f"{name}: {other} has no place in the table of CONTRIBUTING.md"
    assert room == other or order.index(other) < order.index(room), f"{room} imports {name}, which comes after it"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_down(path):
    places = [place.removesuffix(".py") for place in path.relative_to(ROOT).parts]
    room = places[0]
    assert room in ROOMS, f"{room} has no place in the table of CONTRIBUTING.md"
    for name in imported(path):
        assert name != "dpplearn", "modules import from where a name lives, not from the top"
        parts = name.split(".")
        if parts[0] == "dpplearn" and parts[1] != "__version__":
            check_order(ROOMS, room, parts[1], name)
            if parts[1] == room in INNER and places[1] != "__init__":
                check_order(INNER[room], places[1], parts[2], name)
        if parts[0] == "numba":
            assert places == ["_numba"] or path.stem.endswith("_loops"), (
                f"{path} imports numba: loops are in *_loops.py"
            )
        home = HEAVY.get(parts[0])
        if isinstance(home, str):
            assert home in places, f"{'.'.join(places)} imports {name}, which belongs in {home}"  # rouge has _loops too
        elif home is not None:
            assert LAYER[room] >= home, f"{room} imports {name}, which enters at layer {home}"


def test_every_room_of_the_table_is_there():
    assert set(ROOMS) == {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in MODULES}
    for room, inner in INNER.items():
        there = {path.relative_to(ROOT / room).parts[0].removesuffix(".py") for path in (ROOT / room).rglob("*.py")}
        assert set(inner) == there - {"__init__"}


CORE = (*(path.stem for path in ROOT.glob("*.py")), "sampling", "decoding", "torch", "_io", "_run")


@pytest.mark.parametrize(
    "rooms",
    [("summarize", "web", "cli"), ("learning", "baskets", "mrf", "rouge", "plots"), CORE],
    ids=["summaries", "learning", "core"],
)
def test_no_name_stands_for_two_things(rooms):
    """In rooms that one reads together no function, class or constant is called as another; figures have their draw."""
    home = {}
    usual = {"__all__", "__getattr__", "__dir__", "draw"} | {"greedy_map", "Array", "T"}  # of tensors, loops and types
    for path in [path for path in MODULES if path.relative_to(ROOT).parts[0].removesuffix(".py") in rooms]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = [*getattr(node, "targets", []), getattr(node, "target", None)]
            names = [name.id for one in targets if one for name in ast.walk(one) if isinstance(name, ast.Name)]
            for name in {*names, getattr(node, "name", "__all__")} - usual:
                assert home.setdefault(name, path) == path, f"{name} is in {home[name]} and {path}"
