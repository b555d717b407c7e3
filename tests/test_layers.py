"""A module imports only from its own package or from a lower layer (CONTRIBUTING.md has the table)."""

import ast
from pathlib import Path

import pytest

import dpplearn

ROOT = Path(dpplearn.__file__).parent
LAYERS = {
    1: ["_cached", "_checks", "_graded", "_linalg", "_loops", "_stop"],
    2: ["kernels", "sampling"],
    3: ["subsets", "estimate", "determinantal", "dpp", "kdpp", "lowrank", "implicit", "mrf"],
    4: ["decoding"],
    5: ["learning", "rouge", "retrieval"],
    6: ["summarize"],
    7: ["cli", "web", "plots", "integrations"],
}
LAYER = {name: layer for layer, names in LAYERS.items() for name in names}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
HEAVY = {"numba": "_loops", "sklearn": 5, "click": "cli", "rich": "cli", "fastapi": "web", "matplotlib": "plots"}


def imported(path):
    """Every module that a file imports, at any depth, with the name it takes from it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_down(path):
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert part in LAYER, f"{part} has no layer: add it to the table here and in CONTRIBUTING.md"
    for name in imported(path):
        if name.startswith("dpplearn."):
            other = name.split(".")[1]
            assert LAYER.get(other, 0) <= LAYER[part], f"{part} (layer {LAYER[part]}) imports {name}"
        assert name != "dpplearn", "modules import from where a name lives, not from the top"
        home = HEAVY.get(name.split(".")[0])
        if isinstance(home, str):
            places = [place.removesuffix(".py") for place in path.relative_to(ROOT).parts]  # rouge has _loops too
            assert home in places, f"{'.'.join(places)} imports {name}, which belongs in {home}"
        elif home is not None:
            assert LAYER[part] >= home, f"{part} imports {name}, which enters at layer {home}"


def test_every_layer_of_the_table_is_documented():
    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in LAYER:
        assert f"`{name}`" in text, f"CONTRIBUTING.md does not name {name}"
