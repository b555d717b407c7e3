"""What one does on the page, in a real browser against the real server."""

from __future__ import annotations

import json
import re

import pytest
from live import Seen, serving
from playwright.sync_api import expect

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.web import Settings
from markup_files import eml
from office_files import docx
from pdf_files import pdf_article, pdf_scan


def test_the_example_is_summarized_and_marked_in_its_sources(example: Seen) -> None:
    answer = example.answer()
    expect(example.find("article.source")).to_have_count(8)
    assert example.summary() == answer["text"].split("\n")
    assert example.find("#measure").inner_text() == f"{answer['length']:g} of {answer['budget']:g} words"
    marked = example.find(".s[data-state=in]")
    assert marked.locator(".t").all_text_contents() == example.summary()
    assert [(badge.text_content() or "").split()[-1] for badge in marked.locator(".badge").all()] == [
        str(one["order"]) for one in answer["selected"]
    ]
    repeated = {one["sentence"] for one in answer["redundant"]}
    assert repeated
    shown = example.find(".s[data-state=again]").evaluate_all("(all) => all.map((one) => Number(one.dataset.id))")
    assert set(shown) == repeated


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
        shown = f" · alike {alike['mean']:.2f} on average, {alike['max']:.2f} at most"
        assert example.find("#alike").text_content() == shown
        spread.append(alike["mean"])
    assert found[0] != found[1]
    assert spread[0] > spread[1]
    assert {path.split("/")[-1] for _, path in example.requests[asked:]} == {"select"}


def test_a_share_of_the_words(example: Seen) -> None:
    example.find("#unit").select_option("% of words")
    example.settle()
    share = int(example.find("#budget").input_value())
    assert 5 <= share <= 8  # what suits the example, as a share
    assert example.bodies[-1]["budget"] == f"{share}%"
    example.find("#budget").fill("20")
    example.settle()
    assert example.bodies[-1] == {
        "budget": "20%", "unit": "words", "diversity": 0.5, "decoder": "consensus", "include": [], "exclude": []
    }  # fmt: skip
    expect(example.find("#measure")).to_contain_text("of 252 words")  # of 1,262
    asked = len(example.bodies)
    example.find("#budget").fill("101")
    expect(example.find("#budget-problem")).to_have_text("A whole number from 1 to 100.")
    assert len(example.bodies) == asked
    example.find("#unit").select_option("words")
    example.settle()
    assert example.bodies[-1]["unit"] == "words"
    assert 240 <= example.bodies[-1]["budget"] <= 265


def test_numbers_units_and_decoders(example: Seen) -> None:
    example.find("#budget").fill("3")
    example.find("#unit").select_option("sentences")
    example.settle()
    example.find("#budget").fill("4")
    example.settle()
    assert len(example.summary()) == 4
    example.find("#budget").fill("1")
    example.settle()
    expect(example.find("#measure")).to_have_text("1 of 1 sentence")
    expect(example.find("#alike")).to_have_text("")
    example.find("#budget").fill("4")
    example.settle()
    assert example.find("#budget-range").input_value() == "4"
    example.find("#decoder").select_option("greedy")
    example.settle()
    assert example.bodies[-1] == {
        "budget": 4, "unit": "sentences", "diversity": 0.5, "decoder": "greedy", "include": [], "exclude": []
    }  # fmt: skip
    asked = len(example.bodies)
    example.find("#budget").fill("0")
    expect(example.find("#budget-problem")).to_have_text("A whole number, 1 or more.")
    example.find("#diversity").fill("1.5")
    expect(example.find("#diversity-problem")).to_have_text("A number from 0 to 1.")
    expect(example.find("#budget-problem")).to_be_hidden()  # left: the last good value is back
    assert example.find("#budget").input_value() == "4"
    assert len(example.bodies) == asked


def test_a_question_an_order_and_context(example: Seen) -> None:
    example.find("#budget").fill("60")
    example.settle()
    before = example.summary()
    example.find("#about").fill("What would a new spillway cost?")
    example.page.wait_for_timeout(400)  # it is asked once typing has ended
    example.settle()
    assert example.bodies[-1]["about"] == "What would a new spillway cost?"
    assert any("14 million" in line for line in example.summary())
    assert example.summary() != before
    relevant = example.find("#summary .bar").first
    expect(relevant).to_have_attribute("aria-label", re.compile("relevance to the question"))
    example.find("#about").fill("zebra")
    expect(example.find("#note")).to_contain_text("No sentence mentions “zebra”")
    example.expected = {422}
    example.find("#about").fill("?!")
    expect(example.find("#about-problem")).to_contain_text("must have a word in it")
    example.find("#about").fill("")
    expect(example.find("#about-problem")).to_be_hidden()
    example.settle()
    assert example.summary() == before
    example.find("#order").select_option("importance")
    example.settle()
    assert example.bodies[-1]["order"] == "importance"
    assert sorted(example.summary()) == sorted(before)
    expect(example.find("#order-about")).to_have_text("What adds most first.")
    example.find("#context").check()
    example.settle()
    assert example.bodies[-1]["with_context"] is True


