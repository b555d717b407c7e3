"""Where things lie: the summary first and whole, controls in one line, nothing covered, empty or beyond the window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from live import Live, Seen
from playwright.sync_api import expect

HARBOUR = [
    "The ferry ran aground at noon. Forty people were on board. All of them were safe by three. The captain was new.",
    "A ferry hit the sand bank near the harbour. Divers found a crack in its hull. The tide will lift it on Friday.",
    "The harbour stays shut until the ferry is gone. Fishermen lose two days of work. The mayor has promised to pay.",
    "Ferries had hit the bank twice before. A report asked for lights in 2019. None was ever built, for lack of money.",
]
SIZES = [(390, 844), (640, 400), (768, 1024), (1280, 800), (1920, 1080)]  # 640: a desk's window at 200 %

# Buttons and fields of which another element covers the middle, among those that are in the window.
COVERED = """() => [...document.querySelectorAll("button, input, select, a")].filter((one) => {
  if (!one.checkVisibility({ visibilityProperty: true }) || one.closest(".skip, .top, #sources")) return false;
  const box = one.getBoundingClientRect();
  const head = document.querySelector(".top").offsetHeight;
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  if (!box.width || x < 0 || y < head || x > innerWidth - 1 || y > innerHeight - 1) return false;
  const top = document.elementFromPoint(x, y);
  return !(one.contains(top) || top?.contains(one));
}).map((one) => one.outerHTML.slice(0, 120))"""


def box_of(seen: Seen, selector: str) -> dict[str, float]:
    found = seen.find(selector).first.bounding_box()
    assert found is not None, selector
    return dict(found)


@pytest.mark.parametrize("texts", [None, HARBOUR], ids=["long sentences", "short sentences"])
def test_a_hundred_words_are_whole_on_a_laptop(look: Callable[..., Seen], live: Live, texts: list[str] | None) -> None:
    seen = look(live, viewport={"width": 1280, "height": 800})
    if texts is None:
        seen.load_example()
    else:
        seen.summarize(*texts)
    seen.find("#budget").fill("100")
    seen.settle()
    assert seen.answer()["length"] > 60
    last = box_of(seen, "#summary > li:last-child .why")
    assert last["y"] + last["height"] <= 800
    assert box_of(seen, "#summary .line")["y"] < 200  # first on the screen
    assert seen.page.evaluate("scrollY") == 0
    size = seen.find("#summary .line").first.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)")
    assert size >= 18
    expect(seen.find(".s[data-state=in]").first).to_be_in_viewport()  # marked in its source, beside it


def test_the_controls_are_one_line(look: Callable[..., Seen], live: Live) -> None:
    for width in (1280, 1920):
        seen = look(live, viewport={"width": width, "height": 800}).load_example()
        assert box_of(seen, "#controls")["height"] < 45
        for name in ("#budget", "#diversity", "#about", "#more"):
            assert abs(box_of(seen, name)["y"] - box_of(seen, "#budget")["y"]) < 10
    phone = look(live, viewport={"width": 390, "height": 844}, has_touch=True).load_example()
    assert box_of(phone, "#controls")["height"] < 45
    expect(phone.find("#about")).not_to_be_visible()
    phone.more()
    expect(phone.find("#about")).to_be_visible()
    expect(phone.find("#diversity")).to_be_visible()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}")
def test_nothing_covers_a_button_or_goes_beyond_the_window(
    look: Callable[..., Seen], live: Live, size: tuple[int, int]
) -> None:
    width, height = size
    seen = look(live, viewport={"width": width, "height": height}, reduced_motion="reduce").load_example()
    seen.find("#summary [data-rule=ban]").first.click()
    seen.settle()
    expect(seen.find("#undo-button")).to_be_visible()
    expect(seen.find("#undo-button")).to_be_in_viewport()
    seen.more()
    for part in (0, 0.2, 0.4, 0.6, 0.8, 1):
        seen.page.evaluate(f"scrollTo(0, {part} * document.documentElement.scrollHeight)")
        assert seen.page.evaluate(COVERED) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width
    for name in ("#theme", "#change", "#undo-button"):
        assert box_of(seen, name)["x"] + box_of(seen, name)["width"] <= width


@pytest.mark.parametrize("width", [1280, 1920])
def test_one_document_leaves_no_half_of_the_screen_empty(look: Callable[..., Seen], live: Live, width: int) -> None:
    seen = look(live, viewport={"width": width, "height": 800})
    seen.summarize(" ".join(HARBOUR))
    expect(seen.find("#views")).to_be_hidden()  # nothing to choose there
    hero, document = box_of(seen, ".hero"), box_of(seen, ".source")
    assert hero["width"] + document["width"] > 0.85 * width
    assert document["width"] > 0.35 * width
    assert document["x"] + document["width"] > 0.9 * width


def test_the_tab_that_is_open_is_seen(look: Callable[..., Seen], live: Live) -> None:
    """A phone has room for two tabs; the summary may begin in the third document, and lead to the last."""
    seen = look(live, viewport={"width": 390, "height": 844}, reduced_motion="reduce").load_example()
    seen.find("#tabs").scroll_into_view_if_needed()
    selected = seen.find("#tabs [aria-selected=true]")
    for number in range(seen.find("#summary .go").count()):
        row, tab = box_of(seen, "#tabs"), selected.bounding_box()
        assert tab is not None
        assert tab["x"] >= row["x"] - 1
        assert tab["x"] + tab["width"] <= row["x"] + row["width"] + 1
        seen.find("#summary .go").nth(number).click()
    assert selected.get_attribute("data-tab") != "0"
