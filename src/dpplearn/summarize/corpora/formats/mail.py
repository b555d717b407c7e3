"""E-mails (.eml) and mailboxes (.mbox): what each writer wrote, without what was quoted, signed or attached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.message import Message
from email.policy import EmailPolicy
from email.utils import parsedate_to_datetime

from dpplearn._io.encoding import check_charset
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile
from dpplearn.summarize.corpora.formats.replies import own_html, own_text
from dpplearn.summarize.corpora.source import say_of_file
from dpplearn.summarize.text.blocks import BlockText
from dpplearn.summarize.text.page import html_blocks

_START = re.compile(rb"^From [^\r\n]{0,300}[0-9]{4}[^\r\n]{0,40}\r?\n", re.MULTILINE)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_REPLY = re.compile(r"(?:(?:re|aw|antw|sv|vs|tr|rv|fw|fwd|wg|ref|odp)(?:\[[0-9]{1,2}\])?\s?:\s*)++", re.IGNORECASE)
LONGEST = 1_000  # characters of a header that are looked at: the standard library's parser takes quadratic time


class BoundedPolicy(EmailPolicy):
    """Headers of bounded length; those that say what a part is are asked for again and again, and parsed once."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        if not name.lower().startswith("content-"):
            return name, value[: LONGEST + 1]  # so that one can tell that it was longer
        if len(value) > LONGEST:
            value = value[:LONGEST].rpartition(";")[0] or value[:LONGEST]  # whole parameters
        try:
            return name, self.header_fetch_parse(name, value)
        except Exception:  # the standard library's parser fails on some parameters in many ways
            return name, self.header_fetch_parse(name, value.partition(";")[0])


def parse_mail(file: DocumentFile) -> list[Document]:
    """The message of a file, or those of a mailbox, each with its own text; ones without any are left out of many."""
    if not _START.match(file.data):
        return [read_message(file.data, file.name, file.place)]
    starts = [match for match in _START.finditer(file.data) if _apart(file.data, match.start())]
    file.limits.check(file.place, "messages", len(starts))
    ends = [match.start() for match in starts[1:]] + [len(file.data)]
    found = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        data = _ESCAPED.sub(rb"\1", file.data[start.end() : end])
        found.append(read_message(data, f"{file.name}#{number}", f"{file.place}, message {number}"))
    kept = [one for one in found if one.text]
    if not kept:
        raise ValueError(f"{file.place} must hold messages with text of their own, but holds none. Give another.")
    return kept


def _apart(data: bytes, at: int) -> bool:
    """Whether a blank line, or nothing, stands before: "From" at the head of a line is a word, too."""
    return at == 0 or data[max(at - 3, 0) : at].replace(b"\r", b"").endswith(b"\n\n")


def read_message(data: bytes, name: str, place: object) -> Document:
    """One message: its subject is the title."""
    try:
        message = message_from_bytes(data, policy=BoundedPolicy())
        body, attached = parts(message)
    except RecursionError:
        raise ValueError(f"{place} cannot be read: its parts are nested too deep. Save its text.") from None
    if attached:
        count = f"{attached} attachment{'s' if attached > 1 else ''}"
        say_of_file(f"{place}: {count} of the e-mail not read. Save and give them too.")
    title, date = header(message, "subject"), sent(message)
    title = _REPLY.sub("", title, count=1) if title and _REPLY.match(title) else title
    if body and body[0].get_content_subtype() == "html":
        made = BlockText()
        for kind, block in own_html(one for part in body for one in html_blocks(decoded(part))):
            made.add(kind, block)
        return Document(name, made.text, title or None, date, blocks=made.blocks)
    text = "\n\n".join(decoded(part) for part in body)
    return Document(name, own_text(text, flowed=bool(body) and _flowed(body[0])), title or None, date)


def parts(message: Message) -> tuple[list[Message], int]:
    """The parts to read, plain text rather than HTML, and how many others are attached.

    A text is in several where pictures or files stand between them. A message that is attached is read where there is
    no other text.
    """
    found: dict[str, list[Message]] = {"text/plain": [], "text/html": []}
    attached: list[Message] = []
    for part in _leaves(message):
        kind, inline = part.get_content_type(), part.get_content_disposition() != "attachment"
        if kind in found and inline and part.get_filename() is None:
            found[kind].append(part)
        elif not (inline and part["Content-ID"]):  # pictures of an HTML text are part of it
            attached.append(part)
    plain, page = found["text/plain"], found["text/html"]
    if page and sum(len(decoded(part).split()) for part in plain) < 5:  # "Your reader shows no HTML."
        plain = []
    whole = next((part for part in attached if part.is_multipart()), None)
    if not (plain or page) and whole is not None:
        inner = whole.get_payload()
        body, more = parts(inner[0]) if isinstance(inner, list) and isinstance(inner[0], Message) else ([], 0)
        return body, more + len(attached) - bool(body)
    return plain or page, len(attached)


def _leaves(message: Message) -> Iterator[Message]:
    """The parts of a message that have none, or are messages themselves."""
    inner = message.get_payload() if message.get_content_maintype() == "multipart" else None
    if isinstance(inner, list):
        for part in inner:
            if isinstance(part, Message):
                yield from _leaves(part)
    else:
        yield message


def decoded(part: Message) -> str:
    """The text of a part, whatever its charset says: what it declares, else UTF-8, else Windows' Western one."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    declared = part.get_param("charset")
    charsets = ["utf-8"]
    if isinstance(declared, str):
        with suppress(ValueError):
            charsets.insert(0, check_charset(declared.strip(), ""))
    if charsets[0] in ("ascii", "iso8859-1"):  # what mailers say for what they do not know
        charsets = ["utf-8", "cp1252"]
    for charset in charsets:
        try:
            return data.decode(charset)
        except UnicodeError:
            continue
    return data.decode("cp1252", "replace")


def _flowed(part: Message) -> bool:
    return str(part.get_param("format") or "").lower() == "flowed"


def header(message: Message, name: str) -> str:
    """A header on one line; none where it is longer than any that people write."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name), "")
    if len(str(raw)) > LONGEST:
        return ""
    try:
        return " ".join(str(message[name] or "").split())
    except Exception:  # the standard library's parser of headers fails on some in many ways
        return " ".join(str(raw).split())


def sent(message: Message) -> str | None:
    """The day that a message was sent."""
    text = header(message, "date")
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, OverflowError, TypeError, IndexError):
        return text or None
