"""E-mails: what the writer wrote is read, all of it, and what is quoted, signed or attached is not."""

from email.message import EmailMessage

import pytest

from dpplearn.summarize.corpora.documents import DocumentFile
from dpplearn.summarize.corpora.formats.mail import own_html, own_text, parse_mail
from markup_files import eml, mbox


def read(data, name="a.eml", remarks=None):
    file = DocumentFile(data, name, name, remarks=[] if remarks is None else remarks)
    return parse_mail(file)


REPLY = """Hi Bob,

It rained all day, and the river
rose. I will call on Monday.

{}

Best regards,
Ann
--\x20
Ann Example, Office of Rain
"""


@pytest.mark.parametrize(
    "quoted",
    [
        "On Mon, 3 May 2004 at 10:00, Bob <b@x.org>\nwrote:\n> Did it rain?\n>> Old",
        "Am 3. Mai 2004 um 10:00 schrieb Bob Beispiel:\n> Hat es geregnet?",
        "-----Original Message-----\nFrom: Bob\nSent: Monday\nDid it rain?",
        "From: Bob Example\nSent: Monday\nTo: Ann\nSubject: Rain\n\nDid it rain?",
        "Sent from my iPhone",
        "CONFIDENTIALITY NOTICE: this message is for Bob alone.",
        "This e-mail and its attachments are confidential and intended\nsolely for the addressee.",
    ],
)
def test_what_is_quoted_or_signed_is_left_out(quoted):
    [document] = read(eml(REPLY.format(quoted), subject="Re: AW: Rain"), "a.eml")
    assert document.text.splitlines() == [
        "Hi Bob,",
        "",
        "It rained all day, and the river",
        "rose. I will call on Monday.",
    ]
    assert (document.title, document.date) == ("Rain", "2004-05-03")


def test_e_mails_in_html_with_attachments_and_lies():
    made = EmailMessage()
    made["Subject"], made["Message-ID"] = "=?utf-8?q?Regen_in_K=C3=B6ln?=", "<1@x>"
    made.set_content("<p>It rained.</p><div>On Monday Ann wrote:</div><p>Did it?</p>", subtype="html")
    made.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="a.pdf")
    [document] = read(made.as_bytes(), "a.eml", remarks := [])
    assert remarks == ["a.eml: 1 attachment of the e-mail not read. Save and give them too."]
    assert (document.title, document.text) == ("Regen in Köln", "It rained.")
    lies = b"Message-ID: <1>\nContent-Type: text/plain; charset=%s\nContent-Transfer-Encoding: 8bit\n\n%s"
    for charset, data in ((b"us-ascii", "Café"), (b"utf-8", "Café"), (b"klingon", "Café"), (b"utf-8", "naïve")):
        for encoding in ("utf-8", "cp1252"):
            assert read(lies % (charset, data.encode(encoding)), "a.eml")[0].text == data
    odd = eml("It rained.").replace(b"3 May 2004", b"3 May 20040000000000000000")
    assert read(odd, "a.eml")[0].text == "It rained."
    forwarded = eml("---------- Forwarded message ---------\nFrom: Bob\nDate: today\nSubject: x\n\nIt rained in Oslo.")
    assert read(forwarded, "a.eml")[0].text == "It rained in Oslo."


def test_a_mailbox_is_a_document_per_message():
    found = read(
        mbox([eml("One.\n\nFrom here on it rained.", "A"), eml("> Only quoted", "B"), eml("Two.", "C")]), "a.mbox"
    )
    assert [(one.id, one.title, one.text) for one in found] == [
        ("a.mbox#1", "A", "One.\n\nFrom here on it rained."),
        ("a.mbox#3", "C", "Two."),
    ]


LONG = "\n".join(f"Line {i} of the minutes says what was decided." for i in range(20))


@pytest.mark.parametrize(
    "text",
    [
        f"Agenda\n{'=' * 30}\n\n{LONG}",
        f"It rained.\n\n{'-' * 40}\n\n{LONG}",
        f"It rained.\n\nDisclaimer: I have not been there.\n\n{LONG}",
    ],
)
def test_a_rule_or_a_notice_in_the_middle_does_not_end_a_message(text):
    found = own_text(text)
    assert found.endswith(LONG)
    assert "====" not in found
    assert "----" not in found
    assert "Disclaimer" not in found
    blocks = [("paragraph", line) for line in text.split("\n") if line]
    assert [text for _, text in own_html(blocks)][-20:] == LONG.split("\n")
