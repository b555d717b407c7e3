"""The code in README.md, docs/ and CONTRIBUTING.md runs and prints what it says."""

import doctest
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dpplearn.decoding.registry import DECODERS
from installed import has_torch

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.name != "torch.md" or has_torch()]  # `make test-torch` runs it
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_blocks(page, tmp_path, monkeypatch):
    """One namespace per page; `>>>` blocks are compared with the output they show, others only run."""
    monkeypatch.chdir(tmp_path)  # what a page writes, it writes here
    namespace = {"__name__": "__docs__"}
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        code, line = match[1], text[: match.start()].count("\n") + 1
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), line)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.summarize(verbose=False).failed == 0, f"{page.name}, line {line}"
            namespace.update(test.globs)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), namespace)


def test_the_recipes_of_contributing_work(monkeypatch):
    """The decoder, its line in the registry and its test, as CONTRIBUTING.md shows them; and the similarity."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    decoder, test, similarity = (match[1] for match in BLOCK.finditer(text))
    name, place = re.search(r'^    "(\w+)": "(dpplearn\.decoding\.\w+:\w+)",$', text, re.MULTILINE).groups()
    module = ModuleType(place.partition(":")[0])
    exec(decoder, module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(DECODERS, name, place)
    names = {}
    exec(test, names)
    names["test_random_sets_are_feasible_and_full"]()
    exec(similarity, names)
    assert names["cauchy_similarity"]([[0.0], [1.0]], 1.0).tolist() == [[1.0, 0.5], [0.5, 1.0]]
