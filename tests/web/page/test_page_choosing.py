"""What one chooses on the page, and what comes of it: length, diversity, a question, inclusions and exclusions."""

from __future__ import annotations

from live import Seen, sources
from playwright.sync_api import expect


def test_the_example_is_summarized_and_marked_in_its_sources(example: Seen) -> None:
    answer = example.answer()
    expect(example.find(".source")).to_have_count(8)
    assert example.summary() == answer["text"].split("\n")
    assert example.find("#measure").inner_text() == f"{answer['length']:g} of {answer['budget']:g} words"
    marked = example.find(".s[data-state=in]")
    in_place = sorted(answer["selected"], key=lambda one: one["sentence"])
    assert marked.locator(".t").all_text_contents() == [one["full"] for one in in_place]
    assert [(badge.text_content() or "").split()[-1] for badge in marked.locator(".badge").all()] == [
        str(one["order"]) for one in in_place
    ]
    added = [words for one in answer["selected"] for words in one["added"]]
    assert added
    assert example.find("#summary .added").all_text_contents() == added


def test_both_sliders_ask_for_a_selection_and_for_nothing_else(example: Seen) -> None:
    before, asked = example.summary(), len(example.requests)
    example.set_range("budget", 200)
    assert example.find("#budget").input_value() == "200"
    assert example.find("#measure").inner_text().endswith("of 200 words")
    assert len(example.summary()) > len(before)
    assert example.summary() == example.answer()["text"].split("\n")
    found, spread = [], []
    for diversity in (0, 1):
        example.set_range("diversity", diversity)
        assert example.bodies[-1]["diversity"] == diversity
        assert example.summary() == example.answer()["text"].split("\n")
        found.append(example.summary())
        alike = example.answer()["similarity"]
        expect(example.find("#facts")).to_contain_text(alike["words"])
        spread.append(alike["mean"])
    assert found[0] != found[1]
    assert spread[0] > spread[1]
    asks = {path for _, path in example.requests[asked:] if not path.endswith("icon.svg")}
    assert asks == {f"{example.cluster()}/select"}


def test_a_question_an_order_and_context(example: Seen) -> None:
    example.find("#budget").fill("60")
    example.settle()
    before = example.summary()

    def asks(request):
        return request.url.endswith("/select") and request.post_data_json.get("about")

    with example.page.expect_request(asks):  # once typing has ended
        example.find("#about").fill("What would a new spillway cost?")
    example.settle()
    assert example.bodies[-1]["about"] == "What would a new spillway cost?"
    assert any("14 million" in line for line in example.summary())
    assert example.summary() != before
    expect(example.find("#summary .why").first).to_contain_text("about the question")
    example.find("#about").fill("zebra")
    expect(example.find("#note")).to_contain_text("No sentence mentions “zebra”")
    example.expected = {422}
    example.find("#about").fill("?!")
    expect(example.find("#about-problem")).to_contain_text("must have a word in it")
    example.find("#about").fill("")
    expect(example.find("#about-problem")).to_be_hidden()
    example.settle()
    assert example.summary() == before
    example.more().find("#order").select_option("importance")
    example.settle()
    assert example.bodies[-1]["order"] == "importance"
    assert sorted(example.summary()) == sorted(before)
    expect(example.find("#order-about")).to_have_text("The most important sentence first.")


def test_a_pinned_sentence_is_in_and_the_rest_adapts(example: Seen) -> None:
    before = example.answer()
    sentence = example.find(".s[data-state='']").nth(5)
    text = " ".join((sentence.locator(".t").text_content() or "").split())
    number = int(sentence.get_attribute("data-id") or "")
    sentence.click()
    expect(example.find("#card")).to_be_visible()
    example.find("#card").get_by_role("button", name="Include", exact=True).click()
    example.settle()
    assert example.bodies[-1]["include"] == [number]
    assert text in sources(example.answer())
    expect(example.find("#card .verdict")).to_contain_text("you asked for it")
    expect(example.find(f".s[data-id='{number}'][data-state=in][data-included]")).to_have_count(1)
    after = example.answer()
    assert after["marginals"] != before["marginals"]
    assert next(one for one in after["selected"] if one["sentence"] == number)["included"]
    example.page.keyboard.press("Escape")
    expect(example.find("#rules li")).to_have_count(1)
    example.find("#rules").get_by_role("button", name="Remove").click()
    example.settle()
    assert example.bodies[-1]["include"] == []
    assert example.summary() == before["text"].split("\n")


def test_a_banned_sentence_is_out_and_clearing_brings_it_back(example: Seen) -> None:
    before, first = example.summary(), sources(example.answer())[0]
    example.find("#summary > li").first.get_by_role("button", name="Exclude this sentence").click()
    example.settle()
    assert first not in sources(example.answer())
    banned = example.find(".s[data-state=excluded]")
    assert banned.locator(".t").inner_text() == first
    assert banned.locator(".t").evaluate("(one) => getComputedStyle(one).textDecorationLine") == "line-through"
    expect(example.find("#map .marks .excluded")).to_have_count(1)
    example.find("#clear").click()
    example.settle()
    assert example.summary() == before
    expect(example.find("#rules li")).to_have_count(0)
