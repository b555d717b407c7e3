"""Files for tests that are marked-up text, written from nothing: e-mails, mailboxes, rich text."""

import re
from email.message import EmailMessage


def rtf(blocks=(), body="", title=None):
    """Rich text in code page 1252; `body` is RTF after the blocks."""

    def said(text):
        return "".join(c if " " <= c <= "~" and c not in "\\{}" else f"\\u{ord(c)}?" for c in text)

    parts = []
    for kind, text in blocks:
        if kind == "row":
            parts.append("\\trowd " + "".join(f"\\intbl {said(cell)}\\cell " for cell in text) + "\\row")
        else:
            style = {"heading": "\\s1\\b ", "subheading": "\\s1\\b ", "title": "\\s2\\b ", "quotation": "\\s3 "}.get(
                kind, ""
            )
            bullet = "{\\pntext\\bullet\\tab}\\ls1 " if kind == "item" else ""
            note = ("{\\footnote ", "}") if kind == "footnote" else ("", "")
            parts.append(f"\\pard {style}{bullet}{note[0]}{said(text)}{note[1]}\\par\\plain")
    head = "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fswiss Helvetica;}}"
    head += "{\\stylesheet{\\s1 heading 1;}{\\s2 Title;}{\\s3 Quote;}}{\\header Confidential draft\\par}"
    head += f"{{\\info{{\\title {said(title)}}}}}" if title else ""
    return (head + "\n".join(parts) + body + "}").encode("ascii")


def eml(text, subject="Rain", sender="Ann Example <ann@example.org>", date="Mon, 3 May 2004 10:00:00 +0200", **headers):
    """An e-mail of plain text in UTF-8; further headers by name."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"], made["Date"] = sender, "bob@example.org", subject, date
    made["Message-ID"] = "<1@example.org>"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made.as_bytes()


def mbox(messages):
    """A mailbox of e-mails."""
    return b"".join(
        b"From ann@example.org Mon May  3 10:00:00 2004\n" + re.sub(rb"(?m)^From ", b">From ", one).rstrip() + b"\n\n"
        for one in messages
    )
