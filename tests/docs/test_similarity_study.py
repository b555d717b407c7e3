"""The measures of scripts/similarity_study.py by their definition, and its tables, which a page quotes."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page():
    return script("similarity_page")


def test_the_page_has_the_tables_of_what_was_found(page):
    there = page.PAGE.read_text(encoding="utf-8")
    assert page.written(there, page.found()) == there
