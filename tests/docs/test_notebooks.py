"""The notebooks run from top to bottom, and what they show is light."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
WIDEST = 100


def run(path):
    """Execute the cells in order, in one namespace, as a kernel does; the values of the last lines, as shown."""
    names, shown = {"__name__": "__main__"}, []
    for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{path.name}, cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), names)
            if value is not None:
                shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    return shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_are_kept_without_output(path, capsys):
    shown = run(path)
    assert capsys.readouterr().out
    assert sum(one.startswith('<div class="dpplearn"') for one in shown) >= 2
    assert sum(map(len, shown)) < 60_000
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == ([], None)
        assert cell["cell_type"] == "markdown" or max(map(len, cell["source"])) <= WIDEST
