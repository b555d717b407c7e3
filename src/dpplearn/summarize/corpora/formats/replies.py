"""The writer's own words in an e-mail, without quotations, signatures and notices that stand under every message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from dpplearn.summarize.text.blocks import is_closed

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
    r"Enviado|Fecha|Asunto|Da|Inviato|Oggetto|Van|Verzonden|Onderwerp|Aan)\s?:\*?\s",
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
    return _FIRST.match(lines[at].strip()) is not None and sum(bool(_FIELD.match(one.strip())) for one in below) >= 2
