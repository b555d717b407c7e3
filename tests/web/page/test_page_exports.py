"""The summary leaves the page: copied, as a file, and its settings as an address."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from live import Live, Seen
from playwright.sync_api import expect

from dpplearn.summarize.explain.summary import plain_markdown

SUFFIXES = {"text": "txt", "markdown": "md", "html": "html", "json": "json"}


def downloads(seen: Seen) -> dict[str, str]:
    files = {}
    for kind, suffix in SUFFIXES.items():
        with seen.page.expect_download() as waiting:
            seen.find(f"[data-download={kind}]").click()
        assert waiting.value.suggested_filename == f"summary.{suffix}"
        files[kind] = waiting.value.path().read_text(encoding="utf-8")
    return files


def test_copy_and_downloads_hold_the_summary(example: Seen) -> None:
    example.find(".s[data-state='']").first.focus()
    example.page.keyboard.press("e")
    example.settle()
    answer = example.answer()
    example.context.grant_permissions(["clipboard-read", "clipboard-write"])
    example.find("#copy").click()
    expect(example.find("#copy-label")).to_have_text("Copied")
    assert example.page.evaluate("navigator.clipboard.readText()") == answer["text"]
    files = downloads(example)
    lines = answer["text"].split("\n")
    assert files["text"] == answer["text"] + "\n"
    assert all(plain_markdown(line) in files["markdown"] for line in lines)
    assert "<!doctype html>" in files["html"]
    assert all(line in files["html"] for line in lines)
    data = json.loads(files["json"])
    assert data["text"] == answer["text"]
    assert [one["words"] for one in data["explanation"]["chosen"]] == [one["words"] for one in answer["selected"]]
    assert len(data["documents"]) == 8


def test_the_settings_are_in_the_address_and_the_documents_are_not(
    example: Seen, look: Callable[..., Seen], live: Live
) -> None:
    example.set_range("budget", 150)
    example.set_range("diversity", 0.75)
    example.more().find("#order").select_option("importance")
    example.settle()
    example.find("#compress").check()
    example.settle()
    example.find("#about").fill("the army & the rain")
    expect(example.page).to_have_url(re.compile("about="))
    said = parse_qs(urlsplit(example.page.url).fragment)
    assert {name: value[0] for name, value in said.items()} == {
        "budget": "150", "diversity": "0.75", "unit": "words", "decoder": "consensus", "order": "importance",
        "about": "the army & the rain", "compress": "yes",
    }  # fmt: skip
    example.context.grant_permissions(["clipboard-read", "clipboard-write"])
    example.find("#share").click()
    expect(example.find("#share")).to_have_text("Copied")
    address = example.page.evaluate("navigator.clipboard.readText()")
    assert address == example.page.url
    assert not any(word in address for word in re.findall(r"[A-Z]\w{5,}", " ".join(example.summary())))

    other = look(live)
    other.page.goto(address)
    other.page.reload()  # as in a new tab
    other.load_example()
    assert other.bodies[-1] == example.bodies[-1]
    assert other.summary() == example.summary()
    expect(other.find("#more-controls")).to_be_visible()  # what is set there is to be seen
    other.page.evaluate("location.hash = '#budget=60&diversity=none&unit=furlongs&decoder=magic'")
    expect(other.find("#budget")).to_have_value("60")
    other.settle()
    assert (other.bodies[-1]["unit"], other.bodies[-1]["decoder"]) == ("words", "consensus")
    assert other.bodies[-1]["diversity"] == 0.75
