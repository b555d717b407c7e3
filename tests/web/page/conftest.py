"""A page in a real browser, on the real server. What no page may do is checked after every test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from live import FLAGS, Live, Seen, chromium, serving
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="session")
def live() -> Iterator[Live]:
    """One server for the tests that leave it as it was."""
    with serving() as one:
        yield one


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Seen]]:
    """Open the page of a server; afterwards it must have been quiet, kept to its policy, and asked nobody else."""
    opened: list[Seen] = []

    def look(live: Live, **options: object) -> Seen:
        seen = Seen(live, browser, **options)
        opened.append(seen)
        return seen

    yield look
    for seen in opened:
        seen.check_quiet()
        seen.context.close()


@pytest.fixture
def seen(look: Callable[..., Seen], live: Live) -> Seen:
    return look(live)


@pytest.fixture
def example(seen: Seen) -> Seen:
    """The page with the example's first selection."""
    return seen.load_example()
