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
    if texts is not None:  # the first chosen sentence of the example is in its third document
        expect(seen.find(".s[data-state=in]").first).to_be_in_viewport()  # marked in its source, beside it


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}")
def test_nothing_covers_a_button_or_goes_beyond_the_window(
    look: Callable[..., Seen], live: Live, size: tuple[int, int]
) -> None:
    width, height = size
    seen = look(live, viewport={"width": width, "height": height}, reduced_motion="reduce").load_example()
    seen.find("#summary [data-rule=exclude]").first.click()
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