def test_a_pinned_sentence_is_in_and_the_rest_adapts(example: Seen) -> None:
    before = example.answer()
    sentence = example.find(".s[data-state='']").nth(5)
    text, number = sentence.inner_text(), int(sentence.get_attribute("data-id") or "")
    sentence.click()
    expect(example.find("#card")).to_be_visible()
    example.find("#card").get_by_role("button", name="Pin").click()
    example.settle()
    assert example.bodies[-1]["include"] == [number]
    assert text in example.summary()
    expect(example.find("#card .facts")).to_contain_text("because you pinned it")
    expect(example.find(f".s[data-id='{number}'][data-state=in][data-pinned]")).to_have_count(1)
    after = example.answer()
    assert after["marginals"] != before["marginals"]
    assert next(one for one in after["selected"] if one["sentence"] == number)["pinned"]
    example.page.keyboard.press("Escape")
    expect(example.find("#rules li")).to_have_count(1)
    example.find("#rules").get_by_role("button", name="Remove").click()
    example.settle()
    assert example.bodies[-1]["include"] == []
    assert example.summary() == before["text"].split("\n")


def test_a_banned_sentence_is_out_and_clearing_brings_it_back(example: Seen) -> None:
    before = example.summary()
    example.find("#summary > li").first.get_by_role("button", name="Ban this sentence").click()
    example.settle()
    assert before[0] not in example.summary()
    banned = example.find(".s[data-state=banned]")
    assert banned.locator(".t").inner_text() == before[0]
    assert banned.locator(".t").evaluate("(one) => getComputedStyle(one).textDecorationLine") == "line-through"
    expect(example.find("#map .marks .banned")).to_have_count(1)
    example.find("#clear").click()
    example.settle()
    assert example.summary() == before
    expect(example.find("#rules li")).to_have_count(0)


def test_a_sentence_of_the_summary_leads_to_its_place(example: Seen) -> None:
    example.find("#summary .go").nth(2).click()
    focused = example.find(".s:focus")
    assert focused.locator(".t").inner_text() == example.summary()[2]
    expect(focused).to_be_in_viewport()
    expect(focused).to_have_class(re.compile("flash"))
    example.find("#view-tabs").click()
    example.find("#summary .go").nth(0).click()  # in another document: its tab opens
    expect(example.find(".s:focus")).to_be_in_viewport()
    expect(example.find("[role=tab][aria-selected=true]")).to_contain_text("Engineers warned of cracks")
    expect(example.find("article.source:visible")).to_have_count(1)


def test_what_a_redundant_sentence_repeats_is_said_and_linked(example: Seen) -> None:
    left_out = example.answer()["redundant"][0]
    order = next(one["order"] for one in example.answer()["selected"] if one["sentence"] == left_out["similar_to"])
    words = f"similar {left_out['similarity']:.2f} to sentence {order}"
    sentence = example.find(f".s[data-id='{left_out['sentence']}']")
    sentence.hover()
    expect(example.find("#tip")).to_contain_text(words)
    sentence.click()
    example.find("#card").get_by_role("button", name=words).click()
    expect(example.find(".s:focus")).to_have_attribute("data-id", str(left_out["similar_to"]))
    expect(example.find("#again > li").first).to_contain_text(words)


