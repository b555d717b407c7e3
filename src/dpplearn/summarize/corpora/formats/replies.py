"""What is a writer's own in an e-mail, and what is quoted, a signature, or a notice that stands under every message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_LONGEST = 300  # characters of a line that introduces something quoted
# "On Monday Ann wrote:", in languages that people write in, on one line or two
_DATED = re.compile(
    r"(?:On|Am|Le|El|Il|Op|Em|W dniu|Den|Dne)\b.{4,250}?\b"
    r"(?:wrote|writes|schrieb|a écrit|escribió|escribio|ha scritto|schreef|escreveu|napisał|skrev|napsal)\b.{0,120}?:$",
    re.DOTALL,
)
_WROTE = re.compile(r".{2,200}\b(?:wrote|schrieb|a écrit|escribió|ha scritto)\s?(?:am|on|le|el|:)?.{0,60}:$")
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
_SIGNATURE = re.compile(r"--\s*$")
_RULE = re.compile(r"_{10,}$|-{20,}$|={20,}$")  # over a signature, but over and under parts of a message, too
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
SHORT = 12  # lines that a farewell, a signature or a notice and what stands under it have at most


def own_text(text: str, flowed: bool = False) -> str:
    """The lines of a plain message that are its writer's own.

    Examples
    --------
    >>> own_text("It rained.\\n\\nOn Monday, Ann wrote:\\n> Did it rain?\\n\\nYes, it did.\\n-- \\nBob")
    'It rained.\\n\\nYes, it did.'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = _unflow(lines) if flowed else lines
    return "\n".join(lines[k] if lines[k].strip() else "" for k in own_lines(lines)).strip("\n")


def own_html(blocks: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The blocks of an HTML message that are its writer's own: each is a line, and a blank one under it."""
    given = list(blocks)
    for at, (_, text) in enumerate(given):
        line, below = text.strip(), [kind for kind, _ in given[at + 1 : at + 2]]
        introduced = len(line) <= _LONGEST and (_DATED.match(line) or _WROTE.match(line)) and below != ["quotation"]
        if at and (introduced or _FIRST.match(line)):  # what is quoted is not marked as such
            del given[at:]
            break
    lines = [one for kind, text in given for one in ((">" if kind == "quotation" else "") + " ".join(text.split()), "")]
    yield from (given[k // 2] for k in own_lines(lines) if k % 2 == 0)


def own_lines(lines: list[str]) -> list[int]:
    """The numbers of the lines that are a writer's own, of blank ones in a row that of the first."""
    kept: list[int] = []
    worded = False  # whether what was kept has words
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith((">", "|>")):
            _drop_introduction(kept, lines)
        elif _ORIGINAL.match(line) or _is_header_block(lines, at):
            if worded:
                break
            at = _after_fields(lines, at + 1)  # nothing of one's own above: what is sent on is what it says
            continue
        elif _FORWARDED.match(line):
            at = _after_fields(lines, at + 1)
            continue
        elif worded and _SIGNATURE.match(lines[at]):
            at = _next_quote(lines, at)
            continue
        elif worded and _RULE.match(line):
            if _is_foot(lines, at + 1):
                at = _next_quote(lines, at)
                continue
            lines[at] = ""
            kept += [at] if kept and lines[kept[-1]].strip() else []
        elif worded and line and _NOTICE.match(" ".join(lines[at : at + 3]).strip()):
            at = _skip(lines, at, str.strip)
            if _is_foot(lines, at):
                at = _next_quote(lines, at)
            continue
        elif not _DEVICE.match(line) and (line or (kept and lines[kept[-1]].strip())):
            kept.append(at)
            worded = worded or any(c.isalnum() for c in line)
        at += 1
    _drop_introduction(kept, lines)
    return kept[: _farewell([lines[k] for k in kept], SHORT)]


def _unflow(lines: list[str]) -> list[str]:
    """Lines as their writer had them: one that ends in a space goes on in the next (RFC 3676)."""
    joined: list[list[str]] = []
    open_ = False
    for line in lines:
        quoted = line.startswith(">")
        if open_ and not quoted and line:
            joined[-1].append(line.removeprefix(" "))
        else:
            joined.append([line])
        open_ = line.endswith(" ") and line != "-- " and not quoted
    return ["".join(parts) for parts in joined]


def _drop_introduction(kept: list[int], lines: list[str]) -> None:
    """Take away "On Monday Ann wrote:" and the blank line under it, at the end of what was kept."""
    end = len(kept) - (bool(kept) and not lines[kept[-1]].strip())
    for told, count in ((_DATED, 1), (_DATED, 2), (_DATED, 3), (_WROTE, 1), (_WROTE, 2)):
        said = " ".join(lines[k].strip() for k in kept[max(end - count, 0) : end])
        if end >= count and said.endswith(":") and len(said) <= _LONGEST and told.match(said):
            del kept[end - count :]
            return


def _is_header_block(lines: list[str], at: int) -> bool:
    """Whether the header of another message stands here: a sender, and two more fields right under it."""
    if not _FIRST.match(lines[at].strip()):
        return False
    return sum(_FIELD.match(line.strip()) is not None for line in lines[at + 1 : at + 6]) >= 2


def _skip(lines: list[str], at: int, passes: Callable[[str], object]) -> int:
    """Where the first line stands, from `at` on, that does not pass."""
    return next((i for i in range(at, len(lines)) if not passes(lines[i])), len(lines))


def _after_fields(lines: list[str], at: int) -> int:
    """Where the text of a message that is sent on begins."""
    return _skip(lines, at, lambda line: not line.strip() or _FIELD.match(line.strip()))


def _next_quote(lines: list[str], at: int) -> int:
    """A signature goes on to the end, or to something quoted under it."""
    return _skip(lines, at, lambda line: not line.lstrip().startswith(">"))


def _is_foot(lines: list[str], at: int) -> bool:
    """Whether few lines are left, or few before something quoted."""
    near = lines[at : at + SHORT + 1]
    return _next_quote(near, 0) <= SHORT


def _farewell(texts: list[str], most: int) -> int:
    """Where "Best regards" stands near the end, with no sentence under it; else the end."""
    for at in range(len(texts) - 1, max(len(texts) - most, 1) - 1, -1):
        if _is_sentence(texts[at]):
            break
        if _FAREWELL.match(texts[at].strip()):
            return at
    return len(texts)


def _is_sentence(text: str) -> bool:
    return len(text.split(maxsplit=4)) > 4 and text.rstrip(" \t\"'”’)»").endswith((".", "!", "?", "。", "！", "？"))
