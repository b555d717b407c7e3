"""Why a sentence is in the summary and why another is not: on the page, in the words of the record."""

from __future__ import annotations

from live import Seen
from playwright.sync_api import expect


def test_the_card_of_any_sentence_says_why_it_is_out(example: Seen) -> None:
    example.set_range("budget", 200)
    answer = example.answer()
    verdict = example.find("#card .verdict")
    reasons = {one["sentence"]: one["reason"] for one in answer["left_out"] + answer["redundant"]}
    kinds = {reason[:12]: i for i, reason in reasons.items()}  # one sentence for each
    chosen = {one["sentence"] for one in answer["selected"]}
    unlisted = next(i for i in range(len(answer["marginals"])) if i not in reasons and i not in chosen)
    why = f"{example.live.url}{example.cluster()}/why/{unlisted}?budget=200&unit=words"
    reasons[unlisted] = example.page.request.get(why).json()["reason"]  # the page asks for it when it is clicked
    listed = [*dict.fromkeys([one["sentence"] for one in answer["redundant"] + answer["left_out"]])][:6]
    for other in (unlisted, *kinds.values()):
        example.find(f".s[data-id='{other}']").click()
        expect(verdict).to_have_text(f"Not in the summary: {reasons[other]}.")
        example.page.keyboard.press("Escape")
    example.find(f".s[data-id='{listed[0]}']").hover()
    expect(example.find("#tip")).to_have_text(f"Left out: {reasons[listed[0]]}")
    assert example.find("#again .why").all_text_contents() == [reasons[i] for i in listed]


def test_a_piece_that_was_not_to_choose_from_says_why(seen: Seen) -> None:
    text = "# The flood\n\nThe river rose by two meters. The school was closed on Monday."
    seen.summarize(text)
    pieces = seen.page.request.get(seen.live.url + seen.cluster()).json()["set_aside"]
    heading = next(one for one in pieces if one["kind"] == "heading")
    shown = seen.find(".piece").filter(has_text="The flood")
    shown.click()
    expect(seen.find("#card .verdict")).to_have_text(f"Not a candidate: {heading['reason']}.")
    expect(seen.find("#card [data-rule]")).to_have_count(0)
    seen.page.keyboard.press("Escape")
    expect(shown).to_be_focused()
    asked = len(seen.bodies)
    seen.page.keyboard.press("i")  # nothing to include
    seen.page.keyboard.press("ArrowDown")  # the next one is a sentence
    expect(seen.find(".s:focus")).to_have_attribute("data-id", "0")
    seen.page.keyboard.press("i")
    seen.settle()
    assert [one["include"] for one in seen.bodies[asked:]] == [[0]]
    seen.find("#change").click()
    seen.find("#drafts button").click()
    seen.find("#keep-all").check()
    seen.summarize(text)
    expect(seen.find(".s:not(.piece)").filter(has_text="The flood")).to_have_count(1)
