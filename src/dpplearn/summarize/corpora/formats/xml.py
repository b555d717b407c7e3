"""XML as a stream of tags and text: no tree, no entities, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

STEP = 65_536  # bytes parsed at once
DEEPEST = 500


class RefusedError(ValueError):
    """What a file holds is sound XML, but not of the kind that is read."""


class Tag(NamedTuple):
    """An event: "open" with attributes, "close", or "text", which then is the name."""

    event: str
    name: str
    attributes: dict[str, str] = {}  # noqa: RUF012  # nobody writes to it


def tags(data: bytes, place: object) -> Iterator[Tag]:
    """The tags and texts of a document, names without their namespaces.

    Declared entities, of which bombs are made and which no file of ours needs, are refused.

    Examples
    --------
    >>> [tag.name for tag in tags(b'<w:p xmlns:w="x">It rained.</w:p>', "a.docx")]
    ['p', 'It rained.', 'p']
    """
    parser = ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    found: list[Tag] = []
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise RefusedError(f"{place} cannot be read: its XML is nested more than {DEEPEST} deep. Save it anew.")
        found.append(Tag("open", local(name), {local(key): value for key, value in attributes.items()}))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        found.append(Tag("close", local(name)))

    def refuse(*_: object) -> int:
        raise RefusedError(f"{place} cannot be read: its XML declares entities, as bombs do. Save it anew.")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: found.append(Tag("text", text))
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    try:
        for at in range(0, max(len(data), 1), STEP):
            parser.Parse(data[at : at + STEP], at + STEP >= len(data))
            yield from found
            found.clear()
    except RefusedError:
        raise
    except (ExpatError, LookupError, ValueError) as error:  # an encoding that is unknown, or that expat cannot read
        raise ValueError(f"{place} cannot be read: its XML is damaged ({error}). Save it anew.") from None


def local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition(" ")[2]
