"""All that the page does can be done by keyboard, and the focus is always to be seen."""

from __future__ import annotations

import pytest
from live import Seen
from playwright.sync_api import expect


def test_everything_by_keyboard(seen: Seen) -> None:
    keyboard = seen.page.keyboard

    def tab_to(selector: str, key: str = "Tab") -> None:
        for _ in range(80):
            keyboard.press(key)
            if seen.page.evaluate("(s) => document.activeElement.matches(s)", selector):
                ring = seen.page.evaluate(
                    "() => { const s = getComputedStyle(document.activeElement);"
                    " return s.outlineStyle !== 'none' || parseFloat(s.strokeWidth) > 3; }"
                )
                assert ring, f"the focus is not visible on {selector}"
                return
        pytest.fail(f"the tab key does not reach {selector}")

    tab_to("#example")
    keyboard.press("Enter")
    seen.settle()
    tab_to("#budget-range")
    for _ in range(3):
        keyboard.press("PageUp")
    seen.settle()
    assert seen.bodies[-1]["budget"] > 150
    tab_to("#diversity-range")
    keyboard.press("End")
    seen.settle()
    assert seen.bodies[-1]["diversity"] == 1

    tab_to(".s")  # one stop for all sentences
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    expect(seen.find(".s:focus")).to_have_attribute("data-id", "2")
    keyboard.press("PageDown")
    assert seen.find(".s:focus").evaluate("(one) => one.closest('.source').id") == "source-1"
    keyboard.press("Home")
    keyboard.press("i")
    seen.settle()
    assert seen.bodies[-1]["include"] == [0]
    keyboard.press("e")
    seen.settle()
    assert (seen.bodies[-1]["include"], seen.bodies[-1]["exclude"]) == ([], [0])
    keyboard.press("Enter")
    expect(seen.find("#card [data-rule=exclude]")).to_be_focused()
    keyboard.press("Escape")
    expect(seen.find(".s[data-id='0']")).to_be_focused()

    tab_to("#map .point")
    keyboard.press("End")
    last = seen.find("#map .point").count() - 1
    expect(seen.find("#map .point:focus")).to_have_attribute("data-id", str(last))
    keyboard.press("Enter")
    expect(seen.find(".s:focus")).to_be_in_viewport()
    tab_to("#copy", "Shift+Tab")
