"""The report in a browser: the page's design, whole in itself, and one page when it is printed."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser, Page

from dpplearn.summarize import Cluster, Summarizer, Summary


@pytest.fixture(scope="module")
def summary() -> Summary:
    return Summarizer.load().summarize(Cluster.example(), 100)


@pytest.fixture
def report(browser: Browser, summary: Summary, tmp_path: Path) -> Page:
    path = tmp_path / "summary.html"
    path.write_text(summary.to_html(), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.on("request", lambda request: None if request.url.startswith("file:") else pytest.fail(request.url))
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_it_is_printed_on_one_page(report: Page, summary: Summary, paper: str) -> None:
    printed = pypdfium2.PdfDocument(report.pdf(format=paper))
    try:
        assert len(printed) == 1
        text = " ".join(printed[0].get_textpage().get_text_bounded().split())
    finally:
        printed.close()
    for one in summary.explain().chosen:
        assert one.sentence.text in text
        assert " ".join(one.words.split()[:4]) in text
    report.close()
