"""Documents come to the page: pasted, dropped and chosen, and what is said of those that cannot be read."""

from __future__ import annotations

from live import Seen
from playwright.sync_api import expect

from markup_files import eml
from office_files import docx
from pdf_files import pdf_article, pdf_scan


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
    expect(seen.find(".source")).to_have_count(3)
    expect(seen.find("#sources")).to_contain_text("The river rose by two meters.")
    assert seen.find("#sources .s").count() == 6


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
    expect(seen.find(".source")).to_have_count(4)
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
