"""Draws the pictures in docs/assets that the examples and the pages of the docs make, in the font of the site.

    python scripts/docs_pictures.py             # all
    python scripts/docs_pictures.py gallery     # those of one page: gallery or figures

scripts/docs_figures.py draws the figures, and scripts/page_screenshots.py the pictures of the web page.
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
PAGES = {"figures": "plots.png"}  # page: the picture that its code saves
WHOLE = {"learning_recovery": {"repeats": 200}}  # the size that the docs quote, which takes minutes
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def draw_gallery() -> None:
    """Draw the picture of each example that has one."""
    sys.path.insert(0, str(ROOT / "examples"))
    for picture in sorted((ASSETS / "gallery").glob("*.png")):
        print(picture, flush=True)
        example = runpy.run_path(str(ROOT / "examples" / f"{picture.stem}.py"))
        example["main"](save=picture, **WHOLE.get(picture.stem, {}))


def draw_page(name: str) -> None:
    """Run the code blocks of a page, and copy the picture that they save."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    code = [block for block in BLOCK.findall(text) if ">>>" not in block]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec("\n".join(code), {"__name__": "__docs__"})
        shutil.copy(PAGES[name], ASSETS / PAGES[name])
        os.chdir(ROOT)
    print(ASSETS / PAGES[name])


def main() -> None:
    with page_look():
        for name in sys.argv[1:] or ["gallery", *PAGES]:
            draw_gallery() if name == "gallery" else draw_page(name)


if __name__ == "__main__":
    main()
