"""The names of the decoders: one table that `diversify`, `ConditionalDPP`, the commands and the API read.

A decoder is a function (model, cost, budget, *, k, include, exclude, diversity, ...) -> Selection. A new one is a file
with that function and a line here; `random` says that it also takes `rng`.
"""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, NamedTuple

from dpplearn.decoding.selection import Selection


class Decoder(NamedTuple):
    """Where a decoder is ("module:function", imported when first used, or the function itself), and what it does."""

    where: str | Callable[..., Selection]
    help: str
    random: bool = False


DECODERS: dict[str, Decoder] = {
    "greedy": Decoder("dpplearn.decoding.greedy:greedy_map", "add the item with the largest gain for its cost"),
    "sampled": Decoder("dpplearn.decoding.sampled:sampled_map", "the most probable of many sets drawn", random=True),
    "consensus": Decoder(
        "dpplearn.decoding.consensus:consensus", "the set that agrees most with sets drawn", random=True
    ),
    "exact": Decoder("dpplearn.decoding.exact:exact_map", "the most probable set, proved so (up to about 60 items)"),
    "local": Decoder("dpplearn.decoding.local:local_search", "greedy, improved by one item at a time"),
    "typical": Decoder(
        "dpplearn.decoding.typical:typical_map", "the most probable set drawn of the usual number of items", random=True
    ),
}
ALIASES = {"sample": "sampled"}  # what older model files and requests say


def decoder_names() -> tuple[str, ...]:
    """Every name in the order of the table, without aliases."""
    return tuple(DECODERS)


def normal_name(name: Any, argument: str = "decoder") -> str:
    """The name of a decoder as the table has it.

    Parameters
    ----------
    name : str
        Of a decoder, or an alias.
    argument : str
        What the error calls it.

    Examples
    --------
    >>> normal_name("sample")
    'sampled'
    """
    found = ALIASES.get(name, name) if isinstance(name, str) else None
    if found not in DECODERS:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, DECODERS))}; found {name!r}.")
    return str(found)


def decoder(name: str, argument: str = "decoder") -> Callable[..., Selection]:
    """The function that a name stands for.

    Examples
    --------
    >>> decoder("greedy").__name__
    'greedy_map'
    """
    where = DECODERS[normal_name(name, argument)].where
    function: Callable[..., Selection] = resolve_name(where) if isinstance(where, str) else where
    return function
