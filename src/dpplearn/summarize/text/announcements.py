"""Says which English sentences tell only that a text exists, and not what it says: "A report has been published"."""

from __future__ import annotations

import re

_TEXT = (
    r"(?:reports?|statements?|study|studies|surveys?|profiles?|details|transcripts?|lists?|findings|guidelines"
    r"|letters?|reviews?|memos?|documents?|brochures?)"
)
_OUT = r"(?:published|released|issued|posted|unveiled|made public)"
_ANNOUNCES = re.compile(
    rf"[^,;:\"“]{{0,40}}?\b{_TEXT}\b(?:(?!\b(?:who|which|that)\b)(?:[^,;:\"“]|,(?= \d))){{0,120}}?"
    rf"\b(?:is|are|was|were|(?:has|have|had) (?:now |also )?been) (?:[a-z]+ly |now |also )?{_OUT}\b"
    rf"|[^,;:\"“]{{2,60}}? {_OUT} (?:an?|its|their|his|her|the)(?: [\w-]+){{0,3}}? {_TEXT}\b",
    re.IGNORECASE,
)
_SAYS = re.compile(  # what it says follows
    r"\b(?:that|which|where|who|saying|says?|said|stat(?:es?|ed|ing)|according|contain\w*|accus\w+|warn\w*|blam\w+|call\w*"
    r"|conclud\w+|f[io]und\w*|finds|reveal\w*|show\w*|estimat\w+|critici\w+|demand\w*|urg\w+|describ\w+|confirm\w*"
    r"|den(?:y\w*|ie[sd]|oun\w+)|condemn\w*|apologi\w+|explain\w*|percent)\b|[:%\"“]"
)


def only_announces(text: str) -> bool:
    """Whether an English sentence says that a text was published, and nothing of what is in it.

    Examples
    --------
    >>> only_announces("A report on the flood was published by the council on Monday.")
    True
    >>> only_announces("A report on the flood was published that blames the council.")
    False
    """
    return _ANNOUNCES.match(text) is not None and not _SAYS.search(text)
