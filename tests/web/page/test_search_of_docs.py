"""The search of the site, in a browser, where its pages are opened from the folder."""

import re

import pytest

from docs_site import ROOT


@pytest.mark.parametrize("page", ["index.html", "api/mrf.html"])
def test_search_needs_no_server(page, site, browser):
    before = (ROOT / "docs" / "selection.md").read_text("utf-8").partition("backfill")[0]
    section = re.findall(r"^#+ (.*)$", before, re.MULTILINE)[-1]
    tab, faults, asked = browser.new_page(), [], []
    tab.set_default_timeout(300_000)  # a busy machine is no fault
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((site / page).as_uri(), wait_until="load")
    field = tab.locator("input:focus")
    while not field.count():  # until the theme listens
        tab.keyboard.press("/")
    field.fill("backfill")
    tab.locator("a:visible", has_text=section).first.wait_for()
    assert field.input_value() == "backfill"
    assert not faults
    assert all(url.startswith(("file:", "data:", "about:")) for url in asked)
    tab.close()
