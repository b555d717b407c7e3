"""What is a writer's own in an e-mail, and what is quoted, a signature, or a notice that stands under every message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LONGEST = 300  # characters of a line that introduces something quoted
# "On Monday Ann wrote:", in languages that people write in, on one line or two
_WROTE = re.compile(
    r"(?:On|Am|Le|El|Il|Op|Em|W dniu|Den|Dne)\b.{4,250}?\b"
    r"(?:wrote|writes|schrieb|a écrit|escribió|escribio|ha scritto|schreef|escreveu|napisał|skrev|napsal)\b.{0,120}?:$"
    r"|.{2,200}\b(?:wrote|schrieb|a écrit|escribió|ha scritto)\s?(?:am|on|le|el|:)?.{0,60}:$",
    re.DOTALL,
)
_ORIGINAL = re.compile(
    r"[-_ ]{2,}\s?(?:Original Message|Original Appointment|Reply Message|Ursprüngliche Nachricht|Originalnachricht|"
    r"Message d'origine|Message original|Mensaje original|Messaggio originale|Oorspronkelijk bericht|"
    r"Mensagem original)\b",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"(?:[-_ ]{2,}\s?)?(?:Begin forwarded message|Forwarded message|Weitergeleitete Nachricht|"
    r"Anfang der weitergeleiteten Nachricht|Message transféré|Début du message réexpédié|Mensaje reenviado|"
    r"Messaggio inoltrato)\b[-_: ]*$",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"\*?(?:From|To|Cc|Bcc|Sent|Date|Subject|Reply-To|Von|An|Gesendet|Datum|Betreff|De|À|A|Envoyé|Objet|Para|"
    r"Enviado|Enviado el|Fecha|Asunto|Da|Inviato|Oggetto|Verzonden|Onderwerp|Aan)\s?:\*?\s",
)
_FIRST = re.compile(r"\*?(?:From|Von|De|Da|Van)\s?:\*?\s")
_SIGNATURE = re.compile(r"--\s*$|_{10,}$|-{20,}$|={20,}$")
_DEVICE = re.compile(
    r"(?:Sent (?:from|via|with) (?:my |Mail |Yahoo|Outlook|Samsung|Proton)|Get Outlook for|Von meinem \S+ gesendet|"
    r"Gesendet (?:von|mit|über) |Diese Nachricht wurde von meinem|Envoyé (?:de|depuis|à partir de) |"
    r"Télécharg\w+ Outlook|Enviado desde |Obtener Outlook|Inviato da |Verzonden vanaf|Verstuurd vanaf|"
    r"Enviado (?:do|a partir)|Von Outlook für)",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    r"(?:\W{0,4}confidentiality (?:notice|note)|\W{0,4}disclaimer\b|this (?:e-?mail|message|communication)\b.{0,120}"
    r"\b(?:confidential|intended (?:only|solely)|privileged)|"
    r"the information (?:contained )?in this (?:e-?mail|message)|"
    r"if you (?:are not|have received) .{0,60}\b(?:intended recipient|in error)|"
    r"(?:please )?(?:consider|think of) (?:the environment|our environment)|"
    r"diese (?:e-?mail|nachricht)\b.{0,120}\bvertraulich|der inhalt dieser e-?mail|"
    r"ce (?:message|courriel|mail)\b.{0,120}\bconfidentiel|este (?:mensaje|correo)\b.{0,120}\bconfidencial|"
    r"questo messaggio\b.{0,120}\b(?:riservat|confidenzial)|"
    r"you (?:are receiving|received) this (?:e-?mail|message) because|to unsubscribe\b|"
    r"unsubscribe (?:from|here)|this (?:e-?mail|message) was sent (?:to|by))",
    re.IGNORECASE | re.DOTALL,
)
_FAREWELL = re.compile(
    r"(?:(?:with )?(?:best|kind|warm|many|kindest|warmest)? ?regards|best(?: wishes)?|cheers|sincerely|yours(?: \w+)?|"
    r"(?:many )?thanks(?: again| and .{0,20})?|thank you|mit (?:freundlichen|besten|lieben|herzlichen) grüßen|"
    r"(?:viele|beste|liebe|herzliche|schöne) grüße|mfg|vg|lg|cordialement|bien cordialement|bien à vous|salutations|"
    r"(?:un )?saludos?(?: cordiales)?|atentamente|cordiali saluti|groeten|met vriendelijke groet)[,.!]?$",
    re.IGNORECASE,
)
SHORT = 12  # lines that a farewell and what stands under it have at most
HTML_QUOTES = ("quotation",)


def own_text(text: str, flowed: bool = False) -> str:
    """The lines of a plain message that are its writer's own.

    Examples
    --------
    >>> own_text("It rained.\\n\\nOn Monday, Ann wrote:\\n> Did it rain?\\n\\nYes, it did.\\n-- \\nBob")
    'It rained.\\n\\nYes, it did.'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if flowed:
        lines = _unflow(lines)
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith((">", "|>")):
            _drop_introduction(kept)
        elif _ORIGINAL.match(line) or _is_header_block(lines, at):
            if _has_words(kept):
                break
            at = _after_fields(lines, at + 1)  # nothing of one's own above: what is sent on is what it says
            continue
        elif _FORWARDED.match(line):
            at = _after_fields(lines, at + 1)
            continue
        elif _SIGNATURE.match(lines[at]) and _has_words(kept):
            at = _after_signature(lines, at)
            continue
        elif _NOTICE.match(" ".join(lines[at : at + 3]).strip()) and _has_words(kept):
            break
        elif not _DEVICE.match(line):
            kept.append(lines[at])
        at += 1
    _drop_introduction(kept)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(_without_farewell(kept))).strip("\n")


