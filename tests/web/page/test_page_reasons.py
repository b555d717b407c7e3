"""Why a sentence is in the summary and why another is not: on the page, in the words of the record."""

from __future__ import annotations

import re

from live import Seen, sources
from playwright.sync_api import expect


def test_a_sentence_of_the_summary_leads_to_its_place(example: Seen) -> None:
    example.find("#summary .go").nth(1).click()
    focused = example.find(".s:focus")
    assert focused.locator(".t").inner_text() == sources(example.answer())[1]
    expect(focused).to_be_in_viewport()
    expect(focused).to_have_class(re.compile("flash"))
    example.find("#view-tabs").click()
    title = example.find(".source h3").nth(example.answer()["selected"][0]["document"]).text_content()
    example.find("#summary .go").nth(0).click()  # in another document: its tab opens
    expect(example.find(".s:focus")).to_be_in_viewport()
    expect(example.find("[role=tab][aria-selected=true]")).to_contain_text(title[:20])
    expect(example.find(".source:visible")).to_have_count(1)


def test_the_summary_says_why_in_the_words_of_the_record(example: Seen) -> None:
    selected = example.answer()["selected"]
    assert example.find("#summary .because").all_text_contents() == [one["words"] for one in selected]
    for number, one in enumerate(selected):
        example.find("#summary .why").nth(number).click()
        expect(example.find("#card .verdict")).to_have_text(f"In the summary, sentence {number + 1}: {one['words']}.")
        assert not example.find("#card table").first.is_visible()  # numbers on demand
        example.page.keyboard.press("Escape")
        expect(example.find("#summary .why").nth(number)).to_be_focused()
    example.find("#summary .why").first.click()
    example.find("#card summary").click()
    rows = example.find("#card .terms").first.locator("tr").all_text_contents()
    assert rows == [f"{one['words']}+{one['amount']:.2f}" for one in selected[0]["reasons"]]
    terms = example.find("#card .terms").nth(1).locator("th").all_text_contents()
    assert terms == list(selected[0]["contributions"])
    expect(example.find("#card")).to_be_in_viewport(ratio=1)  # it grew and was placed again


def test_the_set_as_a_whole_is_told_in_the_words_of_the_record(example: Seen) -> None:
    answer = example.answer()
    words = [answer[name]["words"] for name in ("covers", "leaves_out", "similarity", "sureness", "order")]
    assert all(words)
    assert example.find("#facts dd").all_text_contents() == words
    assert example.find("#facts dt").all_text_contents() == [
        "covers",
        "leaves out",
        "alike",
        "sure",
        "order",
    ]  # as elsewhere


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
    expect(seen.find("#card .verdict")).to_have_text(f"Not to choose from: {heading['reason']}.")
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


def test_the_dates_of_the_documents_make_a_timeline(example: Seen) -> None:
    days = example.page.request.get(example.live.url + example.cluster()).json()["days"]
    shown = example.find("#timeline time").evaluate_all("(all) => all.map((one) => one.dateTime)")
    assert shown == sorted(set(days))
    numbers = [int(text) for text in example.find("#timeline .badge").all_text_contents()]
    assert sorted(numbers) == [one["order"] for one in example.answer()["selected"]]
    with_one = example.find("#timeline p[data-count='1']").first
    number = int(with_one.locator(".badge").inner_text())
    with_one.get_by_role("button").click()
    assert example.find(".s:focus .t").inner_text() == sources(example.answer())[number - 1]


def test_words_stand_on_the_map_where_they_are_said(example: Seen) -> None:
    """Each in the middle of the sentences that say it, inside the map, and none over another."""
    words = example.find("#map .places text")
    texts, boxes = words.all_text_contents(), [one.bounding_box() for one in words.all()]
    assert 4 <= len(set(texts)) == len(texts)
    assert "Brennwater" in texts
    said = example.find(".s:has-text('Brennwater')").evaluate_all("(all) => all.map((one) => one.dataset.id)")
    points = [example.find(f"#map .point[data-id='{i}']").bounding_box() for i in said]
    x, y = (sum(box[a] + box[b] / 2 for box in points) / len(points) for a, b in (("x", "width"), ("y", "height")))
    box = boxes[texts.index("Brennwater")]
    assert box["x"] - 10 < x < box["x"] + box["width"] + 10
    assert abs(box["y"] + box["height"] / 2 - y) < 20
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            apart = abs(one["y"] - other["y"]) >= 10
            assert apart or one["x"] + one["width"] < other["x"] or other["x"] + other["width"] < one["x"]


def test_the_map_marks_the_chosen_ties_the_redundant_and_leads_to_the_text(example: Seen) -> None:
    answer = example.answer()
    expect(example.find("#map .point")).to_have_count(len(answer["marginals"]))
    assert example.find("#map .marks text").all_text_contents() == [str(one["order"]) for one in answer["selected"]]
    tied = example.find("#map .edges line").evaluate_all("(all) => all.map((one) => Number(one.dataset.from))")
    assert tied == [one["sentence"] for one in answer["redundant"]]
    point = example.find(f"#map .point[data-id='{answer['selected'][1]['sentence']}']")
    point.dispatch_event("click")
    assert example.find(".s:focus .t").inner_text() == sources(answer)[1]
    mark = example.find("#map .marks .in circle").nth(1)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box is not None
    example.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)  # it need not be hit
    assert example.find(".s:focus .t").inner_text() == sources(answer)[1]
