"""Read e-mails (.eml) and mailboxes (.mbox): what each writer wrote, without quotations, signatures and attachments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from email.policy import Compat32
from email.utils import parsedate_to_datetime
from itertools import pairwise

from dpplearn._io.encoding import check_charset
from dpplearn.summarize.corpora.cluster import Document
from dpplearn.summarize.corpora.formats.apart import DocumentFile
from dpplearn.summarize.text.blocks import is_closed
from dpplearn.summarize.text.page import html_blocks

# A mailbox's line between messages stands at its beginning or under a blank line: "From" is a word, too.
_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,300}[0-9]{4}[^\r\n]{0,40}\r?\n")
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_REPLY = re.compile(r"(?:(?:re|aw|antw|sv|vs|tr|rv|fw|fwd|wg|ref|odp)(?:\[[0-9]{1,2}\])?\s?:\s*)++", re.IGNORECASE)
LONGEST_HEADER = 1_000  # characters that are looked at: the standard library's parser takes quadratic time
SHORT = 12  # lines that a farewell, a signature or a notice and what stands under it have at most
_LONGEST = 300  # characters of "On Monday Ann wrote:", on one line to three
_DATED = ("On ", "Am ", "Le ", "El ", "Il ", "Op ", "Em ", "W dniu ", "Den ", "Dne ")
_WROTE = re.compile(
    r".{2,250}?\b(?:wrote|writes|schrieb|a écrit|escribió|ha scritto|schreef|escreveu|napisał|skrev|napsal)\b.{0,120}:$"
)
# What stands over a message that is sent on, or that is answered below.
_SENT_ON = re.compile(
    r"(?:[-_ ]{2,}\s?)?(?:(?:Begin )?forwarded message|(?:Anfang der )?weitergeleiteten? Nachricht|"
    r"Message (?:transféré|réexpédié)|Mensaje reenviado|Messaggio inoltrato)\b[-_: ]*$|[-_ ]{2,}\s?(?P<answered>"
    r"Original (?:Message|Appointment)|Ursprüngliche Nachricht|Originalnachricht|Message d'origine|Mensaje original|"
    r"Messaggio originale|Oorspronkelijk bericht|Mensagem original)\b",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"\*?(?:From|To|Cc|Bcc|Sent|Date|Subject|Reply-To|Von|An|Gesendet|Datum|Betreff|De|À|A|Envoyé|Objet|Para|"
    r"Enviado|Fecha|Asunto|Da|Inviato|Oggetto|Van|Verzonden|Onderwerp|Aan)\s?:\*?\s"
)
_FIRST = re.compile(r"\*?(?:From|Von|De|Da|Van)\s?:\*?\s")
_DEVICE = re.compile(
    r"(?:Sent (?:from|via|with) (?:my |Mail |Yahoo|Outlook|Samsung|Proton)|Get Outlook for|Von meinem \S+ gesendet|"
    r"Envoyé (?:de|depuis|à partir de) |Enviado desde |Inviato da |Verzonden vanaf|Verstuurd vanaf|Enviado do )",
    re.IGNORECASE,
)
_RULE = re.compile(r"_{10,}$|-{20,}$|={20,}$")  # over a signature, but over and under parts of a message, too
_NOTICE = re.compile(
    r"\W{0,4}(?:confidentiality not|disclaimer\b|(?:the information (?:contained )?in )?this (?:e-?mail|message|"
    r"communication)\b.{0,120}\b(?:confidential|intended (?:only|solely)|privileged|was sent (?:to|by))|"
    r"if you (?:are not|have received) .{0,60}\b(?:intended recipient|in error)|please (?:consider|think of) the env|"
    r"diese (?:e-?mail|nachricht)\b.{0,120}\bvertraulich|ce (?:message|courriel)\b.{0,120}\bconfidentiel|"
    r"este (?:mensaje|correo)\b.{0,120}\bconfidencial|you (?:are receiving|received) this|"
    r"to unsubscribe\b|unsubscribe )",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"(?:(?:with )?(?:best|kind|warm|many|kindest|warmest)? ?regards|best(?: wishes)?|cheers|sincerely|yours(?: \w+)?|"
    r"(?:many )?thanks(?: again| and .{0,20})?|thank you|mit (?:freundlichen|besten|lieben) grüßen|"
    r"(?:viele|beste|liebe|herzliche) grüße|mfg|vg|lg|(?:bien )?cordialement|salutations|"
    r"(?:un )?saludos?(?: cordiales)?|atentamente|cordiali saluti|(?:met vriendelijke )?groet(?:en)?)[,.!]?$",
    re.IGNORECASE,
)


class BoundedPolicy(Compat32):
    """Bounds the length of headers: one that is too long keeps one character more than the limit."""

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
    """The message of a file, or all messages of a mailbox that have text of their own."""
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
        parts = own_html(block for part in texts for block in html_blocks(decoded(part)))
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


def own_text(text: str) -> str:
    """The lines of a plain message that are its writer's own.

    Examples
    --------
    >>> own_text("It rained.\\n\\nOn Monday, Ann wrote:\\n> Did it rain?\\n\\nYes, it did.\\n-- \\nBob")
    'It rained.\\n\\nYes, it did.'
    """
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return "\n".join(lines[k] for k in own_lines(lines)).strip("\n")


def own_html(blocks: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The blocks of an HTML message that are its writer's own: each is a line, and a blank one under it."""
    blocks = [*blocks, ("", "")]
    lines = list[str]()
    for (kind, text), (below, _) in pairwise(blocks):
        text = " ".join(text.split())
        if lines and ((_WROTE.match(text[:_LONGEST]) and below != "quotation") or _FIRST.match(text)):
            break  # all that follows is quoted, and not marked as such
        lines += [">" + text if kind == "quotation" else text, ""]
    yield from (blocks[k // 2] for k in own_lines(lines) if k % 2 == 0)


def own_lines(lines: list[str]) -> list[int]:
    """The numbers of the lines that are a writer's own, of blank ones in a row that of the first."""
    kept: list[int] = []
    at, worded = 0, False  # whether what was kept has words
    while at < len(lines):
        line = lines[at].strip()
        sent_on = _SENT_ON.match(line)
        if line.startswith(">"):
            _drop_introduction(kept, lines)
        elif sent_on or _is_header(lines, at):
            if worded and not (sent_on and not sent_on["answered"]):
                break
            while at + 1 < len(lines) and (not lines[at + 1].strip() or _FIELD.match(lines[at + 1].strip())):
                at += 1  # the writer has said nothing above: the message that is sent on is what is read
        elif worded and _ends_message(lines, at):
            at = _next_quote(lines, at) - 1
        elif any(form.match(line) for form in (_DEVICE, _RULE, _NOTICE)):
            pass
        elif line or (kept and lines[kept[-1]].strip()):
            kept.append(at)
            worded = worded or any(map(str.isalnum, line))
        at += 1
    _drop_introduction(kept, lines)
    for end in range(len(kept) - 1, max(len(kept) - SHORT, 1) - 1, -1):  # "Best regards", no sentence under it
        text = lines[kept[end]].strip()
        if _FAREWELL.match(text):
            return kept[:end]
        if len(text.split()) > 4 and is_closed(text):
            break
    return kept


def _ends_message(lines: list[str], at: int) -> bool:
    """Whether a signature or a notice begins: few lines are left under it, or few before something quoted."""
    line = lines[at].strip()
    begins = _RULE.match(line) or _NOTICE.match(" ".join(lines[at : at + 3]).strip())
    return line == "--" or (begins is not None and _next_quote(lines, at + 1) - at - 1 <= SHORT)


def _next_quote(lines: list[str], at: int) -> int:
    """Where something is quoted, from a line on, or the end."""
    return next((i for i in range(at, len(lines)) if lines[i].lstrip().startswith(">")), len(lines))


def _drop_introduction(kept: list[int], lines: list[str]) -> None:
    """Take away "On Monday Ann wrote:" and the blank line under it, at the end of what was kept."""
    end = len(kept) - (bool(kept) and not lines[kept[-1]].strip())
    for count in (3, 2, 1):
        said = " ".join(lines[k].strip() for k in kept[max(end - count, 0) : end])
        if end >= count and _WROTE.match(said[:_LONGEST]) and (count == 1 or said.startswith(_DATED)):
            del kept[end - count :]
            return


def _is_header(lines: list[str], at: int) -> bool:
    """Whether the header of another message stands here: a sender, and two more fields right under it."""
    below = lines[at + 1 : at + 6]
    return _FIRST.match(lines[at].strip()) is not None and sum(bool(_FIELD.match(line.strip())) for line in below) >= 2
