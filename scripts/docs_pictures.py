"""Draw the pictures of the docs that examples and pages make, in sans type, as the site is set: docs/assets.

    python scripts/docs_pictures.py             # all
    python scripts/docs_pictures.py gallery     # or figures: those of one page

`make figures` draws the others, `scripts/page_screenshots.py` those of the page in a browser.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

from page_look import page_look

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "docs" / "assets"
PAGES = {"figures": "plots.png"}  # what the code of a page saves
WHOLE = {"learning_recovery": {"repeats": 200}}  # as the docs quote it; minutes
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def draw_gallery() -> None:
    """One picture for each example that has one."""
    sys.path.insert(0, str(ROOT / "examples"))
    for picture in sorted((ASSETS / "gallery").glob("*.png")):
        print(picture, flush=True)
        example = runpy.run_path(str(ROOT / "examples" / f"{picture.stem}.py"))
        example["main"](save=picture, **WHOLE.get(picture.stem, {}))


def draw_page(name: str) -> None:
    """What the code blocks of a page save."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    code = [block for block in BLOCK.findall(text) if ">>>" not in block]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec("\n".join(code), {"__name__": "__docs__"})
        shutil.copy(PAGES[name], ASSETS / PAGES[name])
        os.chdir(ROOT)
    print(ASSETS / PAGES[name])


def main() -> None:
    asked = sys.argv[1:] or ["gallery", *PAGES]
    with page_look():
        for name in asked:
            draw_gallery() if name == "gallery" else draw_page(name)


if __name__ == "__main__":
    main()
