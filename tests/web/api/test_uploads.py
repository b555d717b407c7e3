"""Files in a form: what from_files reads, from memory; names are labels; what is no text is refused."""

from dpplearn.summarize import Cluster
from dpplearn.summarize.corpora.documents import suffixes
from markup_files import eml
from office_files import docx
from pdf_files import pdf_scan

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


def test_names_reach_no_file(client):
    answer = upload(client, ("/etc/hostname", b"A storm hit."), ("../hostname", b"Rain fell.")).json()
    assert [d["id"] for d in answer["documents"]] == ["hostname", "hostname (2)"]
    assert [d["text"] for d in answer["documents"]] == ["A storm hit.", "Rain fell."]


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
