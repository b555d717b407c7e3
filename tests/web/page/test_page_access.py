"""The page for everyone: by keyboard, read aloud, on a phone, in the dark, and with a thousand sentences."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from live import Live, Seen
from playwright.sync_api import expect

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}

# Contrast as WCAG 2 defines it, of every element with text of its own against what is painted behind it.


def test_the_theme_can_be_chosen_and_is_remembered(seen: Seen) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = seen.page.evaluate(ground)
    seen.find("#theme").click()
    seen.find("#theme").click()
    expect(seen.find("#theme")).to_have_attribute("aria-label", "Theme: dark")
    assert seen.page.evaluate(ground) != light
    seen.page.reload()
    expect(seen.find("#theme")).to_have_attribute("aria-label", "Theme: dark")


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
    keyboard.press("p")
    seen.settle()
    assert seen.bodies[-1]["include"] == [0]
    keyboard.press("b")
    seen.settle()
    assert (seen.bodies[-1]["include"], seen.bodies[-1]["exclude"]) == ([], [0])
    keyboard.press("Enter")
    expect(seen.find("#card [data-rule=ban]")).to_be_focused()
    keyboard.press("P")  # in the open card, too
    seen.settle()
    assert (seen.bodies[-1]["include"], seen.bodies[-1]["exclude"]) == ([0], [])
    expect(seen.find("#card [data-rule=pin]")).to_have_attribute("aria-pressed", "true")
    keyboard.press("b")
    seen.settle()
    expect(seen.find("#card [data-rule=ban]")).to_be_focused()
    seen.find("#card-title").click()  # the focus is nowhere
    keyboard.press("b")
    seen.settle()
    assert (seen.bodies[-1]["include"], seen.bodies[-1]["exclude"]) == ([], [])
    keyboard.press("Control+b")
    keyboard.press("b")
    seen.settle()
    assert seen.bodies[-1]["exclude"] == [0]
    seen.find("#card [data-rule=ban]").focus()
    keyboard.press("Shift+Tab")
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")  # no rule
    seen.settle()
    assert seen.bodies[-1]["exclude"] == []
    keyboard.press("Escape")
    expect(seen.find(".s[data-id='0']")).to_be_focused()

    tab_to("#map .point")
    keyboard.press("End")
    last = seen.find("#map .point").count() - 1
    expect(seen.find("#map .point:focus")).to_have_attribute("data-id", str(last))
    before, whole = seen.find("#map .point:focus").bounding_box(), seen.find("#map").bounding_box()
    assert before is not None
    assert whole is not None
    keyboard.press("ArrowLeft" if before["x"] > whole["x"] + whole["width"] / 2 else "ArrowRight")
    assert seen.find("#map .point:focus").bounding_box() != before
    keyboard.press("Enter")
    expect(seen.find(".s:focus")).to_be_in_viewport()
    tab_to("#copy", "Shift+Tab")


def test_every_control_has_a_name_and_the_result_is_announced(example: Seen) -> None:
    example.set_range("budget", 200)
    example.find(".s").first.click()
    session = example.context.new_cdp_session(example.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    roles: dict[str, list[str]] = {}
    for node in nodes:
        if not node["ignored"]:
            roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", "").strip())
    for role in ("button", "slider", "spinbutton", "combobox", "link", "dialog", "region", "article", "group"):
        assert roles[role], role
        assert all(roles[role]), f"a {role} has no name"
    assert len(roles["main"]) == len(roles["banner"]) == len(roles["contentinfo"]) == 1
    assert {"Summary", "Documents", "Map of the sentences", "Left out, and why"} <= set(roles["heading"])
    assert any(name.startswith(f"In the summary, number 1 {example.summary()[0][:30]}") for name in roles["button"])
    expect(example.find("#said")).to_have_text(
        f"{len(example.summary())} sentences, {example.find('#measure').inner_text()}, "
        f"{example.find('.s[data-state=again]').count()} good ones left out as repetition."
    )


def test_a_phone_never_scrolls_sideways(look: Callable[..., Seen], live: Live) -> None:
    seen = look(live, **PHONE)

    def fits() -> None:
        assert seen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [360, 360]

    seen.upload(**{"a_very_long_name_" * 8 + "_txt": b"x" * 300})
    seen.find("#paste-title").fill("W" * 200)
    seen.find("#paste-text").fill("W" * 500)
    seen.find("#add").click()
    fits()
    for button in seen.find("#drafts button").all()[::-1]:
        button.click()
    seen.load_example()
    fits()
    expect(seen.find(".source:visible")).to_have_count(1)  # tabs by default
    seen.find("#view-grid").click()
    fits()
    seen.find(".s[data-state=in]").first.tap()
    card = seen.find("#card").bounding_box()
    assert card is not None
    assert (card["x"], card["width"]) == (0, 360)
    assert card["y"] + card["height"] == pytest.approx(740, abs=1)
    fits()
    seen.find("#card").get_by_role("button", name="Ban").tap()
    seen.settle()
    fits()


def test_the_focus_is_not_lost_with_the_button_that_had_it(example: Seen) -> None:
    example.find("#summary [data-rule=ban]").first.focus()
    example.page.keyboard.press("Enter")
    example.settle()
    expect(example.find("#summary-title")).to_be_focused()


def test_a_thousand_sentences_are_touched_only_where_they_change(seen: Seen) -> None:
    nouns = ["harbour", "bridge", "school", "market", "river", "museum", "station", "forest", "castle", "garden"]
    verbs = ["opened", "closed", "flooded", "burned", "grew", "reopened", "shrank", "moved", "won", "failed"]
    texts = [
        " ".join(f"The {noun} of district {d} {verb} in week {w}." for w, (noun, verb) in enumerate(pairs))
        for d in range(10)
        for pairs in [[(noun, verb) for noun in nouns for verb in verbs]]
    ]
    seen.page.set_default_timeout(60_000)
    seen.summarize(*texts)
    expect(seen.find(".s")).to_have_count(1000)
    seen.page.evaluate(
        """() => {
          window.touched = 0;
          new MutationObserver((records) => (window.touched += records.length)).observe(
            document.getElementById("sources"), { subtree: true, childList: true, attributes: true });
        }"""
    )
    before = set(seen.find(".s[data-state=in], .s[data-state=again]").evaluate_all("(a) => a.map((e) => e.dataset.id)"))
    seen.set_range("budget", 130)
    after = set(seen.find(".s[data-state=in], .s[data-state=again]").evaluate_all("(a) => a.map((e) => e.dataset.id)"))
    seen.find(".s").first.focus()
    seen.page.keyboard.press("End")
    expect(seen.find(".s[data-id='999']")).to_be_focused()
    expect(seen.find(".s[data-id='999']")).to_be_in_viewport()
    changed = len(before | after)  # at most these: some keep their mark and change its number
    assert 0 < seen.page.evaluate("window.touched") <= 4 * changed + 3 * len(texts)
