"""What one look at the characters of a piece of text says: most are plain sentences, of which no more is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dpplearn._checks import IntArray
from dpplearn.summarize.text import courtesy, standing

Span: TypeAlias = tuple[int, int, int]  # the number of a text, start, end

LINE, PLAIN = 1, 2  # as the loop has them


def codes_of(
    texts: Sequence[str], number: IntArray, starts: IntArray, ends: IntArray
) -> tuple[npt.NDArray[np.uint32], IntArray]:
    """The characters of texts as numbers, of each as far as spans reach, and what to add to the offsets of each span.

    Spans are those of the texts so numbered, in their order.
    """
    first = np.flatnonzero(np.diff(number, prepend=-1))
    low = np.minimum.reduceat(starts, first) if first.size else first
    high = np.maximum.reduceat(ends, first) if first.size else first
    parts = [texts[k][a:b] for k, a, b in zip(number[first].tolist(), low.tolist(), high.tolist(), strict=True)]
    shift = np.repeat(np.cumsum(high - low) - high, np.diff(np.append(first, number.size)))
    codes = np.frombuffer("".join(parts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return codes, shift


@cache
def _lists() -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The bits of what pages say of themselves, and of the words that begin what is said to be polite."""
    furniture, polite = (standing.listed(name) for name in ("furniture", "courtesies"))
    heads = {phrase.split()[0].split("'")[0] for phrase in polite} | standing.listed("interjections")
    return _bits(furniture), _bits(heads)


def _bits(phrases: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Of those in ASCII: no other is in a plain sentence."""
    from dpplearn.summarize.text._look_loops import bits_of

    plain = sorted(filter(str.isascii, phrases))
    codes = np.frombuffer("".join(plain).encode(), np.uint8).astype(np.uint32)
    return np.asarray(bits_of(codes, np.cumsum([0, *map(len, plain)])), np.bool_)


def glance(texts: Sequence[str], spans: Sequence[Span]) -> list[int]:
    """Of each span whether it is on one LINE, so that `one_line` is the same, and whether it is a PLAIN sentence.

    A plain sentence is one that `is_standing` is true of, and `is_courtesy` is not. Many others are sentences, too.

    Examples
    --------
    >>> text = "The mayor said on Monday that the old bridge will stay closed. Thanks."
    >>> glance([text], [(0, 0, 62), (0, 63, 70)]) == [LINE | PLAIN, LINE]
    True
    """
    from dpplearn.summarize.text._look_loops import look_at_pieces

    bounds = standing.LONG, courtesy.LONGEST + 1, standing.LONGEST
    number, starts, ends = np.array(spans, np.int64).reshape(-1, 3).T
    codes, shift = codes_of(texts, number, starts, ends)
    found: list[int] = look_at_pieces(codes, starts + shift, ends + shift, *_lists(), *bounds).tolist()
    return found
