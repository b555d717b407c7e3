"""A server with a token, seen from the page: it asks once, says what is wrong, and keeps what is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from live import Live, Seen, serving
from playwright.sync_api import expect

from dpplearn.web import Settings

TOKEN = "the-token-of-this-test"


@pytest.fixture(scope="module")
def locked() -> Iterator[Live]:
    with serving(Settings(token=TOKEN)) as one:
        yield one


def asked(look: Callable[..., Seen], locked: Live) -> Seen:
    seen = look(locked)
    seen.expected = {401}
    seen.complaints.clear()  # the browser reports the first refusal before this line
    expect(seen.find("#token")).to_be_visible()
    return seen


def test_the_page_asks_for_the_token_and_keeps_it(look: Callable[..., Seen], locked: Live) -> None:
    seen = asked(look, locked)
    expect(seen.find("#token-problem")).to_be_hidden()
    seen.find("#token-text").fill("not-the-token-at-all")
    seen.find("#token-text").press("Enter")
    expect(seen.find("#token-problem")).to_be_visible()
    seen.find("#token-text").fill(f"  {TOKEN} ")
    seen.find("#token button.primary").click()
    expect(seen.find("#token")).to_be_hidden()
    seen.load_example()
    assert seen.summary()
    seen.page.reload()
    seen.settle()
    expect(seen.find("#token")).to_be_hidden()
    assert seen.page.evaluate("localStorage.getItem('token')") is None  # gone with the tab