def test_the_card_says_why_a_sentence_is_out(example: Seen) -> None:
    example.set_range("budget", 200)
    answer = example.answer()
    cluster = example.page.request.get(f"{example.live.url}{example.cluster()}").json()
    least = min(one["quality"] for one in answer["selected"])
    named = {one["sentence"] for one in answer["selected"] + answer["redundant"]}
    weak = min((one for one in cluster["sentences"] if one["id"] not in named), key=lambda one: one["quality"])
    assert weak["quality"] < least
    facts = example.find("#card .facts")
    example.find(f".s[data-id='{weak['id']}']").click()
    expect(facts).to_contain_text("Not in the summary: weaker than every chosen sentence.")
    kinds = {reason[:12]: i for i, reason in enumerate(answer["reasons"]) if reason}  # one sentence for each
    assert len(kinds) >= 3
    for other in (answer["redundant"][0]["sentence"], *kinds.values()):
        example.page.keyboard.press("Escape")
        example.find(f".s[data-id='{other}']").click()
        expect(facts).to_contain_text(f"Not in the summary: {answer['reasons'][other]}.")
    example.page.keyboard.press("Escape")
    example.find("#unit").select_option("tokens")
    example.find("#budget").fill("12")
    example.settle()
    long = next(one for one in cluster["sentences"] if one["length"]["tokens"] > 12 and one["id"])
    example.find(f".s[data-id='{long['id']}']").click()
    expect(facts).to_contain_text("longer than the budget")


@pytest.mark.parametrize("width", [1440, 390])
def test_a_text_in_another_language_is_noted_on_the_page(look, tmp_path, width: int) -> None:  # type: ignore[no-untyped-def]
    Summarizer(budget=60, unit="words").fit([Cluster.example()]).save(tmp_path / "mine.json")
    sentence = "Der Fluss ist in der Nacht über die Ufer getreten, und die Stadt wurde nicht mit dem Zug erreicht. "
    with serving(Settings(model=tmp_path / "mine.json")) as live:
        seen = look(live, viewport={"width": width, "height": 844})
        seen.summarize(sentence * 3)
        expect(seen.find("#cluster-notes")).to_contain_text("The cluster seems to be in German")
        expect(seen.find("#cluster-notes")).to_be_in_viewport()


def test_each_sentence_has_a_bar_of_what_its_quality_is_made_of(example: Seen) -> None:
    selected = example.answer()["selected"]
    bars = example.find("#summary .bar")
    expect(bars).to_have_count(len(selected))
    for bar, one in zip(bars.all(), selected, strict=True):
        label = bar.get_attribute("aria-label") or ""
        assert label.startswith(f"Quality {one['quality']:.2f}, made of ")
        assert all(name in label for name in one["contributions"])
        widths = bar.locator("i").evaluate_all("(all) => all.map((one) => parseFloat(one.style.width))")
        sizes = [abs(value) for value in one["contributions"].values()]
        assert [w / widths[0] for w in widths] == pytest.approx([s / sizes[0] for s in sizes], rel=1e-3)
    example.find(".s[data-state='']").first.click()
    assert example.find("#card .terms tr").count() > 3


def test_the_map_marks_the_chosen_ties_the_redundant_and_leads_to_the_text(example: Seen) -> None:
    answer = example.answer()
    expect(example.find("#map .point")).to_have_count(len(answer["marginals"]))
    assert example.find("#map .marks text").all_text_contents() == [str(one["order"]) for one in answer["selected"]]
    tied = example.find("#map .edges line").evaluate_all("(all) => all.map((one) => Number(one.dataset.from))")
    assert tied == [one["sentence"] for one in answer["redundant"]]
    point = example.find(f"#map .point[data-id='{answer['selected'][1]['sentence']}']")
    point.dispatch_event("click")
    assert example.find(".s:focus .t").inner_text() == example.summary()[1]


