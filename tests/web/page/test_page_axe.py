"""axe-core looks at the page in all its states, and at the report: it finds nothing to complain about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from live import Live, Seen
from playwright.sync_api import Browser, Page, expect

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.summarize.explain.summary import html_report

AXE = Axe()
WINDOWS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
}


def complaints(page: Page) -> list[str]:
    """What axe finds: the rule, and where."""
    found = AXE.run(page).response["violations"]
    return [f"{one['id']}: {node['target']} {node.get('failureSummary', '')}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("window", WINDOWS)
def test_axe_finds_nothing_in_any_state(look: Callable[..., Seen], live: Live, window: str) -> None:
    seen = look(live, reduced_motion="reduce", **WINDOWS[window])
    seen.expected = {422}
    assert complaints(seen.page) == []  # empty
    seen.find("#submit").click()
    expect(seen.find("#form-problem")).to_be_visible()
    seen.upload(broken_txt=bytes(range(128, 256)), more_txt=b"Snow closed the pass.")
    assert complaints(seen.page) == []  # documents added
    seen.find("#drafts-clear").click()
    seen.load_example()
    assert complaints(seen.page) == []  # a summary
    seen.find("#summary .why").first.click()
    seen.find("#card summary").click()
    assert complaints(seen.page) == []  # its reasons, with numbers
    seen.page.keyboard.press("Escape")
    seen.find("#summary [data-rule=exclude]").first.click()
    seen.settle()
    seen.find("#summary [data-rule=include]").first.click()
    seen.settle()
    seen.more().find("#view-tabs").click()
    assert complaints(seen.page) == []  # choices, more controls, tabs
    seen.find(".s[data-state=again]:visible, .s[data-state='']:visible").first.click()
    assert complaints(seen.page) == []  # why not this one
    seen.page.keyboard.press("Escape")
    seen.find("#budget").fill("1")
    expect(seen.find("#select-problem")).to_be_visible()
    seen.find("#diversity").fill("7")
    assert complaints(seen.page) == []  # errors


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_report(browser: Browser, tmp_path: Path, scheme: Any) -> None:
    path = tmp_path / "summary.html"
    path.write_text(html_report(Summarizer.load().summarize(Cluster.example(), 100)), encoding="utf-8")
    page = browser.new_page(color_scheme=scheme)
    page.goto(path.as_uri())
    assert complaints(page) == []
    page.close()
