"""Files in a form: what from_files reads, from memory; names are labels; what is no text is refused."""

import gzip

import pytest

from dpplearn.summarize import Cluster
from dpplearn.summarize.corpora.documents import suffixes
from dpplearn.web import Settings
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
    assert [(d["id"], d["title"], d["text"]) for d in answer["documents"]] == [
        (d.id, d.title or "", d.text) for d in expected
    ]
    assert "alert" not in str(answer)


def test_another_charset_is_named(client, is_problem):
    detail = is_problem(upload(client, ("a.txt", "Øl er dyrt.".encode("latin-1"))), 422, "unreadable")["detail"]
    assert "Save it as UTF-8 text" in detail


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"%PDF-1.7 ...", "end of the PDF file is missing"),
        (b"PK\x03\x04....", "is damaged"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "an old Office file"),
        (gzip.compress(b"Rain fell.", mtime=0), "a gzip file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture (PNG)"),
        (b"Rain \0 fell.", "is binary"),
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
        ("/dev/null", "null"),
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
    assert [(one["file"], one["name"]) for one in answer["skipped"]] == [
        (1, "scan.pdf"),
        (2, "old.doc"),
        (3, "long.txt"),
    ]
    for one, reason in zip(answer["skipped"], ("OCR", "save it as .docx", "max_document_characters"), strict=True):
        assert one["detail"].startswith(one["name"])
        assert reason in one["detail"]
    found = is_problem(upload(client, *bad), 422, "unreadable")
    assert [one["pointer"] for one in found["errors"]] == ["/files/0", "/files/1", "/files/2"]
    assert all(name in found["detail"] for name, _ in bad)
    assert client.get("/api/v1/models").json()["files"] == suffixes()


def test_a_form_says_what_to_choose_from(client, is_problem):
    page, river = (
        ("a.md", b"# Floods\n\nThe river rose by two meters.\n\n## The school"),
        "The river rose by two meters.",
    )
    for keep_all, texts in (("false", [river]), ("true", [river, "The school"])):
        assert [one["text"] for one in upload(client, page, keep_all=keep_all).json()["sentences"]] == texts
    answer = upload(client, page, keep_all="maybe")
    assert is_problem(answer, 422, "invalid")["detail"].startswith("/keep_all: Input should be a valid boolean")


def test_a_file_that_stalls_is_named_and_ended(serving):
    with serving(Settings(workers=1, max_file_seconds=0.01)) as client:
        pages = pdf_article([("paragraph", "It rained all day in the harbour of the north. " * 200)] * 20)
        answer = upload(client, ("slow.pdf", pages), ("a.txt", b"It rained all day."))
        assert answer.json()["skipped"][0]["detail"].startswith("slow.pdf must be readable in 0.01 s")
