"""docs/learned-similarity.md quotes the stored results of scripts/similarity_study.py."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
import similarity_page


def test_the_page_has_the_stored_tables():
    page = similarity_page.PAGE.read_text(encoding="utf-8")
    assert similarity_page.filled(page, similarity_page.stored_tables()) == page