def test_documents_are_pasted_uploaded_and_dropped(seen: Seen) -> None:
    seen.find("#paste-title").fill("Rain")
    seen.find("#paste-text").fill("Rain fell on the hills for a week. The river rose by two meters.")
    seen.find("#add").click()
    seen.upload(snow_txt=b"Snow closed the pass on Sunday. The road opens again on Friday.")
    seen.page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["Wind broke the mast. No one was hurt."], "wind.txt", { type: "text/plain" }));
          for (const type of ["dragenter", "dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(seen.find("#drafts li")).to_have_count(3)
    seen.find("#submit").click()
    seen.settle()
    expect(seen.find("article.source")).to_have_count(3)
    expect(seen.find("#sources")).to_contain_text("The river rose by two meters.")
    assert seen.find("#sources .s").count() == 6


def test_files_that_cannot_be_read_are_named_beside_them_and_nothing_is_lost(seen: Seen) -> None:
    seen.expected = {422}
    seen.upload(scan_pdf=pdf_scan(), broken_txt=bytes(range(128, 256)))
    seen.find("#submit").click()
    expect(seen.find("#drafts li.bad .draft-problem")).to_have_count(2)
    expect(seen.find("#drafts li.bad .draft-problem").nth(0)).to_contain_text("scan.pdf has no text")
    expect(seen.find("#drafts li.bad .draft-problem").nth(1)).to_contain_text("broken.txt is not in UTF-8")
    expect(seen.find("#form-problem")).to_contain_text("No document can be read")
    seen.upload(good_txt=b"The bridge was closed at noon. It opened at six.")
    expect(seen.find("#form-problem")).to_be_hidden()
    expect(seen.find("#drafts li")).to_have_count(3)


def test_one_bad_file_does_not_block_the_others(seen: Seen) -> None:
    """All bad ones are named with their reasons, above the summary and beside them in the list; the others are read."""
    article = [("paragraph", "The ferry stays in the harbour until Friday. Its engine was flooded in the storm.")]
    seen.upload(
        scan_pdf=pdf_scan(),
        good_txt=b"The bridge was closed at noon. It opened at six.",
        old_doc=bytes.fromhex("d0cf11e0a1b11ae1"),
        paper_pdf=pdf_article(article * 2, title="Ferries", columns=2),
        report_docx=docx([("heading", "Boats"), ("paragraph", "Ten boats sank in the harbour on Friday.")]),
        mail_eml=eml("The river rose by two meters.\n\n> Did it rise?"),
    )
    seen.find("#submit").click()
    seen.settle()
    expect(seen.find("article.source")).to_have_count(4)
    expect(seen.find("#cluster-title")).to_have_text("4 documents")
    expect(seen.find("#cluster-notes li")).to_have_count(2)
    expect(seen.find("#cluster-notes")).to_contain_text("Left out: scan.pdf has no text")
    expect(seen.find("#cluster-notes")).to_contain_text(
        "Left out: old.doc must be a text file, but is an old Office file"
    )
    expect(seen.find("#sources")).to_contain_text("Its engine was flooded in the storm.")
    expect(seen.find("#sources")).not_to_contain_text("Did it rise?")
    seen.find("#change").click()
    expect(seen.find("#drafts li.bad")).to_have_count(2)
    offered = seen.page.request.get(f"{seen.live.url}api/v1/models").json()["files"]
    assert seen.find("#files").get_attribute("accept") == ",".join(offered)
    assert {".pdf", ".docx", ".odt", ".epub", ".rtf", ".eml", ".mbox", ".txt"} <= set(offered)


def test_nothing_to_summarize_is_said_before_anything_is_sent(seen: Seen) -> None:
    seen.find("#submit").click()
    expect(seen.find("#form-problem")).to_contain_text("No document yet")
    assert ("POST", "api/v1/clusters") not in seen.requests
    seen.expected = {422}
    seen.find("#paste-text").fill("?!")
    seen.find("#submit").click()
    expect(seen.find("#form-problem")).to_contain_text("There is nothing to choose from")


def test_copy_and_downloads_hold_the_summary(example: Seen) -> None:
    example.find(".s[data-state='']").first.focus()
    example.page.keyboard.press("b")
    example.settle()
    answer = example.answer()
    example.context.grant_permissions(["clipboard-read", "clipboard-write"])
    example.find("#copy").click()
    expect(example.find("#copy-label")).to_have_text("Copied")
    assert example.page.evaluate("navigator.clipboard.readText()") == answer["text"]
    files = {}
    for kind in ("txt", "md", "json"):
        with example.page.expect_download() as waiting:
            example.find(f"[data-download={kind}]").click()
        assert waiting.value.suggested_filename == f"summary.{kind}"
        files[kind] = waiting.value.path().read_text(encoding="utf-8")
    assert files["txt"] == answer["text"] + "\n"
    assert files["md"].startswith("# Summary of 8 documents\n")
    assert re.findall(r"^(\d+)\. ", files["md"], re.M) == [str(one["order"]) for one in answer["selected"]]
    assert "sentence 1)" in files["md"]
    data = json.loads(files["json"])
    assert data["text"] == answer["text"]
    assert data["options"] == example.bodies[-1]
    assert len(data["options"]["exclude"]) == 1
    assert [one["text"] for one in data["selected"]] == answer["text"].split("\n")
    assert [one["similarity"] for one in data["redundant"]] == [one["similarity"] for one in answer["redundant"]]


def test_pins_that_do_not_fit_are_refused_where_they_were_made(example: Seen) -> None:
    example.expected = {422}
    example.find("#summary [data-rule=pin]").nth(1).click()
    example.settle()
    shown = example.summary()
    example.find("#budget").fill("10")
    expect(example.find("#select-problem")).to_contain_text("No summary satisfies this")
    assert example.summary() == shown  # the last answer stays
    example.find("#clear").click()
    example.settle()
    expect(example.find("#select-problem")).to_be_hidden()


def test_a_forgotten_cluster_is_posted_again_without_a_word(example: Seen) -> None:
    example.expected = {404}
    example.set_range("budget", 160)
    example.find("#summary [data-rule=pin]").nth(1).click()
    example.settle()
    before, pinned = example.answer(), example.bodies[-1]["include"]
    cluster = example.cluster()
    assert example.page.request.delete(example.live.url + cluster).status == 204
    example.set_range("budget", 150)
    example.set_range("budget", 160)
    assert example.bodies[-1]["include"] == pinned
    assert example.summary() == before["text"].split("\n")
    assert example.cluster() != cluster
    expect(example.find("#notice")).to_be_hidden()


def test_an_older_answer_never_replaces_a_newer_one(example: Seen) -> None:
    held = []
    example.page.route(
        re.compile("/select$"),
        lambda route: held.append(route) if route.request.post_data_json["decoder"] == "sampled" else route.continue_(),
    )
    example.find("#decoder").select_option("sampled")
    with example.page.expect_response(re.compile("/select$")) as answered:
        expect(example.find("#work")).to_have_attribute("aria-busy", "true")  # said to be under way
        example.find("#decoder").select_option("greedy")
    example.settle()
    assert len(held) == 1
    assert example.summary() == answered.value.json()["text"].split("\n")
    assert held[0].request.failure  # given up


def test_the_server_away_and_back(look) -> None:  # type: ignore[no-untyped-def]
    with serving(Settings(workers=1)) as live:
        seen, other = look(live).load_example(), look(live)
        before = seen.summary()
        live.stop()
        seen.unreachable = other.unreachable = True
        seen.find("#budget").fill("150")
        expect(seen.find("#notice")).to_contain_text("The server does not answer.")
        assert seen.summary() == before
        other.find("#paste-text").fill("One sentence is here. Another follows.")
        other.find("#submit").click()
        expect(other.find("#form-problem")).to_contain_text("The server does not answer")
        expect(other.find("#drafts li")).to_have_count(1)  # nothing typed is lost
        live.start()  # it knows nothing of the cluster
        seen.expected = {404}
        seen.find("#notice").get_by_role("button", name="Try now").click()
        seen.settle()
        expect(seen.find("#notice")).to_be_hidden()
        assert seen.find("#measure").inner_text().endswith("of 150 words")
        other.find("#submit").click()
        other.settle()


def test_busy_servers_are_waited_for_limits_named_models_offered(look, tmp_path) -> None:  # type: ignore[no-untyped-def]
    own = tmp_path / "mine.json"
    Summarizer.load().save(own)
    with serving(
        Settings(model=own, workers=1, queue=0, max_body_bytes=20_000, max_documents=8, max_sentences=80)
    ) as live:
        seen = look(live)
        expect(seen.find("#model option")).to_have_text(["mine", "english"])
        seen.load_example()
        seen.expected = {413, 429}
        with live.occupied():
            seen.find("#budget").fill("150")
            expect(seen.find("#notice")).to_contain_text("The server is busy. Trying again in 1 s.")
        seen.settle()
        expect(seen.find("#notice")).to_be_hidden()
        assert seen.find("#measure").inner_text().endswith("of 150 words")
        seen.find("#change").click()
        seen.find("#paste-text").fill("The lake is full of rain. " * 1_000)
        seen.find("#submit").click()
        expect(seen.find("#form-problem")).to_contain_text("max_body_bytes")
        seen.find("#back").click()
        expect(seen.find("#summary")).to_be_visible()


def test_what_was_dropped_of_a_sentence_is_struck_through(example: Seen) -> None:
    before = example.summary()
    expect(example.find("#summary del:visible")).to_have_count(0)
    example.find("#compress").check()
    example.settle()
    answer = example.answer()
    assert example.summary() == answer["text"].split("\n") != before
    dropped = [len(one["dropped"]) for one in answer["selected"]]
    assert any(dropped)
    expect(example.find("#summary del")).to_have_count(sum(dropped))
    whole = example.find("#summary .dropped:visible").first.text_content()
    assert whole in example.find("article.source").filter(has_text=whole[:40]).first.inner_text().replace("\n", " ")
    example.find("#compress").uncheck()
    example.settle()
    assert example.summary() == before
    expect(example.find("#summary del")).to_have_count(0)
