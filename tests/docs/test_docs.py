"""The code in README.md and docs/ runs and prints what it says."""

import doctest
import re
from pathlib import Path

import pytest

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
