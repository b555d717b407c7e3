"""Text of documents is shown as text: markup, entities, direction, and characters outside the first plane."""

from __future__ import annotations

import re

from live import Seen
from playwright.sync_api import expect

SCRIPT = "<script>window.hit = 1; alert(1)</script>"
IMAGE = "<img src=x onerror='window.hit = 1'>"
RLO, PDF = "\u202e", "\u202c"


def test_markup_and_entities_are_shown_and_not_obeyed(seen: Seen) -> None:
    text = f"{SCRIPT} Rain &amp; snow fell on &lt;b&gt;Monday&lt;/b&gt;. The {IMAGE} river rose <b>fast</b> &copy; 24."
    seen.find("#paste-title").fill(f"Title {SCRIPT} {IMAGE} &amp;")
    seen.summarize(text)
    body = seen.find(".source .body")
    assert body.evaluate("(one) => [...one.querySelectorAll('.t, .gap')].map((n) => n.textContent).join('')") == text
    assert seen.find(".source h3").inner_text() == f"Title {SCRIPT} {IMAGE} &amp;"
    seen.find("#unit").select_option("sentences")
    seen.find("#budget").fill("2")
    seen.settle()
    assert " ".join(seen.summary()) == text
    tags = seen.find("#work, .top, #card, #tip").evaluate_all(
        "(all) => all.flatMap((one) => [...one.querySelectorAll('*')].map((e) => e.localName))"
    )
    assert not {"script", "iframe", "object"} & set(tags)
    assert seen.find("main img").count() == 0
    for sentence in seen.find(".s").all():  # the card and the tip show text of the document, too
        sentence.click()
        expect(seen.find("#card .card-title")).to_contain_text(SCRIPT)
        seen.page.keyboard.press("Escape")
    seen.find("#map .point").first.focus()
    expect(seen.find("#tip .tip-lead")).to_be_visible()
    assert seen.page.evaluate("window.hit") is None


def test_an_override_is_visible_and_stays_in_its_sentence(seen: Seen) -> None:
    title = f"report{RLO}gnp.exe"
    seen.find("#paste-title").fill(title)
    seen.find("#paste-text").fill(f"The invoice{RLO}fdp.exe came by post. The rest of the page reads as before.")
    seen.find("#add").click()
    name, remove = seen.find("#drafts .draft-name"), seen.find("#drafts button")
    assert name.locator(".control-character").inner_text() == "RLO"
    assert RLO not in name.inner_text()
    assert name.bounding_box()["x"] < remove.bounding_box()["x"]
    seen.find("#submit").click()
    seen.settle()
    first = seen.find(".s").first
    assert first.locator(".t").inner_text() == "The invoiceRLOfdp.exe came by post."
    assert RLO not in seen.find("#sources").inner_text() + seen.find("#summary").inner_text()
    assert first.locator(".t").evaluate("(one) => getComputedStyle(one).unicodeBidi") == "isolate"
    assert seen.find("#summary .go").first.evaluate("(one) => getComputedStyle(one).unicodeBidi") == "isolate"
    assert RLO not in seen.find(".top").inner_text()


def test_right_to_left_documents_run_from_right_to_left(seen: Seen) -> None:
    hebrew = "\u05d4\u05d2\u05e9\u05dd \u05d9\u05e8\u05d3 \u05db\u05dc \u05d4\u05d9\u05d5\u05dd. " \
        "\u05d4\u05e0\u05d4\u05e8 \u05e2\u05dc\u05d4 \u05d1\u05dc\u05d9\u05dc\u05d4."  # fmt: skip
    seen.summarize(hebrew, "The rain fell all day. The river rose in the night.")
    direction = "(all) => all.map((one) => getComputedStyle(one).direction)"
    assert seen.find(".source .body").evaluate_all(direction) == ["rtl", "ltr"]
    seen.find("#unit").select_option("sentences")
    seen.find("#budget").fill("4")
    seen.settle()
    assert seen.find("#summary > li").evaluate_all(direction) == [
        "rtl" if re.search("[\u05d0-\u05ea]", line) else "ltr" for line in seen.summary()
    ]
    assert seen.find(".s").count() == 4
    expect(seen.find(".source h3")).to_have_text(["Document 1", "Document 2"])