def own_html(blocks: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The blocks of an HTML message that are its writer's own, by the same words."""
    held: list[tuple[str, str]] = []
    for kind, text in blocks:
        line = text.strip()
        introduces = len(line) <= _LONGEST and _WROTE.match(line)
        if held and (introduces or _ORIGINAL.match(line) or _FIRST.match(line) or _NOTICE.match(line)):
            break
        if _SIGNATURE.match(line) and held:
            break
        if kind not in HTML_QUOTES and not _DEVICE.match(line) and not _FORWARDED.match(line):
            held.append((kind, text))
    for i, (_, text) in enumerate(held[1:], 1):
        if _FAREWELL.match(text.strip()) and len(held) - i <= SHORT // 2:
            held = held[:i]
            break
    yield from held


def _unflow(lines: list[str]) -> list[str]:
    """Lines as their writer had them: one that ends in a space goes on in the next (RFC 3676)."""
    joined: list[str] = []
    open_ = False
    for line in lines:
        quoted = line.startswith(">")
        if open_ and not quoted and line:
            joined[-1] += line.removeprefix(" ")
        else:
            joined.append(line)
        open_ = line.endswith(" ") and line != "-- " and not quoted
    return joined


def _drop_introduction(kept: list[str]) -> None:
    """Take away "On Monday Ann wrote:" and the blank lines under it, at the end of what was kept."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    for count in (1, 2, 3):
        said = " ".join(line.strip() for line in kept[max(end - count, 0) : end])
        if end >= count and said.endswith(":") and len(said) <= _LONGEST and _WROTE.match(said):
            del kept[end - count :]
            return


def _is_header_block(lines: list[str], at: int) -> bool:
    """Whether the header of another message stands here: a sender, and two more fields right under it."""
    if not _FIRST.match(lines[at].strip()):
        return False
    return sum(_FIELD.match(line.strip()) is not None for line in lines[at + 1 : at + 6]) >= 2


def _after_fields(lines: list[str], at: int) -> int:
    """Where the text of a message that is sent on begins."""
    while at < len(lines) and (not lines[at].strip() or _FIELD.match(lines[at].strip())):
        at += 1
    return at


def _after_signature(lines: list[str], at: int) -> int:
    """A signature goes on to the end, or to something quoted under it."""
    while at < len(lines) and not lines[at].lstrip().startswith(">"):
        at += 1
    return at


def _has_words(lines: list[str]) -> bool:
    return any(any(c.isalnum() for c in line) for line in lines)


def _without_farewell(lines: list[str]) -> list[str]:
    """Leave out "Best regards" near the end and all that stands under it."""
    first = max(len(lines) - SHORT, 1)
    for at in range(first, len(lines)):
        if _FAREWELL.match(lines[at].strip()) and _has_words(lines[:at]):
            return lines[:at]
    return lines
