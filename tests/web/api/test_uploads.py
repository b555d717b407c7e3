"""Files in a form: what from_files reads, from memory; names are labels; what is no text is refused."""

import gc
import gzip
import weakref

import pytest

from dpplearn.summarize import Cluster
from dpplearn.summarize.corpora.documents import suffixes
from dpplearn.web import Settings
from dpplearn.web.guard import forget
from dpplearn.web.uploads import label
from markup_files import eml
from office_files import docx
from pdf_files import pdf_article, pdf_scan

CLUSTERS = "/api/v1/clusters/files"
FILES = {
    "a.txt": "Rain in Oslo\n8 May 2004\n\nIt rained all day. The river rose.",
    "b.md": "# Snow\n\nIt *snowed* in [Bergen](x.md). Roads closed.",
    "c.html": '<meta charset="utf-8"><title>Wind &amp; waves</title><p>It blew in Tromsø.<script>alert(1)</script>',
    "d.sgml": "<DOC><DOCNO> X1 </DOCNO><HEADLINE>Ice</HEADLINE><TEXT>OSLO (AP) _ Ice formed. Ships met.</TEXT></DOC>",
}


def upload(client, *files, **fields):
    return client.post(CLUSTERS, files=[("files", file) for file in files], data=fields)


def test_files_are_read_as_from_disk(client, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    expected = Cluster.from_files(sorted(tmp_path.iterdir())).documents
    answer = upload(client, *((name, text.encode()) for name, text in FILES.items()), model="general").json()
    found = [(d["id"], d["title"], d["text"]) for d in answer["documents"]]
    assert found == [(d.id, d.title or "", d.text) for d in expected]
    assert "alert" not in str(answer)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("Øl er dyrt.".encode("latin-1"), "Save it as UTF-8 text"),
        (b"PK\x03\x04....", "is damaged"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "an old Office file"),
        (gzip.compress(b"Rain fell.", mtime=0), "a gzip file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture (PNG)"),
        (b'<html><meta charset="punycode"><p>Rain.', "known encoding"),
    ],
)
def test_what_is_no_text_is_refused(client, is_problem, data, found):
    detail = is_problem(upload(client, ("holiday.html", data)), 422, "unreadable")["detail"]
    assert found in detail
    assert "holiday.html" in detail
    assert "--encoding" not in detail


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Windows\\win.txt", "win.txt"),
        ("a\u202egnp.txt", "agnp.txt"),
        ("~", "~"),
        ("..", ".."),
        ("\n\t", "file 7"),
        ("x" * 500, "x" * 200),
    ],
)
def test_names_are_labels(name, shown):
    assert label(name, 7) == shown


def test_names_reach_no_file(client):
    answer = upload(client, ("/etc/hostname", b"A storm hit."), ("../hostname", b"Rain fell.")).json()
    assert [d["id"] for d in answer["documents"]] == ["hostname", "hostname (2)"]
    assert [d["text"] for d in answer["documents"]] == ["A storm hit.", "Rain fell."]


def test_forms_that_are_not_valid(client, is_problem):
    one = ("files", ("a.txt", b"Rain fell."))
    found = is_problem(client.post(CLUSTERS, files=[("other", ("a.txt", b"x"))]), 422, "invalid")["errors"]
    assert {error["pointer"] for error in found} == {"/files", "/other"}
    is_problem(client.post(CLUSTERS, files=[one], data={"model": "french"}), 422, "invalid")
    is_problem(client.post(CLUSTERS, files=[("files", (None, "no file name"))]), 422, "invalid")
    for content_type in ("multipart/form-data", "multipart/form-data; boundary=x"):
        answer = client.post(CLUSTERS, content=b"--y\r\n\r\n", headers={"Content-Type": content_type})
        assert answer.status_code in (400, 422)
        assert answer.headers["content-type"] == "application/problem+json"


def test_one_bad_file_does_not_block_the_others(client, is_problem):
    good = [("a.docx", docx([("paragraph", "It rained in Oslo.")])), ("b.eml", eml("The river rose fast."))]
    bad = [("scan.pdf", pdf_scan()), ("old.doc", bytes.fromhex("d0cf11e0a1b11ae1")), ("long.txt", b"x" * 2_100_000)]
    answer = upload(client, good[0], *bad, good[1]).json()
    assert [one["id"] for one in answer["documents"]] == ["a.docx", "b.eml"]
    assert [one["file"] for one in answer["skipped"]] == [1, 2, 3]
    reasons = ("OCR", "save it as .docx", "max_document_characters")
    for one, (name, _), reason in zip(answer["skipped"], bad, reasons, strict=True):
        assert one["detail"].startswith(name)
        assert reason in one["detail"]
    found = is_problem(upload(client, *bad), 422, "unreadable")
    assert [one["pointer"] for one in found["errors"]] == ["/files/0", "/files/1", "/files/2"]
    assert all(name in found["detail"] for name, _ in bad)
    assert client.get("/api/v1/models").json()["files"] == suffixes()


def test_a_form_says_what_to_choose_from(client, is_problem):
    river = "The river rose by two meters."
    page = ("a.md", f"# Floods\n\n{river}\n\n## The school".encode())
    for keep_all, texts in (("false", [river]), ("true", [river, "The school"])):
        assert [one["text"] for one in upload(client, page, keep_all=keep_all).json()["sentences"]] == texts
    wrong = is_problem(upload(client, page, keep_all="maybe"), 422, "invalid")
    assert wrong["detail"].startswith("/keep_all: Input should be a valid boolean")


def test_a_file_that_stalls_is_named_and_ended(serving):
    with serving(Settings(n_jobs=1, max_file_seconds=0.01)) as client:
        pages = pdf_article([("paragraph", "It rained all day in the harbour of the north. " * 200)] * 20)
        answer = upload(client, ("slow.pdf", pages), ("a.txt", b"It rained all day."))
        assert answer.json()["skipped"][0]["detail"].startswith("slow.pdf must be readable in 0.01 s")


class Chunk:
    """A piece of a body."""


def refuse(_body):
    error = ValueError("too long")  # which its own frame holds, and so the frame itself
    raise error


def test_what_a_refused_request_held_is_freed_without_a_collector():
    gc.disable()
    try:
        for forgotten in (False, True):
            chunk = Chunk()
            gone = weakref.ref(chunk)
            try:
                refuse(chunk)
            except ValueError as error:
                if forgotten:
                    forget(error)
            del chunk
            assert (gone() is None) == forgotten
    finally:
        gc.enable()
        gc.collect()
