"""E-mails (.eml) and mailboxes (.mbox): what each writer wrote, without what was quoted, signed or attached."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.policy import Compat32
from email.utils import parsedate_to_datetime

from dpplearn._io.encoding import check_charset
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile
from dpplearn.summarize.corpora.formats.replies import own_html, own_text
from dpplearn.summarize.text.page import html_blocks

# A mailbox's line between messages stands at its beginning or under a blank line: "From" is a word, too.
_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,300}[0-9]{4}[^\r\n]{0,40}\r?\n")
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_REPLY = re.compile(r"(?:(?:re|aw|antw|sv|vs|tr|rv|fw|fwd|wg|ref|odp)(?:\[[0-9]{1,2}\])?\s?:\s*)++", re.IGNORECASE)
LONGEST_HEADER = 1_000  # characters that are looked at: the standard library's parser takes quadratic time


class BoundedPolicy(Compat32):
    """Headers of bounded length, one character more than is looked at if they are longer."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        value, probe = value[: LONGEST_HEADER + 1], Message()
        probe["Content-Type"] = value if name.lower().startswith("content-") else ""
        try:
            probe.get_params()
        except Exception:  # the standard library's parser fails on some parameters in many ways
            value = value.partition(";")[0]
        return name, value


def parse_mail(file: DocumentFile) -> list[Document]:
    """The message of a file, or those of a mailbox, each with its own text; ones without any are left out of many."""
    if not _START.match(file.data):
        return [read_message(file)]
    starts = list(_START.finditer(file.data))
    file.limits.check(file.place, "messages", len(starts))
    ends = [match.start() for match in starts[1:]] + [len(file.data)]
    documents = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        data = _ESCAPED.sub(rb"\1", file.data[start.end() : end])
        name, place = f"{file.name}#{number}", f"{file.place}, message {number}"
        documents.append(read_message(replace(file, data=data, name=name, place=place)))
    if not any(document.text for document in documents):
        raise ValueError(f"{file.place} must hold messages with text of their own, but holds none. Give another.")
    return [document for document in documents if document.text]


def read_message(file: DocumentFile) -> Document:
    """One message: its subject is the title."""
    try:
        message = message_from_bytes(file.data, policy=BoundedPolicy())
        texts, attached = readable_parts(message)
    except RecursionError:
        raise ValueError(f"{file.place} cannot be read: its parts are nested too deep. Save its text.") from None
    if attached:
        count = f"{attached} attachment{'s' if attached > 1 else ''}"
        file.remarks.append(f"{file.place}: {count} of the e-mail not read. Save and give them too.")
    title, date = _REPLY.sub("", header(message, "subject"), count=1) or None, day_sent(message)
    if texts and texts[0].get_content_subtype() == "html":
        parts = own_html(one for part in texts for one in html_blocks(decoded(part)))
        return Document.of_blocks(file.name, parts, title, date)
    return Document(file.name, own_text("\n\n".join(map(decoded, texts))), title, date)


def readable_parts(message: Message) -> tuple[list[Message], int]:
    """The parts to read, plain text rather than HTML, and how many others are attached.

    A text is in several parts where pictures or files stand between them.
    """
    texts: dict[str, list[Message]] = {"text/plain": [], "text/html": []}
    attached = 0
    for part in leaves(message):
        kind, inline = part.get_content_type(), part.get_content_disposition() != "attachment"
        if kind in texts and inline and part.get_filename() is None:
            texts[kind].append(part)
        elif not (inline and part["Content-ID"]):  # pictures of an HTML text are part of it
            attached += 1
    plain, pages = texts.values()
    few = sum(len(decoded(part).split()) for part in plain) < 5  # "Your reader shows no HTML."
    return pages if pages and few else plain, attached


def leaves(message: Message) -> list[Message]:
    """The parts of a message that have none, or are messages themselves."""
    if message.get_content_maintype() != "multipart" or not message.is_multipart():
        return [message]
    return [leaf for part in message.get_payload() if isinstance(part, Message) for leaf in leaves(part)]


def decoded(part: Message) -> str:
    """The text of a part in the charset that it declares, else in UTF-8, else in Windows' Western one."""
    payload, declared = part.get_payload(decode=True), str(part.get_param("charset"))
    data = payload if isinstance(payload, bytes) else b""
    if declared.lower() not in ("us-ascii", "ascii", "iso-8859-1"):  # what mailers say for what they do not know
        with suppress(ValueError):  # no charset, or other bytes
            return data.decode(check_charset(declared.strip(), ""))
    with suppress(UnicodeError):
        return data.decode("utf-8")
    return data.decode("cp1252", "replace")


def header(message: Message, name: str) -> str:
    """A header on one line; none where it is longer than any that people write."""
    raw = str(message[name] or "")
    if len(raw) > LONGEST_HEADER:
        return ""
    with suppress(ValueError, LookupError):  # of encoded words that are broken
        raw = str(make_header(decode_header(raw)))
    return " ".join(raw.split())


def day_sent(message: Message) -> str | None:
    """The day that a message was sent, or what its header says."""
    text = header(message, "date")
    with suppress(ValueError, OverflowError, TypeError, IndexError):
        return parsedate_to_datetime(text).date().isoformat()
    return text or None
