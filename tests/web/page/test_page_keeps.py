"""What the page keeps, takes back and recovers from, in a real browser against the real server."""

from __future__ import annotations

from pathlib import Path

from live import Seen, sources
from playwright.sync_api import expect

LEAVING = """() => {
  const event = new Event("beforeunload", { cancelable: true });
  dispatchEvent(event);
  return event.defaultPrevented;
}"""


def test_a_reload_keeps_the_documents_and_the_choices(example: Seen) -> None:
    example.expected = {404}
    example.set_range("budget", 150)
    example.find("#summary [data-rule=exclude]").first.click()
    example.settle()
    before, cluster = example.summary(), example.cluster()
    assert not example.page.evaluate(LEAVING)
    example.page.reload()
    example.settle()
    assert example.summary() == before
    assert example.cluster() == cluster
    assert example.find("#budget").input_value() == "150"
    expect(example.find("#rules li")).to_have_count(1)
    example.page.request.delete(example.live.url + cluster)  # forgotten, or the server began anew
    example.page.reload()
    example.settle()
    assert example.summary() == before
    assert example.cluster() != cluster
    example.find("#brand").click()
    expect(example.find("#drafts li")).to_have_count(8)  # to add to them


def test_choices_are_taken_back(example: Seen) -> None:
    before, first = example.summary(), sources(example.answer())[0]
    example.find("#summary [data-rule=exclude]").first.click()
    example.settle()
    assert example.summary() != before
    expect(example.find("#undo")).to_contain_text(f"Excluded: {first[:30]}")
    example.find("#undo-button").click()
    example.settle()
    assert example.summary() == before
    expect(example.find("#undo")).to_be_hidden()  # nothing more to take back
    for number, key in ((3, "i"), (4, "e")):
        example.find(f".s[data-id='{number}']").focus()
        example.page.keyboard.press(key)
    example.find("#clear").click()
    example.page.keyboard.press("Control+z")
    example.settle()
    assert (example.bodies[-1]["include"], example.bodies[-1]["exclude"]) == ([3], [4])
    example.page.keyboard.press("Control+z")
    example.page.keyboard.press("Control+z")
    example.page.keyboard.press("Control+z")  # one more than there is
    example.settle()
    assert example.summary() == before


def test_a_folder_is_read_and_a_file_that_went_away_is_named(seen: Seen, tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    (folder / "more").mkdir(parents=True)
    (folder / "a.txt").write_text("Rain fell on the hills for a week.", encoding="utf-8")
    (folder / "more" / "b.txt").write_text("Snow closed the pass.", encoding="utf-8")
    (folder / ".hidden").write_text("No document.", encoding="utf-8")
    session = seen.context.new_cdp_session(seen.page)
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 600, "y": 400, "data": data})
    expect(seen.find("#drafts .draft-name")).to_have_text(["a.txt", "b.txt"])
    gone = tmp_path / "gone.txt"
    gone.write_text("Wind broke the mast.", encoding="utf-8")
    seen.find("#files").set_input_files(gone)
    gone.unlink()
    seen.find("#submit").click()
    expect(seen.find("#drafts li.bad")).to_contain_text("gone.txt")
    expect(seen.find("#drafts li.bad .draft-problem")).to_contain_text("This cannot be read.")
    assert ("POST", "api/v1/clusters") not in seen.requests
    seen.find("#drafts li.bad button").click()
    seen.find("#submit").click()
    seen.settle()
    expect(seen.find(".source")).to_have_count(2)
