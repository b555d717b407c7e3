"""The page and its server: forgotten clusters, answers out of order, a server that is busy or away."""

from __future__ import annotations

import re

from live import Seen, serving
from playwright.sync_api import expect

from dpplearn.summarize import Summarizer
from dpplearn.web import Settings


def test_a_forgotten_cluster_is_posted_again_without_a_word(example: Seen) -> None:
    example.expected = {404}
    example.set_range("budget", 160)
    example.find("#summary [data-rule=include]").nth(1).click()
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
    example.more().find("#decoder").select_option("sampled")
    with example.page.expect_response(re.compile("/select$")) as answered:
        expect(example.find("#work")).to_have_attribute("aria-busy", "true")  # said to be under way
        example.find("#decoder").select_option("greedy")
    example.settle()
    assert len(held) == 1
    assert example.summary() == answered.value.json()["text"].split("\n")
    assert held[0].request.failure  # given up


def test_the_server_away_and_back(look) -> None:
    with serving(Settings(n_jobs=1)) as live:
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
        # the page tries again by itself, and may have done so by now
        seen.page.evaluate("document.querySelector('#notice button')?.click()")
        seen.settle()
        expect(seen.find("#notice")).to_be_hidden()
        assert seen.find("#measure").inner_text().endswith("of 150 words")
        other.find("#submit").click()
        other.settle()


def test_busy_servers_are_waited_for_limits_named_models_offered(look, tmp_path) -> None:
    own = tmp_path / "mine.json"
    Summarizer.load().save(own)
    with serving(
        Settings(model=own, n_jobs=1, queue=0, max_body_bytes=20_000, max_documents=8, max_sentences=80)
    ) as live:
        seen = look(live)
        expect(seen.find("#model option")).to_have_text(["mine", "general"])
        seen.load_example()
        seen.expected = {413, 429}
        with live.occupied():
            seen.find("#budget").fill("150")
            expect(seen.find("#notice")).to_contain_text("The server is busy. The page tries again in 1 s.")
        seen.settle()
        expect(seen.find("#notice")).to_be_hidden()
        assert seen.find("#measure").inner_text().endswith("of 150 words")
        seen.find("#change").click()
        seen.find("#paste-text").fill("The lake is full of rain. " * 1_000)
        seen.find("#submit").click()
        expect(seen.find("#form-problem")).to_contain_text("max_body_bytes")
        seen.find("#back").click()
        expect(seen.find("#summary")).to_be_visible()
